//! Metrics of a run. Records of jobs are added during the run and summed up at its end.
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
//! Jobs of grids share resources and have metrics of their own: see [`GridSummary`].
//!
//! Run time is end - start on the provider's processors; of a bag, the time of a task on the reference
//! processor. Distributions are over the jobs that started and ended by themselves. Each mean is
//! divided by the number of these jobs (Batsim divides by all jobs, rejected ones included).
//! Percentiles are exact: at rank p × (n - 1) from 0 in the sorted values, linear between two of them,
//! as in NumPy and pandas. The median is the 50th. Standard deviations are those of a sample (n - 1).
//!
//! # Effect of a cut
//! Warm-up and cool-down leave out *jobs, by their submission*: every count and every distribution is
//! over the remaining jobs. `makespan` and `utilisation` always are those of the whole run, because the
//! jobs left out kept processors busy. `utilisation_in_window` is the share of processor time that all
//! jobs used between the ends of the cut.

mod as_recorded;
mod bags;
mod coallocated;
mod deadlines;
mod distribution;
mod eavesdropper;
mod failures;
mod following;
mod given_back;
mod grid;
mod maintenance;
mod moves;
pub mod named;
mod network;
mod nodes;
mod plans;
mod recorded;
mod reservations;
mod summary;
mod text;
mod transactions;
mod workflows;

use haggle_model::grid::{AttemptRecord, ResourceAccount, RoundsAccount, StorageAccount};
use haggle_model::job::Recorded;
use haggle_model::observation::{DisclosedItem, RecordedStart, Review};
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

pub use as_recorded::{AsRecorded, Waits};
pub use bags::{Bags, Stretch};
pub use coallocated::CoallocatedJobs;
pub use deadlines::Deadlines;
pub use distribution::{Distribution, percentile};
pub use eavesdropper::Eavesdropping;
pub use failures::{FailureMetrics, PreemptionMetrics, ProviderFailures};
pub use following::FollowingJobs;
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
use nodes::NodeLog;
pub use nodes::NodeUse;
pub use plans::Plans;
pub use recorded::RecordedStarts;
pub use reservations::Reservations;
pub use summary::{DisclosedCount, Group, MessageFaults, Outcomes, Summary};
pub use transactions::{TransactionRecord, Transactions};
use workflows::WorkflowTotals;
pub use workflows::{GridWorkflows, WorkflowRecord, Workflows};

/// Shortest run time in bounded slowdowns, unless set otherwise: 10 s.
pub const DEFAULT_THRESHOLD: Span = Span::from_secs(10);

/// Part that is left out at one end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// Nothing.
    #[default]
    Nothing,
    /// Jobs submitted less than this many seconds after the first (before the last) submission.
    Seconds(f64),
    /// This share (0 to 1) of all jobs, in order of submission, rounded down.
    Share(f64),
}

/// Jobs that are left out of counts and distributions.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Cut {
    /// At the start.
    pub warm_up: Extent,
    /// At the end.
    pub cool_down: Extent,
}

impl Cut {
    /// For each job of a run that is over, in the order in which jobs ended: whether it is left in. A job is its submission,
    /// µs, and true if it belongs to the start state.
    pub fn counted(&self, jobs: &[(i64, bool)]) -> Vec<bool> {
        summary::counted(*self, jobs)
    }
}

/// Settings of metrics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricsOptions {
    /// T in the definition of the bounded slowdown.
    pub bounded_slowdown_threshold: Span,
    /// Jobs that are left out.
    pub cut: Cut,
    /// Interval over which `utilisation_in_window` is taken. If absent, the interval that the cut leaves.
    pub window: Option<(Time, Time)>,
    /// Maximum number of tries for a job whose parts are booked by a protocol. If present, the summary
    /// has metrics of transactions.
    pub transactions: Option<u32>,
    /// Time at which the run stops. If absent, the time at which its last job has left.
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
    // Without run time and threshold, the divisor would be 0.
    let shortest = execution.max(threshold).max(1);
    (turnaround as f64 / shortest as f64).max(1.0)
}

