//! Information: resources of a grid report their state, and an information service passes it on to
//! the scheduler, at once or later.
//!
//! ```text
//!   resource        information service        dispatcher
//!       │ ── Status ────────▶ │                      │
//!       │                     │ ── Report ─────────▶ │  at once, periodically, or some time later
//! ```

use haggle_grids::{Report, ResourceId};
use haggle_model::observation::DisclosedItem;
use haggle_model::work::Speed;
use haggle_model::{JobId, Time};
use serde::{Deserialize, Serialize};

use super::said::{protocol, said};

protocol! {
    /// Messages about the state of resources.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum InformationMessage {
        /// Resource to information service: its state has changed.
        Status(status: Box<Status>) => said("status").tells(DisclosedItem::ResourceStatus),
        /// Information service to dispatcher: the state of a resource.
        Report(status: Box<Status>) => said("report").tells(DisclosedItem::ResourceStatus),
    }
}

/// The state of a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Its number in the scheduler's view.
    pub resource: ResourceId,
    /// Its state.
    pub report: Report,
}

impl Status {
    /// The state of `resource` at the time `taken`.
    pub fn new(
        resource: ResourceId,
        taken: Time,
        up: bool,
        avail: Speed,
        jobs: Vec<JobId>,
    ) -> Box<Status> {
        Box::new(Status { resource, report: Report { taken, up, avail, jobs } })
    }
}
