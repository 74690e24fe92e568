//! Known failures of a resource, or of a node of a provider.

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

haggle_model::words! {
    /// Estimate of the mean time between failures of a resource.
    #[derive(Default)]
    pub enum MeanFailure {
        /// Time since the start over the number of failures, or over one.
        #[default]
        Elapsed = "elapsed",
        /// Mean of the intervals that a failure has ended; infinite before the first failure.
        Closed = "closed",
    }
}

/// Known failures of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureHistory {
    start: Time,
    last: Time,
    failures: u32,
}

impl FailureHistory {
    /// No failure since `start`.
    pub const fn new(start: Time) -> FailureHistory {
        FailureHistory { start, last: start, failures: 0 }
    }

    /// The resource has failed.
    pub fn failed(&mut self, now: Time) {
        self.last = now;
        self.failures += 1;
    }

    /// The known failures of both together, such as nodes under one job. Both have the same start.
    pub fn joined(self, other: FailureHistory) -> FailureHistory {
        FailureHistory {
            start: self.start,
            last: self.last.max(other.last),
            failures: self.failures.saturating_add(other.failures),
        }
    }

    /// LF: the last failure, or the start.
    pub const fn last_failure(&self) -> Time {
        self.last
    }

    /// Failures so far.
    pub const fn failures(&self) -> u32 {
        self.failures
    }

    /// MF: the mean time between failures, rounded down to a microsecond.
    pub fn mean_failure(&self, now: Time, estimate: MeanFailure) -> Span {
        let failures = i64::from(self.failures);
        match (estimate, failures) {
            (MeanFailure::Closed, 0) => Span::FOREVER,
            (MeanFailure::Closed, _) => {
                Span::from_micros((self.last - self.start).as_micros() / failures)
            }
            (MeanFailure::Elapsed, _) => {
                // Jobs of a start state have started before the history begins.
                let elapsed = now.max(self.start) - self.start;
                Span::from_micros(elapsed.as_micros() / failures.max(1))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use haggle_testing::secs;

    use super::*;

    #[test]
    fn the_mean_failure_interval_counts_or_leaves_out_what_still_runs() {
        let mut history = FailureHistory::new(Time::from_secs(100));
        let now = Time::from_secs(1_000);
        assert_eq!(history.mean_failure(now, MeanFailure::Elapsed), secs(900));
        assert_eq!(history.mean_failure(now, MeanFailure::Closed), Span::FOREVER);
        assert_eq!(history.mean_failure(Time::ZERO, MeanFailure::Elapsed), Span::ZERO);
        history.failed(Time::from_secs(300));
        history.failed(Time::from_secs(500));
        assert_eq!(history.last_failure(), Time::from_secs(500));
        assert_eq!(history.mean_failure(now, MeanFailure::Elapsed), secs(450));
        assert_eq!(history.mean_failure(now, MeanFailure::Closed), secs(200));
    }
}
