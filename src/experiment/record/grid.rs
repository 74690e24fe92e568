//! Takes down what a grid observes.

use haggle_model::Time;
use haggle_model::grid::{GridJobRecord, ResourceAccount, TryRecord};
use haggle_results::SettledJob;
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
        for job in self.metrics.grid_over(now).map_err(Violation::Grid)? {
            self.settled(&job)?;
        }
        Ok(())
    }

    fn settle(&mut self, now: Time) -> Result<(), OutsideError> {
        for job in self.metrics.settle_grid(now).map_err(Violation::Grid)? {
            self.settled(&job)?;
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
