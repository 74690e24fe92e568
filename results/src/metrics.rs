//! Metrics of a run: fed with job records while it goes on, summed up at its end.
//!
//! | metric | definition |
//! |---|---|
//! | waiting time | start - submission |
//! | turnaround time | end - submission |
//! | slowdown | turnaround / run time; jobs that ran for no time at all are left out |
//! | bounded slowdown | max(1, turnaround / max(run time, T)), T = 10 s unless set |
//! | makespan | last end - first submission |
//! | utilisation | Σ run time × processors / (P × makespan) |
//! | average weighted response time | Σ w × turnaround / Σ w, w = run time × processors |
//! | availability | processor time up / processor time, from time zero to the end of the run |
//! | promise broken | a completed job ended later than its provider had promised |
//! | delayed | promised (or had) its completion after its deadline |
//!
//! Jobs of grids, which share resources, have metrics of their own: see [`GridSummary`].
//!
//! Run time is end - start on the provider's processors; of a bag, the time of a
//! task on the reference processor. Distributions are over
//! the jobs that started and came to an end of their own, and each mean is divided by the number of these
//! (Batsim divides by all jobs, rejected ones included). Percentiles are exact:
//! at rank p × (n - 1) from 0 in the sorted values, linear between two of them,
//! as in NumPy and pandas; the median is the 50th. Standard deviations are those
//! of a sample (n - 1).
//!
//! # What a cut applies to
//! Warm-up and cool-down leave out *jobs, by their submission*: every count and
//! every distribution is over the jobs that are left. `makespan` and
//! `utilisation` always are those of the whole run, since the jobs left out did
//! keep processors busy; `utilisation_in_window` is the share of processor time used
//! between the ends of the cut, by whatever job.

mod bags;
mod coallocated;
mod deadlines;
mod distribution;
mod eavesdropper;
mod failures;
mod given_back;
mod grid;
mod maintenance;
mod moves;
pub mod named;
mod network;
mod plans;
mod reservations;
mod summary;
mod text;
mod transactions;
mod workflows;

use haggle_model::grid::{AttemptRecord, ResourceAccount, RoundsAccount, StorageAccount};
use haggle_model::observation::{DisclosedItem, Review};
use haggle_model::phased::IntervalRecord;
use haggle_model::reservation::GrantedWindow;
use haggle_model::workflow::{Staged, WorkflowCame};
use haggle_model::{
    ActorId, AgreementEvent, AgreementId, Cast, JobClass, JobId, JobOutcome, JobRecord, LostRun,
    MaintenanceRecord, MessageFault, OffersMade, ProviderId, ShareRecord, Sizing, Span, StageIn,
    TaskRun, Time,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use crate::tally::Tally;
use bags::BagSample;
use eavesdropper::Eavesdropper;
use failures::FailureLog;
use maintenance::MaintenanceLog;
use moves::MoveLog;
use plans::PlanLog;
use transactions::TransactionLog;

pub use bags::{Bags, Stretch};
pub use coallocated::CoallocatedJobs;
pub use deadlines::Deadlines;
pub use distribution::{Distribution, percentile};
pub use eavesdropper::Eavesdropping;
pub use failures::{FailureMetrics, ProviderFailures};
pub use given_back::GivenBack;
use grid::GridLedger;
pub use grid::{
    AttemptLoss, GridData, GridResourceSummary, GridSessions, GridSlotTime, GridStorage,
    GridSummary, GridViolation, GridWork, SettledAttempt, SettledJob,
};
pub use maintenance::Maintenance;
pub use moves::Moves;
pub(crate) use moves::Sizes;
pub use network::Networks;
pub use plans::Plans;
pub use reservations::Reservations;
pub use summary::{DisclosedCount, Group, MessageFaults, Outcomes, Summary};
pub use transactions::{TransactionRecord, Transactions};
use workflows::WorkflowTotals;
pub use workflows::{GridWorkflows, WorkflowRecord, Workflows};

/// Run times below this count as this long in bounded slowdowns, unless set otherwise: 10 s.
pub const DEFAULT_THRESHOLD: Span = Span::from_secs(10);

/// How much of one end of a run is left out.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// Nothing.
    #[default]
    Nothing,
    /// Jobs submitted less than so many seconds after the first (before the last) submission.
    Seconds(f64),
    /// This share (0 to 1) of all jobs, in order of submission, rounded down.
    Share(f64),
}

