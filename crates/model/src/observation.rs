//! Observations of a run: the facts from which every table is written.
//!
//! Actors put observations into their outbox; the driver hands them to the record. The engine never reads them back.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

use crate::agreement::{AgreementEvent, Waits};
use crate::grid::{AttemptRecord, GridJobRecord, ResourceAccount, RoundsAccount, StorageAccount};
use crate::job::HiddenRunTime;
use crate::phased::IntervalRecord;
use crate::reservation::GrantedWindow;
use crate::workflow::{Staged, WorkflowCame};
use crate::{
    ActorId, AgreementId, Disclosure, Job, JobClass, JobId, ProcessorSet, ProviderId, Sizing, Span,
    StageIn, Time,
};

/// Outcome of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum JobOutcome {
    /// It ran to its end.
    Completed,
    /// It was stopped when its requested time was over.
    WalltimeReached,
    /// It was refused and never queued anywhere.
    Rejected(Refusal),
    /// Its user withdrew it while it waited, or it was stopped for another job and does not start again.
    Cancelled,
    /// Its processors failed, or those reserved for it failed, and it was not started again.
    Failed,
    /// The run stopped while it waited or ran.
    Unfinished,
}

impl JobOutcome {
    /// The word used in tables and summaries.
    pub const fn name(self) -> &'static str {
        match self {
            JobOutcome::Completed => "completed",
            JobOutcome::WalltimeReached => "walltime_reached",
            JobOutcome::Rejected(_) => "rejected",
            JobOutcome::Cancelled => "cancelled",
            JobOutcome::Failed => "failed",
            JobOutcome::Unfinished => "unfinished",
        }
    }
}

/// Outcome of an attempt: of a job or a share of a bag at a provider, or of a job on a resource of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum AttemptOutcome {
    /// It ran to its end. On a grid, its output has arrived as well.
    Completed,
    /// It was stopped when the requested time was over.
    WalltimeReached,
    /// Its processors or its resource failed.
    Failed,
    /// It was withdrawn while it waited. On a grid, it was no longer needed.
    Cancelled,
    /// On a grid: its job resumed on another resource.
    Moved,
    /// On a grid: data that it needed were on a resource that failed.
    Stranded,
    /// The run stopped before it was over.
    Unfinished,
    /// A part of a job that did not run as a whole, whether or not the part itself came to its end.
    GivenUp,
    /// It was stopped for another job.
    Preempted,
}

impl AttemptOutcome {
    /// All outcomes.
    pub const ALL: [AttemptOutcome; 9] = [
        AttemptOutcome::Completed,
        AttemptOutcome::WalltimeReached,
        AttemptOutcome::Failed,
        AttemptOutcome::Cancelled,
        AttemptOutcome::Moved,
        AttemptOutcome::Stranded,
        AttemptOutcome::Unfinished,
        AttemptOutcome::GivenUp,
        AttemptOutcome::Preempted,
    ];

    /// True if its work counts for no job, unless a checkpoint saved it. Its processors failed, it was stopped for another
    /// job, or its agreement on parts ended without the whole job.
    pub const fn is_in_vain(self) -> bool {
        use AttemptOutcome::{Failed, GivenUp, Preempted};
        matches!(self, Failed | Preempted | GivenUp)
    }

    /// The word used in tables and summaries.
    pub const fn name(self) -> &'static str {
        match self {
            AttemptOutcome::Completed => "completed",
            AttemptOutcome::WalltimeReached => "walltime_reached",
            AttemptOutcome::Failed => "failed",
            AttemptOutcome::Cancelled => "cancelled",
            AttemptOutcome::Moved => "moved",
            AttemptOutcome::Stranded => "stranded",
            AttemptOutcome::Unfinished => "unfinished",
            AttemptOutcome::GivenUp => "given_up",
            AttemptOutcome::Preempted => "preempted",
        }
    }
}

