//! `[[change]]` and `[[branch]]`: settings that change while a run goes on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Failures, InlineJob, SEED_MAX, Scenario};
use crate::quantity::{Name, TimeSpan, Title};

/// Settings, jobs and failures that change at an instant, before all other events of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Change {
    /// Instant of the change, from the start of the run.
    pub at: TimeSpan,
    /// Values that change: paths as in a sweep, each with its value. Keys that may change are marked in the manual.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, serde_json::Value>")]
    pub set: toml::Table,
    /// Seed of all randomness from then on; without it, random numbers go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = SEED_MAX))]
    pub seed: Option<u64>,
    /// Jobs beside those of the workloads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub submit: Vec<SubmittedJobs>,
    /// Failures beside those of the scenario; only those that begin at the instant or later happen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failures>,
    /// The scenario from then on, derived when the file is read.
    #[serde(skip)]
    pub scenario: Option<Box<Scenario>>,
}

/// Jobs that a user submits beside those of its workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SubmittedJobs {
    /// User that submits the jobs.
    pub user: Name,
    /// The jobs, in any order; none is submitted before the instant.
    pub jobs: Vec<InlineJob>,
}

/// Another future of the run: a sweep runs the scenario as it is, and once more with each branch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Branch {
    /// Name of the branch, in the results and legends; the run without a branch is called "base".
    pub name: Title,
    /// Instant from which the branch differs, from the start of the run.
    pub at: TimeSpan,
    /// Values that change: paths as in a sweep, each with its value. Keys that may change are marked in the manual.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, serde_json::Value>")]
    pub set: toml::Table,
    /// Seed of all randomness from then on; without it, random numbers go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = SEED_MAX))]
    pub seed: Option<u64>,
    /// Jobs beside those of the workloads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub submit: Vec<SubmittedJobs>,
    /// Failures beside those of the scenario; only those that begin at the instant or later happen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failures>,
}
