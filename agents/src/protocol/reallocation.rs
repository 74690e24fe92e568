//! Reallocation: providers choose the sizes of moldable jobs, and a reallocator moves waiting jobs to
//! providers that complete them earlier (Caniou, Charrier and Desprez 2010).
//!
//! ```text
//!   reallocator                   provider
//!       │ ── SizeRequest ─────────────▶ │
//!       │ ◀─────── Size (or NoSize) ─── │  no size if its queue makes no reservations
//!       │ ── Submit ──────────────────▶ │  of a size that the provider chooses then
//!       │ ◀───── Accepted or Refused ── │  and Started, Finished: see submission
//!       │                               │
//!       │ ── WaitingRequest ──────────▶ │  from time to time
//!       │ ◀────────────────── Waiting ─ │  the reallocator's own jobs only
//!       │ ── CompletionRequest ───────▶ │
//!       │ ◀─────────────── Completion ─ │
//!       │ ── TakeBack ────────────────▶ │
//!       │ ◀───────────────────── Back ─ │  jobs that still waited; the others stay
//! ```
//!
//! Every request carries the needs of a job that has moved, or would move ([`StageIn`]). The answer of a
//! provider therefore includes the cost of a move, and no other actor adds to it.
//!
//! A job that is taken back has not ended. Only its reallocator and its user have it until another
//! provider accepts it.

use haggle_model::observation::DisclosedItem;
use haggle_model::{Job, JobId, JobShape, Refusal, Sizing, Span, StageIn, Time};
use haggle_scheduling::reallocation::Sizes;
use serde::{Deserialize, Serialize};

use super::Phase;
use super::said::{Tells, protocol, said};
use super::submission::Submission;

protocol! {
    /// Messages about jobs that may move.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum ReallocationMessage {
        /// Reallocator to provider: which size would you give this job, if it were submitted now?
        /// Discloses the job, but not its run time.
        SizeRequest(request: Box<SizeRequest>) => said("size_request")
            .of(&request.job)
            .tells(DisclosedItem::Job),
        /// Provider to reallocator: its size, start and time with the present queue. Discloses
        /// these.
        Size {
            /// The job.
            job: JobId,
            /// Its size, with its planned start and time.
            sizing: Sizing,
        } => said("size").of(job).tells(DisclosedItem::Estimate),
        /// Provider to reallocator: the job cannot be queued here. Discloses the reason.
        NoSize {
            /// The job.
            job: JobId,
            /// The reason.
            reason: Refusal,
        } => said("no_size").of(job).tells(DisclosedItem::Refusal),
        /// Reallocator to provider: choose a size for this job, and run it. Discloses the job, but
        /// not its run time.
        Submit {
            /// The job.
            submission: Submission,
            /// Rule for its size.
            sizes: Sizes,
            /// Its needs there beside processors.
            stage_in: StageIn,
        } => said("submit_moldable")
            .of(&submission.job.id)
            .during(Phase::Submission)
            .tells(DisclosedItem::Job),
        /// Reallocator to provider: which of my jobs have not been started?
        WaitingRequest => said("waiting_request"),
        /// Provider to reallocator: these jobs, with their planned completions. Discloses that.
        Waiting {
            /// (job, planned completion).
            jobs: Vec<(JobId, Time)>,
        } => said("waiting").tells(Tells::Many(DisclosedItem::ExpectedCompletion, jobs.len())),
        /// Reallocator to provider: what is the planned completion of this job?
        CompletionRequest {
            /// The job.
            job: JobId,
        } => said("completion_request").of(job),
        /// Provider to reallocator: its planned completion. Discloses that, or that the job does
        /// not wait.
        Completion {
            /// The job.
            job: JobId,
            /// Its planned completion; `None` if it does not wait.
            completion: Option<Time>,
        } => said("completion").of(job).tells(DisclosedItem::ExpectedCompletion),
        /// Reallocator to provider: give these jobs back, all at once, unless they have been started.
        TakeBack {
            /// The jobs.
            jobs: Vec<JobId>,
        } => said("take_back"),
        /// Provider to reallocator: these jobs are given back. Discloses that they had not been
        /// started.
        Back {
            /// The jobs.
            jobs: Vec<JobId>,
        } => said("back").tells(Tells::Many(DisclosedItem::JobStatus, jobs.len())),
    }
}

/// The description of a job that a provider needs to choose its size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizeRequest {
    /// The job.
    pub job: JobId,
    /// Shape of the job: its size can be chosen, or not.
    pub shape: JobShape,
    /// Processors, as its user describes it.
    pub processors: u32,
    /// The requested time on so many reference processors.
    pub requested_time: Option<Span>,
    /// Rule for its size.
    pub sizes: Sizes,
    /// Its needs there beside processors.
    pub stage_in: StageIn,
}

impl SizeRequest {
    /// The request about a job.
    pub fn of(job: &Job, sizes: Sizes, stage_in: StageIn) -> SizeRequest {
        let &Job { id, shape, processors, requested_time, .. } = job;
        SizeRequest { job: id, shape, processors, requested_time, sizes, stage_in }
    }
}
