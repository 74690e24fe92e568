//! Reservation: a user requests a window for a job in advance (Netto 2009, chapter 3).
//!
//! ```text
//!   user                            provider
//!       │ ── Reserve ─────────────────▶ │
//!       │ ◀── Granted, Alternatives ─── │  or Refused
//!       │ ── Take ────────────────────▶ │  one of the alternatives, if it is near enough
//!       │ ◀───────── Granted, Expired ─ │  the plan may have changed
//!       │ ◀──────────── Fixed, Broken ─ │  while it waits, or when its processors fail
//!       │ ◀────────── Shrunk, Revoked ─ │
//! ```
//!
//! A grant is a start within the window; it may move there until it is fixed. The queue is not disclosed
//! to the user, and the alternatives that the user would accept are not disclosed to the provider. The
//! request contains the remedy for failed processors
//! ([`Remedy`](haggle_model::reservation::Remedy)). An alternative is not booked; it is granted if the
//! user takes it before the plan changes. The later messages about the job are those about every other
//! job: it is withdrawn, starts and ends.

use haggle_model::observation::DisclosedItem;
use haggle_model::reservation::Cause;
use haggle_model::{JobId, Time};
use haggle_scheduling::reservations::Alternative;
use serde::{Deserialize, Serialize};

use super::said::{Tells, protocol, said};
use super::{Phase, Submission};

protocol! {
    /// Messages about a reservation.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum ReservationMessage {
        /// User to provider: run this job between its ready time and its deadline. Discloses the
        /// job, but not its run time.
        Reserve(submission: Submission) => said("reserve")
            .of(&submission.job.id)
            .during(Phase::Submission)
            .tells(Tells::UnlessUser(DisclosedItem::Job)),
        /// Provider to user: the job will run in its window, or in the interval that was taken.
        /// Discloses the planned start and completion.
        Granted {
            /// The job.
            job: JobId,
            /// Planned start.
            start: Time,
            /// Planned completion.
            completion: Time,
        } => said("granted").of(job).tells(DisclosedItem::Estimate),
        /// Provider to user: not in its window, but beside it. Discloses these intervals.
        Alternatives {
            /// The job.
            job: JobId,
            /// Intervals with room now, the nearest first.
            others: Box<[Alternative]>,
        } => said("alternatives")
            .of(job)
            .tells(Tells::Many(DisclosedItem::Interval, others.len())),
        /// User to provider: run this job from `start` on.
        Take {
            /// The job.
            submission: Submission,
            /// Start of the interval.
            start: Time,
            /// Processors in it.
            processors: u32,
        } => said("take").of(&submission.job.id).tells(Tells::UnlessUser(DisclosedItem::Job)),
        /// Provider to user: there is no room any more in the interval to be taken. Discloses that
        /// something has changed.
        Expired {
            /// The job.
            job: JobId,
        } => said("expired").of(job).tells(DisclosedItem::Change),
        /// Provider to user: the start does not move any more. Discloses the start.
        Fixed {
            /// The job.
            job: JobId,
            /// Its start.
            start: Time,
        } => said("fixed").of(job).tells(DisclosedItem::Estimate),
        /// Provider to user: processors have failed, or others run longer than planned, and there
        /// is no room left in the window. The job still waits. Discloses that something has
        /// changed.
        Broken {
            /// The job.
            job: JobId,
        } => said("broken").of(job).tells(DisclosedItem::Change),
        /// The same, but there is room in the window for the job on fewer processors. Discloses the
        /// planned start and completion.
        Shrunk {
            /// The job.
            job: JobId,
            /// Processors.
            processors: u32,
            /// Planned start.
            start: Time,
            /// Planned completion.
            completion: Time,
        } => said("shrunk").of(job).tells(DisclosedItem::Estimate),
        /// The same, but the job is given back: it neither waits nor runs any more. Discloses that
        /// something has changed.
        Revoked {
            /// The job.
            job: JobId,
            /// The cause.
            cause: Cause,
        } => said("revoked").of(job).tells(DisclosedItem::Change),
    }
}