/// Which jobs are left out of counts and distributions.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Cut {
    /// At the start.
    pub warm_up: Extent,
    /// At the end.
    pub cool_down: Extent,
}

/// How metrics are taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricsOptions {
    /// T in the definition of the bounded slowdown.
    pub bounded_slowdown_threshold: Span,
    /// Which jobs are left out.
    pub cut: Cut,
    /// The stretch of time over which `utilisation_in_window` is taken; without
    /// it, what the cut leaves.
    pub window: Option<(Time, Time)>,
    /// If parts of jobs are got by protocols: how often a job may be tried. Then the summary says what
    /// came of it.
    pub transactions: Option<u32>,
    /// When the run stops; without it, when its last job has left.
    pub horizon: Option<Time>,
}

impl Default for MetricsOptions {
    fn default() -> MetricsOptions {
        MetricsOptions {
            bounded_slowdown_threshold: DEFAULT_THRESHOLD,
            cut: Cut::default(),
            window: None,
            transactions: None,
            horizon: None,
        }
    }
}

/// max(1, turnaround / max(execution, threshold)), all in one unit.
pub fn bounded_slowdown(turnaround: i64, execution: i64, threshold: i64) -> f64 {
    let shortest = execution.max(threshold).max(1);
    (turnaround as f64 / shortest as f64).max(1.0)
}

/// Collects what metrics need of each job: some 70 bytes, since exact percentiles
/// need all values.
#[derive(Clone, Debug)]
pub struct Metrics {
    options: MetricsOptions,
    /// Who is in the run: the names of all, and the places where jobs run.
    cast: Arc<Cast>,
    /// How many of them give whole processors; the others are resources of a grid.
    whole: usize,
    /// Whether any of those may fail: then the summary says what came of it.
    may_fail: bool,
    /// Speed of the fastest of those, and of the fastest resource.
    fastest: [f64; 2],
    jobs: Vec<Sample>,
    disclosed: Tally<DisclosedItem, 4>,
    eavesdropper: Eavesdropper,
    failures: FailureLog,
    maintenance: MaintenanceLog,
    /// Present as soon as something has gone wrong with a message.
    message_faults: Option<MessageFaults>,
    moves: MoveLog,
    plans: PlanLog,
    /// Of providers.
    flows: WorkflowTotals,
    transactions: Option<Box<TransactionLog>>,
    /// Processor-microseconds of parts that ran, and of those that are part of a job.
    parts: (i128, i128),
    /// Present as soon as a grid has been heard of.
    grid: Option<Box<GridLedger>>,
}

/// An instant in microseconds, if there is one: of these there are many, and an option is twice as large.
#[derive(Clone, Copy, Debug)]
struct Instant(i64);

impl Instant {
    const NONE: Instant = Instant(i64::MIN);

    fn of(time: Option<Time>) -> Instant {
        time.map_or(Instant::NONE, |time| Instant(time.as_micros()))
    }

    fn get(self) -> Option<i64> {
        (self.0 != i64::MIN).then_some(self.0)
    }
}

/// The number of a provider, if there is one, likewise.
#[derive(Clone, Copy, Debug)]
struct Place(u32);

impl Place {
    const NONE: Place = Place(u32::MAX);

    fn of(provider: Option<ProviderId>) -> Place {
        provider.map_or(Place::NONE, |provider| Place(provider.0))
    }

    fn get(self) -> Option<u32> {
        (self.0 != Place::NONE.0).then_some(self.0)
    }
}

/// What metrics need of a job; times in microseconds. What few jobs have is elsewhere, so that a million
/// of them are small.
#[derive(Clone, Debug)]
struct Sample {
    submit: i64,
    start: Instant,
    end: i64,
    promised_end: Instant,
    deadline: Instant,
    /// No limit counts as the time it ran.
    requested: i64,
    /// None on a time-shared resource: a part of a processor is none.
    processors: u32,
    provider: Place,
    workload: u16,
    class: JobClass,
    outcome: JobOutcome,
    /// Whether a grid had it.
    on_grid: bool,
    /// Whether attempts were lost with their processors.
    lost: bool,
    more: Option<Box<More>>,
}

