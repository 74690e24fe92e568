//! Co-allocation (Netto 2009): parts of a rigid job at several providers, which start together and may
//! move while they wait (chapter 4). The parts may also be those of an iterative application, whose time
//! depends on their places (chapter 5).
//!
//! ```text
//!   metascheduler                        provider
//!       │ ── GetSlots ───────────────────▶ │
//!       │ ◀────────── Slots (or NoAnswer) ─│
//!       │    or: Profile ────────────────▶ │  once for each application and type of machine
//!       │ ◀──────────────────── Throughput │
//!       │ ── EarliestMachines ───────────▶ │
//!       │ ◀────────────────────── Machines │
//!       │ ── Reserve, Reconfigure, Leave ─▶ │  of an agreement: all hold their parts, or none
//!       │ ◀──────────── Ready or NotReady ─│
//!       │ ── Commit, if all are ready ───▶ │  Abort otherwise
//!       │ ◀──────────────────── Committed ─│
//!       │                                  │
//!       │ ◀─────────── RescheduleRequest ─ │  it is idle, and one of its parts waits
//!       │ ── Rescheduled ────────────────▶ │
//!       │ ◀──────────── Started, Finished ─│  of each part
//! ```
//!
//! The messages between the two lines are those of [`haggle_agreements`], about [`Parts`]. A provider
//! that is ready stays so until the start of its part. The metascheduler knows the longest time of a
//! message, so a commit is never late. If messages are repeated, a commit may be late. Then the agreement
//! is undone, and the job is tried again. The same happens if a provider breaks its part, because its
//! processors have failed or its place was taken: all other parts are given up.

use std::sync::Arc;

use haggle_agreements::{
    self as agreements, AgreementId, Instruction, Subject, ToCoordinator, ToParticipant,
};
use haggle_model::job::HiddenRunTime;
use haggle_model::observation::DisclosedItem;
use haggle_model::{Iterative, JobId, JobOutcome, Span, Time};
use haggle_scheduling::Interval;
use haggle_scheduling::coallocation::{FreeTimes, Stretch};
use serde::{Deserialize, Serialize};

use super::said::{Tells, protocol, said, said_by};

/// Subject of agreements on parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parts;

impl Subject for Parts {
    type Request = Want;
    type Terms = ();
    /// Time from which there would be room for a part, if that is disclosed.
    type Counter = Option<Time>;
    type Order = ();
}

/// Request to a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Want {
    /// Hold a part of a job of which it has none.
    Reserve(Place, Program),
    /// Hold another place for the part that it has, and then move the part there.
    Reconfigure(Place),
    /// Give up the part that it has.
    Leave,
}

/// Interval and processors of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Its start.
    pub start: Time,
    /// Planned time, after which it is stopped.
    pub span: Span,
    /// Processors, all of the time.
    pub processors: u32,
    /// True if it is the whole job, which may move up by itself.
    pub alone: bool,
    /// True run time of the job there, for the machine; without the overhead of several providers.
    pub run_time: HiddenRunTime,
}

impl From<Place> for Interval {
    fn from(place: Place) -> Interval {
        let Place { start, span, processors, .. } = place;
        Interval { start, span, processors }
    }
}

/// Data that a provider needs to run a part at any place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Program {
    /// Percentage by which it takes longer on several providers.
    pub overhead: u32,
    /// The user's key for the order of a queue.
    pub key: i64,
    /// True if its metascheduler wants a request to move it when there is room.
    pub moves: bool,
    /// True if a provider without room reports from when on it has room.
    pub negotiates: bool,
    /// True if a provider may break an agreement on it, so that its record names the agreement.
    pub may_break: bool,
}