/// Collects the data of each job that metrics need: some 70 bytes, since exact percentiles need all values.
#[derive(Clone, Debug)]
pub struct Metrics {
    options: MetricsOptions,
    /// Names of all actors and workloads, and the places where jobs run.
    cast: Arc<Cast>,
    /// Number of places that give whole processors; the others are resources of a grid.
    whole: usize,
    /// True if processors of these places may fail. If so, the summary has metrics of failures.
    may_fail: bool,
    /// Highest speed among these places, and among the resources of a grid.
    fastest: [f64; 2],
    jobs: Vec<Sample>,
    disclosed: Tally<DisclosedItem, 4>,
    eavesdropper: Eavesdropper,
    failures: FailureLog,
    maintenance: MaintenanceLog,
    nodes: NodeLog,
    /// Present as soon as a message has been lost, doubled or refused.
    message_faults: Option<MessageFaults>,
    moves: MoveLog,
    /// Present as soon as a job follows others.
    following: Option<FollowingJobs>,
    plans: PlanLog,
    /// Workflows that providers run.
    flows: WorkflowTotals,
    transactions: Option<Box<TransactionLog>>,
    /// Processor-microseconds of all parts that ran, and of the parts that belong to a finished job.
    parts: (i128, i128),
    /// Present as soon as a grid has reported anything.
    grid: Option<Box<GridLedger>>,
}

/// An optional instant in microseconds. There are many of these, and an `Option` is twice as large.
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

/// An optional number of a provider, packed for the same reason.
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

/// Data of a job that metrics need; times in microseconds. Rare attributes are in [`RareSample`], so that a
/// million samples stay small.
#[derive(Clone, Debug)]
struct Sample {
    submit: i64,
    start: Instant,
    end: i64,
    promised_end: Instant,
    deadline: Instant,
    /// Requested time; without a limit, the time that the job ran.
    requested: i64,
    /// Zero on a time-shared resource, which gives parts of processors.
    processors: u32,
    provider: Place,
    workload: u16,
    class: JobClass,
    outcome: JobOutcome,
    /// True if the job ran on a grid.
    on_grid: bool,
    /// True if the job lost an attempt because its processors failed.
    lost: bool,
    /// True if the job belongs to the start state of the run.
    initial: bool,
    /// Its times on the machine of its log.
    log: Option<Box<Recorded>>,
    rare: Option<Box<RareSample>>,
}

/// Rare attributes of a job.
#[derive(Clone, Debug)]
struct RareSample {
    /// Present if the job wrote checkpoints.
    checkpoints: Option<Checkpoints>,
    bag: Option<BagSample>,
    granted: Option<Box<GrantedWindow>>,
    recorded: Option<RecordedStart>,
}

/// Effect of checkpoints on a job; times in microseconds.
#[derive(Clone, Debug)]
struct Checkpoints {
    /// Intervals of computing that lost attempts saved, each counted from the start of the attempt.
    saved: Vec<(i64, i64)>,
    /// Time in which the last attempt read or wrote checkpoints.
    overhead: i64,
}

impl Checkpoints {
    fn of(record: &JobRecord) -> Option<Checkpoints> {
        let resumed = record.lost.iter().filter(|run| run.saved > Span::ZERO);
        // The saved work of a job that came to nothing is wasted.
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
        let rare = RareSample {
            checkpoints: Checkpoints::of(record),
            bag: BagSample::of(record),
            granted: record.granted.clone(),
            recorded: record.recorded,
        };
        let is_rare = rare.checkpoints.is_some()
            || rare.bag.is_some()
            || rare.granted.is_some()
            || rare.recorded.is_some();
        Sample {
            log: record.job.origin.logged().recorded().map(Box::new),
            rare: is_rare.then(|| Box::new(rare)),
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
            initial: record.job.initial.is_some(),
        }
    }

    fn checkpoints(&self) -> Option<&Checkpoints> {
        self.rare.as_ref()?.checkpoints.as_ref()
    }

    fn bag(&self) -> Option<&BagSample> {
        self.rare.as_ref()?.bag.as_ref()
    }

    fn granted(&self) -> Option<&GrantedWindow> {
        self.rare.as_ref()?.granted.as_deref()
    }

    fn recorded(&self) -> Option<RecordedStart> {
        self.rare.as_ref()?.recorded
    }

    /// True if the job came to its end. A failed or unfinished job has no turnaround time to compare.
    fn is_done(&self) -> bool {
        !matches!(self.outcome, JobOutcome::Failed | JobOutcome::Unfinished)
    }

    /// Start and end, if the job ran; the end of an unfinished job is the end of the run.
    fn ran(&self) -> Option<(i64, i64)> {
        self.start.get().map(|start| (start, self.end))
    }

    /// Intervals of saved computing, which the last attempt did not have to repeat.
    fn saved(&self) -> impl Iterator<Item = (i64, i64)> {
        self.checkpoints().into_iter().flat_map(|it| it.saved.iter().copied())
    }

    fn time_saved(&self) -> i64 {
        self.saved().map(|(start, end)| end - start).sum()
    }

    /// Time on the job's processors; of a bag, time of one task on the reference processor.
    fn run_time(&self) -> Option<i64> {
        let (start, end) = self.ran()?;
        let bag = self.bag().filter(|bag| bag.is_bag());
        Some(bag.map_or(end - start + self.time_saved(), |bag| bag.run_time))
    }