impl From<JobOutcome> for AttemptOutcome {
    /// The outcome of a job as that of its attempt. A refused job has no attempt.
    fn from(outcome: JobOutcome) -> AttemptOutcome {
        match outcome {
            JobOutcome::Completed => AttemptOutcome::Completed,
            JobOutcome::WalltimeReached => AttemptOutcome::WalltimeReached,
            JobOutcome::Cancelled | JobOutcome::Rejected(_) => AttemptOutcome::Cancelled,
            JobOutcome::Failed => AttemptOutcome::Failed,
            JobOutcome::Unfinished => AttemptOutcome::Unfinished,
        }
    }
}

/// Reason for which a provider or a metascheduler refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Refusal {
    /// The job needs more processors than the provider has, or its part more than the participant has.
    TooWide,
    /// The job needs fewer processors than its parts take: so many of them, each of a least width.
    TooNarrow,
    /// The query exceeds the provider's disclosure level.
    NotDisclosed,
    /// All providers that the metascheduler asked have refused. Or the published capacity never
    /// suffices for a job that must be spread over providers.
    NoProvider,
    /// A bag where only rigid jobs are accepted, or a rigid job where only bags are.
    WrongShape,
    /// A bag without a requested time: its completion cannot be computed.
    NoLimit,
    /// No resource of a grid has room for a session, and sessions do not wait.
    NoRoom,
    /// No room in the window of a reservation, nor at a distance that its user accepts. For a spread
    /// job: no room before its deadline.
    NoWindow,
    /// Providers did not agree on its parts in any of the tries.
    NoAgreement,
    /// A task of a workflow with an ancestor that was not completed. Its input will never be available.
    ParentFailed,
    /// The nodes of the provider never have room for the demand of the job, although its processors are enough.
    TooDemanding,
    /// The queues or the limits of the provider do not permit the job.
    NotPermitted,
}

impl Refusal {
    /// The reason as a word for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Refusal::TooWide => "too_wide",
            Refusal::TooNarrow => "too_narrow",
            Refusal::NotDisclosed => "not_disclosed",
            Refusal::NoProvider => "no_provider",
            Refusal::WrongShape => "wrong_shape",
            Refusal::NoLimit => "no_limit",
            Refusal::NoRoom => "no_room",
            Refusal::NoWindow => "no_window",
            Refusal::NoAgreement => "no_agreement",
            Refusal::ParentFailed => "parent_failed",
            Refusal::TooDemanding => "too_demanding",
            Refusal::NotPermitted => "not_permitted",
        }
    }
}

/// Record of a job, observed when it is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobRecord {
    /// The job as it was submitted.
    pub job: Arc<Job>,
    /// Class of the job.
    pub class: JobClass,
    /// Outcome of the job.
    pub outcome: JobOutcome,
    /// The provider that ran it or queued it last; `None` if it was never queued.
    pub provider: Option<ProviderId>,
    /// Time at which it was queued at that provider.
    pub queued: Option<Time>,
    /// Start; `None` if it never started.
    pub start: Option<Time>,
    /// Time at which it ended or left the system.
    pub end: Time,
    /// Requested time on that provider's processors (walltime / speed).
    pub walltime: Option<Span>,
    /// Completion promised when it was queued (conservative backfilling only).
    pub promised_end: Option<Time>,
    /// Processors on which it ran, by the provider's own numbers.
    pub processors: ProcessorSet,
    /// Placement of a bag, or of a rigid job that could be spread over providers. `None` for other
    /// jobs, and for jobs that no provider accepted.
    pub bag: Option<Box<BagRecord>>,
    /// Attempts that failures or other jobs ended, in order of time.
    pub lost: Vec<LostRun>,
    /// Parts that ran under agreements which ended without the whole job, in the order in which they ended.
    pub given_up: Vec<ShareRecord>,
    /// Time of its last attempt without computing: restart after a move, and reading or writing of checkpoints.
    pub checkpointing: Span,
    /// Checkpoints that its last attempt sent over shared links.
    pub checkpoints: Vec<SentCheckpoint>,
    /// The window granted in advance; `None` if none was.
    pub granted: Option<Box<GrantedWindow>>,
    /// For a refused reservation: the earliest possible start, as far as its user was informed.
    pub alternative: Option<Time>,
    /// Start by its log, if its provider starts jobs as recorded.
    pub recorded: Option<RecordedStart>,
    /// Its priority at its last start, or at the last calculation while it waited; `None` without priorities.
    pub priority: Option<Box<JobPriority>>,
}

