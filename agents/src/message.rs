//! Every message there is: all causes of change on one screen.

use haggle_model::{ActorId, Job, JobClass, JobId, JobOutcome, Refusal, Span, Time};

/// What one actor says to another, or to itself later.
///
/// Grouped by protocol. Each variant says who sends it and what it discloses
/// about the sender; jobs travel in a box that is handed on, never copied.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    // Submission.
    /// Workload to user: it is time to submit this job.
    JobDue(Box<Job>),
    /// User to provider (local) or metascheduler (external), metascheduler to
    /// provider: run this job. Discloses the job, but not its run time.
    Submit(Box<Submission>),
    /// Provider or metascheduler to submitter: the job is queued. Discloses nothing else.
    Accepted {
        /// The job.
        job: JobId,
    },
    /// Provider or metascheduler to submitter: the job is not taken, here it is
    /// back. Discloses the reason.
    Refused {
        /// The job, unchanged.
        submission: Box<Submission>,
        /// Why.
        reason: Refusal,
    },
    /// User to where it submitted, metascheduler to provider: take the job out of the queue.
    Withdraw {
        /// The job.
        job: JobId,
    },
    /// Answer to [`Message::Withdraw`]: too late, the job has started or is over.
    NotWithdrawn {
        /// The job.
        job: JobId,
    },

    // Information.
    /// Metascheduler to provider: when would such a job end, were it submitted now?
    EstimateRequest {
        /// The job it is about.
        job: JobId,
        /// Processors it needs.
        processors: u32,
        /// Its requested time on the reference processor.
        requested_time: Option<Span>,
    },
    /// Provider to metascheduler: the start and end of that job as the queue
    /// stands. Discloses these two times.
    Estimate {
        /// The job it is about.
        job: JobId,
        /// Estimated start.
        start: Time,
        /// Estimated completion, at the requested time on this provider's processors.
        completion: Time,
    },
    /// Metascheduler to provider: how loaded are you?
    LoadRequest {
        /// The job it is asked for.
        job: JobId,
    },
    /// Provider to metascheduler: how long it would take to work off all it
    /// has, on all its processors. Discloses that one number.
    Load {
        /// The job it was asked for.
        job: JobId,
        /// Remaining planned work / (processors x speed).
        drain_time: Span,
    },
    /// Provider to metascheduler: no answer to a request. Discloses the reason.
    NoAnswer {
        /// The job it was asked for.
        job: JobId,
        /// Why.
        reason: Refusal,
    },

    // Execution.
    /// Provider to submitter, metascheduler to user: the job has started.
    Started {
        /// The job.
        job: JobId,
    },
    /// Provider to submitter, metascheduler to user: the job is over.
    Finished {
        /// The job.
        job: JobId,
        /// How it ended.
        outcome: JobOutcome,
    },

    /// An actor to itself.
    Wake(Timer),
}

/// Why an actor wakes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// Provider: the job in this slot has run to its end or to its limit.
    RunEnds {
        /// The slot of the provider.
        slot: u32,
    },
    /// Provider: the job in this slot has used up its planned time and goes on.
    PlanEnds {
        /// The slot of the provider.
        slot: u32,
    },
    /// Provider: a reservation of the plan is due.
    PlanDue,
    /// User: the job has waited as long as the user will wait.
    PatienceOver {
        /// The job.
        job: JobId,
    },
}

/// A job on its way to a provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// The job.
    pub job: Job,
    /// Who places it.
    pub class: JobClass,
    /// Who submitted it first.
    pub user: ActorId,
}

/// The part of an instant in which a message is delivered.
///
/// At one instant all submissions come first, then completions, then other
/// messages, then decisions; a run may let completions come before submissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Phase {
    /// Resources fail and come back.
    Resource = 0,
    /// Jobs are submitted.
    Submission = 1,
    /// Jobs end.
    Completion = 2,
    /// Everything else that is said.
    Conversation = 3,
    /// Plans and patience are due.
    Decision = 4,
}

impl Phase {
    /// Number of phases.
    pub const COUNT: usize = 5;
}

impl Message {
    /// When in an instant it is delivered.
    pub fn phase(&self) -> Phase {
        match self {
            Message::JobDue(_) | Message::Submit(_) => Phase::Submission,
            Message::Wake(Timer::RunEnds { .. }) => Phase::Completion,
            Message::Wake(_) => Phase::Decision,
            _ => Phase::Conversation,
        }
    }

    /// The word used in the table of messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Message::JobDue(_) => "job_due",
            Message::Submit(_) => "submit",
            Message::Accepted { .. } => "accepted",
            Message::Refused { reason, .. } => match reason {
                Refusal::TooWide => "refused_too_wide",
                Refusal::NotDisclosed => "refused_not_disclosed",
                Refusal::UnknownJob => "refused_unknown_job",
                Refusal::NoProvider => "refused_no_provider",
            },
            Message::Withdraw { .. } => "withdraw",
            Message::NotWithdrawn { .. } => "not_withdrawn",
            Message::EstimateRequest { .. } => "estimate_request",
            Message::Estimate { .. } => "estimate",
            Message::LoadRequest { .. } => "load_request",
            Message::Load { .. } => "load",
            Message::NoAnswer { reason, .. } => match reason {
                Refusal::TooWide => "no_answer_too_wide",
                Refusal::NotDisclosed => "no_answer_not_disclosed",
                Refusal::UnknownJob => "no_answer_unknown_job",
                Refusal::NoProvider => "no_answer_no_provider",
            },
            Message::Started { .. } => "started",
            Message::Finished { .. } => "finished",
            Message::Wake(_) => "wake",
        }
    }

    /// The job it is about, if any.
    pub fn job(&self) -> Option<JobId> {
        match self {
            Message::JobDue(job) => Some(job.id),
            Message::Submit(submission) | Message::Refused { submission, .. } => {
                Some(submission.job.id)
            }
            Message::Accepted { job }
            | Message::Withdraw { job }
            | Message::NotWithdrawn { job }
            | Message::EstimateRequest { job, .. }
            | Message::Estimate { job, .. }
            | Message::LoadRequest { job }
            | Message::Load { job, .. }
            | Message::NoAnswer { job, .. }
            | Message::Started { job }
            | Message::Finished { job, .. }
            | Message::Wake(Timer::PatienceOver { job }) => Some(*job),
            Message::Wake(_) => None,
        }
    }
}
