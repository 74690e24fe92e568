//! Metrics of the jobs and resources of a grid (Chtepen 2011, sections 2.2 and 4.4).
//!
//! All time of slots and all work is divided into categories:
//!
//! | category | what |
//! |---|---|
//! | useful | computing of done jobs: of their winners, and of the saved states from which these started |
//! | in progress | the same for jobs that may still be done: computed so far, or saved |
//! | lost | all other computing of attempts that failed, were stranded or moved |
//! | duplicate | all other computing of attempts that were cancelled, or came second |
//! | checkpoints | time in which jobs wrote checkpoints; no work |
//! | transfers | time in which jobs waited for data, or to be prepared; no work |
//!
//! [`SettledJob`] states the outcome of a job and which of its attempts count; this module adds them
//! up. All sums are integers.

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

/// Sums of a grid's attempts, jobs and accounts.
#[derive(Clone, Debug, Default)]
pub(super) struct GridLedger {
    totals: Totals,
    accounts: Accounts,
}

impl GridLedger {
    /// Records that an attempt of a job is over.
    pub(super) fn attempt_over(&mut self, record: &AttemptRecord) {
        self.totals.attempt_over(record);
    }

    /// Records a job whose attempts are all known.
    pub(super) fn job_settled(&mut self, job: &SettledJob) {
        let &SettledJob { ref record, ref attempts, fate, length, share, .. } = job;
        let totals = &mut self.totals;
        let is_done = fate == Some(JobFate::Done);
        let count = if is_done { Counts::Useful } else { Counts::InProgress };
        attempts.iter().for_each(|it| totals.spent_by(&it.record, it.counts.map(count)));
        let first_start = job.records().filter_map(|it| it.started).min();
        // Only a session that was placed has an attempt.
        if let Some(share) = share.filter(|_| !attempts.is_empty()) {
            totals.sessions.accepted(share, job.records());
        }
        totals.workflows.job_over(record, length, job.records(), job.data_time());
        totals.job_over(fate, length, first_start.map(|start| start - record.job.submit));
        if let Some(space) = job.space {
            // A checkpoint may arrive after the end of the job.
            let time = record.end.max(space.since) - space.since;
            totals.checkpoint_space += i128::from(space.bytes) * i128::from(time.as_micros());
        }
        let winner = job.records().find(|it| Some(it.number) == job.winner);
        if let (Some(winner), Some(first)) = (winner, first_start) {
            let win = winner.left - record.start.unwrap_or(winner.left);
            totals.job_done(DoneTimes { win, first: winner.left - first });
        }
    }

    /// Records an attempt that belongs to no job.
    pub(super) fn attempt_left(&mut self, record: &AttemptRecord) {
        self.totals.spent_by(record, None);
    }

    /// Records that a workflow has arrived.
    pub(super) fn workflow_came(&mut self, now: Time, came: WorkflowCame) {
        self.totals.workflows.came(now, came);
    }

    /// All workflows, by workload and number; `fastest` is the speed of the grid's fastest resource, MIPS.
    pub(super) fn workflows(&self, fastest: f64) -> Vec<WorkflowRecord> {
        self.totals.workflows.records(fastest).collect()
    }

    /// Records the account of a resource over the whole run.
    pub(super) fn account(&mut self, account: ResourceAccount) {
        self.accounts.add(account);
    }

    /// Records the account of the scheduler over the whole run.
    pub(super) fn rounds(&mut self, account: RoundsAccount) {
        self.accounts.rounds = account;
    }

    /// Records the account of the storage over the whole run.
    pub(super) fn storage(&mut self, account: StorageAccount) {
        self.accounts.storage = Some(account);
    }

    /// Ends the run, and checks that the categories contain all time and work of the resources.
    ///
    /// # Errors
    /// If they do not, to the microsecond and to the last part of work.
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

    /// Σ time in which resources had at least one job that computed or wrote a checkpoint, and their
    /// whole time, microseconds.
    pub(super) fn busy(&self) -> (i128, i128) {
        (self.accounts.busy, self.accounts.time())
    }
}