/// The priority of a job among those of its provider, a larger one first, and the contributions of its factors: weight x
/// factor, `None` for a factor without weight.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct JobPriority {
    /// The sum of the contributions without its fraction, at least 1.
    pub sum: u32,
    /// Of its age.
    pub age: Option<f64>,
    /// Of the fair share of its user.
    pub fair_share: Option<f64>,
    /// Of its size.
    pub size: Option<f64>,
    /// Of its queue.
    pub queue: Option<f64>,
    /// Of its quality of service.
    pub qos: Option<f64>,
}

/// Start of a job on the machine of its log, in the time of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordedStart {
    /// The log has it.
    At(Time),
    /// The log does not have it.
    Unknown,
}

impl RecordedStart {
    /// The start of a job.
    pub fn of(job: &Job) -> RecordedStart {
        job.recorded_start().map_or(RecordedStart::Unknown, RecordedStart::At)
    }

    /// The start, if the log has it.
    pub const fn known(self) -> Option<Time> {
        match self {
            RecordedStart::At(start) => Some(start),
            RecordedStart::Unknown => None,
        }
    }
}

/// A run of a job, or of tasks of a bag, that failed with its processors or was stopped for another job. Only the work
/// saved in checkpoints is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LostRun {
    /// Owner of the processors.
    pub provider: ProviderId,
    /// Start of the run.
    pub start: Time,
    /// Time at which the processors failed, or at which it was stopped.
    pub end: Time,
    /// The job for which it was stopped; `None` = its processors failed.
    pub stopped_for: Option<JobId>,
    /// True if it was stopped, and its job is over with it.
    pub cancelled: bool,
    /// Processors that it held, by the provider's own numbers.
    pub processors: ProcessorSet,
    /// Computing that the next attempt need not repeat.
    pub saved: Span,
    /// Time without computing: restart after a move, and reading or writing of checkpoints.
    pub checkpointing: Span,
    /// Checkpoints that it sent over shared links.
    pub checkpoints: Vec<SentCheckpoint>,
}

/// A checkpoint of a rigid job that went over links shared with others. Its end could therefore not be planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentCheckpoint {
    /// Time at which the job stopped to write it.
    pub requested: Time,
    /// Time at which it was stored and the job went on; `None` if it was interrupted.
    pub written: Option<Time>,
    /// Computing that the attempt had done by then.
    pub computing: Span,
}

impl LostRun {
    /// Computing that was lost.
    pub fn undone(&self) -> Span {
        self.end - self.start - self.saved - self.checkpointing
    }
}

/// A window of maintenance at a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaintenanceRecord {
    /// Provider whose processors are closed.
    pub provider: ProviderId,
    /// Number of the window at this provider, from 0.
    pub number: u32,
    /// Time set for its announcement to the provider's scheduler.
    pub announced: Time,
    /// Start of the window.
    pub start: Time,
    /// End of the window.
    pub end: Time,
    /// Number of processors that should be closed.
    pub processors: u32,
    /// Its fate.
    pub fate: WindowFate,
}

/// The fate of a window of maintenance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WindowFate {
    /// It began with these processors, in the provider's own numbers.
    Begun(ProcessorSet),
    /// It was announced, and the run was over before it began.
    Ahead,
    /// It was refused when it was announced.
    Refused {
        /// The first start, from its own on, that conflicts with no running or planned job.
        possible: Option<Time>,
    },
}

