//! What can be observed of a run: the facts from which every table is written.
//!
//! Actors put observations into their outbox; the driver hands them to the
//! record. Nothing in the engine reads them back.

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

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum JobOutcome {
    /// It ran to its end.
    Completed,
    /// It was stopped when its requested time was over.
    WalltimeReached,
    /// It was refused and never queued anywhere.
    Rejected(Refusal),
    /// Its user withdrew it while it waited.
    Cancelled,
    /// Its processors failed, or those that were reserved for it, and it was not started again.
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

/// How an attempt ended: of a job, or of a share of a bag, at a provider, or of a job on a resource of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AttemptOutcome {
    /// It ran to its end; on a grid, and its output is where it belongs.
    Completed,
    /// It was stopped when the requested time was over.
    WalltimeReached,
    /// Its processors or its resource failed.
    Failed,
    /// It was withdrawn while it waited; on a grid, it was not needed any more.
    Cancelled,
    /// It went on elsewhere, on a grid.
    Moved,
    /// What it needed came from a resource of a grid that failed.
    Stranded,
    /// The run stopped before it was over.
    Unfinished,
}

impl AttemptOutcome {
    /// All of them.
    pub const ALL: [AttemptOutcome; 7] = [
        AttemptOutcome::Completed,
        AttemptOutcome::WalltimeReached,
        AttemptOutcome::Failed,
        AttemptOutcome::Cancelled,
        AttemptOutcome::Moved,
        AttemptOutcome::Stranded,
        AttemptOutcome::Unfinished,
    ];

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
        }
    }
}

impl From<JobOutcome> for AttemptOutcome {
    /// What the end of a job is for its attempt; a job that is refused has none.
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

/// Why a provider or a metascheduler said no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Refusal {
    /// The job needs more processors than the provider has, or its part than who was to hold that.
    TooWide,
    /// The question is above the provider's disclosure level.
    NotDisclosed,
    /// Every provider the metascheduler asked has refused; or all that they publish is never enough
    /// for a job that is to be spread over them.
    NoProvider,
    /// A bag where only rigid jobs are taken, or the other way round.
    WrongShape,
    /// A bag without a requested time: nobody can say when it would be done.
    NoLimit,
    /// No resource of a grid has room for a session, which cannot wait.
    NoRoom,
    /// No room in the window of a reservation, and none beside it that its user would take; or none for
    /// a job that is spread before its deadline.
    NoWindow,
    /// Providers did not agree on its parts, however often it was tried.
    NoAgreement,
    /// A task of a workflow of which a parent, or a parent's parent, came to nothing: what it needs
    /// will never be there.
    ParentFailed,
}

impl Refusal {
    /// The reason as a word for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Refusal::TooWide => "too_wide",
            Refusal::NotDisclosed => "not_disclosed",
            Refusal::NoProvider => "no_provider",
            Refusal::WrongShape => "wrong_shape",
            Refusal::NoLimit => "no_limit",
            Refusal::NoRoom => "no_room",
            Refusal::NoWindow => "no_window",
            Refusal::NoAgreement => "no_agreement",
            Refusal::ParentFailed => "parent_failed",
        }
    }
}

/// A job's whole story, observed when it is over.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRecord {
    /// The job as it was submitted.
    pub job: Arc<Job>,
    /// Who placed it.
    pub class: JobClass,
    /// How it ended.
    pub outcome: JobOutcome,
    /// The provider that ran it or queued it last; `None` if it was never queued.
    pub provider: Option<ProviderId>,
    /// When it was queued at that provider.
    pub queued: Option<Time>,
    /// When it started; `None` if it never did.
    pub start: Option<Time>,
    /// When it ended or left the system.
    pub end: Time,
    /// Requested time on that provider's processors (walltime / speed).
    pub walltime: Option<Span>,
    /// Completion promised when it was queued (conservative backfilling only).
    pub promised_end: Option<Time>,
    /// The provider's own processor numbers it ran on.
    pub processors: ProcessorSet,
    /// What became of a bag, or of a rigid job that could be spread over providers; `None` for other
    /// jobs and for those that no provider took.
    pub bag: Option<Box<BagRecord>>,
    /// What failures ended, in order of time.
    pub lost: Vec<LostRun>,
    /// Time in which its last attempt did not compute, but was started up after a move, or read or
    /// wrote checkpoints.
    pub checkpointing: Span,
    /// Those that its last attempt sent over links that others use, too.
    pub checkpoints: Vec<SentCheckpoint>,
    /// What was granted to it in advance; `None` if nothing was.
    pub granted: Option<Box<GrantedWindow>>,
    /// Of a reservation that was refused: the earliest start at which there would have been room for
    /// it, as far as its user was told.
    pub alternative: Option<Time>,
}

