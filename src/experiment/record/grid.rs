//! Takes down what a grid observes.

use haggle_model::grid::{GridJobRecord, GridOutcome, ResourceAccount, TryRecord};
use haggle_model::{JobRecord, Time};
use haggle_results::{SettledJob, TryLoss};
use haggle_runtime::world::OutsideError;

use super::{Record, boxed};
use crate::experiment::check::Violation;

impl Record<'_> {
    pub(super) fn try_over(&mut self, now: Time, record: TryRecord) -> Result<(), OutsideError> {
        self.settle(now)?;
        if let Some(writer) = &mut self.writer {
            writer.try_over(&record).map_err(boxed)?;
        }
        self.metrics.try_over(record);
        Ok(())
    }

    pub(super) fn grid_job_over(
        &mut self,
        now: Time,
        record: GridJobRecord,
    ) -> Result<(), OutsideError> {
        self.settle(now)?;
        if let Some(check) = &mut self.check {
            check.grid_job_over(&record)?;
        }
        self.metrics.grid_job_over(now, record);
        self.jobs_over += 1;
        Ok(())
    }

    /// A job that its user still had when the run stopped: it waits in the books of the grid too.
    pub(super) fn never_sent(&mut self, now: Time, record: JobRecord) -> Result<(), OutsideError> {
        let (wanted, believed, restarts) = (1, Vec::new(), false);
        let outcome = GridOutcome::Open { end: record.end, wanted, believed, restarts };
        let JobRecord { job, class, .. } = record;
        self.grid_job_over(now, GridJobRecord { job, class, share: None, outcome })
    }

    pub(super) fn resource_account(
        &mut self,
        account: ResourceAccount,
    ) -> Result<(), OutsideError> {
        if let Some(writer) = &mut self.writer {
            writer.resource_account(&account).map_err(boxed)?;
        }
        self.metrics.resource_account(account);
        Ok(())
    }

    /// Nothing more happens.
    pub(super) fn grid_over(&mut self, now: Time) -> Result<(), OutsideError> {
        let settled = self.metrics.grid_over(now).map_err(Violation::Grid)?;
        self.all_settled(&settled)
    }

    pub(super) fn settle(&mut self, now: Time) -> Result<(), OutsideError> {
        let settled = self.metrics.settle_grid(now).map_err(Violation::Grid)?;
        self.all_settled(&settled)
    }

    fn all_settled(&mut self, jobs: &[SettledJob]) -> Result<(), OutsideError> {
        for job in jobs {
            self.settled(job)?;
        }
        let losses = self.metrics.take_grid_losses();
        let Some(writer) = &mut self.writer else { return Ok(()) };
        for TryLoss { resource, failure, work } in losses {
            writer.loss_settled(resource, failure, work.into()).map_err(boxed)?;
        }
        Ok(())
    }

    /// A job was over before now, and all is known of it.
    fn settled(&mut self, job: &SettledJob) -> Result<(), OutsideError> {
        self.count_too_wide(job.record.outcome);
        if let Some(check) = &self.check {
            check.settled(job)?;
        }
        if let Some(writer) = &mut self.writer {
            writer.grid_job_over(job).map_err(boxed)?;
        }
        Ok(())
    }
}