impl MaintenanceRecord {
    /// Processors that it closed; `None` = it did not begin.
    pub fn closed(&self) -> Option<&ProcessorSet> {
        match &self.fate {
            WindowFate::Begun(closed) => Some(closed),
            WindowFate::Ahead | WindowFate::Refused { .. } => None,
        }
    }

    /// Number of processors closed.
    pub fn held(&self) -> u32 {
        self.closed().map_or(0, ProcessorSet::count)
    }
}

/// Placement and runs of a bag, or of a rigid job that could be spread over providers. The shares of a
/// spread job are its parts, each of which ran once.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct BagRecord {
    /// True if its deadline could be met, so that its tasks were spread by the policy's rule.
    pub balanced: bool,
    /// Number of offers or free time slots used.
    pub parts: u32,
    /// True if all offers that met the deadline had the same size.
    pub equal_offers: bool,
    /// Number of times it was composed again because of a change.
    pub recompositions: u32,
    /// Shares of the providers, in the order in which they finished.
    pub shares: Vec<ShareRecord>,
    /// Placement of a spread job; `None` for bags and applications of phases.
    pub coallocated: Option<Coallocated>,
    /// Its bookings in order, while its metascheduler could still move it.
    pub bookings: Vec<Booking>,
    /// True for an application of phases, whose shares are intervals.
    pub phased: bool,
}

impl BagRecord {
    /// Number of providers on which it ran.
    pub fn providers(&self) -> u32 {
        // A provider may have several shares.
        let mut providers = Vec::from_iter(self.shares.iter().map(|share| share.provider));
        providers.sort_unstable();
        providers.dedup();
        providers.len() as u32
    }

    /// True if its tasks may run anywhere and at any time.
    pub fn is_bag(&self) -> bool {
        self.coallocated.is_none() && !self.phased
    }

    /// True if its parts are those of an agreement.
    pub fn is_agreed(&self) -> bool {
        self.coallocated.is_some_and(|it| it.agreement.is_some())
    }
}

/// Placement of a rigid job, or of an iterative application, that was spread over providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coallocated {
    /// Start at which it was placed first.
    pub first_start: Time,
    /// Number of providers on which it was placed first.
    pub first_providers: u32,
    /// Number of moves of its start or its parts since.
    pub moves: u32,
    /// Increase of its run time on several providers over that on one, percent.
    pub overhead: u32,
    /// For an iterative application: the true run time on its cores.
    pub run_time: Option<HiddenRunTime>,
    /// The agreement on its parts, where a scenario chooses the protocol. Each part then begins when
    /// its provider receives the message that permits it.
    pub agreement: Option<AgreementId>,
}

/// A booking of a job that can be spread over providers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Booking {
    /// Time at which all providers had confirmed to its metascheduler.
    pub at: Time,
    /// The provider that requested the move; `None` = the job had no place before.
    pub asked_by: Option<ActorId>,
    /// Planned start.
    pub start: Time,
    /// Planned completion.
    pub completion: Time,
    /// Processors of each provider.
    pub parts: Vec<(ActorId, u32)>,
}

/// Share of a bag at one provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShareRecord {
    /// The bag.
    pub job: JobId,
    /// Provider that accepted the share.
    pub provider: ProviderId,
    /// Tasks.
    pub tasks: u32,
    /// Time at which the share was queued.
    pub queued: Time,
    /// Planned time of a task on that provider's processors.
    pub walltime: Span,
    /// Completion promised for this share, if any was.
    pub promised_end: Option<Time>,
    /// The agreement of which it is a part, if that may be undone; `None` for a part that was stopped. Parts of
    /// any agreement but the job's last one were given up.
    pub agreement: Option<AgreementId>,
    /// Tasks that ran together, in the order in which they ended.
    pub runs: Vec<TaskRun>,
}

/// Tasks of a share that started and ended together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskRun {
    /// Start of the tasks.
    pub start: Time,
    /// End of the tasks.
    pub end: Time,
    /// Outcome of the tasks.
    pub outcome: JobOutcome,
    /// The provider's own processor numbers, one a task.
    pub processors: ProcessorSet,
}

