//! Summary of a grid: the key `grid` of `summary.json`.

use std::collections::BTreeMap;

use haggle_model::AttemptOutcome;
use haggle_model::grid::{DataMoved, JobFate};
use haggle_model::work::Work;
use serde::{Deserialize, Serialize};

use super::GridLedger;
use super::sessions::{GridSessions, PPM};
use super::totals::Totals;
use crate::metrics::workflows::GridWorkflows;

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

/// A grid in numbers, over the whole run: a cut has no effect here (Chtepen 2011, sections 2.2, 3.1 and 4.4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridSummary {
    /// Resources.
    #[serde(default)]
    pub nb_resources: u64,
    /// Jobs that arrived: `done` + `lost` + `lost_pending` + `never_started` + `active` +
    /// `waiting_for_restart` + `rejected` + `withdrawn`.
    pub jobs: u64,
    /// Jobs that were done.
    pub done: u64,
    /// Jobs whose attempts were all lost for good.
    pub lost: u64,
    /// Jobs whose attempts so far were all lost for good, before they got another one.
    pub lost_pending: u64,
    /// Jobs that were never sent to a resource.
    pub never_started: u64,
    /// Jobs with an attempt alive when the run ended.
    pub active: u64,
    /// Jobs without an attempt alive, with a restart due.
    pub waiting_for_restart: u64,
    /// Jobs that were refused.
    pub rejected: u64,
    /// Jobs that their users withdrew.
    pub withdrawn: u64,
    /// Jobs that began to compute, whatever their outcome.
    pub started: u64,
    /// Rounds in which the scheduler decided. After a round without a job, the next round is that of
    /// the next arrival.
    pub rounds: u64,
    /// Rounds after which jobs still waited for dispatch.
    pub rounds_with_queue: u64,
    /// Attempts of jobs on resources.
    pub attempts: u64,
    /// Attempts by outcome.
    pub attempts_by_outcome: BTreeMap<String, u64>,
    /// Checkpoints that were written.
    pub checkpoints_written: u64,
    /// Of these, checkpoints that reached a store from which they could be used.
    pub checkpoints_available: u64,
    /// `checkpoints_written` / `started`.
    pub checkpoints_written_per_started_job: Option<f64>,
    /// `checkpoints_available` / `started`.
    pub checkpoints_available_per_started_job: Option<f64>,
    /// Checkpoints that were due and omitted.
    pub checkpoints_omitted: u64,
    /// Attempts that continued elsewhere from their saved state.
    pub migrations: u64,
    /// Attempts that were cancelled because they were not needed any more.
    pub replicas_cancelled: u64,
    /// Time from the first start of the attempts on which the result is built to the end of computing,
    /// mean over done jobs, s.
    pub mean_run_time_win: Option<f64>,
    /// Time from the first start of any attempt to the same end, mean over done jobs, s.
    pub mean_run_time_first: Option<f64>,
    /// Time from submission to the first start of any attempt, mean over jobs that started, s.
    pub mean_waiting_time: Option<f64>,
    /// Mean length of done jobs, MI.
    pub mean_length: Option<f64>,
    /// Mean length of lost jobs, MI.
    pub mean_length_lost: Option<f64>,
    /// Σ length of all jobs that the scheduler accepted, MI.
    pub length_submitted: f64,
    /// Work by category.
    pub work: GridWork,
    /// 100 × `work.lost` / (`work.useful` + `work.lost`).
    pub lost_percent_of_work: Option<f64>,
    /// 100 × `lost` / (`done` + `lost`).
    pub lost_percent_of_jobs: Option<f64>,
    /// Slot time by category.
    pub slot_time: GridSlotTime,
    /// Data that have arrived.
    pub data: GridData,
    /// Space that newest checkpoints of jobs take at the checkpoint server, mean over the run, bytes.
    /// Missing if no time passed.
    pub checkpoint_space: Option<f64>,
    /// Metrics of the storage. Missing if it has no limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<GridStorage>,
    /// Failures of resources.
    pub failures: u64,
    /// Time up / time, mean over resources, 0 to 1. Missing if no time passed.
    pub availability: Option<f64>,
    /// Time with at least one job that computed or wrote a checkpoint / time, mean over resources, 0 to 1.
    pub busy: Option<f64>,
    /// The same time / makespan, mean over resources, 0 to 1. Missing if no job ran to its end.
    #[serde(default)]
    pub busy_of_makespan: Option<f64>,
    /// Time in which a resource accepted no further job / time, mean over resources, 0 to 1.
    pub full: Option<f64>,
    /// Sessions, if resources reserve shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<GridSessions>,
    /// Workflows, if jobs are tasks of workflows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflows: Option<GridWorkflows>,
    /// Summaries of the resources, if there are at most 1,000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<GridResourceSummary>,
}

