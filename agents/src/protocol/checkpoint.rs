//! Checkpoints: resources of a grid leave them at a server, which tells the scheduler.

use haggle_model::observation::DisclosedItem;
use haggle_model::work::Work;
use haggle_model::{JobId, Time};
use serde::{Deserialize, Serialize};

use super::Tell;

/// What is said about checkpoints at their server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CheckpointMessage {
    /// Resource to checkpoint server: the job's checkpoint has arrived.
    Saved(Box<Saved>),
    /// Checkpoint server to dispatcher: the job can be started from there.
    CheckpointAvailable(Box<Saved>),
    /// Dispatcher to checkpoint server: the job is done.
    Forget {
        /// The job.
        job: JobId,
    },
}

/// A checkpoint at the checkpoint server.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saved {
    /// The job.
    pub job: JobId,
    /// Which try of it.
    pub number: u32,
    /// What had been done of it.
    pub done: Work,
    /// Since when it can be used.
    pub at: Time,
    /// Its size.
    pub bytes: u64,
}

impl CheckpointMessage {
    /// The word used in the table of messages.
    pub fn kind(&self) -> &'static str {
        match self {
            CheckpointMessage::Saved(_) => "saved",
            CheckpointMessage::CheckpointAvailable(_) => "checkpoint_available",
            CheckpointMessage::Forget { .. } => "forget",
        }
    }

    /// The job it is about.
    pub fn job(&self) -> JobId {
        match self {
            CheckpointMessage::Saved(saved) | CheckpointMessage::CheckpointAvailable(saved) => {
                saved.job
            }
            CheckpointMessage::Forget { job } => *job,
        }
    }

    /// Tells what its receiver learns of its sender.
    pub(super) fn disclose(&self, tell: &mut Tell<'_>) {
        match self {
            CheckpointMessage::Saved(_) | CheckpointMessage::CheckpointAvailable(_) => {
                tell(DisclosedItem::Progress, 1)
            }
            CheckpointMessage::Forget { .. } => {}
        }
    }
}
