//! `[workload.workflows]`: parameters of the model of workflows whose tasks report their progress.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NegativeValues, WorkflowShape};
use crate::quantity::{Share, TimeSpan};

/// Workflows for a grid or for providers. Each has a root, parallel tasks that need it, and a final task that needs
/// them all (`width`, `work`). Otherwise it has the `shape` of an application, or is read from one of `files`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Workflows {
    /// Number of workflows submitted.
    #[schemars(range(min = 1, max = 100_000))]
    pub count: u32,
    /// Days from time zero, which is midnight; a workflow arrives on any of them.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 36_500))]
    pub days: u32,
    /// Relative probability of each of the 24 hours of a day; without it, all are equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(equal = 24), inner(range(min = 0.0, max = 1e9)))]
    pub hours: Option<Vec<f64>>,
    /// Fewest parallel tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000))]
    pub width: Option<u32>,
    /// Most parallel tasks, each number equally likely; without it, `width`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000))]
    pub width_max: Option<u32>,
    /// Mean run time of a parallel task on a reference processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<TimeSpan>,
    /// Largest deviation from that, as a share of it, to either side; any time between is equally likely. Without it,
    /// zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Share>,
    /// Run time of the root and of the final task, a part of `work`; without it, half of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<Share>,
    /// Application whose shape the workflows have; each workflow is drawn independently.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<WorkflowShape>,
    /// Tasks of each workflow of that shape; some shapes have up to three fewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub tasks: Option<u32>,
    /// Paths of workflows in WfFormat or DAX, from the scenario's folder, as of a log; the workflows are these in turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub files: Option<Vec<String>>,
    /// Treatment of negative sizes and run times in files, which some generators draw; without it, they are an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negative_values: Option<NegativeValues>,
    /// Speed, in MIPS, of the machine on which tasks of that shape, or of the files, have their run times; without it,
    /// 1: the reference processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 1e6))]
    pub recorded_mips: Option<f64>,
    /// Fewest processors that a task needs at once; without it, 1. Only where providers run tasks, and not for tasks in
    /// files, which have their own number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub processors: Option<u32>,
    /// Most processors that a task needs at once, each number equally likely; without it, `processors`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub processors_max: Option<u32>,
    /// Reports of tasks on their progress, on a grid; without it, there are none, and the lengths of tasks are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<TaskProgress>,
}

fn one() -> u32 {
    1
}

fn nothing() -> Share {
    Share::ZERO
}

/// Reports of tasks on their progress (Chtepen 2011, sections 5.6.1 and 6.5.1).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TaskProgress {
    /// Error of the estimated length of a task.
    pub estimates: TaskEstimates,
    /// With "under": meaning of the drawn length.
    #[serde(default)]
    pub under: Underestimate,
    /// Least amplitude A, in lengths of the task.
    #[serde(default = "one_and_a_half")]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub amplitude: f64,
    /// Largest amplitude A, in lengths of the task.
    #[serde(default = "two")]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub amplitude_max: f64,
    /// With estimates that are too large or swing: quantity whose largest value is the amplitude.
    #[serde(default)]
    pub amplitude_of: AmplitudeOf,
    /// Least estimate, as a part of the length.
    #[serde(default = "ten_percent")]
    pub floor: Share,
    /// Largest decay b of the error, which is drawn from 0 to this: after each per cent of the task the error is
    /// e^-b of what it was.
    #[serde(default = "one_of_e")]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub decay: f64,
    /// Largest noise of a report, a part of the amplitude of the error.
    #[serde(default = "nothing")]
    pub noise: Share,
    /// Progress of a task between two reports, a part of its length.
    #[serde(default = "half_percent")]
    pub step: Share,
    /// True if users state at submission the estimated length of a task before it has begun.
    #[serde(default = "yes")]
    pub a_priori: bool,
}

fn one_and_a_half() -> f64 {
    1.5
}

fn two() -> f64 {
    2.0
}

fn ten_percent() -> Share {
    "10%".parse().expect("a share")
}

fn one_of_e() -> f64 {
    1.0
}

fn half_percent() -> Share {
    "0.5%".parse().expect("a share")
}

fn yes() -> bool {
    true
}

/// Error of the estimated lengths of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TaskEstimates {
    /// The estimate is too large, and falls.
    Over,
    /// The estimate is too small, and rises.
    Under,
    /// The estimate swings about the true length, less and less.
    Fluctuating,
    /// Each task has one of these three, drawn.
    Mixed,
}

/// Quantity whose largest value is the amplitude, for estimates that are too large or swing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AmplitudeOf {
    /// The estimate: the error is at most A less the length. In chapter 5 the largest estimate equals A.
    #[default]
    Estimate,
    /// The error: the estimate is at most A more than the length, as the formulas of both chapters are printed.
    Error,
}

/// Meaning of the drawn length of a task whose estimate is too small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Underestimate {
    /// The assumed length: the task is `amplitude` times as long, and its estimate begins anywhere below (chapter 5).
    #[default]
    Longer,
    /// The true length: the estimate begins at a tenth of it or above (chapter 6).
    Less,
}