/// A run of a job, or of tasks of a bag, whose processors failed: it came to nothing but for
/// what checkpoints saved of it.
#[derive(Clone, Debug, PartialEq)]
pub struct LostRun {
    /// Whose processors they are.
    pub provider: ProviderId,
    /// When it had started.
    pub start: Time,
    /// When they failed.
    pub end: Time,
    /// The provider's own numbers of what it held.
    pub processors: ProcessorSet,
    /// Computing that the next attempt need not do again.
    pub saved: Span,
    /// Time in which it did not compute, but was started up after a move, or read or wrote
    /// checkpoints.
    pub checkpointing: Span,
    /// Those that it sent over links that others use, too.
    pub checkpoints: Vec<SentCheckpoint>,
}

/// A checkpoint of a rigid job that went over links that others use, too, so that nobody could say beforehand when
/// it would be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentCheckpoint {
    /// When the job stopped for it.
    pub requested: Time,
    /// When it was where it is kept, and the job went on; `None` if it was cut off.
    pub written: Option<Time>,
    /// What the attempt had computed by then.
    pub computing: Span,
}

impl LostRun {
    /// Computing that was undone.
    pub fn undone(&self) -> Span {
        self.end - self.start - self.saved - self.checkpointing
    }
}

/// A window of maintenance at a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaintenanceRecord {
    /// Whose it is.
    pub provider: ProviderId,
    /// Which of the provider's, from 0.
    pub number: u32,
    /// When the provider's scheduler was to hear of it.
    pub announced: Time,
    /// When it begins.
    pub start: Time,
    /// When it is over.
    pub end: Time,
    /// How many processors were to be closed.
    pub processors: u32,
    /// Its fate.
    pub fate: WindowFate,
}

/// The fate of a window of maintenance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowFate {
    /// It began with these processors, in the provider's own numbers.
    Begun(ProcessorSet),
    /// It was announced, and the run was over before it began.
    Ahead,
    /// It was refused when it was announced.
    Refused {
        /// The first start, no earlier than its own, that nothing was in the way of which ran or was planned then.
        possible: Option<Time>,
    },
}

impl MaintenanceRecord {
    /// The processors that it closed; `None` = it did not begin.
    pub fn closed(&self) -> Option<&ProcessorSet> {
        match &self.fate {
            WindowFate::Begun(closed) => Some(closed),
            WindowFate::Ahead | WindowFate::Refused { .. } => None,
        }
    }

    /// How many processors it has.
    pub fn held(&self) -> u32 {
        self.closed().map_or(0, ProcessorSet::count)
    }
}

/// How a bag was placed and run, or a rigid job that could be spread over providers: its shares are
/// its parts then, each of which ran once.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct BagRecord {
    /// Whether its deadline could be met, so that its tasks were spread by the policy's rule.
    pub balanced: bool,
    /// Offers or free time slots that were used.
    pub parts: u32,
    /// Whether all offers that met the deadline were of one size.
    pub equal_offers: bool,
    /// Times it was composed again because something had changed meanwhile.
    pub recompositions: u32,
    /// What the providers did of it, in the order in which they finished.
    pub shares: Vec<ShareRecord>,
    /// How it was spread; `None` for bags and applications of phases.
    pub coallocated: Option<Coallocated>,
    /// Where it was booked, one place after the other, while its metascheduler could still move it.
    pub bookings: Vec<Booking>,
    /// Whether it is an application of phases, and its shares are intervals.
    pub phased: bool,
}

impl BagRecord {
    /// On how many providers it ran.
    pub fn providers(&self) -> u32 {
        let mut providers = Vec::from_iter(self.shares.iter().map(|share| share.provider));
        providers.sort_unstable();
        providers.dedup();
        providers.len() as u32
    }

    /// Whether its tasks may run anywhere and at any time.
    pub fn is_bag(&self) -> bool {
        self.coallocated.is_none() && !self.phased
    }

    /// Whether its parts are those of an agreement.
    pub fn is_agreed(&self) -> bool {
        self.coallocated.is_some_and(|it| it.agreement.is_some())
    }
}

/// How a rigid job, or an iterative application, was spread over providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coallocated {
    /// The start at which it was placed first.
    pub first_start: Time,
    /// On how many providers it was placed first.
    pub first_providers: u32,
    /// How often its start or its parts have moved since.
    pub moves: u32,
    /// By how many percent it takes longer on several providers than on one.
    pub overhead: u32,
    /// Of an iterative application: how long it really takes on the cores that it has.
    pub run_time: Option<HiddenRunTime>,
    /// The agreement by which its parts run, where a scenario chooses the protocol: each begins
    /// when its provider hears that it may.
    pub agreement: Option<AgreementId>,
}

