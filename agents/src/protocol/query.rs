//! Queries: a metascheduler asks providers before it places a rigid job.

use haggle_model::observation::DisclosedItem;
use haggle_model::{JobId, Refusal, Span, Time};
use serde::{Deserialize, Serialize};

use super::Tell;

/// What is asked and answered before a rigid job is placed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum QueryMessage {
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
    /// Provider to metascheduler: no answer to a question or to a call for offers. Discloses
    /// the reason.
    NoAnswer {
        /// The job it was asked for.
        job: JobId,
        /// Why.
        reason: Refusal,
    },
}

impl QueryMessage {
    /// The word used in the table of messages.
    pub fn kind(&self) -> &'static str {
        match self {
            QueryMessage::EstimateRequest { .. } => "estimate_request",
            QueryMessage::Estimate { .. } => "estimate",
            QueryMessage::LoadRequest { .. } => "load_request",
            QueryMessage::Load { .. } => "load",
            QueryMessage::NoAnswer { reason, .. } => match reason {
                Refusal::TooWide => "no_answer_too_wide",
                Refusal::NotDisclosed => "no_answer_not_disclosed",
                Refusal::NoProvider => "no_answer_no_provider",
                Refusal::WrongShape => "no_answer_wrong_shape",
                Refusal::NoLimit => "no_answer_no_limit",
                Refusal::NoRoom => "no_answer_no_room",
            },
        }
    }

    /// The job it is about.
    pub fn job(&self) -> JobId {
        match self {
            QueryMessage::EstimateRequest { job, .. }
            | QueryMessage::Estimate { job, .. }
            | QueryMessage::LoadRequest { job }
            | QueryMessage::Load { job, .. }
            | QueryMessage::NoAnswer { job, .. } => *job,
        }
    }

    /// Tells what its receiver learns of its sender.
    pub(super) fn disclose(&self, tell: &mut Tell<'_>) {
        match self {
            QueryMessage::EstimateRequest { .. } => tell(DisclosedItem::Job, 1),
            QueryMessage::LoadRequest { .. } => {}
            QueryMessage::Estimate { .. } => tell(DisclosedItem::Estimate, 1),
            QueryMessage::Load { .. } => tell(DisclosedItem::Load, 1),
            QueryMessage::NoAnswer { .. } => tell(DisclosedItem::Refusal, 1),
        }
    }
}
