//! Merges several streams into one, and numbers jobs at the end of every pipe.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::error::WorkloadError;
use super::super::{JobStream, StreamItem};
use haggle_model::{Job, JobId, Time};

/// Merges streams, each in order of submission, into one in order of (submission, index of the stream,
/// line), and numbers the jobs densely.
///
/// An error from any stream is the last item.
pub fn merge(streams: Vec<JobStream>) -> JobStream {
    number_jobs(Box::new(Merge {
        heads: BinaryHeap::with_capacity(streams.len()),
        waiting: streams.iter().map(|_| None).collect(),
        streams,
        state: State::Fresh,
    }))
}

/// Gives jobs dense ids from 0 in the order of the stream.
pub fn number_jobs(mut jobs: JobStream) -> JobStream {
    let mut next = Some(0_u32);
    let mut failed = false;
    Box::new(std::iter::from_fn(move || {
        if failed {
            return None;
        }
        let numbered = jobs.next()?.and_then(|mut job| {
            let id = next.ok_or(WorkloadError::TooManyJobs)?;
            // No id follows the largest one; only a further job makes this an error.
            next = id.checked_add(1);
            job.id = JobId(id);
            Ok(job)
        });
        failed = numbered.is_err();
        Some(numbered)
    }))
}

struct Merge {
    streams: Vec<JobStream>,
    /// The next job of each stream.
    waiting: Vec<Option<Job>>,
    /// Submissions of the waiting jobs, earliest first, then by stream.
    heads: BinaryHeap<Reverse<(Time, usize)>>,
    state: State,
}

#[derive(PartialEq)]
enum State {
    Fresh,
    Running,
    Failed,
}

impl Merge {
    fn pull(&mut self, stream: usize) -> Result<(), WorkloadError> {
        if let Some(job) = self.streams[stream].next().transpose()? {
            // At one instant the stream that is listed first goes first. Only one job of a stream waits here,
            // so the order within a stream stays.
            self.heads.push(Reverse((job.submit, stream)));
            self.waiting[stream] = Some(job);
        }
        Ok(())
    }

    fn next_job(&mut self) -> Result<Option<Job>, WorkloadError> {
        if self.state == State::Fresh {
            self.state = State::Running;
            for stream in 0..self.streams.len() {
                self.pull(stream)?;
            }
        }
        let Some(Reverse((_, stream))) = self.heads.pop() else {
            return Ok(None);
        };
        let job = self.waiting[stream].take();
        self.pull(stream)?;
        Ok(job)
    }
}

impl Iterator for Merge {
    type Item = StreamItem;

    fn next(&mut self) -> Option<StreamItem> {
        if self.state == State::Failed {
            return None;
        }
        let next = self.next_job();
        if next.is_err() {
            self.state = State::Failed;
        }
        next.transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::submitted_at;
    use super::*;

    fn stream(times: &[i64], workload: u16) -> JobStream {
        let mut jobs = submitted_at(times);
        for job in &mut jobs {
            job.workload = workload;
        }
        Box::new(jobs.into_iter().map(Ok))
    }

    #[test]
    fn equal_submissions_go_by_stream_and_then_by_line() {
        let merged = merge(vec![stream(&[0, 5, 5], 7), stream(&[0, 3, 5], 8), stream(&[], 9)]);
        let found: Vec<(u32, u16, i64)> = merged
            .map(|job| job.expect("no errors here"))
            .map(|job| (job.id.0, job.workload, job.number))
            .collect();
        let expected = [(0, 7, 1), (1, 8, 1), (2, 8, 2), (3, 7, 2), (4, 7, 3), (5, 8, 3)];
        assert_eq!(found, expected);
    }

    #[test]
    fn an_error_ends_the_merge() {
        let broken: JobStream = Box::new(std::iter::once(Err(WorkloadError::TooManyJobs)));
        let mut merged = merge(vec![stream(&[0, 1], 0), broken]);
        assert!(merged.next().is_some_and(|job| job.is_err()));
        assert!(merged.next().is_none());
    }

    #[test]
    fn no_streams_give_no_jobs() {
        assert_eq!(merge(Vec::new()).count(), 0);
    }
}
