//! Changes the offered load without changing the jobs.

use super::super::error::WorkloadError;
use super::super::{JobStream, StreamItem};
use super::window::end_of;
use super::{check_factor, step_error};
use haggle_model::{Span, Time};

/// Multiplies all gaps between submissions by `factor`. 0.5 doubles the load and halves the length of the workload.
///
/// Distances from the first submission are rounded down to the microsecond,
/// so jobs stay in order and rounding does not add up.
#[derive(Clone, Debug, PartialEq)]
pub struct ScaleGaps {
    /// Factor of the gaps.
    pub factor: f64,
}

/// Fills a window of fixed length with `load` times as many jobs of the log. The period from `from` to
/// `from + load x length` is compressed into `length`, and `from` becomes time zero.
///
/// Unlike [`ScaleGaps`], it keeps the observed time fixed, so loads can be compared over the same span.
/// A load below 1 takes a shorter part of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct FillWindow {
    /// Start of the window in the log.
    pub from: Time,
    /// Length of the window after filling.
    pub length: Span,
    /// Jobs in the window relative to the untouched log.
    pub load: f64,
}

impl ScaleGaps {
    pub(super) fn apply(&self, jobs: JobStream) -> Result<JobStream, WorkloadError> {
        check_factor("scale_gaps", "factor", self.factor)?;
        let factor = self.factor;
        let mut first = None;
        Ok(Box::new(jobs.map(move |job: StreamItem| {
            let mut job = job?;
            let first = *first.get_or_insert(job.submit);
            let submit = first + scaled_down(job.submit - first, factor);
            job.move_to(submit);
            Ok(job)
        })))
    }
}

impl FillWindow {
    pub(super) fn apply(&self, jobs: JobStream) -> Result<JobStream, WorkloadError> {
        check_factor("fill_window", "load", self.load)?;
        if self.length <= Span::ZERO {
            return Err(step_error("fill_window", "length is not above 0"));
        }
        let from = self.from;
        let factor = 1.0 / self.load;
        let end = end_of(Time::ZERO, Some(self.length));
        let filled = jobs
            // An error ends the skipping, so that it is passed on.
            .skip_while(move |job| job.as_ref().is_ok_and(|job| job.submit < from))
            .map(move |job: StreamItem| {
                let mut job = job?;
                let submit = Time::ZERO + scaled_down(job.submit - from, factor);
                job.move_to(submit);
                Ok(job)
            })
            .take_while(move |job: &StreamItem| job.as_ref().map_or(true, |job| job.submit < end));
        Ok(Box::new(filled))
    }
}

/// Rounds down, so that rounding moves no job past the end of its window.
fn scaled_down(span: Span, factor: f64) -> Span {
    let micros = (span.as_micros() as f64 * factor).floor() as i64;
    Span::from_micros(micros.min(Span::FOREVER.as_micros()))
}

#[cfg(test)]
mod tests {
    use super::super::Step;
    use super::super::testing::{after, numbers, refusal, submissions, submitted_at};
    use super::*;

    #[test]
    fn gaps_shrink_from_the_first_submission_on() {
        let jobs = submitted_at(&[100, 110, 130]);
        let halved = after(&[Step::ScaleGaps(ScaleGaps { factor: 0.5 })], jobs.clone());
        assert_eq!(submissions(&halved), [100, 105, 115]);
        let third = after(&[Step::ScaleGaps(ScaleGaps { factor: 1.0 / 3.0 })], jobs);
        assert_eq!(third[1].submit.as_micros(), 103_333_333);
    }

    #[test]
    fn a_fixed_window_takes_more_jobs_of_the_log() {
        let jobs = submitted_at(&[0, 10, 20, 30, 40, 50]);
        let fill = |load| {
            let fill = FillWindow { from: Time::from_secs(10), length: Span::from_secs(20), load };
            after(&[Step::FillWindow(fill)], jobs.clone())
        };
        assert_eq!(submissions(&fill(1.0)), [0, 10]);
        assert_eq!(submissions(&fill(2.0)), [0, 5, 10, 15]);
        assert_eq!(numbers(&fill(2.0)), [2, 3, 4, 5]);
        assert_eq!(submissions(&fill(0.5)), [0]);
    }

    /// Four jobs make a third of the capacity of ten processors in 100 s, and the next one arrives 120
    /// s after the first.
    #[test]
    fn a_window_as_long_as_the_jobs_that_make_a_load_keeps_all_of_them() {
        let described =
            [(1_000, 4, 20), (1_010, 2, 50), (1_040, 5, 18), (1_060, 3, 20), (1_120, 1, 1)];
        let jobs = described.iter().zip(0..).map(|(&(submit, processors, run_time), id)| {
            haggle_model::Job::new(
                id,
                Time::from_secs(submit),
                processors,
                Span::from_secs(run_time),
            )
        });
        let length = Span::from_secs(100);
        let fill = FillWindow { from: Time::from_secs(1_000), length, load: 120.0 / 100.0 };
        let filled = after(&[Step::FillWindow(fill)], jobs.collect());
        assert_eq!(submissions(&filled), [0, 8, 33, 50]);
        let work = filled.iter().map(|job| {
            i64::from(job.processors) * job.run_time.reveal_to_machine().as_micros() / 1_000_000
        });
        assert_eq!(work.sum::<i64>(), 330, "33 % of 10 processors x 100 s");
    }

    #[test]
    fn a_factor_that_is_none_is_refused() {
        for factor in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let refused = refusal(Step::ScaleGaps(ScaleGaps { factor }));
            assert!(refused.ends_with("expected a finite number above 0"), "{refused}");
        }
    }
}
