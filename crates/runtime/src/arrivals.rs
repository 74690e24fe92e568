//! The arriving jobs of all workloads.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use std::sync::Arc;

use haggle_model::{ActorId, Job, JobId, Time};
use serde::{Deserialize, Serialize};

use crate::error::RunError;
use crate::input::Input;
use crate::world::{Arrivals, OutsideError};

/// Number of jobs of a source that are read at a time. Reading and running alternately, job by job,
/// would evict each other's code from the processor's instruction cache.
const AT_A_TIME: usize = 32;

/// The merged workloads, in order of (submission, index in the list).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Merged {
    sources: Vec<Source>,
    /// Arrival of the next job of each source that has one: (submission, index in the list).
    heads: BinaryHeap<Reverse<(Time, usize)>>,
    count: u32,
    /// Actors whose jobs arrive; those of others are only counted. `None` = all.
    here: Option<BTreeSet<ActorId>>,
}

/// The jobs of one user.
#[derive(Debug, Serialize, Deserialize)]
struct Source {
    user: ActorId,
    jobs: Input<Result<Job, OutsideError>>,
    /// Jobs read ahead. Each is allocated once, because moving jobs is expensive.
    ahead: VecDeque<Arc<Job>>,
    /// The error behind them, if one was met.
    #[serde(skip)]
    error: Option<OutsideError>,
    /// No job is read after the first one that arrives at or after this.
    horizon: Time,
}

impl Merged {
    /// The workloads of a world up to its `horizon`; the first jobs of each are read. If only some actors are
    /// `here`, the jobs of the others do not arrive.
    pub(crate) fn new(
        sources: Vec<(ActorId, Arrivals)>,
        here: Option<BTreeSet<ActorId>>,
        horizon: Option<Time>,
    ) -> Result<Merged, RunError> {
        let horizon = horizon.unwrap_or(Time::FOREVER);
        let open = |(user, jobs)| Source {
            user,
            jobs: Input::new(jobs),
            ahead: VecDeque::new(),
            error: None,
            horizon,
        };
        let sources = Vec::from_iter(sources.into_iter().map(open));
        let mut merged = Merged { heads: BinaryHeap::new(), count: 0, sources, here };
        for source in 0..merged.sources.len() {
            let begin = merged.sources[source].first()?.map_or(Time::ZERO, |job| begin(job));
            merged.line_up(source, begin)?;
        }
        Ok(merged)
    }

    /// Replaces the workloads. Numbers of jobs go on. That of a job that had been taken and is withdrawn is not given
    /// again, because jobs from outside may have later numbers.
    pub(crate) fn replace(
        &mut self,
        sources: Vec<(ActorId, Arrivals)>,
        horizon: Option<Time>,
    ) -> Result<(), RunError> {
        *self = Merged { count: self.count, ..Merged::new(sources, self.here.take(), horizon)? };
        Ok(())
    }

    /// Time at which the run begins: zero, or the first submission of a start state.
    pub(crate) fn begin(&self) -> Time {
        self.heads.peek().map_or(Time::ZERO, |Reverse((first, _))| Time::ZERO.min(*first))
    }

    /// Inserts the next job of a source among those of the others.
    fn line_up(&mut self, source: usize, previous: Time) -> Result<(), RunError> {
        match self.sources[source].first()? {
            Some(job) if job.submit >= previous => {
                self.heads.push(Reverse((job.submit, source)));
                Ok(())
            }
            Some(job) => {
                let Job { number, submit, .. } = **job;
                Err(RunError::OutOfOrder { number, submit, previous })
            }
            None => Ok(()),
        }
    }

    /// Opens the workloads again, at the positions at which the snapshot was made. Returns false if they
    /// are others.
    pub(crate) fn reopen(&mut self, sources: Vec<(ActorId, Arrivals)>) -> bool {
        self.sources.len() == sources.len()
            && self
                .sources
                .iter_mut()
                .zip(sources)
                .all(|(source, (user, jobs))| source.user == user && source.jobs.reopen(jobs))
    }

    /// True if all jobs have been read, though they may not have arrived.
    pub(crate) fn has_read_all(&self) -> bool {
        self.sources.iter().all(|source| source.jobs.has_ended() && source.error.is_none())
    }

    /// Number of jobs that have got their numbers.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// The number of the next job, which comes from outside.
    pub(crate) fn take_number(&mut self) -> JobId {
        let number = JobId(self.count);
        self.count += 1;
        number
    }

    /// True if no further job arrives.
    pub(crate) fn is_over(&self) -> bool {
        match &self.here {
            None => self.heads.is_empty(),
            // Looked at for few hosts of few users.
            Some(here) => !self.heads.iter().any(|it| here.contains(&self.sources[it.0.1].user)),
        }
    }

    /// The next job, numbered, and the user at whom it arrives.
    pub(crate) fn take_next(&mut self) -> Result<Option<(ActorId, Arc<Job>)>, RunError> {
        if self.here.is_none() {
            return self.take_any();
        }
        while !self.is_over() {
            let next = self.take_any()?;
            let is_here = |user| self.here.as_ref().is_some_and(|here| here.contains(user));
            if next.as_ref().is_some_and(|(user, _)| is_here(user)) {
                return Ok(next);
            }
        }
        Ok(None)
    }

    fn take_any(&mut self) -> Result<Option<(ActorId, Arc<Job>)>, RunError> {
        let Some(Reverse((submit, source))) = self.heads.pop() else { return Ok(None) };
        // The source was lined up with this job, so it has one.
        let Some(mut job) = self.sources[source].ahead.pop_front() else { return Ok(None) };
        self.line_up(source, submit)?;
        // A copy of the run may hold the same job, which has no number there yet.
        Arc::make_mut(&mut job).id = self.take_number();
        Ok(Some((self.sources[source].user, job)))
    }
}

/// Earliest submission of jobs like this one: only jobs of a start state come before time zero.
fn begin(job: &Job) -> Time {
    job.initial.map_or(Time::ZERO, |_| Time::ZERO.min(job.submit))
}

impl Source {
    fn first(&mut self) -> Result<Option<&Arc<Job>>, RunError> {
        if self.ahead.is_empty() {
            self.read();
        }
        match self.ahead.front() {
            None => self.error.take().map_or(Ok(None), |error| Err(RunError::Workload(error))),
            first => Ok(first),
        }
    }

    #[inline(never)] // so that it stays apart from what runs the jobs
    fn read(&mut self) {
        // Nothing is read behind an error.
        if self.error.is_some() {
            return;
        }
        for _ in 0..AT_A_TIME {
            match self.jobs.next() {
                Some(Ok(job)) => {
                    let is_last = job.submit >= self.horizon;
                    self.ahead.push_back(Arc::new(job));
                    if is_last {
                        return;
                    }
                }
                Some(Err(error)) => {
                    // A restored run meets the error again.
                    self.jobs.uncount();
                    self.error = Some(error);
                    return;
                }
                None => return,
            }
        }
    }
}

/// Without the error, which its copy meets again.
impl Clone for Source {
    fn clone(&self) -> Source {
        let Source { user, horizon, .. } = *self;
        Source { user, jobs: self.jobs.clone(), ahead: self.ahead.clone(), error: None, horizon }
    }
}
