//! Combines the records of a grid's jobs (Chtepen 2011, sections 2.2 and 4.4).
//!
//! The scheduler reports its decisions about a job, and resources report attempts. This module brings
//! both together. It keeps only the attempts of jobs that are not over, so memory does not grow with
//! the length of a run.

mod attempts;
mod chain;
mod fates;
mod settle;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use haggle_model::grid::{AttemptRecord, GridJobRecord};
use haggle_model::{JobId, Time};
use haggle_results::SettledJob;

use attempts::Attempts;

/// Contradiction between the attempts and jobs of a grid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GridError {
    /// An attempt started from a checkpoint that is not on record.
    #[error("an attempt of job {job} started from a checkpoint that was never written")]
    NoCheckpoint {
        /// The job's number in the run.
        job: i64,
    },
    /// A job is done by an attempt that is not on record.
    #[error("job {job} is done, and the attempt that did it is not on record")]
    NoWinner {
        /// The job's number in the run.
        job: i64,
    },
    /// The computing of the attempts on which a done job is built differs from its length.
    #[error(
        "job {job} is {length} parts of work long, and the attempts it was done by have {useful}"
    )]
    Length {
        /// The job's number in the run.
        job: i64,
        /// Its length, parts of [`haggle_model::work::Work`].
        length: u128,
        /// Their computing, parts.
        useful: u128,
    },
}

/// The jobs of a grid that are not settled yet.
///
/// Jobs that ended earlier must be settled before a record is added, see [`GridJobs::settle`].
#[derive(Clone, Debug, Default)]
pub struct GridJobs {
    attempts: BTreeMap<JobId, Attempts>,
    /// Jobs that ended at `over_since` and are not settled.
    over: VecDeque<Arc<GridJobRecord>>,
    over_since: Time,
}

impl GridJobs {
    /// Records that an attempt of a job is over.
    pub fn attempt_over(&mut self, record: impl Into<Arc<AttemptRecord>>) {
        let record = record.into();
        self.attempts.entry(record.job).or_default().insert(record);
    }

    /// Records that a job is over, or its state in the scheduler at the end of the run. Jobs that ended
    /// earlier must have been settled.
    pub fn job_over(&mut self, now: Time, record: impl Into<Arc<GridJobRecord>>) {
        self.over_since = now;
        self.over.push_back(record.into());
    }

    /// Settles the jobs that ended before `now`, in the order of their ends. The last attempts of a job
    /// are cancelled at the instant in which it is done. All of them are known only after this instant.
    ///
    /// # Errors
    /// If the attempts of a job contradict its record.
    pub fn settle(&mut self, now: Time) -> Result<Vec<SettledJob>, GridError> {
        if self.over_since >= now { Ok(Vec::new()) } else { self.settle_some(usize::MAX) }
    }

    /// Settles at most `most` jobs that are over.
    ///
    /// # Errors
    /// If the attempts of a job contradict its record.
    pub fn settle_some(&mut self, most: usize) -> Result<Vec<SettledJob>, GridError> {
        let count = most.min(self.over.len());
        let GridJobs { attempts, over, .. } = self;
        over.drain(..count)
            .map(|record| {
                let attempts = attempts.remove(&record.job.id).unwrap_or_default();
                settle::settle(Arc::unwrap_or_clone(record), attempts)
            })
            .collect()
    }

    /// Returns the attempts that belong to no job. All jobs must be settled.
    pub fn take_left(&mut self) -> Vec<Arc<AttemptRecord>> {
        let left = std::mem::take(&mut self.attempts).into_values();
        left.flat_map(Attempts::into_records).collect()
    }
}

#[cfg(test)]
mod tests;
