//! Errors of failure models.

use haggle_model::Time;
use haggle_model::law::LawError;

/// Error in a list of outages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutageListError {
    /// An outage ends before or when it starts.
    #[error(
        "outage {number} is restored at {restore} s, which is not after its failure at {fail} s"
    )]
    Empty {
        /// Its index in the list, from 1.
        number: usize,
        /// Its failure.
        fail: Time,
        /// Its restoration.
        restore: Time,
    },
    /// An outage starts before the previous one is over.
    #[error(
        "outage {number} starts at {fail} s, when the one before it is not over (restored at {restored} s)"
    )]
    Overlap {
        /// Its index in the list, from 1.
        number: usize,
        /// Its failure.
        fail: Time,
        /// Restoration of the previous outage.
        restored: Time,
    },
}

/// Error in the description of failures; every message names the resource or the correlation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FailureError {
    /// The law of a time to failure or to repair is invalid.
    #[error("resource \"{resource}\": time {which}: {problem}")]
    Law {
        /// Name of the resource.
        resource: String,
        /// `up` or `down`.
        which: &'static str,
        /// The error of the law.
        problem: LawError,
    },
    /// A law can give times below zero, or has no positive mean.
    #[error(
        "resource \"{resource}\": time {which}: the {law} law has values below 0 or no finite mean \
         above 0; take constant, uniform, choice, exponential, lognormal, weibull or gamma with \
         values from 0 on and a finite mean above 0"
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
        /// The given value.
        factor: f64,
    },
    /// The probability of a correlation is out of range.
    #[error("correlation \"{correlation}\": probability is {probability}, expected 0 to 1")]
    Probability {
        /// Name of the correlation.
        correlation: String,
        /// The given value.
        probability: f64,
    },
    /// The mean delay of a correlation is negative.
    #[error("correlation \"{correlation}\": mean delay is {delay} s, expected at least 0")]
    Delay {
        /// Name of the correlation.
        correlation: String,
        /// The given value.
        delay: haggle_model::Span,
    },
    /// A correlation names a resource that does not exist.
    #[error("correlation \"{correlation}\": there is no resource {resource}, only 0 to {last}", last = resources.saturating_sub(1))]
    NoResource {
        /// Name of the correlation.
        correlation: String,
        /// The given value.
        resource: usize,
        /// Number of resources.
        resources: usize,
    },
    /// A correlation names a resource twice.
    #[error(
        "correlation \"{correlation}\": resource {resource} is listed twice; a resource is in one group at most"
    )]
    Twice {
        /// Name of the correlation.
        correlation: String,
        /// The given value.
        resource: usize,
    },
}
