//! The jobs that come, from all workloads.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use haggle_model::{ActorId, Job, JobId, Time};

use crate::error::RunError;
use crate::world::{Arrivals, OutsideError};

/// How many jobs of a source are read at a time: what reads them and what runs them would each
/// push the other out of the processor's instruction cache, job by job.
const AT_A_TIME: usize = 32;

/// The workloads as one, in order of (submission, place in the list).
pub(crate) struct Merged {
    sources: Vec<Source>,
    /// When the next job of each source comes that has one: (submission, place in the list).
    heads: BinaryHeap<Reverse<(Time, usize)>>,
    count: u32,
}

/// The jobs of one user.
struct Source {
    user: ActorId,
    jobs: Arrivals,
    /// Read and not taken yet; each where it stays, for nothing moves jobs cheaply.
    ahead: VecDeque<Result<Arc<Job>, OutsideError>>,
    /// Nothing is read behind the first job that comes at or after this.
    horizon: Time,
}

impl Merged {
    /// The workloads of a world up to its `horizon`, each opened as far as its first jobs.
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

    /// Puts the next job of a source in its place among those of the others.
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
            Some(Err(_)) => self.sources[source].take().map(|_| ()),
            None => Ok(()),
        }
    }

    /// Whether no job is left to come.
    pub(crate) fn is_over(&self) -> bool {
        self.heads.is_empty()
    }

    /// The next job, numbered, and the user it comes to.
    pub(crate) fn take_next(&mut self) -> Result<Option<(ActorId, Arc<Job>)>, RunError> {
        let Some(Reverse((submit, source))) = self.heads.pop() else { return Ok(None) };
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
            let is_last = job.as_ref().map_or(true, |job| job.submit >= self.horizon);
            self.ahead.push_back(job.map(Arc::new));
            if is_last {
                return;
            }
        }
    }
}
