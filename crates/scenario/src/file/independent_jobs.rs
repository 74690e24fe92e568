//! `[workload.independent-jobs]`: parameters of the model of independent jobs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Law, TimeLaw};
use crate::quantity::TimeSpan;

/// Parameters of independent jobs, which arrive in one of three ways: `between`, `hours` or `per-day`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct IndependentJobs {
    /// Time between two arrivals, from time zero on; needs `jobs`, `length` or both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<TimeLaw>,
    /// How likely each of the 24 hours of a day is, from midnight on, relative to the others; an arrival is
    /// on any of `days`, at any instant of its hour; needs `jobs` and `days`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(equal = 24))]
    pub hours: Option<Vec<f64>>,
    /// Arrivals of each day, rounded to whole numbers, each at any instant of the day; needs `days`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_day: Option<Law>,
    /// Most jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub jobs: Option<u64>,
    /// Nothing arrives at this time or later; goes with `between`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<TimeSpan>,
    /// Days from time zero, which is midnight; goes with `hours` and `per-day`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 36_500))]
    pub days: Option<u32>,
    /// Jobs that arrive together, rounded to whole numbers from 1 on; 1 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<Law>,
    /// Processors of a job, rounded to whole numbers from 1 on; 1 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<Law>,
    /// How long a job runs on a reference processor, which is also what its user asks for.
    pub run: TimeLaw,
    /// Shortest run time, at which the law is cut off: shorter draws are drawn again; 1us if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_min: Option<TimeSpan>,
    /// Users, numbered from 1, each as likely to have sent a job; without it, jobs are nobody's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub users: Option<u32>,
}