/// A provider's answer to a call for offers, with the values that it did not disclose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OffersMade {
    /// Actor that called for offers.
    pub to: ActorId,
    /// The bag.
    pub job: JobId,
    /// Tasks of the bag.
    pub tasks: u32,
    /// Planned time of one task on the reference processor, as the call states it.
    pub task_time: Span,
    /// Completion that its user wishes.
    pub deadline: Option<Time>,
    /// The disclosure level that was requested and given.
    pub level: Disclosure,
    /// The offers: (tasks, completion).
    pub offers: Vec<(u32, Time)>,
    /// Total computing power, in thousandths of a reference processor. The message includes it from level power on.
    pub power: u64,
    /// Work left, in thousandths of a microsecond of a reference processor. The message includes it
    /// from level load on.
    pub load: u128,
}

impl JobRecord {
    /// The record of a job that left the system at `end` and was never queued at a provider.
    pub fn never_queued(
        job: impl Into<Arc<Job>>,
        class: JobClass,
        outcome: JobOutcome,
        end: Time,
    ) -> JobRecord {
        JobRecord {
            job: job.into(),
            class,
            outcome,
            provider: None,
            queued: None,
            start: None,
            end,
            walltime: None,
            promised_end: None,
            processors: ProcessorSet::new(),
            bag: None,
            lost: Vec::new(),
            given_up: Vec::new(),
            checkpointing: Span::ZERO,
            checkpoints: Vec::new(),
            granted: None,
            alternative: None,
            recorded: None,
            priority: None,
        }
    }

    /// Processors that it was given or needs; for a bag, the number of its tasks.
    pub fn width(&self) -> u32 {
        // Without a last attempt, the processors are those of the last lost run.
        let last = self.lost.last().map(|run| &run.processors).filter(|_| self.start.is_none());
        match last.unwrap_or(&self.processors).count() {
            given if given > 0 && self.bag.is_none() => given,
            _ => self.job.processors,
        }
    }

    /// True if a rigid job has an attempt that was not lost. A failed job lost its last attempt with its processors.
    pub fn has_last_attempt(&self) -> bool {
        self.provider.is_some() && self.outcome != JobOutcome::Failed && !self.was_stopped()
    }

    /// True if it was stopped for another job, and that was its end.
    pub fn was_stopped(&self) -> bool {
        self.lost.last().is_some_and(|it| it.cancelled)
    }

    /// Number of its attempts. Parts that were given up do not count.
    pub fn attempts(&self) -> usize {
        let last = match &self.bag {
            Some(bag) => bag.shares.len(),
            None => usize::from(self.has_last_attempt()),
        };
        last + self.lost.len()
    }

    /// Computing that its last attempt did not have to repeat.
    pub fn saved(&self) -> Span {
        self.lost.iter().map(|run| run.saved).sum()
    }

    /// Run time: its last attempt, and the computing that earlier attempts saved. `None` if it has no
    /// last attempt. For an unfinished job: the run time so far.
    pub fn run_time(&self) -> Option<Span> {
        self.start.map(|start| self.end - start + self.saved())
    }

    /// Waiting time: all time before its last attempt that does not count as run time. Waiting time and
    /// run time add up to the turnaround time.
    pub fn waiting_time(&self) -> Option<Span> {
        self.start.map(|start| start - self.job.submit - self.saved())
    }
}

