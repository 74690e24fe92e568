//! Errors of workloads.

use std::io;
use std::sync::Arc;

use super::logs::LogError;
use super::swf::SwfError;
use haggle_model::Time;
use haggle_model::law::LawError;

/// Error of a workload; every message names the log, step or parameter.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// A log could not be read.
    #[error(transparent)]
    Swf(#[from] SwfError),
    /// A log in another format could not be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A log has no job line.
    #[error("{log}: log holds no jobs")]
    NoJobs {
        /// Name of the log in messages.
        log: Arc<str>,
    },
    /// The rules dropped every job of a log.
    #[error("{log}: log holds no jobs that can be used: the rules dropped all {lines} lines")]
    NothingKept {
        /// Name of the log in messages.
        log: Arc<str>,
        /// Job lines read.
        lines: u64,
    },
    /// A log is not in order of submission and the rules do not sort it.
    #[error(
        "{log}:{line}: job {number} was submitted at {submit} s, before the job above it ({previous} s); set the order rule to sort"
    )]
    OutOfOrder {
        /// Name of the log in messages.
        log: Arc<str>,
        /// Line of the job.
        line: u64,
        /// Number of the job.
        number: i64,
        /// Its submission.
        submit: Time,
        /// Submission of the job above it.
        previous: Time,
    },
    /// Jobs that are sorted cannot wait in a temporary file.
    #[error("a temporary file for jobs: {0}; is there room in the folder that TMPDIR names?")]
    Temporary(io::Error),
    /// Jobs given in memory are not in order of submission.
    #[error("workload \"{workload}\": job {number} is submitted before the job ahead of it")]
    JobsOutOfOrder {
        /// Name of the workload.
        workload: String,
        /// Number of the job.
        number: i64,
    },
    /// A parameter of a step is invalid.
    #[error("step {}: {problem}", step.replace('_', "-"))]
    Step {
        /// Name of the step.
        step: &'static str,
        /// The problem, and the expected value.
        problem: String,
    },
    /// The law of a step is invalid.
    #[error("step {}: {problem}", step.replace('_', "-"))]
    StepLaw {
        /// Name of the step.
        step: &'static str,
        /// The error of the law.
        problem: LawError,
    },
    /// A parameter of the Lublin-Feitelson model is out of range.
    #[error("lublin-feitelson: {parameter} is {value}, expected {expected}")]
    Lublin {
        /// Name of the parameter.
        parameter: String,
        /// The given value.
        value: String,
        /// The allowed values.
        expected: &'static str,
    },
    /// A parameter of the model of independent jobs is out of range.
    #[error("independent-jobs: {parameter} {problem}")]
    IndependentJobs {
        /// Name of the parameter.
        parameter: &'static str,
        /// The problem, and the expected value.
        problem: String,
    },
    /// A parameter of a synthetic month is out of range.
    #[error("synthetic-month: {parameter} {problem}")]
    SyntheticMonth {
        /// Name of the parameter.
        parameter: &'static str,
        /// The problem, and the expected value.
        problem: String,
    },
    /// More jobs than can be numbered.
    #[error("workload has more than {max} jobs", max = u32::MAX)]
    TooManyJobs,
}
