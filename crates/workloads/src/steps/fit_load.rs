//! Compresses a workload until it offers a given load.

use super::super::JobStream;
use super::super::error::WorkloadError;
use super::whole::of_all;
use super::{check_factor, step_error};
use haggle_model::time::MICROS_PER_SECOND;
use haggle_model::{Job, Span, Time};

/// Multiplies submissions by one factor and keeps those before `length`. The factor is chosen so that
/// the work kept, processors x run time, is `load` of the capacity of `processors` in `length`.
///
/// Jobs are taken in order until the load is reached. [`Overshoot`] determines the treatment of a job
/// that exceeds it, and how the gaps are changed. Submissions become whole seconds, rounded down;
/// deadlines and ready times move along. All jobs are held in memory, so an endless source must be
/// limited before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FitLoad {
    /// Length of the workload afterwards.
    pub length: Span,
    /// Processors that could do the work, counted as reference processors.
    pub processors: u64,
    /// Wanted load; 0.7 = 70 %.
    pub load: f64,
    /// Largest deviation of the load; 0.002 = 0.2 percentage points.
    pub tolerance: f64,
    /// Treatment of a job that exceeds the load.
    pub overshoot: Overshoot,
}

haggle_model::words! {
    /// Treatment of a job that makes the load too large.
    #[derive(Default)]
    pub enum Overshoot {
        // A single job is often worth more than the tolerance.
        /// It is left out, and smaller jobs behind it are taken; gaps shrink until the last one is submitted before the
        /// end.
        #[default]
        LeaveOut = "leave-out",
        /// It is the last job, so that no job between others is left out. The gap to the next job belongs to the
        /// period, which begins with the first job.
        Take = "take",
    }
}

