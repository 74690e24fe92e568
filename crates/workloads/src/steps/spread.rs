//! Spreads a workload over a period of given length.

use super::super::JobStream;
use super::super::error::WorkloadError;
use super::step_error;
use super::whole::of_all;
use haggle_model::time::MICROS_PER_SECOND;
use haggle_model::{Job, Span, Time};

/// Maps submissions linearly onto `[0, length)`: t becomes
/// floor((t - first) x `length` / (last - first + 1 s)), in whole seconds.
///
/// Deadlines and ready times move along. All jobs are held in memory, because the last submission
/// counts; a long log should be cut before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Length of the workload afterwards.
    pub length: Span,
}

impl Spread {
    pub(super) fn apply(self, jobs: JobStream) -> Result<JobStream, WorkloadError> {
        if self.length <= Span::ZERO {
            return Err(step_error("spread", "length is not above 0"));
        }
        Ok(of_all(jobs, move |jobs| Ok(self.spread(jobs))))
    }

    fn spread(self, mut jobs: Vec<Job>) -> Vec<Job> {
        let (Some(first), Some(last)) = (jobs.first(), jobs.last()) else {
            return jobs;
        };
        let first = first.submit;
        let micros = |span: Span| i128::from(span.as_micros());
        // One second more than the distance, so that the last job stays before the end.
        let whole = micros(last.submit - first) + i128::from(MICROS_PER_SECOND);
        for job in &mut jobs {
            let moved = micros(job.submit - first) * micros(self.length) / whole;
            let second = moved as i64 / MICROS_PER_SECOND;
            job.move_to(Time::from_secs(second));
        }
        jobs
    }
}

#[cfg(test)]
mod tests {
    use super::super::Step;
    use super::super::testing::{after, refusal, submissions, submitted_at};
    use super::*;

    fn spread(seconds: &[i64], length: i64) -> Vec<i64> {
        let length = Span::from_secs(length);
        submissions(&after(&[Step::Spread(Spread { length })], submitted_at(seconds)))
    }

    #[test]
    fn submissions_fill_the_length_and_stay_below_it() {
        assert_eq!(spread(&[100, 104, 109], 100), [0, 40, 90]);
        assert_eq!(spread(&[100, 104, 109], 5), [0, 2, 4]);
        assert_eq!(spread(&[7, 7, 7], 60), [0, 0, 0]);
        assert!(spread(&[], 60).is_empty());
    }

    #[test]
    fn deadlines_move_along() {
        let mut jobs = submitted_at(&[100, 104]);
        jobs[1].deadline = Some(Time::from_secs(204));
        let length = Span::from_secs(50);
        let jobs = after(&[Step::Spread(Spread { length })], jobs);
        assert_eq!(jobs[1].submit, Time::from_secs(40));
        assert_eq!(jobs[1].deadline, Some(Time::from_secs(140)));
    }

    #[test]
    fn no_length_is_refused() {
        let length = Span::ZERO;
        let refused = refusal(Step::Spread(Spread { length }));
        assert_eq!(refused, "step spread: length is not above 0");
    }
}
