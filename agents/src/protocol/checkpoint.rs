//! Checkpoints: resources of a grid store them at a server, which notifies the scheduler.
//!
//! ```text
//!   resource         checkpoint server             dispatcher
//!       │ ── Saved ─────────▶ │                          │
//!       │                     │ ── CheckpointAvailable ▶ │  unless the server has one that is further
//!       │                     │ ◀─────────────── Forget ─│  the job is over
//! ```

use haggle_model::observation::DisclosedItem;
use haggle_model::work::Work;
use haggle_model::{JobId, Time};
use serde::{Deserialize, Serialize};

use super::said::{protocol, said};

protocol! {
    /// Messages about checkpoints at their server.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum CheckpointMessage {
        /// Resource to checkpoint server: the job's checkpoint has arrived.
        Saved(saved: Box<Saved>) => said("saved").of(&saved.job).tells(DisclosedItem::Progress),
        /// Checkpoint server to dispatcher: the job can be started from there.
        CheckpointAvailable(saved: Box<Saved>) => said("checkpoint_available").of(&saved.job).tells(DisclosedItem::Progress),
        /// Dispatcher to checkpoint server: the job is done.
        Forget {
            /// The job.
            job: JobId,
        } => said("forget").of(job),
    }
}

/// A checkpoint at the checkpoint server.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saved {
    /// The job.
    pub job: JobId,
    /// The number of the attempt.
    pub number: u32,
    /// Work in the checkpoint.
    pub done: Work,
    /// Time from which it can be used.
    pub at: Time,
    /// Its size.
    pub bytes: u64,
}
