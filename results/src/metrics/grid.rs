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
//! What became of a job, and which of its attempts count, whoever settles it knows ([`SettledJob`]): here it is
//! counted. All sums are integers.

mod accounts;
mod sessions;
mod settled;
mod spent;
mod summary;
mod totals;
mod violation;

use haggle_model::Time;
use haggle_model::grid::{AttemptRecord, JobFate, ResourceAccount, RoundsAccount, StorageAccount};
use haggle_model::workflow::WorkflowCame;

use super::workflows::WorkflowRecord;
use accounts::Accounts;
use spent::Counts;
use totals::{DoneTimes, Totals};

pub use sessions::GridSessions;
pub use settled::{AttemptLoss, SettledAttempt, SettledJob};
pub(super) use summary::Came;
pub use summary::{
    GridData, GridResourceSummary, GridSlotTime, GridStorage, GridSummary, GridWork,
};
pub use violation::GridViolation;

/// Counts what a grid observes, and what became of its jobs.
#[derive(Clone, Debug, Default)]
pub(super) struct GridLedger {
    totals: Totals,
    accounts: Accounts,
}

impl GridLedger {
    /// Takes in that an attempt of a job is over.
    pub(super) fn attempt_over(&mut self, record: &AttemptRecord) {
        self.totals.attempt_over(record);
    }

    /// Takes in a job of which all is known.
    pub(super) fn job_settled(&mut self, job: &SettledJob) {
        let &SettledJob { ref record, ref attempts, fate, length, share, .. } = job;
        let totals = &mut self.totals;
        let is_done = fate == Some(JobFate::Done);
        let count = if is_done { Counts::Useful } else { Counts::InProgress };
        attempts.iter().for_each(|it| totals.spent_by(&it.record, it.counts.map(count)));
        let first_start = job.records().filter_map(|it| it.started).min();
        if let Some(share) = share.filter(|_| !attempts.is_empty()) {
            totals.sessions.accepted(share, job.records());
        }
        totals.workflows.job_over(record, length, job.records(), job.data_time());
        totals.job_over(fate, length, first_start.map(|start| start - record.job.submit));
        if let Some(space) = job.space {
            let time = record.end.max(space.since) - space.since;
            totals.checkpoint_space += i128::from(space.bytes) * i128::from(time.as_micros());
        }
        let winner = job.records().find(|it| Some(it.number) == job.winner);
        if let (Some(winner), Some(first)) = (winner, first_start) {
            let win = winner.left - record.start.unwrap_or(winner.left);
            totals.job_done(DoneTimes { win, first: winner.left - first });
        }
    }

    /// Takes in an attempt that belongs to no job.
    pub(super) fn attempt_left(&mut self, record: &AttemptRecord) {
        self.totals.spent_by(record, None);
    }

    /// Takes in that a workflow has come.
    pub(super) fn workflow_came(&mut self, now: Time, came: WorkflowCame) {
        self.totals.workflows.came(now, came);
    }

    /// All workflows, by workload and number, on a grid whose fastest resource is this fast, MIPS.
    pub(super) fn workflows(&self, fastest: f64) -> Vec<WorkflowRecord> {
        self.totals.workflows.records(fastest).collect()
    }

    /// Takes in what a resource has done in the whole run.
    pub(super) fn account(&mut self, account: ResourceAccount) {
        self.accounts.add(account);
    }

    /// Takes in what the scheduler has done in the whole run.
    pub(super) fn rounds(&mut self, account: RoundsAccount) {
        self.accounts.rounds = account;
    }

    /// Takes in what the storage has held in the whole run.
    pub(super) fn storage(&mut self, account: StorageAccount) {
        self.accounts.storage = Some(account);
    }

    /// The run is over: looks whether all that resources did is in one of the categories.
    ///
    /// # Errors
    /// If it is not, to the microsecond and to the last part of work.
    pub(super) fn run_over(&mut self, now: Time) -> Result<(), GridViolation> {
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
            _ => Ok(()),
        }
    }

    /// Σ time in which resources had at least one job that computed or wrote a checkpoint,
    /// and their time in all, microseconds.
    pub(super) fn busy(&self) -> (i128, i128) {
        (self.accounts.busy, self.accounts.time())
    }
}
