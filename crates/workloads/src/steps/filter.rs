//! Keeps the jobs within bounds.

use super::super::JobStream;
use super::super::error::WorkloadError;
use super::step_error;
use haggle_model::{Job, Span};

/// Keeps the jobs that are within all bounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Processors.
    pub processors: Bounds<u32>,
    /// True run time.
    pub run_time: Bounds<Span>,
    /// Requested time; a job without a limit counts as longer than every bound.
    pub requested_time: Bounds<Span>,
    /// User numbers; empty = all users.
    pub users: Vec<i32>,
    /// Group numbers; empty = all groups.
    pub groups: Vec<i32>,
    /// Queue numbers; empty = all queues.
    pub queues: Vec<i32>,
    /// Partition numbers; empty = all partitions.
    pub partitions: Vec<i32>,
}

/// A range, both ends included; `None` = open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds<T> {
    /// Smallest value kept.
    pub min: Option<T>,
    /// Largest value kept.
    pub max: Option<T>,
}

impl<T> Default for Bounds<T> {
    fn default() -> Bounds<T> {
        Bounds { min: None, max: None }
    }
}

impl<T: PartialOrd> Bounds<T> {
    fn contain(&self, value: &T) -> bool {
        self.min.as_ref().is_none_or(|min| value >= min)
            && self.max.as_ref().is_none_or(|max| value <= max)
    }

    fn check(&self, what: &str) -> Result<(), WorkloadError> {
        match (&self.min, &self.max) {
            (Some(min), Some(max)) if min > max => {
                Err(step_error("filter", format!("{what}: min is above max")))
            }
            _ => Ok(()),
        }
    }
}

impl Filter {
    pub(super) fn apply(&self, jobs: JobStream) -> Result<JobStream, WorkloadError> {
        self.processors.check("processors")?;
        self.run_time.check("run time")?;
        self.requested_time.check("requested time")?;
        let filter = self.clone();
        // Errors must pass; otherwise a broken log would look like a short one.
        Ok(Box::new(jobs.filter(move |job| job.as_ref().map_or(true, |job| filter.keeps(job)))))
    }

    fn keeps(&self, job: &Job) -> bool {
        self.processors.contain(&job.processors)
            && self.run_time.contain(&job.run_time.reveal_to_machine())
            && self.requested_time.contain(&job.requested_time.unwrap_or(Span::FOREVER))
            && is_one_of(job.origin.user, &self.users)
            && is_one_of(job.origin.group, &self.groups)
            && is_one_of(job.origin.queue, &self.queues)
            && is_one_of(job.origin.partition, &self.partitions)
    }
}

/// True if `number` is kept; an empty list keeps all.
fn is_one_of(number: i32, kept: &[i32]) -> bool {
    kept.is_empty() || kept.contains(&number)
}

#[cfg(test)]
mod tests {
    use super::super::Step;
    use super::super::testing::{after, numbers, refusal, submitted_at};
    use super::*;
    use haggle_model::job::HiddenRunTime;

    fn check(filter: Filter, expected: &[i64]) {
        let mut jobs = submitted_at(&[0, 1, 2, 3]);
        for (job, size) in jobs.iter_mut().zip(1..) {
            job.processors = size;
            job.run_time = HiddenRunTime::new(Span::from_secs(i64::from(size) * 10));
            job.requested_time = Some(Span::from_secs(i64::from(size) * 100));
            job.origin.user = size as i32 % 2;
            job.origin.queue = size as i32;
            job.origin.group = 10 * size as i32;
            job.origin.partition = size as i32 / 2;
        }
        jobs[3].requested_time = None;
        assert_eq!(numbers(&after(&[Step::Filter(filter)], jobs)), expected);
    }

    fn between<T>(min: T, max: T) -> Bounds<T> {
        Bounds { min: Some(min), max: Some(max) }
    }

    #[test]
    fn bounds_include_their_ends() {
        let processors = between(2, 3);
        check(Filter { processors, ..Filter::default() }, &[2, 3]);
        let run_time = between(Span::from_secs(20), Span::from_secs(30));
        check(Filter { run_time, ..Filter::default() }, &[2, 3]);
    }

    #[test]
    fn a_job_without_limit_is_longer_than_every_bound() {
        let requested_time = between(Span::from_secs(200), Span::from_secs(9999));
        check(Filter { requested_time, ..Filter::default() }, &[2, 3]);
        let requested_time = Bounds { min: Some(Span::from_secs(300)), max: None };
        check(Filter { requested_time, ..Filter::default() }, &[3, 4]);
    }

    #[test]
    fn users_are_kept_by_number() {
        check(Filter { users: vec![0], ..Filter::default() }, &[2, 4]);
        check(Filter::default(), &[1, 2, 3, 4]);
    }

    #[test]
    fn groups_queues_and_partitions_are_kept_by_number_too() {
        check(Filter { queues: vec![1, 3], ..Filter::default() }, &[1, 3]);
        check(Filter { groups: vec![20, 7], ..Filter::default() }, &[2]);
        check(Filter { partitions: vec![1], ..Filter::default() }, &[2, 3]);
        check(Filter { partitions: vec![1], queues: vec![3, 4], ..Filter::default() }, &[3]);
    }

    #[test]
    fn crossed_bounds_are_refused() {
        let processors = between(3, 2);
        let refused = refusal(Step::Filter(Filter { processors, ..Filter::default() }));
        assert_eq!(refused, "step filter: processors: min is above max");
    }
}
