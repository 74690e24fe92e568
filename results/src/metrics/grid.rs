//! What became of the jobs of a grid, and of all that its resources did for them
//! (Chtepen 2011, sections 2.2 and 4.4).
//!
//! Every slot's time and all work done go into one category each:
//!
//! | category | what |
//! |---|---|
//! | useful | what done jobs are made of: what their winners computed, and what these started from |
//! | in progress | the same of jobs that may still be done: what has been computed, or saved |
//! | lost | all else that attempts computed that failed, were stranded or moved |
//! | duplicate | all else that attempts computed that were cancelled, or came second |
//! | checkpoints | time in which jobs wrote them; no work |
//! | transfers | time in which jobs waited for data, or to be prepared; no work |
//!
//! Only the attempts of jobs that are not over are kept, so memory does not grow with
//! a run's length. All sums are integers.

mod accounts;
mod attempts;
mod chain;
mod fates;
mod sessions;
mod settle;
mod spent;
mod summary;
mod totals;
mod violation;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use haggle_model::grid::{
    AttemptRecord, GridJobRecord, ResourceAccount, RoundsAccount, StorageAccount,
};
use haggle_model::workflow::WorkflowCame;
use haggle_model::{JobId, Time};

use super::workflows::WorkflowRecord;
use accounts::Accounts;
use attempts::Attempts;
use totals::Totals;

pub use sessions::GridSessions;
pub use settle::SettledJob;
pub(super) use summary::Came;
pub use summary::{
    GridData, GridResourceSummary, GridSlotTime, GridStorage, GridSummary, GridWork,
};
pub use totals::AttemptLoss;
pub use violation::GridViolation;

/// Takes in what a grid observes, and says of each job that is over what its attempts were for.
///
/// Before anything is taken in, jobs that were over before are to be settled, see
/// [`GridLedger::settle`].
#[derive(Clone, Debug, Default)]
pub struct GridLedger {
    /// Of jobs that are not settled.
    attempts: BTreeMap<JobId, Attempts>,
    /// Jobs that are over since `over_since` and not settled.
    over: VecDeque<GridJobRecord>,
    over_since: Time,
    totals: Totals,
    accounts: Accounts,
}

impl GridLedger {
    /// Takes in that an attempt of a job is over.
    pub fn attempt_over(&mut self, record: impl Into<Arc<AttemptRecord>>) {
        let record = record.into();
        self.totals.attempt_over(&record);
        self.attempts.entry(record.job).or_default().insert(record);
    }

    /// Takes in that a job is over, or what becomes of it when the run is. Those that were
    /// over before must have been settled.
    pub fn job_over(&mut self, now: Time, record: GridJobRecord) {
        self.over_since = now;
        self.over.push_back(record);
    }

    /// Takes in that a workflow has come.
    pub fn workflow_came(&mut self, now: Time, came: WorkflowCame) {
        self.totals.workflows.came(now, came);
    }

    /// All workflows, by workload and number, on a grid whose fastest resource is this fast, MIPS.
    pub(super) fn workflows(&self, fastest: f64) -> Vec<WorkflowRecord> {
        self.totals.workflows.records(fastest).collect()
    }

    /// Takes in what a resource has done in the whole run.
    pub fn account(&mut self, account: ResourceAccount) {
        self.accounts.add(account);
    }

    /// Takes in what the scheduler has done in the whole run.
    pub fn rounds(&mut self, account: RoundsAccount) {
        self.accounts.rounds = account;
    }

    /// Takes in what the storage has held in the whole run.
    pub fn storage(&mut self, account: StorageAccount) {
        self.accounts.storage = Some(account);
    }

    /// Settles the jobs that were over before `now`, in the order in which they were. A job's
    /// last attempts are cancelled in the instant in which it is done, so that only after
    /// it all of them are known.
    ///
    /// # Errors
    /// If the attempts of a job do not add up to it.
    pub fn settle(&mut self, now: Time) -> Result<Vec<SettledJob>, GridViolation> {
        if self.over_since >= now { Ok(Vec::new()) } else { self.settle_some(usize::MAX) }
    }

    /// Settles so many jobs that are over, or all there are; none at the end of a run that was asked for
    /// them piece by piece.
    ///
    /// # Errors
    /// If the attempts of a job do not add up to it.
    pub fn settle_some(&mut self, most: usize) -> Result<Vec<SettledJob>, GridViolation> {
        let count = most.min(self.over.len());
        let GridLedger { attempts, over, totals, .. } = self;
        over.drain(..count)
            .map(|record| {
                let attempts = attempts.remove(&record.job.id).unwrap_or_default();
                settle::settle(record, attempts, totals)
            })
            .collect()
    }

    /// The run is over: settles the rest, and looks whether all that resources did is in
    /// one of the categories.
    ///
    /// # Errors
    /// If it is not, to the microsecond and to the last part of work.
    pub fn run_over(&mut self, now: Time) -> Result<Vec<SettledJob>, GridViolation> {
        let settled = self.settle_some(usize::MAX)?;
        for record in std::mem::take(&mut self.attempts).values().flat_map(Attempts::values) {
            self.totals.spent_by(record, None);
        }
        self.accounts.end = now;
        let (summed, held) = (self.totals.spent.slot_time(), self.accounts.held);
        if summed != held {
            return Err(GridViolation::SlotTime { summed, held });
        }
        let (summed, processed) = (self.totals.spent.work(), self.accounts.processed);
        if summed != processed {
            let (summed, processed) = (summed.as_parts(), processed.as_parts());
            return Err(GridViolation::Work { summed, processed });
        }
        let (arrived, carried) = (self.accounts.data.total(), self.accounts.carried);
        if arrived != carried {
            return Err(GridViolation::Data { arrived, carried });
        }
        if self.totals.data != self.accounts.data {
            let summed = self.totals.data.total();
            return Err(GridViolation::DataOfAttempts { arrived, summed });
        }
        let summed = self.totals.sessions.reserved;
        match self.accounts.reserved {
            Some(reserved) if reserved != summed => {
                Err(GridViolation::Reserved { summed, reserved })
            }
            _ => Ok(settled),
        }
    }

    /// What attempts that failed had cost, of those settled since it was asked last.
    pub fn take_losses(&mut self) -> Vec<AttemptLoss> {
        std::mem::take(&mut self.totals.losses)
    }

    /// Σ time in which resources had at least one job that computed or wrote a checkpoint,
    /// and their time in all, microseconds.
    pub(super) fn busy(&self) -> (i128, i128) {
        (self.accounts.busy, self.accounts.time())
    }
}

#[cfg(test)]
mod tests;
