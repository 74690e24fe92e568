//! What the world says to its actors. No actor sends these.

use std::sync::Arc;

use haggle_model::{Job, JobId, Time};

use super::Phase;

/// The world to an actor.
#[derive(Clone, Debug, PartialEq)]
pub enum RunMessage {
    /// To a user: it is time to submit this job.
    JobDue(Arc<Job>),
    /// To nature: this resource fails, and is back then.
    OutageDue {
        /// Its number in nature's list.
        resource: u32,
        /// When it is back; [`Time::FOREVER`] = never.
        restore: Time,
    },
    /// To everybody: the run stops now. What you hold is unfinished.
    RunOver,
}

impl RunMessage {
    /// The word used in the table of messages.
    pub fn kind(&self) -> &'static str {
        match self {
            RunMessage::JobDue(_) => "job_due",
            RunMessage::OutageDue { .. } => "outage_due",
            RunMessage::RunOver => "run_over",
        }
    }

    /// The job it is about, if it is about one.
    pub fn job(&self) -> Option<JobId> {
        match self {
            RunMessage::JobDue(job) => Some(job.id),
            RunMessage::OutageDue { .. } | RunMessage::RunOver => None,
        }
    }

    /// When in an instant it is delivered.
    pub fn phase(&self) -> Phase {
        match self {
            RunMessage::JobDue(_) => Phase::Submission,
            RunMessage::OutageDue { .. } => Phase::Resource,
            RunMessage::RunOver => Phase::Conversation,
        }
    }
}
