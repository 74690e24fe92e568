//! Why failures cannot be had.

use crate::Time;
use crate::workload::LawError;

/// Why a list of outages is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutageListError {
    /// An outage ends before or when it starts.
    #[error(
        "outage {number} is restored at {restore} s, which is not after its failure at {fail} s"
    )]
    Empty {
        /// Its place in the list, from 1.
        number: usize,
        /// Its failure.
        fail: Time,
        /// Its restoration.
        restore: Time,
    },
    /// An outage starts before the one ahead of it is over.
    #[error(
        "outage {number} starts at {fail} s, when the one before it is not over (restored at {restored} s)"
    )]
    Overlap {
        /// Its place in the list, from 1.
        number: usize,
        /// Its failure.
        fail: Time,
        /// Restoration of the outage ahead of it.
        restored: Time,
    },
}

/// Why failures cannot be had; every message names the resource or the correlation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FailureError {
    /// A time to failure or to repair follows no law.
    #[error("resource \"{resource}\": time {which}: {problem}")]
    Law {
        /// Name of the resource.
        resource: String,
        /// `up` or `down`.
        which: &'static str,
        /// What is wrong with the law.
        problem: LawError,
    },
    /// A law can give times below zero, or has no mean above zero.
    #[error(
        "resource \"{resource}\": time {which}: the {law} law has values below 0 or no finite mean above 0; take constant, uniform, choice, exponential, lognormal, weibull or gamma with such parameters"
    )]
    NotATime {
        /// Name of the resource.
        resource: String,
        /// `up` or `down`.
        which: &'static str,
        /// Name of the law.
        law: &'static str,
    },
    /// The factor on the mean time to failure is out of range.
    #[error(
        "resource \"{resource}\": factor on the time to failure is {factor}, expected a finite number above 0"
    )]
    Factor {
        /// Name of the resource.
        resource: String,
        /// What was given.
        factor: f64,
    },
    /// The probability of a correlation is out of range.
    #[error("correlation \"{correlation}\": probability is {probability}, expected 0 to 1")]
    Probability {
        /// Name of the correlation.
        correlation: String,
        /// What was given.
        probability: f64,
    },
    /// The mean delay of a correlation is negative.
    #[error("correlation \"{correlation}\": mean delay is {delay} s, expected at least 0")]
    Delay {
        /// Name of the correlation.
        correlation: String,
        /// What was given.
        delay: crate::Span,
    },
    /// A correlation names a resource that does not exist.
    #[error("correlation \"{correlation}\": there is no resource {resource}, only 0 to {last}", last = resources.saturating_sub(1))]
    NoResource {
        /// Name of the correlation.
        correlation: String,
        /// What was given.
        resource: usize,
        /// How many resources there are.
        resources: usize,
    },
    /// A correlation names a resource twice.
    #[error(
        "correlation \"{correlation}\": resource {resource} is listed twice; a resource is in one group at most"
    )]
    Twice {
        /// Name of the correlation.
        correlation: String,
        /// What was given.
        resource: usize,
    },
}
