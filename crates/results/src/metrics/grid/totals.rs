//! Sums over attempts and jobs.

use std::collections::BTreeMap;

use haggle_model::grid::{AttemptRecord, DataMoved, JobFate};
use haggle_model::work::Work;
use haggle_model::{AttemptOutcome, Span};

use super::sessions::SessionTotals;
use super::spent::{Counts, Spent};
use crate::metrics::workflows::WorkflowTotals;

/// Sums over all settled jobs and over all attempts.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    pub(super) outcomes: BTreeMap<AttemptOutcome, u64>,
    pub(super) checkpoints_written: u64,
    pub(super) checkpoints_available: u64,
    pub(super) checkpoints_omitted: u64,
    pub(super) fates: BTreeMap<JobFate, u64>,
    /// Σ length of all jobs.
    pub(super) length: Work,
    /// Σ length of lost jobs.
    pub(super) length_lost: Work,
    /// Jobs that began to compute.
    pub(super) started: u64,
    /// Σ time from submission to the first start of these jobs, microseconds.
    pub(super) waiting: i128,
    /// Σ [`DoneTimes::win`] over done jobs, microseconds.
    pub(super) run_time_win: i128,
    /// Σ [`DoneTimes::first`] over done jobs, microseconds.
    pub(super) run_time_first: i128,
    pub(super) spent: Spent,
    /// Σ space that checkpoints took at their server × time, byte microseconds.
    pub(super) checkpoint_space: i128,
    pub(super) sessions: SessionTotals,
    pub(super) workflows: WorkflowTotals,
    /// Data that arrived for attempts or from them.
    pub(super) data: DataMoved,
    /// Work lost by attempts whose own resource failed.
    pub(super) lost_by_failure: Work,
}

/// Durations of a done job until the end of its winner's computing.
#[derive(Clone, Copy, Debug)]
pub(super) struct DoneTimes {
    /// Since the first start of an attempt on which the result is built.
    pub(super) win: Span,
    /// Since the first start of any attempt.
    pub(super) first: Span,
}

impl Totals {
    /// Adds the categories of an attempt, of which `counts` is kept.
    pub(super) fn spent_by(&mut self, record: &AttemptRecord, counts: Option<Counts>) {
        let spent = Spent::of(record, counts);
        if record.outcome == AttemptOutcome::Failed {
            self.lost_by_failure += spent.lost.work;
        }
        self.spent += spent;
    }

    pub(super) fn attempt_over(&mut self, record: &AttemptRecord) {
        self.data += record.data;
        *self.outcomes.entry(record.outcome).or_default() += 1;
        self.checkpoints_written += u64::from(record.written);
        self.checkpoints_available += u64::from(record.available);
        self.checkpoints_omitted += u64::from(record.omitted);
    }

    /// `waited` is the time from submission to the first start, if it ever started.
    pub(super) fn job_over(&mut self, fate: Option<JobFate>, length: Work, waited: Option<Span>) {
        self.length += length;
        if let Some(fate) = fate {
            *self.fates.entry(fate).or_default() += 1;
        }
        if fate == Some(JobFate::Lost) {
            self.length_lost += length;
        }
        if let Some(waited) = waited {
            self.started += 1;
            self.waiting += i128::from(waited.as_micros());
        }
    }

    pub(super) fn job_done(&mut self, times: DoneTimes) {
        self.run_time_win += i128::from(times.win.as_micros());
        self.run_time_first += i128::from(times.first.as_micros());
    }

    /// Number of jobs with this fate.
    pub(super) fn jobs(&self, fate: JobFate) -> u64 {
        self.fates.get(&fate).copied().unwrap_or(0)
    }

    /// Number of attempts with this outcome.
    pub(super) fn attempts(&self, outcome: AttemptOutcome) -> u64 {
        self.outcomes.get(&outcome).copied().unwrap_or(0)
    }
}
