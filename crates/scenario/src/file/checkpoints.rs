//! `checkpoints` of a provider and of a grid: when jobs save their progress, and what that takes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use haggle_model::Span;

use super::MeanFailure;
use crate::quantity::{Bandwidth, Bytes, Name, Share, TimeOrShare, TimeSpan};

/// Checkpoints of jobs. At a provider, times are those of its processors. Requested times cover computing only; the
/// time for checkpoints is planned in addition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Checkpoints {
    /// The rule for the time between checkpoints.
    #[serde(default)]
    pub rule: CheckpointRule,
    /// I: computing time before each checkpoint; for mean-failure, the initial interval. No checkpoint is written where
    /// a job ends. Not for young, daly and rules of one's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<TimeSpan>,
    /// I_min of mean-failure: a time, or a share of the job's execution time (at a provider, of its requested time).
    #[serde(default = "one_percent")]
    pub interval_min: TimeOrShare,
    /// Time by which mean-failure changes the interval: a time, or a share of the job's execution time; without it,
    /// `interval`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<TimeOrShare>,
    /// α of mean-failure: share of the execution time at which the interval stops growing.
    #[serde(default = "whole")]
    pub limit: Share,
    /// t_i of mean-failure: time of the first checkpoint after a job has started.
    #[serde(default = "two_minutes")]
    pub first: TimeSpan,
    /// Most checkpoints in a row that last-failure omits; without it, any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omit_max: Option<u32>,
    /// Mean time between failures for young and daly; without it, the value observed by the resource, or by every node
    /// of the job. Rules of one's own at a provider may use it. On a grid, of a resource. At a provider, of a node,
    /// which has the `processors-per-node` of its `[[failures]]`; a job on n nodes is assumed to fail n times as often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtbf: Option<TimeSpan>,
    /// C: time for which a checkpoint stops the job; without it, no time at a provider, and on a grid 0.1 s to 5 s by
    /// the job's length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<TimeSpan>,
    /// R0: duration of the recovery after the checkpoint has arrived.
    #[serde(default = "no_time")]
    pub recovery: TimeSpan,
    /// Checkpoint data of each processor of a rigid job. Writing takes size × processors / bandwidth in addition to
    /// `cost`; reading takes the same time in addition to `recovery`. On a grid, `data` of a workload gives the size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Bandwidth between all processors of a rigid job together and the storage of checkpoints; jobs that transfer at
    /// the same time do not slow each other. Needed with `size`, unless there is a `store`. On a grid, `network`
    /// carries checkpoints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Bandwidth>,
    /// Storage of the checkpoints of rigid jobs: one of the `stores` of `[network]`, another provider or a
    /// metascheduler. Checkpoints travel over the network in both directions; with its `sharing`, transfers slow each
    /// other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<Name>,
    /// Estimate of the mean time between failures of a resource of a grid, or of a node of a provider.
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
    /// The interval is always the same.
    #[default]
    Periodic,
    /// As periodic, but a checkpoint is omitted if the resource, or every node of the job, has not failed for longer
    /// than the job takes.
    LastFailure,
    /// The interval grows by a step if the job should end before the next failure, and shrinks otherwise.
    MeanFailure,
    /// First-order optimum √(2·C·M), with M the mean time between failures (Young 1974).
    Young,
    /// Higher-order optimum (Daly 2006).
    Daly,
    /// A rule of one's own, by its name; a program of one's own supplies it (docs/own-rules.md).
    Own(Name),
}

impl CheckpointRule {
    /// True if the rule computes the interval from the mean time between failures.
    pub fn is_optimum(&self) -> bool {
        matches!(self, CheckpointRule::Young | CheckpointRule::Daly)
    }

    /// True if the scenario sets the interval.
    pub fn has_interval(&self) -> bool {
        use CheckpointRule::{LastFailure, MeanFailure, Periodic};
        matches!(self, Periodic | LastFailure | MeanFailure)
    }

    /// True if the rule uses the failures observed by a resource or a node.
    pub fn is_adaptive(&self) -> bool {
        matches!(self, CheckpointRule::LastFailure | CheckpointRule::MeanFailure)
    }
}
