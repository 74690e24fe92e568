//! `[[workload]]`: where jobs come from and what is done to them first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scenario::quantity::{EstimateRule, Name, Share, TimeSpan};

/// A stream of jobs from exactly one source: a log, a model, a list or other workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Workload {
    /// Name of the workload, unique among workloads.
    pub name: Name,
    /// Path of a log in Standard Workload Format (.swf, .swf.gz), from the scenario's folder;
    /// `$VARIABLE` stands for an environment variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// Model that generates the jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
    /// The jobs themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<Vec<InlineJob>>,
    /// Workloads whose jobs are merged by submission time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge: Option<Vec<Name>>,
    /// Parameters of the model "lublin-feitelson".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lublin: Option<Lublin>,
    /// How gaps and contradictions of a log are read.
    #[serde(default)]
    pub rules: Rules,
    /// What is done to the jobs, in this order.
    #[serde(rename = "step", default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
}

/// A model that generates jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Lublin and Feitelson 2003: sizes, run times and arrivals of rigid jobs.
    LublinFeitelson,
}

/// Parameters of the Lublin-Feitelson model; the others are those its authors published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Lublin {
    /// Jobs to generate.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub jobs: u64,
    /// Size of the machine in processors, the largest size a job may have.
    #[schemars(range(min = 2, max = 100_000_000))]
    pub processors: u32,
    /// Whether batch and interactive jobs are told apart.
    #[serde(default)]
    pub job_types: JobTypes,
    /// Offered load to reach on such a machine by stretching arrivals; without it, as the model has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 100))]
    pub load: Option<f64>,
    /// Logarithm (base 2) of the smallest parallel job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 30))]
    pub u_low: Option<f64>,
    /// Logarithm (base 2) of the size where small jobs end; without it, that of the machine minus 2.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 30))]
    pub u_med: Option<f64>,
    /// Share of parallel jobs that are small, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub u_prob: Option<f64>,
}

/// Whether the model tells batch and interactive jobs apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JobTypes {
    /// Two classes with their own sizes, run times and arrivals.
    #[default]
    BatchAndInteractive,
    /// One class for all.
    One,
}

/// A job written into the scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct InlineJob {
    /// When the job is submitted.
    pub submit: TimeSpan,
    /// Processors the job needs, all at once.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub processors: u32,
    /// How long the job really runs on a reference processor.
    pub run: TimeSpan,
    /// Requested time, the user's estimate and limit; without it, there is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested: Option<TimeSpan>,
    /// Earliest start the user allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<TimeSpan>,
    /// Latest completion the user wishes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<TimeSpan>,
    /// Priority key: smaller goes first where a provider orders by key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<i64>,
}

/// How gaps and contradictions of a log are read; the defaults are the canonical rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Rules {
    /// Where the number of processors is read.
    pub processors: MissingProcessors,
    /// What stands in for a requested time that is missing.
    pub missing_requested_time: MissingRequest,
    /// What becomes of jobs whose run time is zero or unknown.
    pub zero_run_time: ZeroRunTime,
    /// What becomes of jobs that ran past their requested time.
    pub over_requested_time: OverRequest,
}

/// Where the number of processors of a job is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MissingProcessors {
    /// What was requested (field 8), or what was allocated (field 5) where that is missing.
    #[default]
    RequestedElseAllocated,
    /// What was allocated (field 5), or what was requested (field 8) where that is missing.
    AllocatedElseRequested,
}

/// What stands in for a requested time that is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MissingRequest {
    /// The job's run time.
    #[default]
    RunTime,
    /// The job has no limit.
    None,
    /// The job is left out.
    Drop,
}

/// What becomes of jobs whose run time is zero or unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ZeroRunTime {
    /// They are left out.
    #[default]
    Drop,
    /// They run for one second.
    OneSecond,
}

/// What becomes of jobs that ran past their requested time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OverRequest {
    /// Nothing: the provider's overrun rule decides.
    #[default]
    Keep,
    /// Their requested time becomes their run time.
    RaiseRequest,
    /// Their run time becomes their requested time.
    CutRunTime,
}

/// Something done to the jobs of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "kind",
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case",
    deny_unknown_fields
)]
pub enum Step {
    /// Keeps the jobs submitted from `from` until before `until`; the first of that time becomes time 0.
    Window {
        /// Start of the window, from the log's first submission.
        #[serde(default = "zero")]
        from: TimeSpan,
        /// End of the window; without it, the end of the log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<TimeSpan>,
    },
    /// Keeps the jobs that meet every condition given.
    Filter {
        /// Fewest processors.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        processors_min: Option<u32>,
        /// Most processors.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        processors_max: Option<u32>,
        /// Shortest run time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run_min: Option<TimeSpan>,
        /// Longest run time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run_max: Option<TimeSpan>,
        /// Only jobs of these users of the log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        users: Option<Vec<i32>>,
        /// Only jobs of these queues of the log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queues: Option<Vec<i32>>,
        /// Only jobs of these partitions of the log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        partitions: Option<Vec<i32>>,
    },
    /// Keeps the first jobs.
    First {
        /// How many.
        #[schemars(range(min = 1))]
        jobs: u64,
    },
    /// Multiplies the times between submissions: 2 halves the load.
    Stretch {
        /// Factor, above 0.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e6))]
        factor: f64,
    },
    /// Submits more jobs in the same time: each job `factor` times on average.
    Densify {
        /// Factor, at least 1.
        #[schemars(range(min = 1, max = 1_000))]
        factor: f64,
    },
    /// Replaces the requested times.
    Estimates {
        /// How users estimate: trace, exact, factor:F, over:P% or uniform:F.
        rule: EstimateRule,
    },
    /// Gives jobs a deadline: submission + run time x a factor drawn evenly.
    Deadlines {
        /// Share of jobs that get one.
        #[serde(default = "all")]
        share: Share,
        /// Smallest factor.
        #[schemars(range(min = 1, max = 1e6))]
        factor_min: f64,
        /// Largest factor.
        #[schemars(range(min = 1, max = 1e6))]
        factor_max: f64,
    },
    /// Keeps one part of several, so that one log can feed several users.
    Split {
        /// How the jobs are dealt out.
        #[serde(default)]
        by: SplitBy,
        /// Which part, from 1.
        #[schemars(range(min = 1))]
        part: u32,
        /// Of how many parts.
        #[schemars(range(min = 1))]
        parts: u32,
    },
    /// Sets the priority key of each job.
    Key {
        /// What the key is.
        by: KeySource,
    },
}

fn zero() -> TimeSpan {
    TimeSpan::ZERO
}

fn all() -> Share {
    Share::ALL
}

/// How jobs are dealt out into parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SplitBy {
    /// One job to each part in turn.
    #[default]
    RoundRobin,
    /// Each job to any part.
    Random,
    /// All jobs of a user of the log to one part.
    User,
}

/// What the priority key of a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeySource {
    /// Its requested time.
    RequestedTime,
    /// Its processors.
    Processors,
    /// Its processors x its requested time.
    Area,
    /// The number of its queue in the log.
    Queue,
    /// The number of its user in the log.
    User,
    /// A random number.
    Random,
}
