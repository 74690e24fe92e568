//! `[[provider.initial]]` and `[[grid.initial]]`: jobs that run or wait at time zero.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Law;
use crate::quantity::{Name, TimeSpan};

/// A rigid job that runs or waits at time zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct InitialJob {
    /// Number of the job, unique in the list; its place in the list, from 1, if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 9_000_000_000_000_000_i64))]
    pub number: Option<i64>,
    /// Processors that the job needs, all at once.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub processors: u32,
    /// Requested time, the user's estimate and limit; without it, there is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested: Option<TimeSpan>,
    /// Real run time of the job on a reference processor, from its start; without it, the law `initial-run` or
    /// `initial-use` of the provider gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<TimeSpan>,
    /// Time between the submission and time zero; that of the start if not given, and none for a waiting job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submitted_ago: Option<TimeSpan>,
    /// Time for which the job has run at time zero; without it, the job waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_ago: Option<TimeSpan>,
    /// Priority key: smaller goes first where a provider orders by key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<i64>,
    /// Number of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<i32>,
}

/// A job that runs on a resource of the grid or waits at its scheduler at time zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct GridInitialJob {
    /// Number of the job, unique in the list; its place in the list, from 1, if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 9_000_000_000_000_000_i64))]
    pub number: Option<i64>,
    /// Requested time on a resource of 1 MIPS, the user's estimate of the run time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested: Option<TimeSpan>,
    /// Real run time of the whole job, alone on a resource of 1 MIPS; without it, the law `initial-run` gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<TimeSpan>,
    /// Time between the submission and time zero; that of the start if not given, and none for a waiting job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submitted_ago: Option<TimeSpan>,
    /// Time for which the job has computed at time zero, sharing `resource` equally with the jobs of this list that had
    /// started there; without it, the job waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_ago: Option<TimeSpan>,
    /// Resource on which it runs at time zero, SITE-1, SITE-2, ... Read with `started-ago`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<Name>,
    /// Number of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<i32>,
}

/// Law of the run times of some initial jobs, as a part of their requested times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct InitialUse {
    /// Law of run time / requested time; 1 is the whole request.
    pub law: Law,
    /// Least requested time of these jobs, up to that of the next law.
    #[serde(default = "none")]
    pub requested_from: TimeSpan,
}

fn none() -> TimeSpan {
    TimeSpan::ZERO
}

impl InitialUse {
    /// The law for a job that requests this time, of those of a provider.
    pub fn of(all: &[InitialUse], requested: TimeSpan) -> Option<&InitialUse> {
        let fit = all.iter().filter(|it| it.requested_from <= requested);
        fit.max_by_key(|it| it.requested_from)
    }
}
