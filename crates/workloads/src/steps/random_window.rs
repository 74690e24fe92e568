//! A period of a workload that is drawn by the seed.

use rand::RngExt;

use super::super::JobStream;
use super::super::error::WorkloadError;
use super::draws::JobDraws;
use super::step_error;
use super::whole::of_all;
use super::window::end_of;
use haggle_model::{Job, Span, Time};

/// Keeps the submissions of a period of `length`, which begins at a drawn instant; this becomes time
/// zero. The instant is `from` or any number of steps of `every` after it, such that the window ends by
/// `until`. All instants are equally likely.
///
/// All jobs are held in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomWindow {
    /// Length of the window.
    pub length: Span,
    /// Earliest start.
    pub from: Time,
    /// Latest end; `None` = the last submission.
    pub until: Option<Time>,
    /// Distance between possible starts. With a week, all jobs keep their time of week.
    pub every: Span,
}

impl RandomWindow {
    pub(super) fn apply(
        self,
        jobs: JobStream,
        mut draws: JobDraws,
    ) -> Result<JobStream, WorkloadError> {
        for (name, span) in [("length", self.length), ("every", self.every)] {
            if span < Span::TICK {
                return Err(step_error("random_window", format!("{name} is not above 0")));
            }
        }
        Ok(of_all(jobs, move |jobs| {
            let Some(last) = jobs.last().map(|job| job.submit) else { return Ok(jobs) };
            // A window that ends behind the last submission would partly be empty.
            let end = self.until.unwrap_or(last).min(last);
            let room = (end - self.from - self.length).as_micros();
            if room < 0 {
                let RandomWindow { length, from, .. } = self;
                let problem = format!(
                    "no window of {length} s fits between {from} s and {end} s: shorten `length`, or \
                     take more jobs"
                );
                return Err(step_error("random_window", problem));
            }
            // One draw for the whole workload, so any fixed number will do.
            let step = draws.of_number(0).random_range(0..=room / self.every.as_micros());
            let from = self.from + Span::from_micros(step * self.every.as_micros());
            Ok(cut(jobs, from, end_of(from, Some(self.length))))
        }))
    }
}

/// Jobs submitted from `from` on and before `end`; `from` becomes time zero.
fn cut(jobs: Vec<Job>, from: Time, end: Time) -> Vec<Job> {
    let inside = jobs.into_iter().filter(|job| from <= job.submit && job.submit < end);
    let moved = inside.map(|mut job| {
        let submit = Time::ZERO + (job.submit - from);
        job.move_to(submit);
        job
    });
    moved.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::testing::{numbers, refusal, submissions, submitted_at};
    use super::super::{Draws, Step};
    use super::*;

    const WINDOW: RandomWindow = RandomWindow {
        length: Span::from_secs(30),
        from: Time::ZERO,
        until: None,
        every: Span::from_secs(10),
    };

    fn windows(window: RandomWindow) -> BTreeSet<Vec<i64>> {
        let of_seed = |seed| {
            let jobs = submitted_at(&[0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50]);
            let draws = Draws::new(seed, "log");
            let stream: JobStream = Box::new(jobs.into_iter().map(Ok));
            let step = Step::RandomWindow(window);
            let jobs = step.apply(stream, &draws, 0).expect("a good step");
            let jobs = Vec::from_iter(jobs.map(|job| job.expect("there is room")));
            assert_eq!(submissions(&jobs), [0, 5, 10, 15, 20, 25]);
            numbers(&jobs)
        };
        (0..100).map(of_seed).collect()
    }

    #[test]
    fn every_window_that_fits_comes_up_and_no_other() {
        let found = windows(WINDOW);
        let expected = [1, 3, 5].map(|first| Vec::from_iter(first..first + 6));
        assert_eq!(found, BTreeSet::from(expected));
        let bound = RandomWindow { until: Some(Time::from_secs(40)), ..WINDOW };
        assert_eq!(windows(bound).len(), 2);
        let later = RandomWindow { from: Time::from_secs(20), ..WINDOW };
        assert_eq!(windows(later).len(), 1);
    }

    #[test]
    fn a_window_that_does_not_fit_is_refused() {
        let none = RandomWindow { length: Span::ZERO, ..WINDOW };
        assert_eq!(refusal(Step::RandomWindow(none)), "step random-window: length is not above 0");
        let long = Step::RandomWindow(RandomWindow { length: Span::from_secs(51), ..WINDOW });
        let stream: JobStream = Box::new(submitted_at(&[0, 50]).into_iter().map(Ok));
        let mut jobs = long.apply(stream, &Draws::new(1, "log"), 0).expect("a good step");
        let problem = jobs.next().expect("something comes").expect_err("and it is none");
        assert_eq!(
            problem.to_string(),
            "step random-window: no window of 51 s fits between 0 s and 50 s: shorten `length`, or \
             take more jobs"
        );
    }
}
