//! `[workload.applications]`: parameters of the model of applications of many phases.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ApplicationKind;
use crate::quantity::{Name, TimeSpan};

/// Applications of many phases, all alike: `like` a published one, of `phases` that are given, or `measured`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Applications {
    /// The published application that the phases resemble; its own are not published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<ApplicationKind>,
    /// Seed of the draws of its phases, which no other seed changes; 1 if not given. Goes with `like`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// How many phases are drawn; those of the published one if not given. Goes with `like`.
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
    /// Times that were measured, on each cluster that can run the application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1_000))]
    pub measured: Option<Vec<MeasuredTimes>>,
    /// So many phases in a row are taken as one, between which nobody can reschedule.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000))]
    pub merge: u32,
    /// How many applications are submitted.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub jobs: u32,
    /// Time between two submissions, the first of which is at time zero.
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

/// What all phases took on idle machines of a cluster; where machines are loaded, they take longer by the part of the
/// least available processor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MeasuredTimes {
    /// The cluster.
    pub cluster: Name,
    /// On how many of its machines.
    #[schemars(range(min = 1, max = 10_000))]
    pub machines: u32,
    /// The time of each phase, in order; as many in every row.
    #[schemars(length(min = 1, max = 1_000))]
    pub times: Vec<TimeSpan>,
}

/// A phase: on n machines with the available parts a of processors and b of links it takes computing / (a
/// n^speedup) + communicating / (b n^spread).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ApplicationPhase {
    /// How long it computes on one idle reference processor.
    pub computing: TimeSpan,
    /// What more machines do to that: 1 = perfect, 0 = nothing.
    #[serde(default = "perfect")]
    #[schemars(range(min = 0.0, max = 10.0))]
    pub speedup: f64,
    /// How long it would communicate on idle links if machines changed nothing; one machine alone does not.
    #[serde(default = "no_time")]
    pub communicating: TimeSpan,
    /// What more machines do to that: 0 = nothing; below zero, the more machines, the longer.
    #[serde(default = "none")]
    #[schemars(range(min = -10.0, max = 10.0))]
    pub spread: f64,
}
