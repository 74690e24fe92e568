//! `[[user]]`: who submits the jobs of a workload, and to whom.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::{Name, TimeSpan};

/// An actor that submits the jobs of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct User {
    /// Name of the user, unique among all actors.
    pub name: Name,
    /// Workload whose jobs the user submits.
    pub workload: Name,
    /// Provider or metascheduler that receives the jobs: they are local at a provider, external through a
    /// metascheduler.
    pub submits_to: Name,
    /// Waiting time after which a job is withdrawn; without it, users wait without limit. It ends with the first start,
    /// also if the job must start again later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience: Option<TimeSpan>,
}

impl User {
    /// A user that submits the jobs of this workload there, with unlimited patience.
    pub fn named(name: Name, workload: Name, submits_to: Name) -> User {
        User { name, workload, submits_to, patience: None }
    }
}
