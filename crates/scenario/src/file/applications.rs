//! `[workload.applications]`: parameters of the model of applications of many phases.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ApplicationKind, WorkflowShape};
use crate::quantity::{Name, TimeSpan};

/// Applications of many phases, all alike: `like` a published one, with given `phases`, or `measured`. With `shape` or
/// `graph`, they are the tasks of workflows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Applications {
    /// The published application that the drawn phases resemble; its original phases are not published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<ApplicationKind>,
    /// Seed of the draws of the phases, independent of all other seeds; 1 if not given. Goes with `like`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Number of phases drawn; that of the published application if not given. Goes with `like`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000))]
    pub count: Option<u32>,
    /// The problem size, relative to the published one; 1 if not given. Goes with `like`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e6))]
    pub size: Option<f64>,
    /// The phases, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1_000))]
    pub phases: Option<Vec<ApplicationPhase>>,
    /// Measured times on each cluster that can run the application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1_000))]
    pub measured: Option<Vec<MeasuredTimes>>,
    /// Number of consecutive phases that are merged into one; applications are rescheduled only between merged phases.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000))]
    pub merge: u32,
    /// Shape of the workflows whose tasks are applications; each workflow is drawn independently. The length of a
    /// task, divided by the mean of its workflow, is a factor of the times of all phases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<WorkflowShape>,
    /// Applications of each workflow of that shape; some shapes have up to three fewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000))]
    pub tasks: Option<u32>,
    /// The applications of a workflow, each with the applications that it needs; all workflows are alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 10_000))]
    pub graph: Option<Vec<ApplicationInGraph>>,
    /// Number of applications submitted; with `shape` or `graph`, of workflows.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub jobs: u32,
    /// Time between two submissions; the first one is at time zero.
    #[serde(default = "no_time")]
    pub between: TimeSpan,
}

fn one() -> u32 {
    1
}

fn no_time() -> TimeSpan {
    TimeSpan::ZERO
}

fn perfect() -> f64 {
    1.0
}

fn none() -> f64 {
    0.0
}

/// Measured times of all phases on idle machines of a cluster. On loaded machines they are divided by the available
/// part of the least available processor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MeasuredTimes {
    /// The cluster.
    pub cluster: Name,
    /// Number of its machines used for the measurement.
    #[schemars(range(min = 1, max = 10_000))]
    pub machines: u32,
    /// Time of each phase, in order; every row has the same number of phases.
    #[schemars(length(min = 1, max = 1_000))]
    pub times: Vec<TimeSpan>,
}

/// An application of a workflow. It starts after the applications that it needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ApplicationInGraph {
    /// Numbers of the applications that it needs, all before it in the list; the first one has the number 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<u32>,
    /// Factor of the times of all of its phases.
    #[serde(default = "perfect")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e3))]
    pub length: f64,
}

/// A phase. On n machines with available parts a of processors and b of links, it takes computing / (a n^speedup) +
/// communicating / (b n^spread).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ApplicationPhase {
    /// Computing time on one idle reference processor.
    pub computing: TimeSpan,
    /// Exponent of the speedup of computing by more machines: 1 = perfect, 0 = none.
    #[serde(default = "perfect")]
    #[schemars(range(min = 0.0, max = 10.0))]
    pub speedup: f64,
    /// Communication time on idle links for `spread` 0; one machine alone does not communicate.
    #[serde(default = "no_time")]
    pub communicating: TimeSpan,
    /// Exponent of the speedup of communication by more machines: 0 = none; below zero, more machines take longer.
    #[serde(default = "none")]
    #[schemars(range(min = -10.0, max = 10.0))]
    pub spread: f64,
}
