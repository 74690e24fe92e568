//! Submission: a job goes to who queues, places or runs it, and its submitter hears what
//! becomes of it.
//!
//! ```text
//!   submitter                       taker
//!       │ ── Submit ──────────────────▶ │
//!       │ ◀───── Accepted or Refused ── │
//!       │ ── Withdraw ────────────────▶ │  at most once, while it waits
//!       │ ◀── Promise ───────────────── │  of a bag, once all of it is placed
//!       │ ◀── Started ───────────────── │
//!       │ ◀── Finished, NotWithdrawn ── │
//! ```
//!
//! The submitter keeps the job until it is over; the taker gets a description of it.

use std::sync::Arc;

use haggle_model::observation::DisclosedItem;
use haggle_model::{
    ActorId, ActorKind, Job, JobClass, JobId, JobOutcome, JobRecord, Observation, Refusal, Time,
};
use serde::{Deserialize, Serialize};

use super::{Parties, Phase, Tell};

/// What is said about a job as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SubmissionMessage {
    /// User to provider (local) or metascheduler (external), metascheduler to
    /// provider: run this job. Discloses the job, but not its run time.
    Submit(Submission),
    /// Provider, metascheduler or dispatcher to submitter: the job is queued, or has its place
    /// where jobs do not wait. Discloses nothing else.
    Accepted {
        /// The job.
        job: JobId,
    },
    /// Provider, metascheduler or dispatcher to submitter: the job is not taken. Discloses the
    /// reason.
    Refused {
        /// The job.
        job: JobId,
        /// Why.
        reason: Refusal,
    },
    /// User to where it submitted, metascheduler to provider: take the job out of the queue.
    Withdraw {
        /// The job.
        job: JobId,
    },
    /// Answer to [`SubmissionMessage::Withdraw`]: too late, the job has started or is over.
    NotWithdrawn {
        /// The job.
        job: JobId,
    },
    /// Metascheduler to user, when all providers have committed: the whole bag will be done then.
    Promise {
        /// The bag.
        job: JobId,
        /// Its deadline, or the earliest completion there is.
        completion: Time,
    },
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
}

/// A job as its submitter describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Submission {
    /// The job. Its submitter keeps it, too.
    pub job: Arc<Job>,
    /// Who places it.
    pub class: JobClass,
    /// Who submitted it first.
    pub user: ActorId,
}

impl Submission {
    /// The job is over in this way before any provider has queued it.
    pub fn never_queued(self, outcome: JobOutcome, now: Time) -> Observation {
        let Submission { job, class, .. } = self;
        let record = JobRecord::never_queued(job, class, outcome, now);
        Observation::JobOver(Box::new(record))
    }
}

impl SubmissionMessage {
    /// The word used in the table of messages.
    pub fn kind(&self) -> &'static str {
        match self {
            SubmissionMessage::Submit(_) => "submit",
            SubmissionMessage::Accepted { .. } => "accepted",
            SubmissionMessage::Refused { reason, .. } => match reason {
                Refusal::TooWide => "refused_too_wide",
                Refusal::NotDisclosed => "refused_not_disclosed",
                Refusal::NoProvider => "refused_no_provider",
                Refusal::WrongShape => "refused_wrong_shape",
                Refusal::NoLimit => "refused_no_limit",
                Refusal::NoRoom => "refused_no_room",
            },
            SubmissionMessage::Withdraw { .. } => "withdraw",
            SubmissionMessage::NotWithdrawn { .. } => "not_withdrawn",
            SubmissionMessage::Promise { .. } => "promise",
            SubmissionMessage::Started { .. } => "started",
            SubmissionMessage::Finished { .. } => "finished",
        }
    }

    /// The job it is about.
    pub fn job(&self) -> JobId {
        match self {
            SubmissionMessage::Submit(submission) => submission.job.id,
            SubmissionMessage::Accepted { job }
            | SubmissionMessage::Refused { job, .. }
            | SubmissionMessage::Withdraw { job }
            | SubmissionMessage::NotWithdrawn { job }
            | SubmissionMessage::Promise { job, .. }
            | SubmissionMessage::Started { job }
            | SubmissionMessage::Finished { job, .. } => *job,
        }
    }

    /// When in an instant it is delivered.
    pub fn phase(&self) -> Phase {
        match self {
            SubmissionMessage::Submit(_) => Phase::Submission,
            _ => Phase::Conversation,
        }
    }

    /// Tells what the receiver learns of its sender. Between users and those they submit to,
    /// what becomes of their own jobs is no news of anybody else.
    pub(super) fn disclose(&self, between: Parties, tell: &mut Tell<'_>) {
        let with_user = between.from == ActorKind::User || between.to == ActorKind::User;
        match self {
            SubmissionMessage::Refused { .. } => tell(DisclosedItem::Refusal, 1),
            SubmissionMessage::Submit(_) if !with_user => tell(DisclosedItem::Job, 1),
            SubmissionMessage::Started { .. } | SubmissionMessage::Finished { .. }
                if !with_user =>
            {
                tell(DisclosedItem::JobStatus, 1);
            }
            _ => {}
        }
    }
}