/// What metrics need of some jobs besides.
#[derive(Clone, Debug)]
struct More {
    /// If it wrote checkpoints.
    checkpoints: Option<Checkpoints>,
    bag: Option<BagSample>,
    granted: Option<Box<GrantedWindow>>,
}

/// What checkpoints did for a job; times in microseconds.
#[derive(Clone, Debug)]
struct Checkpoints {
    /// When lost attempts computed what was saved, as if at their starts.
    saved: Vec<(i64, i64)>,
    /// Time in which the last attempt read or wrote them.
    overhead: i64,
}

impl Checkpoints {
    fn of(record: &JobRecord) -> Option<Checkpoints> {
        let resumed = record.lost.iter().filter(|run| run.saved > Span::ZERO);
        let resumed = resumed.filter(|_| !came_to_nothing(record.outcome));
        let saved = |run: &LostRun| (run.start.as_micros(), (run.start + run.saved).as_micros());
        let saved: Vec<(i64, i64)> = resumed.map(saved).collect();
        let overhead = record.checkpointing.as_micros();
        (overhead > 0 || !saved.is_empty()).then_some(Checkpoints { saved, overhead })
    }
}

impl Sample {
    fn of(record: &JobRecord) -> Sample {
        let end = record.end.as_micros();
        let ran = record.run_time().unwrap_or(Span::ZERO).as_micros();
        let more = More {
            checkpoints: Checkpoints::of(record),
            bag: BagSample::of(record),
            granted: record.granted.clone(),
        };
        let is_more = more.checkpoints.is_some() || more.bag.is_some() || more.granted.is_some();
        Sample {
            more: is_more.then(|| Box::new(more)),
            deadline: Instant::of(record.job.deadline),
            requested: record.job.requested_time.map_or(ran, Span::as_micros),
            submit: record.job.submit.as_micros(),
            start: Instant::of(record.start),
            end,
            promised_end: Instant::of(record.promised_end),
            processors: record.width(),
            provider: Place::of(record.provider),
            workload: record.job.workload,
            class: record.class,
            outcome: record.outcome,
            on_grid: false,
            lost: !record.lost.is_empty(),
        }
    }

    fn checkpoints(&self) -> Option<&Checkpoints> {
        self.more.as_ref()?.checkpoints.as_ref()
    }

    fn bag(&self) -> Option<&BagSample> {
        self.more.as_ref()?.bag.as_ref()
    }

    fn granted(&self) -> Option<&GrantedWindow> {
        self.more.as_ref()?.granted.as_deref()
    }

    /// Whether it went its way to the end: what was given up or is unfinished has no
    /// turnaround to compare.
    fn is_done(&self) -> bool {
        !matches!(self.outcome, JobOutcome::Failed | JobOutcome::Unfinished)
    }

    /// Start and end, if it ran; of what is unfinished, until the run stopped.
    fn ran(&self) -> Option<(i64, i64)> {
        self.start.get().map(|start| (start, self.end))
    }

    /// What its last attempt did not have to compute again, and when.
    fn saved(&self) -> impl Iterator<Item = (i64, i64)> {
        self.checkpoints().into_iter().flat_map(|it| it.saved.iter().copied())
    }

    fn time_saved(&self) -> i64 {
        self.saved().map(|(start, end)| end - start).sum()
    }

    /// How long it takes on its processors: of a bag, one task on the reference processor.
    fn run_time(&self) -> Option<i64> {
        let (start, end) = self.ran()?;
        let bag = self.bag().filter(|bag| bag.is_bag());
        Some(bag.map_or(end - start + self.time_saved(), |bag| bag.run_time))
    }

    /// All the time before its end that is not run time; of a bag, until its first task.
    fn waiting_time(&self) -> Option<i64> {
        self.start.get().map(|start| start - self.submit - self.time_saved())
    }
}

/// Processor-microseconds of tasks that ran together.
fn work_of(run: &TaskRun) -> i128 {
    i128::from((run.end - run.start).as_micros()) * i128::from(run.processors.count())
}

/// Whether nothing of a job is of use to anybody, not even what was saved of it.
pub(crate) fn came_to_nothing(outcome: JobOutcome) -> bool {
    matches!(outcome, JobOutcome::Failed | JobOutcome::Cancelled | JobOutcome::Rejected(_))
}

