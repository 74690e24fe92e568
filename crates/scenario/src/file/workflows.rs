//! `[workload.workflows]`: parameters of the model of workflows whose tasks report their progress.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NegativeValues, WorkflowShape};
use crate::quantity::{Share, TimeSpan};

/// Workflows for a grid or for providers. Each is a root, tasks side by side that need it, and a final task that needs
/// them all (`width`, `work`); has the `shape` of an application; or is read from one of `files`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Workflows {
    /// How many workflows are submitted.
    #[schemars(range(min = 1, max = 100_000))]
    pub count: u32,
    /// Days from time zero, which is midnight, on any of which a workflow comes.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 36_500))]
    pub days: u32,
    /// How likely each of the 24 hours of a day is, relative to the others; without it, all are alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(equal = 24), inner(range(min = 0.0, max = 1e9)))]
    pub hours: Option<Vec<f64>>,
    /// How many tasks are side by side, at least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000))]
    pub width: Option<u32>,
    /// How many at most, each number as likely as any other; without it, `width`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000))]
    pub width_max: Option<u32>,
    /// How long a task side by side runs on a reference processor, in the mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<TimeSpan>,
    /// By what part of that it is shorter or longer at most; any time between is as likely. Without it, not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Share>,
    /// How long the root and the final task run, a part of `work`; without it, half of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<Share>,
    /// The application whose shape they have; each workflow is drawn for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<WorkflowShape>,
    /// Tasks of each workflow of that shape; some shapes have up to three fewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub tasks: Option<u32>,
    /// Paths of workflows in WfFormat or DAX, from the scenario's folder, as of a log; the workflows are
    /// these in turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub files: Option<Vec<String>>,
    /// Sizes and run times in files that are negative, as some generators draw them; without it, they are an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negative_values: Option<NegativeValues>,
    /// Speed of the machine on which tasks of that shape, or of the files, take their run times, MIPS;
    /// without it, 1: the reference processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 1e6))]
    pub recorded_mips: Option<f64>,
    /// Processors that a task needs at once, at least; without it, 1. Only where providers run tasks, and
    /// not of those in files, which say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub processors: Option<u32>,
    /// How many at most, each number as likely as any other; without it, `processors`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub processors_max: Option<u32>,
    /// What tasks say of their progress, on a grid; without it, nothing, and their lengths are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<TaskProgress>,
}

fn one() -> u32 {
    1
}

fn nothing() -> Share {
    Share::ZERO
}

/// What tasks say of their progress (Chtepen 2011, sections 5.6.1 and 6.5.1).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TaskProgress {
    /// How what a task takes for its length differs from what it is.
    pub estimates: TaskEstimates,
    /// With "under": what the drawn length is.
    #[serde(default)]
    pub under: Underestimate,
    /// Least amplitude A, in lengths of the task.
    #[serde(default = "one_and_a_half")]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub amplitude: f64,
    /// Largest one.
    #[serde(default = "two")]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub amplitude_max: f64,
    /// With estimates that are too large or swing: what the amplitude is the largest value of.
    #[serde(default)]
    pub amplitude_of: AmplitudeOf,
    /// No estimate is below this part of the length.
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
    /// How much more of a task is done from one report to the next, a part of its length.
    #[serde(default = "half_percent")]
    pub step: Share,
    /// Whether users say at submission what a task takes for its length before it has begun.
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

/// How what tasks take for their lengths differs from what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TaskEstimates {
    /// It is too large, and falls.
    Over,
    /// It is too small, and rises.
    Under,
    /// It swings about the true length, less and less.
    Fluctuating,
    /// Each task has one of these three, drawn.
    Mixed,
}

/// What the amplitude of estimates that are too large or swing is the largest value of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AmplitudeOf {
    /// The estimate: the error is at most A less the length. In chapter 5 the largest estimate equals A.
    #[default]
    Estimate,
    /// The error: the estimate is at most A more than the length, as the formulas of both chapters are printed.
    Error,
}

/// What the drawn length of a task is that underestimates itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Underestimate {
    /// What it is thought to be: the task is `amplitude` times as long, and its estimate begins
    /// anywhere below (chapter 5).
    #[default]
    Longer,
    /// What it is: its estimate begins at a tenth of that or above (chapter 6).
    Less,
}
