//! The jobs that come, from all workloads.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use haggle_model::{ActorId, Job, JobId, Time};

use crate::error::RunError;
use crate::world::Arrivals;

/// The workloads as one, in order of (submission, place in the list).
pub(crate) struct Merged {
    sources: Vec<(ActorId, Arrivals)>,
    /// The next job of each source that has one.
    heads: BinaryHeap<Reverse<Head>>,
    count: u32,
}

/// Ordered by submission, then source: a source has one head at a time.
struct Head {
    submit: Time,
    source: usize,
    job: Job,
}

impl Merged {
    /// The workloads of a world, each opened as far as its first job.
    pub(crate) fn new(sources: Vec<(ActorId, Arrivals)>) -> Result<Merged, RunError> {
        let mut merged = Merged { heads: BinaryHeap::new(), count: 0, sources };
        for source in 0..merged.sources.len() {
            merged.pull(source, Time::ZERO)?;
        }
        Ok(merged)
    }

    fn pull(&mut self, source: usize, previous: Time) -> Result<(), RunError> {
        if let Some(job) = self.sources[source].1.next() {
            let job = job.map_err(RunError::Workload)?;
            if job.submit < previous {
                let Job { number, submit, .. } = job;
                return Err(RunError::OutOfOrder { number, submit, previous });
            }
            self.heads.push(Reverse(Head { submit: job.submit, source, job }));
        }
        Ok(())
    }

    /// Whether no job is left to come.
    pub(crate) fn is_over(&self) -> bool {
        self.heads.is_empty()
    }

    /// The next job, numbered, and the user it comes to.
    pub(crate) fn take_next(&mut self) -> Result<Option<(ActorId, Job)>, RunError> {
        let Some(Reverse(head)) = self.heads.pop() else {
            return Ok(None);
        };
        self.pull(head.source, head.submit)?;
        let id = JobId(self.count);
        self.count += 1;
        Ok(Some((self.sources[head.source].0, Job { id, ..head.job })))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Head) -> bool {
        (self.submit, self.source) == (other.submit, other.source)
    }
}

impl Eq for Head {}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Head) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Head {
    fn cmp(&self, other: &Head) -> Ordering {
        (self.submit, self.source).cmp(&(other.submit, other.source))
    }
}
