//! Dispatch: a grid's scheduler sends attempts of jobs to resources, moves and cancels them.
//!
//! ```text
//!   dispatcher                       resource
//!       │ ── Dispatch ──────────────────▶ │
//!       │ ◀── Refused ─────────────────── │  no slot, or down
//!       │ ── Cancel, Checkpointing ─────▶ │
//!       │ ── Move, Leave ───────────────▶ │
//!       │ ◀── Left, Stranded, Suspended ─ │
//!       │ ── ProgressRequest ───────────▶ │
//!       │ ◀── Progress ────────────────── │
//!       │ ◀── Computed, Delivered ─────── │
//! ```
//!
//! The resource that a job moves away from says [`Moved`] to the one it goes to.

use haggle_model::job::HiddenRunTime;
use haggle_model::observation::DisclosedItem;
use haggle_model::progress::{Progress, ProgressReport};
use haggle_model::work::Work;
use haggle_model::workflow::TaskData;
use haggle_model::{ActorId, JobId, ProviderId, Span};
use serde::{Deserialize, Serialize};

use super::said::{protocol, said};

protocol! {
    /// What is said about a job of a grid and its attempts.
    ///
    /// Numbers of attempts count from 1 for each job.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum DispatchMessage {
        /// Dispatcher to resource: run this job, a slot is meant for it.
        Dispatch(dispatch: Box<Dispatch>) => said("dispatch")
            .of(&dispatch.job)
            .tells(DisclosedItem::Job),
        /// Resource to dispatcher: it fails to take the job, for want of a slot or because it is down.
        Refused {
            /// The job.
            job: JobId,
            /// Which attempt of it.
            number: u32,
        } => said("dispatch_refused").of(job).tells(DisclosedItem::Refusal),
        /// Dispatcher to resource: the job is not needed there any more.
        Cancel {
            /// The job.
            job: JobId,
        } => said("cancel").of(job),
        /// Dispatcher to resource: the job begins or ceases to write checkpoints.
        Checkpointing {
            /// The job.
            job: JobId,
            /// Whether it begins.
            on: bool,
        } => said("checkpointing").of(job),
        /// Dispatcher to resource: the job saves its progress and goes on elsewhere.
        Move {
            /// The job.
            job: JobId,
            /// Where it goes.
            to: ActorId,
        } => said("move").of(job),
        /// Dispatcher to resource: the job gives its slot back, saves its progress, and goes on
        /// elsewhere.
        Leave {
            /// The job.
            job: JobId,
            /// Where it goes; `None` = it waits.
            to: Option<ActorId>,
        } => said("leave").of(job),
        /// Resource to resource: here is the job you keep a slot for; its data are with me.
        Moved(moved: Box<Moved>) => said("moved").of(&moved.job).tells(DisclosedItem::Job),
        /// Resource to dispatcher: a job that moves has given its slot back.
        Left {
            /// The job.
            job: JobId,
        } => said("left").of(job).tells(DisclosedItem::JobStatus),
        /// Resource to dispatcher: the progress of a job that waits from now on is saved.
        Suspended {
            /// The job.
            job: JobId,
        } => said("suspended").of(job).tells(DisclosedItem::JobStatus),
        /// Resource to dispatcher: the job's data did not arrive, its slot is free.
        Stranded {
            /// The job.
            job: JobId,
        } => said("stranded").of(job).tells(DisclosedItem::JobStatus),
        /// Resource to dispatcher: the job has been computed, its slot is free.
        Computed {
            /// The job.
            job: JobId,
            /// Which attempt of it.
            number: u32,
            /// Whether there was no output to send.
            delivered: bool,
        } => said("computed").of(job).tells(DisclosedItem::JobStatus),
        /// Resource to dispatcher: the job's output is where it belongs.
        Delivered {
            /// The job.
            job: JobId,
        } => said("delivered").of(job).tells(DisclosedItem::JobStatus),
        /// Dispatcher to resource: how far is this job?
        ProgressRequest {
            /// The job.
            job: JobId,
            /// How many of its reports are known.
            known: u32,
        } => said("progress_request").of(job),
        /// Resource to dispatcher: so far.
        Progress {
            /// The job.
            job: JobId,
            /// How far.
            so_far: Box<SoFar>,
        } => said("progress").of(job).tells(DisclosedItem::Progress),
    }
}

/// A job on its way to a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dispatch {
    /// The job.
    pub job: JobId,
    /// Which attempt of it.
    pub number: u32,
    /// Which workload it came from; its data depend on that.
    pub workload: u16,
    /// Its data, if they are not those of all of its workload.
    pub data: Option<TaskData>,
    /// How long it computes on the reference resource; the machine finds out.
    pub run_time: HiddenRunTime,
    /// What the checkpoint holds from which it starts; zero = from the beginning.
    pub from: Work,
    /// The attempt that wrote it.
    pub parent: Option<u32>,
    /// What it says of its progress, if it does; the machine finds out.
    pub progress: Option<Box<Progress>>,
    /// Whether it writes checkpoints.
    pub checkpointing: bool,
    /// Whether it comes from another resource, which says when it is ready.
    pub moves: bool,
}

/// How far a job is at a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoFar {
    /// What has been done; of one that died, what had been done then.
    pub done: Work,
    /// Whether it computes at present.
    pub computes: bool,
    /// For how long it has computed there.
    pub computing: Span,
    /// What it has reported that was not known, oldest first.
    pub reports: Vec<ProgressReport>,
}

/// A job that has left a resource.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    /// The job.
    pub job: JobId,
    /// Which attempt of it has left.
    pub number: u32,
    /// What has been done of it.
    pub done: Work,
    /// The resource it has left, where its data are.
    pub from: ProviderId,
}