    /// Time before the end that is not run time; of a bag, time until its first task starts.
    fn waiting_time(&self) -> Option<i64> {
        self.start.get().map(|start| start - self.submit - self.time_saved())
    }
}

/// Processor-microseconds of tasks that ran together.
fn work_of(run: &TaskRun) -> i128 {
    i128::from((run.end - run.start).as_micros()) * i128::from(run.processors.count())
}

/// True if all work of a job is wasted, saved work included.
pub(crate) fn came_to_nothing(outcome: JobOutcome) -> bool {
    matches!(outcome, JobOutcome::Failed | JobOutcome::Cancelled | JobOutcome::Rejected(_))
}

impl Metrics {
    /// Starts without any data.
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
            nodes: NodeLog::default(),
            message_faults: None,
            moves: MoveLog::default(),
            following: None,
            plans: PlanLog::default(),
            flows: WorkflowTotals::default(),
            transactions: options.transactions.map(|it| Box::new(TransactionLog::new(it))),
            parts: (0, 0),
            grid: None,
        }
    }

    /// Records that a job which waited at `from` has been submitted to `to`.
    pub fn moved(&mut self, now: Time, job: JobId, from: ActorId, to: ActorId) {
        self.moves.moved(now, job, from, to);
    }

    /// Records the end of an interval of an application.
    pub fn interval_over(&mut self, record: &IntervalRecord) {
        self.plans.interval_over(record);
    }

    /// Records the size that a provider has chosen for a job.
    pub fn sized(&mut self, job: JobId, sizing: Sizing, stage_in: StageIn) {
        self.moves.sizes.sized(job, sizing, stage_in);
    }

    /// Records that a metascheduler has examined the waiting jobs.
    pub fn reviewed(&mut self, review: &Review) {
        self.moves.moves.get_or_insert_default().reviewed(review);
    }

    /// Records that a job follows others. If it is `held`, the run stopped before its submission.
    pub fn follows(&mut self, held: bool) {
        let following = self.following.get_or_insert_default();
        following.jobs += 1;
        following.held += u64::from(held);
    }

    /// Records an event of a transaction on the parts of a job, observed by `actor`.
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

    /// Records which jobs wait for which others at `actor`.
    pub fn waiting(&mut self, now: Time, actor: ActorId, waits: &[(JobId, JobId)]) {
        if let Some(log) = &mut self.transactions {
            log.waiting(now, actor, waits);
        }
    }

    /// Records a crash of `actor`.
    pub fn crashed(&mut self, now: Time, actor: ActorId) {
        if let Some(log) = &mut self.transactions {
            log.crashed(now, actor);
        }
    }

    /// Records the end of a part of a transaction, with the runs of that part.
    pub fn part_over(&mut self, share: &ShareRecord) {
        self.parts.0 += share.runs.iter().map(work_of).sum::<i128>();
    }

    /// Records that `from` has disclosed an item about itself to `to`.
    #[inline]
    pub fn disclosed(&mut self, from: ActorId, to: ActorId, item: DisclosedItem, count: u32) {
        self.disclosed.add((from, to, item), u64::from(count));
    }

    /// Records a fault of a message, and how often the message was resent because of it.
    pub fn message_fault(&mut self, fault: MessageFault, resent: u64) {
        let counts = self.message_faults.get_or_insert_default();
        // A fault after which nothing was sent again counts once, too.
        *match fault {
            MessageFault::Lost => &mut counts.lost,
            MessageFault::Parted => &mut counts.parted,
            MessageFault::Missed => &mut counts.missed,
            MessageFault::Doubled => &mut counts.doubled,
            MessageFault::Refused => &mut counts.refused,
        } += resent.max(1);
        counts.resent += resent;
    }

    /// Records a provider's answer to a call for offers.
    pub fn offers_made(&mut self, now: Time, provider: ActorId, answer: &OffersMade) {
        self.eavesdropper.read(now, provider, answer);
    }

    /// Records that this many processors of `provider` have failed together.
    pub fn processors_failed(&mut self, now: Time, provider: ProviderId, processors: u32) {
        self.failures.failed(now, provider, processors);
    }

    /// Records that this many processors of `provider` have been restored.
    pub fn processors_restored(&mut self, now: Time, provider: ProviderId, processors: u32) {
        self.failures.restored(now, provider, processors);
    }

    /// Records that a window of maintenance has begun, is refused, or lies behind the end of the run.
    pub fn maintenance(&mut self, record: &MaintenanceRecord) {
        self.maintenance.window(record);
    }

    /// Records the end of the run.
    ///
    /// # Errors
    /// If the accounts of a grid's resources do not match the attempts of its jobs.
    pub fn run_over(&mut self, now: Time) -> Result<(), GridViolation> {
        self.failures.run_over(now);
        if let Some(log) = &mut self.transactions {
            log.run_over(now);
        }
        self.grid.as_mut().map_or(Ok(()), |grid| grid.run_over(now))
    }

    /// All transactions of a run that is over, in the order in which they were opened.
    pub fn transactions(&self) -> Vec<TransactionRecord> {
        self.transactions.as_ref().map(|log| log.records()).unwrap_or_default()
    }

    /// All workflows of a run that is over, by workload and number.
    pub fn workflows(&self) -> Vec<WorkflowRecord> {
        let [whole, shared] = self.fastest;
        let mut all = Vec::from_iter(self.flows.records(whole));
        all.extend(self.grid.iter().flat_map(|grid| grid.workflows(shared)));
        all.sort_by_key(|it| (it.came.workload, it.came.number));
        all
    }

    /// Records that a workflow has arrived.
    pub fn workflow_came(&mut self, now: Time, came: WorkflowCame) {
        match self.cast.on_grid.contains(&came.workload) {
            true => self.grid().workflow_came(now, came),
            false => self.flows.came(now, came),
        }
    }

    /// Records that the inputs of a task have arrived at the provider to which it is submitted.
    pub fn staged(&mut self, staged: &Staged) {
        self.flows.staged(staged);
    }

    fn grid(&mut self) -> &mut GridLedger {
        self.grid.get_or_insert_default()
    }

    /// Records that an attempt of a job of a grid is over.
    pub fn attempt_over(&mut self, record: &AttemptRecord) {
        self.grid().attempt_over(record);
    }

    /// Records a job of a grid whose attempts are all known.
    pub fn job_settled(&mut self, job: &SettledJob) {
        // Jobs of a grid share processors, so they hold none for themselves.
        self.jobs.push(Sample { processors: 0, on_grid: true, ..Sample::of(&job.record) });
        self.grid().job_settled(job);
    }

    /// Records an attempt on a grid that belongs to no job.
    pub fn attempt_left(&mut self, record: &AttemptRecord) {
        self.grid().attempt_left(record);
    }

    /// Records the account of a grid's resource over the whole run.
    pub fn resource_account(&mut self, account: ResourceAccount) {
        self.grid().account(account);
    }

    /// Records the account of a grid's scheduler over the whole run.
    pub fn rounds_account(&mut self, account: RoundsAccount) {
        self.grid().rounds(account);
    }

    /// Records the account of a grid's storage over the whole run.
    pub fn storage_account(&mut self, account: StorageAccount) {
        self.grid().storage(account);
    }

    /// Processor-microseconds of all runs, useful or not.
    pub fn work(&self) -> i128 {
        let done = summary::work_done(&self.jobs);
        done.useful + done.unfinished + done.checkpoints + self.failures.work() + self.given_up()
    }

    /// Work of parts that were given up, because other parts of their jobs could not run.
    fn given_up(&self) -> i128 {
        self.parts.0 - self.parts.1
    }

    /// Records that a job is over.
    // [`Metrics::part_over`] has counted these runs. The difference of both sums is wasted work.
    pub fn job_over(&mut self, record: &JobRecord) {
        if let Some(bag) = record.bag.as_ref().filter(|it| it.is_agreed()) {
            let runs = bag.shares.iter().flat_map(|share| &share.runs);
            self.parts.1 += runs.map(work_of).sum::<i128>();
        }
        // A job that never started got no parts.
        if let Some(log) = self.transactions.as_mut().filter(|_| record.start.is_none()) {
            log.given_back(record.job.id);
        }
        let saved_in_vain = came_to_nothing(record.outcome);
        record.lost.iter().for_each(|run| self.failures.run_lost(run, saved_in_vain));
        self.moves.job_over(record);
        self.nodes.job_over(record, &self.cast);
        self.flows.provider_job_over(record);
        self.jobs.push(Sample::of(record));
    }

    /// For each job, in the order in which jobs ended: whether warm-up and cool-down leave it in.
    pub fn counted(&self) -> Vec<bool> {
        self.options.cut.counted(&self.submissions())
    }

    /// Of each job, its submission, µs, and true if it belongs to the start state.
    fn submissions(&self) -> Vec<(i64, bool)> {
        self.jobs.iter().map(|job| (job.submit, job.initial)).collect()
    }

    /// Computes the summary.
    pub fn summarise(&self) -> Summary {
        summary::summarise(self)
    }
}