impl Metrics {
    /// Nothing collected yet.
    pub fn new(cast: impl Into<Arc<Cast>>, options: MetricsOptions) -> Metrics {
        let cast = cast.into();
        let (whole, shared) = cast.providers.split_at(cast.whole_places());
        Metrics {
            options,
            whole: whole.len(),
            may_fail: whole.iter().any(|it| it.may_fail),
            fastest: [whole, shared]
                .map(|places| places.iter().map(|it| it.speed).fold(0.0, f64::max)),
            jobs: Vec::new(),
            disclosed: Tally::default(),
            eavesdropper: Eavesdropper::default(),
            failures: FailureLog::new(whole.len()),
            cast,
            maintenance: MaintenanceLog::default(),
            message_faults: None,
            moves: MoveLog::default(),
            plans: PlanLog::default(),
            flows: WorkflowTotals::default(),
            transactions: options.transactions.map(|it| Box::new(TransactionLog::new(it))),
            parts: (0, 0),
            grid: None,
        }
    }

    /// Takes in that a job which waited at `from` has been submitted to `to`.
    pub fn moved(&mut self, now: Time, job: JobId, from: ActorId, to: ActorId) {
        self.moves.moved(now, job, from, to);
    }

    /// Takes in that an interval of an application is over.
    pub fn interval_over(&mut self, record: &IntervalRecord) {
        self.plans.interval_over(record);
    }

    /// Takes in the size that a provider has chosen for a job.
    pub fn sized(&mut self, job: JobId, sizing: Sizing, stage_in: StageIn) {
        self.moves.sizes.sized(job, sizing, stage_in);
    }

    /// Takes in that a metascheduler has looked at what waits.
    pub fn reviewed(&mut self, review: &Review) {
        self.moves.moves.get_or_insert_default().reviewed(review);
    }

    /// Takes in something that `actor` has observed of a transaction on the parts of a job.
    pub fn agreement(
        &mut self,
        now: Time,
        actor: ActorId,
        id: AgreementId,
        job: JobId,
        event: &AgreementEvent,
    ) {
        if let Some(log) = &mut self.transactions {
            log.hear(now, actor, id, job, event);
        }
    }

    /// Takes in who waits for whom at `actor`.
    pub fn waiting(&mut self, now: Time, actor: ActorId, waits: &[(JobId, JobId)]) {
        if let Some(log) = &mut self.transactions {
            log.waiting(now, actor, waits);
        }
    }

    /// Takes in that `actor` has crashed.
    pub fn crashed(&mut self, now: Time, actor: ActorId) {
        if let Some(log) = &mut self.transactions {
            log.crashed(now, actor);
        }
    }

    /// Takes in a part of a transaction that is over, with what ran of it.
    pub fn part_over(&mut self, share: &ShareRecord) {
        self.parts.0 += share.runs.iter().map(work_of).sum::<i128>();
    }

    /// Takes in that `from` has told `to` something about itself.
    #[inline]
    pub fn disclosed(&mut self, from: ActorId, to: ActorId, item: DisclosedItem, count: u32) {
        self.disclosed.add((from, to, item), u64::from(count));
    }

    /// Takes in that something went wrong with a message, which was sent again so often because of that.
    pub fn message_fault(&mut self, fault: MessageFault, resent: u64) {
        let counts = self.message_faults.get_or_insert_default();
        *match fault {
            MessageFault::Lost => &mut counts.lost,
            MessageFault::Parted => &mut counts.parted,
            MessageFault::Missed => &mut counts.missed,
            MessageFault::Doubled => &mut counts.doubled,
            MessageFault::Refused => &mut counts.refused,
        } += resent.max(1);
        counts.resent += resent;
    }

    /// Takes in a provider's answer to a call for offers.
    pub fn offers_made(&mut self, now: Time, provider: ActorId, answer: &OffersMade) {
        self.eavesdropper.read(now, provider, answer);
    }

    /// Takes in that so many processors of `provider` have failed together.
    pub fn processors_failed(&mut self, now: Time, provider: ProviderId, processors: u32) {
        self.failures.failed(now, provider, processors);
    }

    /// Takes in that so many processors of `provider` are back.
    pub fn processors_restored(&mut self, now: Time, provider: ProviderId, processors: u32) {
        self.failures.restored(now, provider, processors);
    }

