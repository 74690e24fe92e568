//! Information: resources of a grid report their state, and an information service lets the
//! scheduler know, now or later.
//!
//! ```text
//!   resource        information service        dispatcher
//!       │ ── Status ────────▶ │                      │
//!       │                     │ ── Report ─────────▶ │  at once, periodically, or some time later
//! ```

use haggle_model::observation::DisclosedItem;
use haggle_model::work::Speed;
use haggle_model::{JobId, Time};
use haggle_scheduling::grid::{Report, ResourceId};
use serde::{Deserialize, Serialize};

use super::said::{protocol, said};

protocol! {
    /// What is said about the state of resources.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum InformationMessage {
        /// Resource to information service: something has changed here.
        Status(status: Box<Status>) => said("status").tells(DisclosedItem::ResourceStatus),
        /// Information service to dispatcher: what is known of a resource.
        Report(status: Box<Status>) => said("report").tells(DisclosedItem::ResourceStatus),
    }
}

/// What is found at a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Its number in the scheduler's view.
    pub resource: ResourceId,
    /// What is found.
    pub report: Report,
}

impl Status {
    /// What is found at `resource` now.
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
