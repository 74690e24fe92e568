//! The arriving jobs of all workloads.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use haggle_model::{ActorId, Job, JobId, Time};

use crate::error::RunError;
use crate::world::{Arrivals, OutsideError};

/// Number of jobs of a source that are read at a time. Reading and running alternately, job by job,
/// would evict each other's code from the processor's instruction cache.
const AT_A_TIME: usize = 32;

/// The merged workloads, in order of (submission, index in the list).
pub(crate) struct Merged {
    sources: Vec<Source>,
    /// Arrival of the next job of each source that has one: (submission, index in the list).
    heads: BinaryHeap<Reverse<(Time, usize)>>,
    count: u32,
}

/// The jobs of one user.
struct Source {
    user: ActorId,
    jobs: Arrivals,
    /// Jobs read ahead. Each is allocated once, because moving jobs is expensive.
    ahead: VecDeque<Result<Arc<Job>, OutsideError>>,
    /// No job is read after the first one that arrives at or after this.
    horizon: Time,
}

impl Merged {
    /// The workloads of a world up to its `horizon`; the first jobs of each are read.
    pub(crate) fn new(
        sources: Vec<(ActorId, Arrivals)>,
        horizon: Option<Time>,
    ) -> Result<Merged, RunError> {
        let horizon = horizon.unwrap_or(Time::FOREVER);
        let open = |(user, jobs)| Source { user, jobs, ahead: VecDeque::new(), horizon };
        let sources = Vec::from_iter(sources.into_iter().map(open));
        let mut merged = Merged { heads: BinaryHeap::new(), count: 0, sources };
        for source in 0..merged.sources.len() {
            merged.line_up(source, Time::ZERO)?;
        }
        Ok(merged)
    }

    /// Inserts the next job of a source among those of the others.
    fn line_up(&mut self, source: usize, previous: Time) -> Result<(), RunError> {
        match self.sources[source].first() {
            Some(Ok(job)) if job.submit >= previous => {
                self.heads.push(Reverse((job.submit, source)));
                Ok(())
            }
            Some(Ok(job)) => {
                let Job { number, submit, .. } = **job;
                Err(RunError::OutOfOrder { number, submit, previous })
            }
            // Taken, because the error itself is returned.
            Some(Err(_)) => self.sources[source].take().map(|_| ()),
            None => Ok(()),
        }
    }

    /// True if no further job arrives.
    pub(crate) fn is_over(&self) -> bool {
        self.heads.is_empty()
    }

    /// The next job, numbered, and the user at whom it arrives.
    pub(crate) fn take_next(&mut self) -> Result<Option<(ActorId, Arc<Job>)>, RunError> {
        let Some(Reverse((submit, source))) = self.heads.pop() else { return Ok(None) };
        // The source was lined up with this job, so it has one.
        let Some(mut job) = self.sources[source].take()? else { return Ok(None) };
        self.line_up(source, submit)?;
        Arc::get_mut(&mut job).expect("nobody else has seen it").id = JobId(self.count);
        self.count += 1;
        Ok(Some((self.sources[source].user, job)))
    }
}

impl Source {
    fn first(&mut self) -> Option<&Result<Arc<Job>, OutsideError>> {
        if self.ahead.is_empty() {
            self.read();
        }
        self.ahead.front()
    }

    fn take(&mut self) -> Result<Option<Arc<Job>>, RunError> {
        self.ahead.pop_front().transpose().map_err(RunError::Workload)
    }

    #[inline(never)] // so that it stays apart from what runs the jobs
    fn read(&mut self) {
        for _ in 0..AT_A_TIME {
            let Some(job) = self.jobs.next() else { return };
            // Nothing is read behind an error.
            let is_last = job.as_ref().map_or(true, |job| job.submit >= self.horizon);
            self.ahead.push_back(job.map(Arc::new));
            if is_last {
                return;
            }
        }
    }
}
