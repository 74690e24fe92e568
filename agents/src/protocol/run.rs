//! What the world says to its actors. No actor sends these.

use std::sync::Arc;

use haggle_model::{Job, JobId, Time};
use serde::{Deserialize, Serialize};

use super::Phase;

/// The world to an actor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// To any actor: it crashes. It hears nothing until it restarts, unless something happens on
    /// its machine.
    Crashed,
    /// To an actor that has crashed: it restarts, and knows what it knew.
    Restarted,
    /// To everybody: the run stops now. What you hold is unfinished.
    RunOver,
}

impl RunMessage {
    /// The word used in the table of messages.
    pub fn kind(&self) -> &'static str {
        match self {
            RunMessage::JobDue(_) => "job_due",
            RunMessage::OutageDue { .. } => "outage_due",
            RunMessage::Crashed => "crashed",
            RunMessage::Restarted => "restarted",
            RunMessage::RunOver => "run_over",
        }
    }

    /// The job it is about, if it is about one.
    pub fn job(&self) -> Option<JobId> {
        match self {
            RunMessage::JobDue(job) => Some(job.id),
            RunMessage::OutageDue { .. }
            | RunMessage::Crashed
            | RunMessage::Restarted
            | RunMessage::RunOver => None,
        }
    }

    /// When in an instant it is delivered.
    pub fn phase(&self) -> Phase {
        match self {
            RunMessage::JobDue(_) => Phase::Submission,
            RunMessage::OutageDue { .. } | RunMessage::Crashed | RunMessage::Restarted => {
                Phase::Resource
            }
            RunMessage::RunOver => Phase::Conversation,
        }
    }
}
