//! `checkpoints` of a provider and of a grid: when jobs save their progress, and what that takes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use haggle_model::Span;

use super::MeanFailure;
use crate::quantity::{Bandwidth, Bytes, Name, Share, TimeOrShare, TimeSpan};

/// When jobs save their progress. At a provider times are those of its processors, and requested times are for computing:
/// what checkpoints take is planned for on top.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Checkpoints {
    /// The rule for the time between checkpoints.
    #[serde(default)]
    pub rule: CheckpointRule,
    /// For how long a job computes before each checkpoint, I; for mean-failure the interval from which it sets out. None is written
    /// where a job ends. Not for young, daly and rules of one's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<TimeSpan>,
    /// I_min of mean-failure: a time, or a share of the job's execution time; at a provider, of its requested time.
    #[serde(default = "one_percent")]
    pub interval_min: TimeOrShare,
    /// By how much mean-failure changes the interval: a time, or a share of the job's execution
    /// time; without it, `interval`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<TimeOrShare>,
    /// α of mean-failure: the interval grows no more once it is this share of the execution time.
    #[serde(default = "whole")]
    pub limit: Share,
    /// t_i of mean-failure: time of the first checkpoint after a job has started.
    #[serde(default = "two_minutes")]
    pub first: TimeSpan,
    /// At most so many checkpoints are omitted in a row with last-failure; without it, any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omit_max: Option<u32>,
    /// Mean time between failures for young and daly; without it, as the resource, or every node of the job, has seen it. Rules of one's own at a provider
    /// may go by it. On a grid, of a resource. At a provider, of a node, which has the `processors-per-node` of its `[[failures]]`;
    /// a job on n nodes is taken to fail n times as often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtbf: Option<TimeSpan>,
    /// C: for how long a checkpoint stops the job; without it, no time at a provider, and on a grid 0.1 s to 5 s by the job's length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<TimeSpan>,
    /// R0: how long recovery takes once the checkpoint is there.
    #[serde(default = "no_time")]
    pub recovery: TimeSpan,
    /// What each processor of a rigid job has in a checkpoint. Writing it takes size × processors / bandwidth beside `cost`, and reading
    /// it as long beside `recovery`. On a grid, `data` of a workload says how much is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// How fast a rigid job writes to the storage of checkpoints and reads from it, with all of its processors together; jobs that do so at
    /// one time do not slow each other. Needed with `size`, unless there is a `store`. On a grid, `network` carries checkpoints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Bandwidth>,
    /// Where rigid jobs keep their checkpoints: one of the `stores` of `[network]`, another provider or a metascheduler. They go
    /// there over the network and come back over it; with its `sharing`, transfers slow each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<Name>,
    /// How a resource of a grid, or a node of a provider, estimates its mean time between failures.
    #[serde(default)]
    pub mean_failure: MeanFailure,
}

fn one_percent() -> TimeOrShare {
    "1%".parse().expect("a share")
}

fn whole() -> Share {
    Share::ALL
}

fn two_minutes() -> TimeSpan {
    TimeSpan(Span::from_secs(120))
}

fn no_time() -> TimeSpan {
    TimeSpan::ZERO
}

/// The rule for the time between checkpoints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckpointRule {
    /// Always the same interval.
    #[default]
    Periodic,
    /// The same interval, but omitted where the resource, or every node of the job, has not failed for longer than the job takes.
    LastFailure,
    /// Longer by a step where the job should end before the next failure, shorter where not.
    MeanFailure,
    /// First-order optimum √(2·C·M), with M the mean time between failures (Young 1974).
    Young,
    /// Higher-order optimum (Daly 2006).
    Daly,
    /// A rule of one's own, by its name; a program of one's own brings it (docs/own-rules.md).
    Own(Name),
}

impl CheckpointRule {
    /// Whether it computes the interval from the mean time between failures.
    pub fn is_optimum(&self) -> bool {
        matches!(self, CheckpointRule::Young | CheckpointRule::Daly)
    }

    /// Whether an interval is for the scenario to say.
    pub fn has_interval(&self) -> bool {
        use CheckpointRule::{LastFailure, MeanFailure, Periodic};
        matches!(self, Periodic | LastFailure | MeanFailure)
    }

    /// Whether it goes by what a resource or a node has seen of failures.
    pub fn is_adaptive(&self) -> bool {
        matches!(self, CheckpointRule::LastFailure | CheckpointRule::MeanFailure)
    }
}
