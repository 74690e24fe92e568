//! `[workload.independent-jobs]`: parameters of the model of independent jobs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Law, TimeLaw};
use crate::quantity::TimeSpan;

/// Parameters of independent jobs; exactly one of `between`, `hours` and `per-day` gives their arrivals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct IndependentJobs {
    /// Time between two arrivals, from time zero on; needs `jobs`, `length` or both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<TimeLaw>,
    /// Relative probability of each of the 24 hours of a day, from midnight on. An arrival is on any of `days`, at any
    /// instant of its hour; needs `jobs` and `days`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(equal = 24))]
    pub hours: Option<Vec<f64>>,
    /// Arrivals of each day, rounded to whole numbers, each at any instant of the day; needs `days`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_day: Option<Law>,
    /// Largest number of jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub jobs: Option<u64>,
    /// End of the arrivals: no job arrives at this time or later; goes with `between`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<TimeSpan>,
    /// Days from time zero, which is midnight; goes with `hours` and `per-day`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 36_500))]
    pub days: Option<u32>,
    /// Number of jobs that arrive together, rounded to whole numbers from 1 on; 1 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<Law>,
    /// Processors of a job, rounded to whole numbers from 1 on; 1 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<Law>,
    /// Run time on a reference processor, which is also the requested time.
    pub run: TimeLaw,
    /// Shortest run time: the law is truncated, and shorter draws are repeated; 1us if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_min: Option<TimeSpan>,
    /// Number of users, numbered from 1, each with the same probability; without it, jobs have no user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub users: Option<u32>,
}