/// Work by category, MI.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridWork {
    /// All work.
    pub total: f64,
    /// The length of done jobs.
    pub useful: f64,
    /// Computed by attempts that failed, were stranded or moved, and not saved for an attempt that counts.
    pub lost: f64,
    /// The part of `lost` of attempts whose own resource failed: the sum of `work_lost` in the table
    /// `outages`.
    #[serde(default)]
    pub lost_by_failure: f64,
    /// Computed by attempts that were cancelled or came second, and not saved for an attempt that counts.
    pub duplicate: f64,
    /// Computed or saved of jobs that were not done when the run ended.
    pub in_progress: f64,
}

/// Slot time by category, s.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridSlotTime {
    /// All slot time.
    pub total: f64,
    /// For `work.useful`.
    pub useful: f64,
    /// For `work.lost`.
    pub lost: f64,
    /// For `work.duplicate`.
    pub duplicate: f64,
    /// For `work.in_progress`.
    pub in_progress: f64,
    /// Time in which checkpoints were written, used later or not.
    pub checkpoints: f64,
    /// Time in which a slot waited for data or preparation.
    pub transfers: f64,
}

/// Data that have arrived, in bytes, by kind. Interrupted transfers are excluded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridData {
    /// All data.
    pub total: u64,
    /// Input of jobs.
    pub input: u64,
    /// Output of jobs.
    pub output: u64,
    /// Checkpoints that were saved.
    pub checkpoints: u64,
    /// Checkpoints from which jobs continued.
    pub recovery: u64,
}

/// A storage with limits in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridStorage {
    /// Space taken by outputs, mean over the run, bytes. Missing if no time passed.
    pub mean_space: Option<f64>,
    /// Outputs that found no free space at first.
    pub waits: u64,
    /// Time for which these outputs waited, mean, s.
    pub mean_wait: Option<f64>,
    /// Jobs whose outputs found no space until the end of the run, in a storage that never deletes.
    #[serde(default)]
    pub stuck: u64,
}

/// A resource of a grid in numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridResourceSummary {
    /// Its name.
    pub name: String,
    /// Its failures.
    pub failures: u64,
    /// Time up / time, 0 to 1.
    pub availability: Option<f64>,
    /// Time with at least one job that computed or wrote a checkpoint / time, 0 to 1.
    pub busy: Option<f64>,
    /// Time in which it accepted no further job / time, 0 to 1.
    pub full: Option<f64>,
    /// Share of it that is reserved, mean over time, 0 to 1. Only if it reserves shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved: Option<f64>,
    /// Work that it computed, MI.
    pub work: f64,
    /// Attempts of jobs that were sent to it.
    pub attempts: u64,
    /// Data that arrived there, and data from there that arrived elsewhere.
    pub data: GridData,
}

/// Jobs that arrived, and jobs that the dispatcher never had.
#[derive(Clone, Copy, Debug)]
pub(in crate::metrics) struct Came {
    pub(in crate::metrics) jobs: u64,
    pub(in crate::metrics) rejected: u64,
    pub(in crate::metrics) withdrawn: u64,
}