/// An item of information that one actor discloses to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum DisclosedItem {
    /// Start and end of a hypothetical job.
    Estimate,
    /// Remaining work in processor-seconds and the number of processors.
    Load,
    /// Refusal of a job, with its reason.
    Refusal,
    /// Start or end of a job.
    JobStatus,
    /// Offers: numbers of tasks of a bag with completions. The count is that of the offers.
    Offer,
    /// Total computing power.
    Power,
    /// Free time slots. The count is that of the slots.
    FreeSlots,
    /// The whole queue. The count is that of its entries.
    Queue,
    /// Notice of a change, by which offers are stale.
    Change,
    /// Expected completions, at a provider, of jobs that may move or of the tasks of bags. The count is
    /// that of the jobs or bags.
    ExpectedCompletion,
    /// Expected completion of a whole bag, disclosed by its metascheduler.
    BagCompletion,
    /// A bag as its user describes it, in a call for offers.
    Bag,
    /// A job as its user describes it, in a query or in a message to the actor that runs it.
    Job,
    /// State of a resource of a grid: up or down, speed and running jobs.
    ResourceStatus,
    /// Progress of a job on a resource of a grid.
    Progress,
    /// Load of the links of a grid.
    Traffic,
    /// Intervals in which there would be room for a job beside its window. The count is that of the intervals.
    Interval,
}

impl DisclosedItem {
    /// True if the item concerns its owner's resources or plans. The other items describe a job or its fate.
    pub const fn is_of_owner(self) -> bool {
        match self {
            DisclosedItem::JobStatus
            | DisclosedItem::Refusal
            | DisclosedItem::Bag
            | DisclosedItem::Job => false,
            DisclosedItem::Estimate
            | DisclosedItem::Load
            | DisclosedItem::Offer
            | DisclosedItem::Power
            | DisclosedItem::FreeSlots
            | DisclosedItem::Queue
            | DisclosedItem::Change
            | DisclosedItem::ExpectedCompletion
            | DisclosedItem::BagCompletion
            | DisclosedItem::ResourceStatus
            | DisclosedItem::Progress
            | DisclosedItem::Traffic
            | DisclosedItem::Interval => true,
        }
    }

    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            DisclosedItem::Estimate => "estimate",
            DisclosedItem::Load => "load",
            DisclosedItem::Refusal => "refusal",
            DisclosedItem::JobStatus => "job_status",
            DisclosedItem::Offer => "offer",
            DisclosedItem::Power => "power",
            DisclosedItem::FreeSlots => "free_slots",
            DisclosedItem::Queue => "queue",
            DisclosedItem::Change => "change",
            DisclosedItem::ExpectedCompletion => "expected_completion",
            DisclosedItem::BagCompletion => "bag_completion",
            DisclosedItem::Bag => "bag",
            DisclosedItem::Job => "job",
            DisclosedItem::ResourceStatus => "resource_status",
            DisclosedItem::Progress => "progress",
            DisclosedItem::Traffic => "traffic",
            DisclosedItem::Interval => "interval",
        }
    }
}

/// A fault of a message, on its way or at its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum MessageFault {
    /// It is lost by chance.
    Lost,
    /// It is lost because a partition separated sender and receiver.
    Parted,
    /// It is lost because its receiver was down.
    Missed,
    /// It arrives twice, or would if the transport did not drop the copy.
    Doubled,
    /// It arrives, but its receiver does not expect it and changes nothing.
    Refused,
}

impl MessageFault {
    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            MessageFault::Lost => "lost",
            MessageFault::Parted => "parted",
            MessageFault::Missed => "missed",
            MessageFault::Doubled => "doubled",
            MessageFault::Refused => "refused",
        }
    }
}

/// Size and cost of one review of all waiting jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    /// Jobs that waited.
    pub waiting: u32,
    /// True if the number of compared jobs reached its limit.
    pub is_full: bool,
    /// Estimates that were requested.
    pub estimates: u64,
    /// Estimates that would have been requested if no earlier answer were remembered.
    pub forgetful_estimates: u64,
}

