//! Puts together what becomes of the jobs of a grid (Chtepen 2011, sections 2.2 and 4.4).
//!
//! Its scheduler knows what it would do about a job, and resources know what has become of attempts: here
//! the two meet. Only the attempts of jobs that are not over are kept, so memory does not grow with a
//! run's length.

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

/// The attempts and jobs of a grid tell different stories.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GridError {
    /// An attempt started from a checkpoint that is not on record.
    #[error("an attempt of job {job} started from a checkpoint that nobody has written")]
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
    /// The attempts by which a job is done computed another length than it has.
    #[error(
        "job {job} is {length} parts of work long, and the attempts it was done by have {useful}"
    )]
    Length {
        /// The job's number in the run.
        job: i64,
        /// Its length, parts of [`haggle_model::work::Work`].
        length: u128,
        /// What they computed, parts.
        useful: u128,
    },
}

/// The jobs of a grid that are not settled.
///
/// Before anything is taken in, jobs that were over before are to be settled, see [`GridJobs::settle`].
#[derive(Clone, Debug, Default)]
pub struct GridJobs {
    attempts: BTreeMap<JobId, Attempts>,
    /// Jobs that are over since `over_since` and not settled.
    over: VecDeque<Arc<GridJobRecord>>,
    over_since: Time,
}

impl GridJobs {
    /// Takes in that an attempt of a job is over.
    pub fn attempt_over(&mut self, record: impl Into<Arc<AttemptRecord>>) {
        let record = record.into();
        self.attempts.entry(record.job).or_default().insert(record);
    }

    /// Takes in that a job is over, or what its scheduler would do about it when the run is. Those that
    /// were over before must have been settled.
    pub fn job_over(&mut self, now: Time, record: impl Into<Arc<GridJobRecord>>) {
        self.over_since = now;
        self.over.push_back(record.into());
    }

    /// Settles the jobs that were over before `now`, in the order in which they were. A job's
    /// last attempts are cancelled in the instant in which it is done, so that only after
    /// it all of them are known.
    ///
    /// # Errors
    /// If the attempts of a job do not add up to it.
    pub fn settle(&mut self, now: Time) -> Result<Vec<SettledJob>, GridError> {
        if self.over_since >= now { Ok(Vec::new()) } else { self.settle_some(usize::MAX) }
    }

    /// Settles so many jobs that are over, or all there are.
    ///
    /// # Errors
    /// If the attempts of a job do not add up to it.
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

    /// When all jobs are settled, the attempts that belong to none of them.
    pub fn take_left(&mut self) -> Vec<Arc<AttemptRecord>> {
        let left = std::mem::take(&mut self.attempts).into_values();
        left.flat_map(Attempts::into_records).collect()
    }
}

#[cfg(test)]
mod tests;