/// Where a job that can be spread over providers was booked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Booking {
    /// When its metascheduler had all providers ready for it.
    pub at: Time,
    /// The provider that asked to have the job moved; `None` = it had no place before.
    pub asked_by: Option<ActorId>,
    /// Planned start.
    pub start: Time,
    /// Planned completion.
    pub completion: Time,
    /// Who gives how many processors.
    pub parts: Vec<(ActorId, u32)>,
}

/// What one provider did of a bag.
#[derive(Clone, Debug, PartialEq)]
pub struct ShareRecord {
    /// The bag.
    pub job: JobId,
    /// Who took the share.
    pub provider: ProviderId,
    /// Tasks.
    pub tasks: u32,
    /// When it was queued.
    pub queued: Time,
    /// Planned time of a task on that provider's processors.
    pub walltime: Span,
    /// Completion promised for this share, if any was.
    pub promised_end: Option<Time>,
    /// The agreement of which it is a part, where a scenario chooses the protocol: what is not of
    /// the last one was done in vain.
    pub agreement: Option<AgreementId>,
    /// Tasks that ran together, in the order in which they ended.
    pub runs: Vec<TaskRun>,
}

/// Tasks of a share that started and ended together.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskRun {
    /// When they started.
    pub start: Time,
    /// When they ended.
    pub end: Time,
    /// How they ended.
    pub outcome: JobOutcome,
    /// The provider's own processor numbers, one a task.
    pub processors: ProcessorSet,
}

/// A provider has answered a call for offers: what it said, and what it kept to itself.
#[derive(Clone, Debug, PartialEq)]
pub struct OffersMade {
    /// Who asked.
    pub to: ActorId,
    /// The bag.
    pub job: JobId,
    /// Tasks of the bag.
    pub tasks: u32,
    /// Planned time of one task, as the call said, on the reference processor.
    pub task_time: Span,
    /// When its user wants it done.
    pub deadline: Option<Time>,
    /// The level that was asked for and given.
    pub level: Disclosure,
    /// The offers: (tasks, completion).
    pub offers: Vec<(u32, Time)>,
    /// Total computing power, in thousandths of a reference processor. The message
    /// has it from level power on.
    pub power: u64,
    /// Work left, in thousandths of a microsecond of a reference processor. The
    /// message has it from level load on.
    pub load: u128,
}

impl JobRecord {
    /// The story of a job that left the system at `end` and was never queued at a provider.
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
            checkpointing: Span::ZERO,
            checkpoints: Vec::new(),
            granted: None,
            alternative: None,
        }
    }

    /// Processors that it was given, or needs: of a bag, its tasks.
    pub fn width(&self) -> u32 {
        let last = self.lost.last().map(|run| &run.processors).filter(|_| self.start.is_none());
        match last.unwrap_or(&self.processors).count() {
            given if given > 0 && self.bag.is_none() => given,
            _ => self.job.processors,
        }
    }

    /// Whether a rigid job has an attempt that was not lost: one that has failed was lost with its
    /// last one.
    pub fn has_last_attempt(&self) -> bool {
        self.provider.is_some() && self.outcome != JobOutcome::Failed
    }

    /// What its last attempt did not have to compute again.
    pub fn saved(&self) -> Span {
        self.lost.iter().map(|run| run.saved).sum()
    }

    /// How long it ran: its last attempt, and what those before saved of their computing.
    /// None if it has no last attempt. Of what is unfinished, so far.
    pub fn run_time(&self) -> Option<Span> {
        self.start.map(|start| self.end - start + self.saved())
    }

    /// How long it waited: all the time until its last attempt that does not count as run
    /// time, so that the two are its turnaround time.
    pub fn waiting_time(&self) -> Option<Span> {
        self.start.map(|start| start - self.job.submit - self.saved())
    }
}

/// What one actor let another know about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DisclosedItem {
    /// When a hypothetical job would start and end.
    Estimate,
    /// Remaining work in processor-seconds and the number of processors.
    Load,
    /// That a job was refused, and why.
    Refusal,
    /// That a job started or ended.
    JobStatus,
    /// So many tasks of a bag by then: the count is that of the offers.
    Offer,
    /// Total computing power.
    Power,
    /// Free time slots: the count is theirs.
    FreeSlots,
    /// The whole queue: the count is that of its entries.
    Queue,
    /// That something changed, so that offers are stale.
    Change,
    /// When jobs that may move, or the tasks of bags, are expected to be done at a provider: the
    /// count is that of the jobs or bags.
    ExpectedCompletion,
    /// When a whole bag is expected to be done, told by its metascheduler.
    BagCompletion,
    /// A bag as its user describes it, told in a call for offers.
    Bag,
    /// A job as its user describes it, told in a question or to who runs it.
    Job,
    /// Whether a resource of a grid is up, how fast it is and what it runs.
    ResourceStatus,
    /// How far a job has come on a resource of a grid.
    Progress,
    /// How busy the links of a grid are.
    Traffic,
    /// When there would be room for a job beside its window: the count is that of the intervals.
    Interval,
}