/// One observed fact. The driver adds the time and the actor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Observation {
    /// A job is over, with any outcome.
    JobOver(Box<JobRecord>),
    /// Tasks of a bag that ran together are over.
    TasksOver {
        /// The bag.
        job: JobId,
        /// The provider that ran them.
        provider: ProviderId,
        /// Time, place and outcome of the run.
        run: TaskRun,
    },
    /// Processors have failed under a job, or under tasks of a bag. Observed before the
    /// [`Observation::ProcessorsFailed`] of these processors, in the same instant, so that the loss can
    /// be attributed to the outage. Also: a job has been stopped for another one.
    RunLost {
        /// The job.
        job: JobId,
        /// The lost run.
        run: LostRun,
    },
    /// An attempt of a job on a resource of a grid is over. A failed attempt is observed before the
    /// [`Observation::ProcessorsFailed`] of its resource, as with [`Observation::RunLost`].
    AttemptOver(Arc<AttemptRecord>),
    /// The first task of a workflow has arrived at a grid, or at its user who submits it to providers.
    WorkflowCame(WorkflowCame),
    /// All inputs of a task of a workflow are at the provider to which it is submitted now.
    Staged(Box<Staged>),
    /// A job of a grid is over, or the run has ended.
    GridJobOver(Arc<GridJobRecord>),
    /// The run has ended: the account of a resource of a grid.
    ResourceAccount(Box<ResourceAccount>),
    /// Outputs of jobs wait for room in a storage that keeps all its data, and these jobs hold no room
    /// there. Only outputs of other jobs could free some.
    OutputsStuck {
        /// Number of these jobs.
        jobs: u64,
    },
    /// Tasks of workflows have arrived at a grid and may not start. Tasks that they need, or that
    /// precede them in a schedule, are not done.
    TasksBlocked {
        /// Number of these tasks.
        jobs: u64,
    },
    /// The run has ended: the account of the storage of a grid.
    StorageAccount(StorageAccount),
    /// The run has ended: the account of the scheduler of a grid.
    RoundsAccount(RoundsAccount),
    /// Processors of the observed provider are closed from now on, as announced. Or a window was
    /// refused when its announcement was due.
    Maintenance(Box<MaintenanceRecord>),
    /// Processors of the observed provider have failed.
    ProcessorsFailed {
        /// Owner of the processors.
        provider: ProviderId,
        /// The owner's numbers of the processors.
        processors: ProcessorSet,
    },
    /// Processors of the observed provider are back.
    ProcessorsRestored {
        /// Owner of the processors.
        provider: ProviderId,
        /// The owner's numbers of the processors.
        processors: ProcessorSet,
    },
    /// A waiting job has moved from one provider to another, or has another size or place at the same one.
    JobMoved {
        /// The job.
        job: JobId,
        /// Provider at which it waited.
        from: ActorId,
        /// Provider that has accepted it.
        to: ActorId,
    },
    /// A provider has chosen the size of a job that was submitted for this purpose.
    JobSized {
        /// The job.
        job: JobId,
        /// Its size, start and planned duration.
        sizing: Sizing,
        /// Its needs there besides processors.
        stage_in: StageIn,
    },
    /// A metascheduler has reviewed all of its waiting jobs.
    WaitingReviewed(Review),
    /// A provider has finished its share of a bag. The runs of the share were observed one by one.
    ShareOver(Box<ShareRecord>),
    /// A provider has answered a call for offers.
    OffersMade(Box<OffersMade>),
    /// An event of an agreement on the parts of a job.
    Agreement {
        /// The agreement.
        id: AgreementId,
        /// The job.
        job: JobId,
        /// The event.
        event: AgreementEvent,
    },
    /// The wait-for relation at a participant, valid from now on.
    Waiting(Waits),
    /// An interval of an application is over. Its runs were observed before.
    IntervalOver(Box<IntervalRecord>),
    /// The actor refused a message that it did not expect, and changed nothing.
    MessageRefused {
        /// Sender of the message.
        from: ActorId,
    },
    /// A job follows others. Its user observes it when it submits the job or gives it up, or when the run stops before.
    JobFollows {
        /// The job.
        job: JobId,
        /// Number in their workload of the last of these to end; of one that has not ended, if there is any.
        after: i64,
        /// True if its user still holds the job when the run stops.
        held: bool,
    },
}
