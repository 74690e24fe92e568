//! Queries: a metascheduler queries providers, and a grid's scheduler, before it places a rigid job.
//!
//! ```text
//!   metascheduler                 provider or grid
//!       │ ── EstimateRequest ─────────▶ │
//!       │ ◀─── Estimate (or NoAnswer) ─ │  no answer if the job is too wide, or unfit for a grid
//!       │ ── LoadRequest ─────────────▶ │
//!       │ ◀─────── Load (or NoAnswer) ─ │  no answer if its level does not disclose loads
//! ```
//!
//! A call for offers may also get no answer.

use haggle_model::observation::DisclosedItem;
use haggle_model::{Demand, JobId, Refusal, Span, Time};
use serde::{Deserialize, Serialize};

use super::said::{protocol, said, said_by};

protocol! {
    /// Questions and answers before a rigid job is placed.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum QueryMessage {
        /// Metascheduler to provider or grid: when would such a job end, were it submitted now?
        EstimateRequest {
            /// The job it is about.
            job: JobId,
            /// Processors it needs.
            processors: u32,
            /// Its requested time on the reference processor.
            requested_time: Option<Span>,
            /// Its demand for resources of nodes, if it needs more than processors.
            demand: Option<Box<Demand>>,
        } => said("estimate_request").of(job).tells(DisclosedItem::Job),
        /// Provider or grid to metascheduler: the start and end of that job with the present queue.
        /// Discloses these two times.
        Estimate {
            /// The job it is about.
            job: JobId,
            /// Estimated start.
            start: Time,
            /// Estimated completion, at the requested time on this provider's processors, or at the share of
            /// a resource of the grid.
            completion: Time,
        } => said("estimate").of(job).tells(DisclosedItem::Estimate),
        /// Metascheduler to provider or grid: how loaded are you?
        LoadRequest {
            /// The job for which it is requested.
            job: JobId,
        } => said("load_request").of(job),
        /// Provider or grid to metascheduler: the time that it needs for all its work, on all its
        /// processors. Discloses that one number.
        Load {
            /// The job for which it was requested.
            job: JobId,
            /// Remaining planned work / (processors x speed).
            drain_time: Span,
        } => said("load").of(job).tells(DisclosedItem::Load),
        /// Provider or grid to metascheduler: no answer to a question or to a call for offers.
        /// Discloses the reason.
        NoAnswer {
            /// The job for which it was requested.
            job: JobId,
            /// The reason.
            reason: Refusal,
        } => no_answer(*reason).of(job).tells(DisclosedItem::Refusal),
    }
}

said_by! {
    /// The facts about a refused answer with this reason.
    fn no_answer(reason: Refusal) -> Said<'static> {
        Refusal::TooWide => said("no_answer_too_wide"),
        Refusal::TooNarrow => said("no_answer_too_narrow"),
        Refusal::NotDisclosed => said("no_answer_not_disclosed"),
        Refusal::NoProvider => said("no_answer_no_provider"),
        Refusal::WrongShape => said("no_answer_wrong_shape"),
        Refusal::NoLimit => said("no_answer_no_limit"),
        Refusal::NoRoom => said("no_answer_no_room"),
        Refusal::NoWindow => said("no_answer_no_window"),
        Refusal::NoAgreement => said("no_answer_no_agreement"),
        Refusal::ParentFailed => said("no_answer_parent_failed"),
        Refusal::TooDemanding => said("no_answer_too_demanding"),
        Refusal::NotPermitted => said("no_answer_not_permitted"),
    }
}
