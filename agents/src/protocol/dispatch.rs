//! Dispatch: a grid's scheduler sends tries of jobs to resources, moves and cancels them.
//!
//! ```text
//!   dispatcher                       resource
//!       │ ── Dispatch ──────────────────▶ │
//!       │ ◀── Refused ─────────────────── │  no slot, or down
//!       │ ── Cancel, Checkpointing, Move ▶│
//!       │ ◀── Left, Stranded ──────────── │
//!       │ ◀── Computed, Delivered ─────── │
//! ```

use haggle_model::job::HiddenRunTime;
use haggle_model::observation::DisclosedItem;
use haggle_model::work::Work;
use haggle_model::{ActorId, JobId, ProviderId};
use serde::{Deserialize, Serialize};

use super::Tell;

/// What is said about a job of a grid and its tries.
///
/// Numbers of tries count from 1 for each job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum DispatchMessage {
    /// Dispatcher to resource: run this job, a slot is meant for it.
    Dispatch(Box<Dispatch>),
    /// Resource to dispatcher: it fails to take the job, for want of a slot or because it is down.
    Refused {
        /// The job.
        job: JobId,
        /// Which try of it.
        number: u32,
    },
    /// Dispatcher to resource: the job is not needed there any more.
    Cancel {
        /// The job.
        job: JobId,
    },
    /// Dispatcher to resource: the job begins or ceases to write checkpoints.
    Checkpointing {
        /// The job.
        job: JobId,
        /// Whether it begins.
        on: bool,
    },
    /// Dispatcher to resource: the job saves its progress and goes on elsewhere.
    Move {
        /// The job.
        job: JobId,
        /// Where it goes.
        to: ActorId,
    },
    /// Resource to resource: here is the job you keep a slot for; its data are with me.
    Moved(Box<Moved>),
    /// Resource to dispatcher: a job that moves has given its slot back.
    Left {
        /// The job.
        job: JobId,
    },
    /// Resource to dispatcher: the job's data did not arrive, its slot is free.
    Stranded {
        /// The job.
        job: JobId,
    },
    /// Resource to dispatcher: the job has been computed, its slot is free.
    Computed {
        /// The job.
        job: JobId,
        /// Which try of it.
        number: u32,
        /// Whether there was no output to send.
        delivered: bool,
    },
    /// Resource to dispatcher: the job's output is where it belongs.
    Delivered {
        /// The job.
        job: JobId,
    },
    /// Dispatcher to resource: how far is this job?
    ProgressRequest {
        /// The job.
        job: JobId,
    },
    /// Resource to dispatcher: so far.
    Progress {
        /// The job.
        job: JobId,
        /// What has been done; of one that died, what had been done then.
        done: Box<Work>,
        /// Whether it computes at present.
        computes: bool,
    },
}

/// A job on its way to a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dispatch {
    /// The job.
    pub job: JobId,
    /// Which try of it.
    pub number: u32,
    /// Which workload it came from; its data depend on that.
    pub workload: u16,
    /// How long it computes on the reference resource; the machine finds out.
    pub run_time: HiddenRunTime,
    /// What the checkpoint holds from which it starts; zero = from the beginning.
    pub from: Work,
    /// The try that wrote it.
    pub parent: Option<u32>,
    /// Whether it writes checkpoints.
    pub checkpointing: bool,
    /// Whether it comes from another resource, which says when it is ready.
    pub moves: bool,
}

/// A job that has left a resource.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    /// The job.
    pub job: JobId,
    /// Which try of it has left.
    pub number: u32,
    /// What has been done of it.
    pub done: Work,
    /// The resource it has left, where its data are.
    pub from: ProviderId,
}

impl DispatchMessage {
    /// The word used in the table of messages.
    pub fn kind(&self) -> &'static str {
        match self {
            DispatchMessage::Dispatch(_) => "dispatch",
            DispatchMessage::Refused { .. } => "dispatch_refused",
            DispatchMessage::Cancel { .. } => "cancel",
            DispatchMessage::Checkpointing { .. } => "checkpointing",
            DispatchMessage::Move { .. } => "move",
            DispatchMessage::Moved(_) => "moved",
            DispatchMessage::Left { .. } => "left",
            DispatchMessage::Stranded { .. } => "stranded",
            DispatchMessage::Computed { .. } => "computed",
            DispatchMessage::Delivered { .. } => "delivered",
            DispatchMessage::ProgressRequest { .. } => "progress_request",
            DispatchMessage::Progress { .. } => "progress",
        }
    }

    /// The job it is about.
    pub fn job(&self) -> JobId {
        match self {
            DispatchMessage::Dispatch(dispatch) => dispatch.job,
            DispatchMessage::Moved(moved) => moved.job,
            DispatchMessage::Refused { job, .. }
            | DispatchMessage::Cancel { job }
            | DispatchMessage::Checkpointing { job, .. }
            | DispatchMessage::Move { job, .. }
            | DispatchMessage::Left { job }
            | DispatchMessage::Stranded { job }
            | DispatchMessage::Computed { job, .. }
            | DispatchMessage::Delivered { job }
            | DispatchMessage::ProgressRequest { job }
            | DispatchMessage::Progress { job, .. } => *job,
        }
    }

    /// Tells what its receiver learns of its sender.
    pub(super) fn disclose(&self, tell: &mut Tell<'_>) {
        match self {
            DispatchMessage::Dispatch(_) | DispatchMessage::Moved(_) => tell(DisclosedItem::Job, 1),
            DispatchMessage::Refused { .. } => tell(DisclosedItem::Refusal, 1),
            DispatchMessage::Left { .. }
            | DispatchMessage::Stranded { .. }
            | DispatchMessage::Computed { .. }
            | DispatchMessage::Delivered { .. } => tell(DisclosedItem::JobStatus, 1),
            DispatchMessage::Progress { .. } => tell(DisclosedItem::Progress, 1),
            DispatchMessage::Cancel { .. }
            | DispatchMessage::Checkpointing { .. }
            | DispatchMessage::Move { .. }
            | DispatchMessage::ProgressRequest { .. } => {}
        }
    }
}