impl FitLoad {
    /// Largest deviation of the load by default.
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
        Ok(of_all(jobs, move |jobs| match self.overshoot {
            Overshoot::LeaveOut => self.leave_out(jobs),
            Overshoot::Take => self.take(jobs),
        }))
    }

    /// The jobs that make the load, without those that exceed it.
    fn leave_out(self, mut jobs: Vec<Job>) -> Result<Vec<Job>, WorkloadError> {
        let (least, most) = (self.load - self.tolerance, self.load + self.tolerance);
        // Processors x microseconds of a large machine may exceed 64 bits.
        let mut work = 0_i128;
        let come = jobs.len();
        jobs.retain(|job| {
            // The load is reached, so that no later job is taken.
            if self.part(work) >= least {
                return false;
            }
            let more = work + work_of(job);
            let fits = self.part(more) <= most;
            if fits {
                work = more;
            }
            fits
        });
        if self.part(work) < least {
            return Err(self.too_few(jobs.len(), come, work));
        }
        // The last job that is kept determines the factor.
        let factor = self.factor(&jobs);
        for job in &mut jobs {
            let submit = factor.times(job.submit);
            job.move_to(submit);
        }
        Ok(jobs)
    }

    /// The first jobs that reach the load, spread by the submission of the next one.
    fn take(self, mut jobs: Vec<Job>) -> Result<Vec<Job>, WorkloadError> {
        let (mut work, mut taken) = (0_i128, 0);
        while taken < jobs.len() && self.part(work) < self.load {
            work += work_of(&jobs[taken]);
            taken += 1;
        }
        if self.part(work) < self.load {
            return Err(self.too_few(taken, jobs.len(), work));
        }
        // The sum 0.3 + 0.03 is less than 0.33 in floats.
        if self.part(work) > self.load + self.tolerance + 1e-12 {
            let problem = format!(
                "the first {taken} jobs make a load of {:.4}, which is more than `load` {} and `tolerance` {}: job \
                 {} takes it there; raise `tolerance`, begin elsewhere, or leave such jobs out (`overshoot`)",
                self.part(work),
                self.load,
                self.tolerance,
                jobs[taken - 1].number
            );
            return Err(step_error("fit_load", problem));
        }
        let Some(next) = jobs.get(taken) else {
            let problem = format!(
                "all {taken} jobs are taken, so the time up to the next job is unknown; take more \
                 jobs"
            );
            return Err(step_error("fit_load", problem));
        };
        let (first, next) = (jobs[0].submit, next.submit);
        if next <= first {
            let problem = format!(
                "the first {taken} jobs and the next are submitted at one instant, which no factor spreads"
            );
            return Err(step_error("fit_load", problem));
        }
        jobs.truncate(taken);
        let micros = |span: Span| i128::from(span.as_micros());
        for job in &mut jobs {
            // Multiplied before the division and in 128 bits, so that rounding happens once.
            let moved = micros(job.submit - first) * micros(self.length) / micros(next - first);
            job.move_to(Time::from_secs(moved as i64 / MICROS_PER_SECOND));
        }
        Ok(jobs)
    }

    /// The load of `work`, in processors x microseconds.
    fn part(self, work: i128) -> f64 {
        work as f64 / (self.processors as f64 * self.length.as_micros() as f64)
    }

    fn too_few(self, taken: usize, come: usize, work: i128) -> WorkloadError {
        let problem = format!(
            "too few jobs: {taken} of {come} make a load of {:.4}, expected {}; lower `load` \
             or `length`, raise `tolerance`, or take more jobs",
            self.part(work),
            self.load
        );
        step_error("fit_load", problem)
    }

    /// The largest factor with which the last of `jobs` is submitted before the end.
    fn factor(self, jobs: &[Job]) -> Factor {
        let end = Time::ZERO + self.length;
        let last = jobs.last().map_or(Time::ZERO, |job| job.submit);
        // The largest factor whose product with any time fits 128 bits.
        let (mut low, mut high) = (Factor(0), Factor(i128::MAX >> 64));
        // Submissions grow with the factor, so it is found by halving: `low` ends before the end, `high` does
        // not.
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

/// Processors x run time in microseconds.
fn work_of(job: &Job) -> i128 {
    let run_time = job.run_time.reveal_to_machine();
    i128::from(job.processors) * i128::from(run_time.as_micros())
}

/// A factor in parts of 2^32: exact, and the same on every machine.
#[derive(Clone, Copy)]
struct Factor(i128);

impl Factor {
    /// `time` multiplied, in whole seconds, rounded down.
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
    use crate::steps::Draws;

    /// 600 jobs of 60 s on one processor, one a minute.
    fn a_minute_each() -> Vec<Job> {
        submitted_at(&(0..600).map(|number| number * 60).collect::<Vec<i64>>())
    }

    fn fit(load: f64, tolerance: f64) -> FitLoad {
        let length = Span::from_secs(6_000);
        FitLoad { length, processors: 2, load, tolerance, overshoot: Overshoot::LeaveOut }
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
        // 50 % of the machine for 6000 s, while 20 % are missing.
        jobs[100].run_time = haggle_model::job::HiddenRunTime::new(Span::from_secs(6_000));
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

    /// 10 processors for 100 s, by the jobs that reach the load.
    fn taking(load: f64, tolerance: f64) -> FitLoad {
        let length = Span::from_secs(100);
        FitLoad { length, processors: 10, load, tolerance, overshoot: Overshoot::Take }
    }

    /// Jobs of (submission, processors, run time).
    fn worth(jobs: &[(i64, u32, i64)]) -> Vec<Job> {
        let mut made = submitted_at(&jobs.iter().map(|job| job.0).collect::<Vec<i64>>());
        for (made, &(_, processors, run_time)) in made.iter_mut().zip(jobs) {
            made.processors = processors;
            made.run_time = haggle_model::job::HiddenRunTime::new(Span::from_secs(run_time));
        }
        made
    }

    /// Works of 80, 100, 90, 60 and one more job.
    const FIVE: [(i64, u32, i64); 5] =
        [(1_000, 4, 20), (1_010, 2, 50), (1_040, 5, 18), (1_060, 3, 20), (1_120, 1, 1)];

    #[test]
    fn the_job_that_reaches_the_load_is_the_last_and_the_next_one_says_how_far_they_spread() {
        // 80, 180, 270, 330 of 1,000: the fourth takes it over 30 %. 120 s become 100 s.
        let jobs = after(&[Step::FitLoad(taking(0.3, 0.03))], worth(&FIVE));
        assert_eq!(numbers(&jobs), [1, 2, 3, 4]);
        assert_eq!(submissions(&jobs), [0, 8, 33, 50]);
        // A job that reaches the load exactly is the last one, too.
        let jobs = after(&[Step::FitLoad(taking(0.27, 0.002))], worth(&FIVE));
        assert_eq!(submissions(&jobs), [0, 16, 66]);
    }

    #[test]
    fn deadlines_move_along_when_the_last_one_is_taken() {
        let mut jobs = worth(&FIVE);
        jobs[2].deadline = Some(Time::from_secs(1_140));
        let jobs = after(&[Step::FitLoad(taking(0.3, 0.03))], jobs);
        assert_eq!(jobs[2].deadline, Some(Time::from_secs(133)));
    }

    #[test]
    fn where_the_load_cannot_be_reached_or_is_passed_by_far_it_is_said_why() {
        assert_eq!(
            error(taking(0.3, 0.02), worth(&FIVE)),
            "step fit-load: the first 4 jobs make a load of 0.3300, which is more than `load` 0.3 and `tolerance` 0.02: \
             job 4 takes it there; raise `tolerance`, begin elsewhere, or leave such jobs out (`overshoot`)"
        );
        assert_eq!(
            error(taking(0.4, 0.1), worth(&FIVE)),
            "step fit-load: too few jobs: 5 of 5 make a load of 0.3310, expected 0.4; lower `load` or `length`, \
             raise `tolerance`, or take more jobs"
        );
        assert_eq!(
            error(taking(0.3, 0.03), worth(&FIVE[..4])),
            "step fit-load: all 4 jobs are taken, so the time up to the next job is unknown; take \
             more jobs"
        );
        let at_once = [(7, 4, 100), (7, 1, 1)];
        assert_eq!(
            error(taking(0.3, 0.2), worth(&at_once)),
            "step fit-load: the first 1 jobs and the next are submitted at one instant, which no factor spreads"
        );
    }
}
