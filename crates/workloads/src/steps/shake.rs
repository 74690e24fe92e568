//! Moves submissions slightly to earlier or later times.

use std::collections::BTreeMap;

use rand::RngExt;

use super::super::error::WorkloadError;
use super::super::{JobStream, StreamItem};
use super::draws::JobDraws;
use super::split::SplitBy;
use super::step_error;
use haggle_model::{Job, Span, Time};

/// Moves every submission by a uniformly drawn time, at most `most` to either side and not before time zero.
///
/// A result that changes much under small shifts depends more on the instants of a log than on the
/// policy (Tsafrir, Ouaknine and Feitelson 2007, input shaking). Consecutive jobs may change their
/// order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shake {
    /// Largest shift of a submission.
    pub most: Span,
    /// Jobs that move by the same time: all jobs of a user, or each job on its own.
    pub by: SplitBy,
}

impl Shake {
    pub(super) fn apply(
        self,
        jobs: JobStream,
        draws: JobDraws,
    ) -> Result<JobStream, WorkloadError> {
        if self.most < Span::TICK {
            return Err(step_error("shake", "most is not above 0"));
        }
        Ok(Box::new(Shaken {
            shake: self,
            jobs: Some(jobs),
            draws,
            ahead: BTreeMap::new(),
            read: 0,
        }))
    }
}

/// Passes a job on as soon as no later one can overtake it.
struct Shaken {
    shake: Shake,
    /// `None` once all jobs have been read.
    jobs: Option<JobStream>,
    draws: JobDraws,
    /// By submission, and in the order of reading.
    ahead: BTreeMap<(Time, u64), Job>,
    read: u64,
}

impl Shaken {
    /// Reads one more job. Returns the earliest possible submission of the jobs after it.
    fn read_next(&mut self) -> Result<Time, WorkloadError> {
        let Some(job) = self.jobs.as_mut().and_then(Iterator::next) else {
            self.jobs = None;
            return Ok(Time::FOREVER);
        };
        let mut job = job?;
        let Shake { most, by } = self.shake;
        // No job read later can be moved before this time, because submissions are in order.
        let earliest = (job.submit - most).max(Time::ZERO);
        let number = match by {
            SplitBy::User => job.origin.user.into(),
            SplitBy::Job => job.number,
        };
        let most = most.as_micros();
        let drawn = self.draws.of_number(number).random_range(-most..=most);
        let submit = (job.submit + Span::from_micros(drawn)).max(Time::ZERO);
        job.move_to(submit);
        // Jobs that meet at one instant keep their order.
        self.ahead.insert((submit, self.read), job);
        self.read += 1;
        Ok(earliest)
    }
}

impl Iterator for Shaken {
    type Item = StreamItem;

    fn next(&mut self) -> Option<StreamItem> {
        while self.jobs.is_some() {
            let earliest = match self.read_next() {
                Ok(earliest) => earliest,
                Err(error) => return Some(Err(error)),
            };
            if self.ahead.first_key_value().is_some_and(|(&(first, _), _)| first < earliest) {
                break;
            }
        }
        self.ahead.pop_first().map(|(_, job)| Ok(job))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Step;
    use super::super::testing::{after, numbers, refusal, submissions, submitted_at};
    use super::*;

    fn shaken(jobs: Vec<Job>, most: i64, by: SplitBy) -> Vec<Job> {
        after(&[Step::Shake(Shake { most: Span::from_secs(most), by })], jobs)
    }

    #[test]
    fn jobs_move_by_as_much_as_is_said_at_most_and_stay_in_order() {
        let before = submitted_at(&Vec::from_iter((0..500).map(|at| 20 * at)));
        let jobs = shaken(before.clone(), 100, SplitBy::Job);
        assert_eq!(jobs.len(), before.len());
        assert!(jobs.is_sorted_by_key(|job| job.submit));
        assert_ne!(numbers(&jobs), numbers(&before), "some have changed places");
        let moved = |job: &Job| (job.submit - before[job.number as usize - 1].submit).as_micros();
        assert!(jobs.iter().all(|job| moved(job).abs() <= 100_000_000));
        let (earlier, later) = (-60_000_000, 60_000_000);
        assert!(jobs.iter().any(|job| moved(job) < earlier));
        assert!(jobs.iter().any(|job| moved(job) > later));
    }

    #[test]
    fn the_jobs_of_a_user_move_together() {
        let mut before = submitted_at(&Vec::from_iter((10..40).map(|at| 1_000 * at)));
        for (job, user) in before.iter_mut().zip((0..3).cycle()) {
            job.origin.user = user;
        }
        let jobs = shaken(before.clone(), 5_000, SplitBy::User);
        let moved = |job: &Job| job.submit - before[job.number as usize - 1].submit;
        for user in 0..3 {
            let theirs = jobs.iter().filter(|job| job.origin.user == user);
            let by = Vec::from_iter(theirs.map(moved));
            assert!(by.windows(2).all(|pair| pair[0] == pair[1]), "{by:?}");
        }
        assert_ne!(submissions(&jobs), submissions(&before));
    }

    #[test]
    fn deadlines_move_along_and_nothing_is_before_time_zero() {
        let mut before = submitted_at(&[0, 1, 2, 3]);
        before.iter_mut().for_each(|job| job.deadline = Some(job.submit + Span::from_secs(60)));
        let jobs = shaken(before, 50, SplitBy::Job);
        assert!(jobs.iter().all(|job| job.submit >= Time::ZERO));
        let slack = |job: &Job| job.deadline.map(|deadline| deadline - job.submit);
        assert!(jobs.iter().all(|job| slack(job) == Some(Span::from_secs(60))));
    }

    #[test]
    fn no_move_at_all_is_refused() {
        let shake = Shake { most: Span::ZERO, by: SplitBy::Job };
        assert_eq!(refusal(Step::Shake(shake)), "step shake: most is not above 0");
    }
}