impl GridLedger {
    /// Sums up the grid. The makespan is in seconds, `name` gives the name of a resource by number, and
    /// `fastest` is the highest speed, MIPS.
    pub(in crate::metrics) fn sum_up(
        &self,
        (came, makespan): (Came, Option<f64>),
        name: impl Fn(usize) -> String,
        fastest: f64,
    ) -> GridSummary {
        let (totals, accounts) = (&self.totals, &self.accounts);
        let (done, lost) = (totals.jobs(JobFate::Done), totals.jobs(JobFate::Lost));
        let [lost_pending, active, waiting_for_restart] =
            [JobFate::LostPending, JobFate::Active, JobFate::WaitingForRestart]
                .map(|fate| totals.jobs(fate));
        let (rejected, withdrawn) = (came.rejected, came.withdrawn);
        let sent = done + lost + lost_pending + active + waiting_for_restart;
        let share = |part: i128| ratio(part as f64, accounts.time() as f64);
        let whole = accounts.end.as_micros() as f64;
        let resources = accounts.resources.iter().map(|it| GridResourceSummary {
            name: name(it.resource.index()),
            failures: u64::from(it.failures),
            availability: ratio(whole - it.down.as_micros() as f64, whole),
            busy: ratio(it.busy.as_micros() as f64, whole),
            full: ratio(it.full.as_micros() as f64, whole),
            reserved: it.reserved.and_then(|sum| ratio(sum as f64 / PPM, whole)),
            work: it.processed.as_mi_f64(),
            attempts: it.attempts,
            data: data(&it.data),
        });
        GridSummary {
            nb_resources: accounts.count,
            jobs: came.jobs,
            done,
            lost,
            lost_pending,
            // Jobs in transit to the scheduler were never sent to a resource either.
            never_started: came.jobs - sent - rejected - withdrawn,
            active,
            waiting_for_restart,
            rejected,
            withdrawn,
            started: totals.started,
            rounds: accounts.rounds.rounds,
            rounds_with_queue: accounts.rounds.with_queue,
            attempts: totals.outcomes.values().sum(),
            attempts_by_outcome: totals
                .outcomes
                .iter()
                .map(|(outcome, &count)| (outcome.name().to_owned(), count))
                .collect(),
            checkpoints_written: totals.checkpoints_written,
            checkpoints_available: totals.checkpoints_available,
            checkpoints_written_per_started_job: per(totals.checkpoints_written, totals.started),
            checkpoints_available_per_started_job: per(
                totals.checkpoints_available,
                totals.started,
            ),
            checkpoints_omitted: totals.checkpoints_omitted,
            migrations: totals.attempts(AttemptOutcome::Moved),
            replicas_cancelled: totals.attempts(AttemptOutcome::Cancelled),
            mean_run_time_win: mean(totals.run_time_win, done),
            mean_run_time_first: mean(totals.run_time_first, done),
            mean_waiting_time: mean(totals.waiting, totals.started),
            mean_length: ratio(totals.spent.useful.work.as_mi_f64(), done as f64),
            mean_length_lost: ratio(totals.length_lost.as_mi_f64(), lost as f64),
            length_submitted: totals.length.as_mi_f64(),
            work: work(totals),
            lost_percent_of_work: percent_lost(totals.spent.lost.work, totals.spent.useful.work),
            lost_percent_of_jobs: ratio(100.0 * lost as f64, (done + lost) as f64),
            slot_time: slot_time(totals),
            data: data(&accounts.data),
            checkpoint_space: ratio(totals.checkpoint_space as f64, whole),
            storage: accounts.storage.map(|it| GridStorage {
                mean_space: ratio(it.occupied as f64, whole),
                waits: it.waits,
                mean_wait: mean(i128::from(it.waited.as_micros()), it.waits),
                stuck: it.stuck,
            }),
            failures: accounts.failures,
            availability: share(accounts.time() - accounts.down),
            busy: share(accounts.busy),
            busy_of_makespan: ratio(
                accounts.busy as f64,
                accounts.count as f64 * makespan.unwrap_or(0.0) * SECOND,
            )
            // Resources may also be busy outside of the makespan.
            .map(|share| share.min(1.0)),
            full: share(accounts.full),
            sessions: totals.sessions.sum_up(&came, accounts),
            workflows: totals.workflows.sum_up_grid(
                (totals.spent.useful.work, accounts.processed),
                accounts.rounds.evaluations,
                fastest,
            ),
            resources: resources.collect(),
        }
    }
}

fn work(totals: &Totals) -> GridWork {
    let spent = &totals.spent;
    GridWork {
        total: spent.work().as_mi_f64(),
        useful: spent.useful.work.as_mi_f64(),
        lost: spent.lost.work.as_mi_f64(),
        lost_by_failure: totals.lost_by_failure.as_mi_f64(),
        duplicate: spent.duplicate.work.as_mi_f64(),
        in_progress: spent.in_progress.work.as_mi_f64(),
    }
}

fn data(moved: &DataMoved) -> GridData {
    let DataMoved { input, output, checkpoints, recovery } = *moved;
    GridData { total: moved.total(), input, output, checkpoints, recovery }
}

fn slot_time(totals: &Totals) -> GridSlotTime {
    let spent = &totals.spent;
    let seconds = |micros: i128| micros as f64 / SECOND;
    GridSlotTime {
        total: seconds(spent.slot_time()),
        useful: seconds(spent.useful.time),
        lost: seconds(spent.lost.time),
        duplicate: seconds(spent.duplicate.time),
        in_progress: seconds(spent.in_progress.time),
        checkpoints: seconds(spent.checkpoints),
        transfers: seconds(spent.transfers),
    }
}

/// 100 X / (U + X).
fn percent_lost(lost: Work, useful: Work) -> Option<f64> {
    ratio(100.0 * lost.as_mi_f64(), (useful + lost).as_mi_f64())
}

/// The mean of spans whose sum is given in microseconds, s.
fn mean(micros: i128, count: u64) -> Option<f64> {
    ratio(micros as f64 / SECOND, count as f64)
}

fn per(things: u64, jobs: u64) -> Option<f64> {
    ratio(things as f64, jobs as f64)
}

pub(super) fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}
