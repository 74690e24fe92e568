//! Submission: a job goes to the actor that queues, places or runs it, and its submitter is notified of
//! its progress.
//!
//! ```text
//!   submitter                       taker
//!       │ ── Submit ──────────────────▶ │
//!       │ ◀───── Accepted or Refused ── │
//!       │    or: SubmitAhead ─────────▶ │  before the data of the job are sent
//!       │ ◀───── Accepted or Refused ── │
//!       │ ── DataArrived ─────────────▶ │  from now on it is queued
//!       │ ── Withdraw ────────────────▶ │  at most once, while it waits
//!       │ ◀── Promise ───────────────── │  of a bag, once all of it is placed
//!       │ ◀── Started ───────────────── │
//!       │ ◀── Finished, NotWithdrawn ── │
//! ```
//!
//! The submitter keeps the job until its end; the taker receives a description of it.

use std::sync::Arc;

use haggle_model::observation::DisclosedItem;
use haggle_model::reservation::Reservation;
use haggle_model::{
    ActorId, Job, JobClass, JobId, JobOutcome, JobRecord, JobShape, Observation, Refusal, Time,
};
use serde::{Deserialize, Serialize};

use super::Phase;
use super::said::{Tells, protocol, said, said_by};

protocol! {
    /// Messages about a job as a whole.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum SubmissionMessage {
        /// User to provider (local) or metascheduler (external), metascheduler to
        /// provider: run this job. Discloses the job, but not its run time.
        Submit(submission: Submission) => said("submit")
            .of(&submission.job.id)
            .during(Phase::Submission)
            .tells(Tells::UnlessUser(DisclosedItem::Job)),
        /// Metascheduler to provider: run this job as soon as its data have arrived. Discloses the
        /// job, but not its run time.
        SubmitAhead(submission: Submission) => said("submit_ahead")
            .of(&submission.job.id)
            .during(Phase::Submission)
            .tells(DisclosedItem::Job),
        /// Metascheduler to provider: the data of a job that was submitted ahead of them have
        /// arrived. Discloses nothing else.
        DataArrived {
            /// The job.
            job: JobId,
        } => said("data_arrived").of(job).during(Phase::Submission),
        /// Provider, metascheduler or dispatcher to submitter: the job is queued, or will be when
        /// its data have arrived, or has its place where jobs do not wait. Discloses nothing else.
        Accepted {
            /// The job.
            job: JobId,
        } => said("accepted").of(job),
        /// Provider, metascheduler or dispatcher to submitter: the job is refused. Discloses the
        /// reason.
        Refused {
            /// The job.
            job: JobId,
            /// The reason.
            reason: Refusal,
        } => refused(*reason).of(job).tells(DisclosedItem::Refusal),
        /// User or metascheduler to the actor to which it submitted: take the job out of the queue.
        Withdraw {
            /// The job.
            job: JobId,
        } => said("withdraw").of(job),
        /// Answer to [`SubmissionMessage::Withdraw`]: too late, the job has started or is over.
        NotWithdrawn {
            /// The job.
            job: JobId,
        } => said("not_withdrawn").of(job),
        /// Metascheduler to user, when all providers have committed: the completion of the whole
        /// bag.
        Promise {
            /// The bag.
            job: JobId,
            /// Its deadline, or the earliest possible completion.
            completion: Time,
        } => said("promise").of(job),
        /// Provider to submitter, metascheduler to user: the job has started.
        Started {
            /// The job.
            job: JobId,
        } => said("started").of(job).tells(Tells::UnlessUser(DisclosedItem::JobStatus)),
        /// Provider to submitter, metascheduler to user: the job is over.
        Finished {
            /// The job.
            job: JobId,
            /// Its outcome.
            outcome: JobOutcome,
        } => said("finished").of(job).tells(Tells::UnlessUser(DisclosedItem::JobStatus)),
    }
}

said_by! {
    /// The facts about a refusal with this reason.
    fn refused(reason: Refusal) -> Said<'static> {
        Refusal::TooWide => said("refused_too_wide"),
        Refusal::TooNarrow => said("refused_too_narrow"),
        Refusal::NotDisclosed => said("refused_not_disclosed"),
        Refusal::NoProvider => said("refused_no_provider"),
        Refusal::WrongShape => said("refused_wrong_shape"),
        Refusal::NoLimit => said("refused_no_limit"),
        Refusal::NoRoom => said("refused_no_room"),
        Refusal::NoWindow => said("refused_no_window"),
        Refusal::NoAgreement => said("refused_no_agreement"),
        Refusal::ParentFailed => said("refused_parent_failed"),
        Refusal::TooDemanding => said("refused_too_demanding"),
        Refusal::NotPermitted => said("refused_not_permitted"),
    }
}

/// A job as its submitter describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Submission {
    /// The job. Its submitter keeps it, too.
    pub job: Arc<Job>,
    /// Local or external: the actor that places it.
    pub class: JobClass,
    /// The user that submitted it first.
    pub user: ActorId,
}

impl Submission {
    /// The submission as its provider may see it: how far a reservation may be from its window
    /// stays with the user.
    pub fn as_told(&self) -> Submission {
        let job = match self.job.reservation {
            Some(reservation) if reservation.accepts.is_some() => {
                let told = Reservation { accepts: None, ..reservation };
                Arc::new(Job { reservation: Some(told), ..Job::clone(&self.job) })
            }
            _ => Arc::clone(&self.job),
        };
        Submission { job, ..*self }
    }

    /// The reason for which a metascheduler that places jobs of `shape` at several providers
    /// refuses it.
    pub fn unfit_for(&self, shape: JobShape) -> Option<Refusal> {
        if self.job.shape != shape || self.job.processors == 0 || self.job.iterative.is_some() {
            return Some(Refusal::WrongShape);
        }
        // The end of a job without a limit is unknown, so nothing could be planned after it.
        self.job.requested_time.is_none().then_some(Refusal::NoLimit)
    }

    /// The reason for which a metascheduler that maps iterative applications refuses it.
    pub fn unfit_for_mapping(&self) -> Option<Refusal> {
        let fit = self.job.iterative.is_some() && self.job.processors > 0;
        (!fit).then_some(Refusal::WrongShape)
    }

    /// The record of a job that is over before any provider has queued it.
    pub fn never_queued(self, outcome: JobOutcome, now: Time) -> Observation {
        Observation::JobOver(Box::new(self.record(outcome, now)))
    }

    /// The record of a job with this outcome, as far as its submitter knows it.
    pub fn record(self, outcome: JobOutcome, now: Time) -> JobRecord {
        let Submission { job, class, .. } = self;
        JobRecord::never_queued(job, class, outcome, now)
    }
}
