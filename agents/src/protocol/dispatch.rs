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
//! The old resource of a job that moves sends [`Moved`] to the new one.

use haggle_model::job::HiddenRunTime;
use haggle_model::observation::DisclosedItem;
use haggle_model::progress::{Progress, ProgressReport};
use haggle_model::work::Work;
use haggle_model::workflow::TaskData;
use haggle_model::{ActorId, JobId, ProviderId, Span};
use serde::{Deserialize, Serialize};

use super::said::{protocol, said};

protocol! {
    /// Messages about a job of a grid and its attempts.
    ///
    /// Numbers of attempts count from 1 for each job.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum DispatchMessage {
        /// Dispatcher to resource: run this job, a slot is meant for it.
        Dispatch(dispatch: Box<Dispatch>) => said("dispatch")
            .of(&dispatch.job)
            .tells(DisclosedItem::Job),
        /// Resource to dispatcher: it does not take the job, because it has no slot or is down.
        Refused {
            /// The job.
            job: JobId,
            /// The number of the attempt.
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
            /// True if it begins.
            on: bool,
        } => said("checkpointing").of(job),
        /// Dispatcher to resource: the job saves its progress and goes on elsewhere.
        Move {
            /// The job.
            job: JobId,
            /// Address of the resource to which it goes.
            to: ActorId,
        } => said("move").of(job),
        /// Dispatcher to resource: the job gives its slot back, saves its progress, and goes on
        /// elsewhere.
        Leave {
            /// The job.
            job: JobId,
            /// Address of the resource to which it goes; `None` = it waits.
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
            /// The number of the attempt.
            number: u32,
            /// True if there was no output to send.
            delivered: bool,
        } => said("computed").of(job).tells(DisclosedItem::JobStatus),
        /// Resource to dispatcher: the job's output has arrived.
        Delivered {
            /// The job.
            job: JobId,
        } => said("delivered").of(job).tells(DisclosedItem::JobStatus),
        /// Dispatcher to resource: what is the progress of this job?
        ProgressRequest {
            /// The job.
            job: JobId,
            /// Number of its reports that are known.
            known: u32,
        } => said("progress_request").of(job),
        /// Resource to dispatcher: its progress.
        Progress {
            /// The job.
            job: JobId,
            /// Its progress.
            so_far: Box<SoFar>,
        } => said("progress").of(job).tells(DisclosedItem::Progress),
    }
}

/// A job on its way to a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dispatch {
    /// The job.
    pub job: JobId,
    /// The number of the attempt.
    pub number: u32,
    /// The workload of the job, on which its data depend.
    pub workload: u16,
    /// Its data, if they differ from the data of its workload.
    pub data: Option<TaskData>,
    /// Time for which it computes on the reference resource; only the machine reads it.
    pub run_time: HiddenRunTime,
    /// Work in the checkpoint from which it starts; zero = from the beginning.
    pub from: Work,
    /// The attempt that wrote it.
    pub parent: Option<u32>,
    /// Its behaviour in reports of progress, if it sends any; only the machine reads it.
    pub progress: Option<Box<Progress>>,
    /// True if it writes checkpoints.
    pub checkpointing: bool,
    /// True if it comes from another resource, which reports when it is ready.
    pub moves: bool,
    /// True if it runs there already, when the run begins: it computes at once.
    pub runs: bool,
}

/// Progress of a job at a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoFar {
    /// Work done; of a job that died, the work done by then.
    pub done: Work,
    /// True if it computes at present.
    pub computes: bool,
    /// Time for which it has computed there.
    pub computing: Span,
    /// Its reports that were not known, oldest first.
    pub reports: Vec<ProgressReport>,
}

/// A job that has left a resource.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    /// The job.
    pub job: JobId,
    /// The number of the attempt that has left.
    pub number: u32,
    /// Work done of it.
    pub done: Work,
    /// The resource it has left, where its data are.
    pub from: ProviderId,
}
