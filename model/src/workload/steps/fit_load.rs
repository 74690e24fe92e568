//! A workload squeezed until it offers a given load.

use super::super::JobStream;
use super::super::error::WorkloadError;
use super::whole::of_all;
use super::window::move_to;
use super::{check_factor, step_error};
use crate::time::MICROS_PER_SECOND;
use crate::{Job, Span, Time};

/// Multiplies submissions by one factor and keeps those before `length`, such
/// that the work kept, processors x run time, is `load` of what `processors` can
/// do in `length`.
///
/// Jobs are taken in order until the load is reached; one that would take it too
/// far is left out, as there often is a single job worth more than the tolerance.
/// The factor is the largest under which the last job taken is submitted before
/// the end. Submissions become whole seconds, rounded down; deadlines and ready
/// times move along. All jobs that come are held in memory: cut what is endless
/// before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FitLoad {
    /// How long the workload takes afterwards.
    pub length: Span,
    /// Processors that could do the work, in those of the reference speed.
    pub processors: u64,
    /// Wanted load; 0.7 = 70 %.
    pub load: f64,
    /// How far from it the load may be; 0.002 = 0.2 percentage points.
    pub tolerance: f64,
}

impl FitLoad {
    /// How far the load may be from what was asked for where nothing is said.
    pub const TOLERANCE: f64 = 0.002;

    pub(super) fn apply(self, jobs: JobStream) -> Result<JobStream, WorkloadError> {
        check_factor("fit_load", "load", self.load)?;
        check_factor("fit_load", "tolerance", self.tolerance)?;
        if self.length < Span::from_secs(1) {
            return Err(step_error("fit_load", "length is below 1 s"));
        }
        if self.processors == 0 {
            return Err(step_error("fit_load", "processors is 0"));
        }
        Ok(of_all(jobs, move |jobs| self.fit(jobs)))
    }

    fn fit(self, mut jobs: Vec<Job>) -> Result<Vec<Job>, WorkloadError> {
        let capacity = self.processors as f64 * self.length.as_micros() as f64;
        let (least, most) = (self.load - self.tolerance, self.load + self.tolerance);
        let mut work = 0_i128;
        let come = jobs.len();
        jobs.retain(|job| {
            if work as f64 / capacity >= least {
                return false;
            }
            let run_time = job.run_time.reveal_to_machine();
            let more = work + i128::from(job.processors) * i128::from(run_time.as_micros());
            let fits = more as f64 / capacity <= most;
            if fits {
                work = more;
            }
            fits
        });
        let load = work as f64 / capacity;
        if load < least {
            let problem = format!(
                "too few jobs: {} of {come} make a load of {load:.4}, expected {}; lower `load` \
                 or `length`, raise `tolerance`, or take more jobs",
                jobs.len(),
                self.load
            );
            return Err(step_error("fit_load", problem));
        }
        let factor = self.factor(&jobs);
        for job in &mut jobs {
            let submit = factor.times(job.submit);
            move_to(job, submit);
        }
        Ok(jobs)
    }

    /// The largest factor under which the last of `jobs` is submitted before the end.
    fn factor(self, jobs: &[Job]) -> Factor {
        let end = Time::ZERO + self.length;
        let last = jobs.last().map_or(Time::ZERO, |job| job.submit);
        let (mut low, mut high) = (Factor(0), Factor(i128::MAX >> 64));
        while high.0 - low.0 > 1 {
            let middle = Factor(low.0 + (high.0 - low.0) / 2);
            if middle.times(last) < end {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }
}

/// A factor in parts of 2^32: exact, and the same on every machine.
#[derive(Clone, Copy)]
struct Factor(i128);

impl Factor {
    /// The time multiplied, in whole seconds, rounded down.
    fn times(self, time: Time) -> Time {
        let micros = (i128::from(time.as_micros()) * self.0) >> 32;
        let seconds = micros.div_euclid(i128::from(MICROS_PER_SECOND));
        let forever = i128::from(Time::FOREVER.as_micros() / MICROS_PER_SECOND);
        Time::from_secs(seconds.min(forever) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Step;
    use super::super::testing::{after, numbers, refusal, submissions, submitted_at};
    use super::*;
    use crate::workload::steps::Draws;

    /// 600 jobs of 60 s on one processor, one a minute.
    fn a_minute_each() -> Vec<Job> {
        submitted_at(&(0..600).map(|number| number * 60).collect::<Vec<i64>>())
    }

    fn fit(load: f64, tolerance: f64) -> FitLoad {
        FitLoad { length: Span::from_secs(6_000), processors: 2, load, tolerance }
    }

    #[test]
    fn jobs_are_taken_until_the_load_is_right() {
        for load in [0.1, 0.5, 0.7, 1.0, 2.0, 2.9] {
            let jobs = after(&[Step::FitLoad(fit(load, 0.006))], a_minute_each());
            // Each job is 0.5 % of two processors for 6000 s.
            let found = jobs.len() as f64 * 0.005;
            assert!((found - load).abs() <= 0.006, "{found} for {load}");
            assert_eq!(numbers(&jobs), (1..=jobs.len() as i64).collect::<Vec<_>>());
            let submissions = submissions(&jobs);
            assert!(submissions.is_sorted());
            assert!(submissions.last().is_some_and(|&last| 5_000 < last && last < 6_000));
        }
    }

    fn error(step: FitLoad, jobs: Vec<Job>) -> String {
        let jobs: JobStream = Box::new(jobs.into_iter().map(Ok));
        let mut fitted =
            Step::FitLoad(step).apply(jobs, &Draws::new(1, "test"), 0).expect("a good step");
        let error = fitted.next().and_then(Result::err).expect("an error");
        assert!(fitted.next().is_none());
        error.to_string()
    }

    #[test]
    fn too_few_jobs_are_an_error() {
        assert_eq!(
            error(fit(3.1, 0.002), a_minute_each()),
            "step fit-load: too few jobs: 600 of 600 make a load of 3.0000, expected 3.1; lower `load` or `length`, \
             raise `tolerance`, or take more jobs"
        );
        assert_eq!(
            error(fit(0.7, 0.002), Vec::new()),
            "step fit-load: too few jobs: 0 of 0 make a load of 0.0000, expected 0.7; lower `load` or `length`, \
             raise `tolerance`, or take more jobs"
        );
    }

    #[test]
    fn a_job_too_large_for_what_is_missing_is_left_out() {
        let mut jobs = a_minute_each();
        // 50 % of the machine for 6000 s, when 20 % are missing.
        jobs[100].run_time = crate::job::HiddenRunTime::new(Span::from_secs(6_000));
        let kept = after(&[Step::FitLoad(fit(0.7, 0.002))], jobs);
        assert_eq!(kept.len(), 140);
        assert!(kept.iter().all(|job| job.number != 101));
    }

    #[test]
    fn what_cannot_be_fitted_is_refused() {
        assert!(refusal(Step::FitLoad(fit(0.0, 0.1))).starts_with("step fit-load: load is 0"));
        assert!(refusal(Step::FitLoad(fit(0.7, -1.0))).contains("tolerance is -1"));
        let step = FitLoad { processors: 0, ..fit(0.7, 0.1) };
        assert_eq!(refusal(Step::FitLoad(step)), "step fit-load: processors is 0");
        let step = FitLoad { length: Span::TICK, ..fit(0.7, 0.1) };
        assert_eq!(refusal(Step::FitLoad(step)), "step fit-load: length is below 1 s");
    }
}
