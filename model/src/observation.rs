//! What can be observed of a run: the facts from which every table is written.
//!
//! Actors put observations into their outbox; the driver hands them to the
//! record. Nothing in the engine reads them back.

use crate::{ActorId, Job, JobClass, JobId, ProcessorSet, ProviderId, Span, Time};

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobOutcome {
    /// It ran to its end.
    Completed,
    /// It was stopped when its requested time was over.
    WalltimeReached,
    /// It was refused and never queued anywhere.
    Rejected(Refusal),
    /// Its user withdrew it while it waited.
    Cancelled,
}

impl JobOutcome {
    /// The word used in tables and summaries.
    pub const fn name(self) -> &'static str {
        match self {
            JobOutcome::Completed => "completed",
            JobOutcome::WalltimeReached => "walltime_reached",
            JobOutcome::Rejected(_) => "rejected",
            JobOutcome::Cancelled => "cancelled",
        }
    }
}

/// Why a provider or a metascheduler said no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// The job needs more processors than the provider has.
    TooWide,
    /// The question is above the provider's disclosure level.
    NotDisclosed,
    /// The provider no longer knows the job, or it has already started.
    UnknownJob,
    /// Every provider the metascheduler asked has refused.
    NoProvider,
}

impl Refusal {
    /// The reason as a word for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Refusal::TooWide => "too_wide",
            Refusal::NotDisclosed => "not_disclosed",
            Refusal::UnknownJob => "unknown_job",
            Refusal::NoProvider => "no_provider",
        }
    }
}

/// A job's whole story, observed when it is over.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRecord {
    /// The job as it was submitted.
    pub job: Job,
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
}

impl JobRecord {
    /// The story of a job that left the system at `end` and was never queued at a provider.
    pub fn never_queued(job: Job, class: JobClass, outcome: JobOutcome, end: Time) -> JobRecord {
        JobRecord {
            job,
            class,
            outcome,
            provider: None,
            queued: None,
            start: None,
            end,
            walltime: None,
            promised_end: None,
            processors: ProcessorSet::new(),
        }
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
}

impl DisclosedItem {
    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            DisclosedItem::Estimate => "estimate",
            DisclosedItem::Load => "load",
            DisclosedItem::Refusal => "refusal",
            DisclosedItem::JobStatus => "job_status",
        }
    }
}

/// One observed fact; the driver adds the time and the actor.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// A job is over, one way or another.
    JobOver(Box<JobRecord>),
    /// Information about the observed actor went to `to`.
    Disclosed {
        /// Who learned it.
        to: ActorId,
        /// What kind of information.
        item: DisclosedItem,
        /// How many items.
        count: u32,
        /// The job it was about, if any.
        job: Option<JobId>,
    },
}