impl DisclosedItem {
    /// Whether it says something about its owner's resources or plans; the others describe a job,
    /// or say what became of it.
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

/// What went wrong with a message, on its way or where it arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MessageFault {
    /// It is lost, by chance.
    Lost,
    /// It is lost, since sender and receiver were parted.
    Parted,
    /// It is lost, since its receiver was down.
    Missed,
    /// It arrives twice, or would, where the transport does not drop the copy.
    Doubled,
    /// It arrives, and its receiver does not expect it: it changes nothing.
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

/// What a look at all jobs that wait has taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Review {
    /// Jobs that waited.
    pub waiting: u32,
    /// Whether as many of them were compared as may be.
    pub is_full: bool,
    /// Estimates that were asked for.
    pub estimates: u64,
    /// How many it would have been if nothing that was said were remembered.
    pub forgetful_estimates: u64,
}

/// One observed fact; the driver adds the time and the actor.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// A job is over, one way or another.
    JobOver(Box<JobRecord>),
    /// Tasks of a bag that ran together are over.
    TasksOver {
        /// The bag.
        job: JobId,
        /// The provider that ran them.
        provider: ProviderId,
        /// When and where they ran.
        run: TaskRun,
    },
    /// Processors have failed under a job, or under tasks of a bag. It is observed before
    /// [`Observation::ProcessorsFailed`] of these processors, in the same instant, so that
    /// it is known which outage cost what.
    RunLost {
        /// The job.
        job: JobId,
        /// What is lost.
        run: LostRun,
    },
    /// A try of a job on a resource of a grid is over; one that failed, before
    /// [`Observation::ProcessorsFailed`] of its resource, as with [`Observation::RunLost`].
    AttemptOver(Arc<AttemptRecord>),
    /// The first task of a workflow has come to a grid, or to its user who submits it to providers.
    WorkflowCame(WorkflowCame),
    /// What a task of a workflow needs is at the provider to which it is submitted now.
    Staged(Box<Staged>),
    /// A job of a grid is over, or the run is.
    GridJobOver(Arc<GridJobRecord>),
    /// The run is over, and this is what a resource of a grid has done.
    ResourceAccount(Box<ResourceAccount>),
    /// The output of so many jobs waits for room in a storage that keeps all it has, and they have
    /// been given none: what can give some back is on its way for other jobs only.
    OutputsStuck {
        /// How many.
        jobs: u64,
    },
    /// So many tasks of workflows that have come to a grid may not start, for others are not done that they
    /// need or that come before them in a schedule.
    TasksBlocked {
        /// How many.
        jobs: u64,
    },
    /// The run is over, and this is what the storage of a grid has held.
    StorageAccount(StorageAccount),
    /// The run is over, and this is what the scheduler of a grid has done.
    RoundsAccount(RoundsAccount),
    /// Processors of the observed provider are closed from now on, as was announced; or a window that
    /// was to be announced is refused.
    Maintenance(Box<MaintenanceRecord>),
    /// Processors of the observed provider have failed.
    ProcessorsFailed {
        /// Whose they are.
        provider: ProviderId,
        /// Their numbers there.
        processors: ProcessorSet,
    },
    /// Processors of the observed provider are back.
    ProcessorsRestored {
        /// Whose they are.
        provider: ProviderId,
        /// Their numbers there.
        processors: ProcessorSet,
    },
    /// A job that waited at one provider waits at another; or again at the same one, where it may
    /// have another size and place.
    JobMoved {
        /// The job.
        job: JobId,
        /// Where it waited.
        from: ActorId,
        /// Who has accepted it.
        to: ActorId,
    },
    /// A provider has chosen the size of a job that was submitted to it for that.
    JobSized {
        /// The job.
        job: JobId,
        /// Its size, and when it will be done as planned.
        sizing: Sizing,
        /// What it needs there beside processors.
        stage_in: StageIn,
    },
    /// A metascheduler has looked at all of its jobs that wait.
    WaitingReviewed(Review),
    /// A provider is done with its share of a bag; its runs were observed one by one.
    ShareOver(Box<ShareRecord>),
    /// A provider has answered a call for offers.
    OffersMade(Box<OffersMade>),
    /// Something has happened in an agreement on the parts of a job.
    Agreement {
        /// Which.
        id: AgreementId,
        /// The job.
        job: JobId,
        /// What.
        event: AgreementEvent,
    },
    /// At a participant, who waits for whom is this from now on.
    Waiting(Waits),
    /// An interval of an application is over; what ran of it was observed before.
    IntervalOver(Box<IntervalRecord>),
    /// The actor does not expect what it has just been told; it changed nothing.
    MessageRefused {
        /// Who said it.
        from: ActorId,
    },
}