    /// Takes in that a window of maintenance has begun, is refused, or lies behind the end of the run.
    pub fn maintenance(&mut self, record: &MaintenanceRecord) {
        self.maintenance.window(record);
    }

    /// Takes in when the run ended.
    ///
    /// # Errors
    /// If what resources of a grid did is not what their jobs were for.
    pub fn run_over(&mut self, now: Time) -> Result<(), GridViolation> {
        self.failures.run_over(now);
        if let Some(log) = &mut self.transactions {
            log.run_over(now);
        }
        self.grid.as_mut().map_or(Ok(()), |grid| grid.run_over(now))
    }

    /// Each transaction, in the order in which they were opened, when the run is over.
    pub fn transactions(&self) -> Vec<TransactionRecord> {
        self.transactions.as_ref().map(|log| log.records()).unwrap_or_default()
    }

    /// What became of each workflow, by workload and number, when the run is over.
    pub fn workflows(&self) -> Vec<WorkflowRecord> {
        let [whole, shared] = self.fastest;
        let mut all = Vec::from_iter(self.flows.records(whole));
        all.extend(self.grid.iter().flat_map(|grid| grid.workflows(shared)));
        all.sort_by_key(|it| (it.came.workload, it.came.number));
        all
    }

    /// Takes in that a workflow has come.
    pub fn workflow_came(&mut self, now: Time, came: WorkflowCame) {
        match self.cast.on_grid.contains(&came.workload) {
            true => self.grid().workflow_came(now, came),
            false => self.flows.came(now, came),
        }
    }

    /// Takes in that what a task needs is at the provider to which it is submitted.
    pub fn staged(&mut self, staged: &Staged) {
        self.flows.staged(staged);
    }

    fn grid(&mut self) -> &mut GridLedger {
        self.grid.get_or_insert_default()
    }

    /// Takes in that an attempt of a job of a grid is over.
    pub fn attempt_over(&mut self, record: &AttemptRecord) {
        self.grid().attempt_over(record);
    }

    /// Takes in a job of a grid of which all is known.
    pub fn job_settled(&mut self, job: &SettledJob) {
        self.jobs.push(Sample { processors: 0, on_grid: true, ..Sample::of(&job.record) });
        self.grid().job_settled(job);
    }

    /// Takes in an attempt on a grid that belongs to no job.
    pub fn attempt_left(&mut self, record: &AttemptRecord) {
        self.grid().attempt_left(record);
    }

    /// Takes in what a resource of a grid has done in the whole run.
    pub fn resource_account(&mut self, account: ResourceAccount) {
        self.grid().account(account);
    }

    /// Takes in what a grid's scheduler has done in the whole run.
    pub fn rounds_account(&mut self, account: RoundsAccount) {
        self.grid().rounds(account);
    }

    /// Takes in what a grid's storage has held in the whole run.
    pub fn storage_account(&mut self, account: StorageAccount) {
        self.grid().storage(account);
    }

    /// Processor-microseconds of all that ran, whatever came of it.
    pub fn work(&self) -> i128 {
        let done = summary::work_done(&self.jobs);
        let in_vain = self.parts.0 - self.parts.1;
        done.useful + done.unfinished + done.checkpoints + self.failures.work() + in_vain
    }

    /// Takes in a job that is over.
    pub fn job_over(&mut self, record: &JobRecord) {
        if let Some(bag) = record.bag.as_ref().filter(|it| it.is_agreed()) {
            let runs = bag.shares.iter().flat_map(|share| &share.runs);
            self.parts.1 += runs.map(work_of).sum::<i128>();
        }
        if let Some(log) = self.transactions.as_mut().filter(|_| record.start.is_none()) {
            log.given_back(record.job.id);
        }
        let saved_in_vain = came_to_nothing(record.outcome);
        record.lost.iter().for_each(|run| self.failures.run_lost(run, saved_in_vain));
        self.moves.job_over(record);
        self.flows.provider_job_over(record);
        self.jobs.push(Sample::of(record));
    }

    /// Of each job, in the order in which they were over, whether warm-up and cool-down leave it.
    pub fn counted(&self) -> Vec<bool> {
        summary::counted(self)
    }

    /// Sums up.
    pub fn summarise(&self) -> Summary {
        summary::summarise(self)
    }
}