protocol! {
    /// Messages about parts of a job.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum CoallocationMessage {
        /// Metascheduler to provider: which of your free times have changed since you last reported
        /// them? While this job's part is booked, which are free without it?
        GetSlots {
            /// The job.
            job: JobId,
        } => said("get_slots").of(job),
        /// Provider to metascheduler: its free times, as far as it publishes them and has not
        /// reported them before. Discloses each step.
        Slots {
            /// The job.
            job: JobId,
            /// Times and numbers of free processors that have changed since the last report.
            changed: Box<Stretch>,
            /// The same while a part of the job is booked here; that part counts as free.
            own: Box<Stretch>,
        } => said("slots")
            .of(job)
            .tells(Tells::Many(DisclosedItem::FreeSlots, changed.len() + own.len())),
        /// Metascheduler to provider: run a process of each size until its throughput is steady.
        /// Discloses the application to the provider.
        Profile {
            /// The application.
            job: JobId,
            /// Its description.
            application: Arc<Iterative>,
            /// Tolerance: a throughput is steady if it changes by no more than this part of its
            /// last value.
            tolerance: f64,
        } => said("profile").of(job).tells(DisclosedItem::Job),
        /// Provider to metascheduler: the measured throughputs. Discloses the speed of its
        /// machines.
        Throughput {
            /// The application.
            job: JobId,
            /// Iterations a second of each size; none, if it does not run here.
            rates: Vec<f64>,
        } => said("throughput")
            .of(job)
            .tells(Tells::Many(DisclosedItem::Power, usize::from(!rates.is_empty()))),
        /// Metascheduler to provider: which of your processors are available first, if this job's part is
        /// not counted?
        EarliestMachines {
            /// The job.
            job: JobId,
            /// Number that it needs in all.
            machines: u32,
            /// Earliest time.
            from: Time,
        } => said("earliest_machines").of(job),
        /// Provider to metascheduler: the times from which processors are available, if nothing is
        /// planned after that. Discloses each step.
        Machines {
            /// The job.
            job: JobId,
            /// Increasing numbers of processors.
            available: Box<FreeTimes>,
        } => said("machines").of(job).tells(Tells::Many(DisclosedItem::Estimate, available.len())),
        /// Metascheduler to provider: prepare, commit, abort or undo. Discloses the job to a
        /// provider that must hold a part of it.
        Instruct {
            /// The job.
            job: JobId,
            /// The instruction.
            message: Box<ToParticipant<Parts>>,
        } => instruct(&message.instruction).of(job),
        /// Provider to metascheduler: it is ready, not ready, or done. Without room, it discloses
        /// that its plan has changed.
        Answer {
            /// The job.
            job: JobId,
            /// The answer.
            message: Box<ToCoordinator<Parts>>,
        } => answer(&message.answer).of(job),
        /// Provider to metascheduler: move this job, of which a part waits here, if that helps.
        /// Discloses that processors have become free.
        RescheduleRequest {
            /// The job.
            job: JobId,
        } => said("reschedule_request").of(job).tells(DisclosedItem::Change),
        /// Metascheduler to provider: the answer to [`CoallocationMessage::RescheduleRequest`].
        Rescheduled {
            /// The job.
            job: JobId,
            /// True if it has moved.
            moved: bool,
        } => rescheduled(*moved).of(job),
        /// Provider to metascheduler: its part has started.
        Started {
            /// The job.
            job: JobId,
            /// The agreement by which it is there.
            id: AgreementId,
        } => said("part_started").of(job).tells(DisclosedItem::JobStatus),
        /// Provider to metascheduler: the part cannot run as agreed. Processors have failed under it, or its
        /// place was taken by a failure or by work that runs longer than planned.
        Broken {
            /// The job.
            job: JobId,
            /// The agreement by which it was there.
            id: AgreementId,
        } => said("part_broken").of(job).tells(DisclosedItem::JobStatus),
        /// Metascheduler to provider: this job has found no room, so report when more processors are free
        /// without end.
        AwaitRoom {
            /// The job.
            job: JobId,
        } => said("await_room").of(job),
        /// Provider to metascheduler: its free times have changed since it reported them, or more processors
        /// are free without end. Discloses that.
        RoomGrew {
            /// The job that awaits room.
            job: JobId,
        } => said("room_grew").of(job).tells(DisclosedItem::Change),
        /// Metascheduler to provider: another provider has broken its part, so give up this one, even if it
        /// runs.
        GiveUp {
            /// The job.
            job: JobId,
            /// The agreement by which it is there.
            id: AgreementId,
        } => said("give_up").of(job),
        /// Provider to metascheduler: its part is over.
        Finished {
            /// The job.
            job: JobId,
            /// The agreement by which it was there.
            id: AgreementId,
            /// Its outcome.
            outcome: JobOutcome,
        } => said("part_finished").of(job).tells(DisclosedItem::JobStatus),
    }
}

said_by! {
    /// An instruction. A provider that must hold a part learns of the job.
    fn instruct(instruction: &Instruction<Parts>) -> Said<'static> {
        Instruction::Prepare { request: Want::Reserve(..), .. } => said("reserve")
            .tells(DisclosedItem::Job),
        Instruction::Prepare { request: Want::Reconfigure(_), .. } => said("reconfigure"),
        Instruction::Prepare { request: Want::Leave, .. } => said("leave"),
        Instruction::Commit(()) => said("commit_part"),
        Instruction::Abort => said("abort_part"),
        Instruction::Undo => said("undo_part"),
    }
}

said_by! {
    /// An answer. A lack of room discloses a change of the plan.
    fn answer(answer: &agreements::Answer<Parts>) -> Said<'static> {
        agreements::Answer::Ready { .. } => said("part_ready"),
        agreements::Answer::NotReady(None) => said("part_not_ready").tells(DisclosedItem::Change),
        // The counter contains the time from which there would be room.
        agreements::Answer::NotReady(Some(_)) => said("part_not_before")
            .tells(DisclosedItem::Estimate),
        agreements::Answer::Committed(_) => said("part_committed"),
        agreements::Answer::Expired => said("part_expired"),
        agreements::Answer::Undone => said("part_undone"),
        agreements::Answer::Inquire => said("part_inquire"),
    }
}

said_by! {
    /// The answer to a request to move a job.
    fn rescheduled(moved: bool) -> Said<'static> {
        true => said("moved"),
        false => said("unchanged"),
    }
}
