//! Transactions: all providers carry out their parts of a rigid job, or none does, by a protocol
//! that the scenario chooses (Netto 2009, section 2.1).
//!
//! ```text
//!   metascheduler                         provider
//!       │ ◀── messages of the protocol ───▶ │  about the part of one job; acceptors join in under "paxos"
//!       │ ◀───────────────────── TooWide ───│  the provider has fewer processors than the part needs
//!       │ ── Begin ───────────────────────▶ │  where parts are held until they are given back ("ordered")
//!       │ ◀───────────────────────── Begun ─│
//!       │ ◀────────────────────────── Over ─│  again until it is received, if messages may be lost
//!       │ ── Heard ───────────────────────▶ │
//! ```
//!
//! The messages between the two lines are those of [`haggle_agreements`], about [`Room`].

use haggle_agreements::booking::Booking;
use haggle_agreements::claiming::Claim;
use haggle_agreements::locking::Locking;
use haggle_agreements::negotiation::Windowed;
use haggle_agreements::paxos::{Ballot, Choice};
use haggle_agreements::polling::{Operation, Polled, Status};
use haggle_agreements::probing::Probed;
use haggle_agreements::protocol::{Message as _, Said};
use haggle_agreements::two_phase::Wire;
use haggle_agreements::{AgreementId, Answer, Instruction, Subject};
use haggle_model::job::HiddenRunTime;
use haggle_model::observation::DisclosedItem;
use haggle_model::{JobId, JobOutcome, Span, Time};
use serde::{Deserialize, Serialize};

use super::said::{Said as Facts, Tells, protocol, said};

/// Subject of transactions: processors for the part of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Room;

impl Subject for Room {
    type Request = Ask;
    /// Time from which they are held.
    type Terms = Time;
    /// The first possible start; [`Time::FOREVER`] = it is not disclosed, or there is none.
    type Counter = Time;
    type Order = ();
}

/// Request for a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ask {
    /// The job.
    pub job: JobId,
    /// Processors, all of the time.
    pub processors: u32,
    /// Time for which it may run; then the part is stopped.
    pub span: Span,
    /// The first start; if that has passed, now.
    pub from: Time,
    /// The last start; `None` = only the first one, and no other is proposed.
    pub until: Option<Time>,
    /// The program itself, for the machine.
    pub run_time: HiddenRunTime,
    /// Percentage by which it takes longer on several providers.
    pub overhead: u32,
    /// True if claims that are not urgent may be taken back for this one.
    pub urgent: bool,
}

impl Windowed for Room {
    fn window(ask: &Ask) -> (Time, Time) {
        (ask.from, ask.until.unwrap_or(ask.from))
    }

    fn within(ask: &Ask, from: Time, until: Time) -> Ask {
        Ask { from, until: Some(until), ..*ask }
    }

    fn start(terms: &Time) -> Time {
        *terms
    }

    fn earliest(counter: &Time) -> Time {
        *counter
    }
}

macro_rules! spoken {
    ($($(#[$doc:meta])* $Name:ident($message:ty),)*) => {
        /// A message of any of the protocols.
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Spoken {
            $($(#[$doc])* $Name($message),)*
        }

        impl Spoken {
            /// The agreement that it is about.
            pub fn id(&self) -> AgreementId {
                match self {
                    $(Spoken::$Name(message) => message.id(),)*
                }
            }

            /// The name under which it is counted.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Spoken::$Name(message) => message.kind(),)*
                }
            }

            /// All of these names.
            fn kinds() -> Vec<&'static str> {
                [$(<$message as haggle_agreements::protocol::Message>::KINDS,)*].concat()
            }
        }

        $(impl From<$message> for Spoken {
            fn from(message: $message) -> Spoken {
                Spoken::$Name(message)
            }
        }

        impl TryFrom<Spoken> for $message {
            /// A message of another protocol.
            type Error = Spoken;

            fn try_from(spoken: Spoken) -> Result<$message, Spoken> {
                match spoken {
                    Spoken::$Name(message) => Ok(message),
                    other => Err(other),
                }
            }
        })*
    };
}

spoken! {
    /// Two-phase commit.
    TwoPhase(Wire<Room>),
    /// Parts are booked, and the booked ones are deleted if not all are: three protocols.
    Booking(Said<Booking<Room>>),
    /// Two-phase commit; the coordinator polls for answers.
    Polling(Said<Polled<Room>>),
    /// Paxos commit.
    Paxos(Said<Ballot<Room>>),
    /// Processors are claimed one by one.
    Claiming(Said<Claim<Room>>),
    /// Locks are requested in an order.
    Locking(Said<Locking<Room>>),
    /// Providers notify interested coordinators of changes.
    Probing(Said<Probed<Room>>),
}

protocol! {
    /// Messages about the parts of a job that is agreed on.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum TransactionMessage {
        /// Between any two: a message of the protocol. Discloses the job to a provider that is
        /// asked for a part. A provider that refuses discloses that it has no room, or when it has
        /// some.
        Said {
            /// The job.
            job: JobId,
            /// The message of the protocol.
            message: Box<Spoken>,
        } => spoken(message).of(job),
        /// Provider to metascheduler: it has fewer processors than its part needs, so that repeated
        /// requests are of no use. Discloses that.
        TooWide {
            /// The job.
            job: JobId,
            /// The agreement.
            id: AgreementId,
        } => said("part_too_wide").of(job).tells(DisclosedItem::Refusal),
        /// Metascheduler to provider: all parts are held, begin yours.
        Begin {
            /// The job.
            job: JobId,
            /// The agreement.
            id: AgreementId,
        } => said("begin_part").of(job),
        /// Provider to metascheduler: its part has begun.
        Begun {
            /// The job.
            job: JobId,
            /// The agreement.
            id: AgreementId,
        } => said("part_begun").of(job).tells(DisclosedItem::JobStatus),
        /// Provider to metascheduler: its part is over.
        Over {
            /// The job.
            job: JobId,
            /// The agreement.
            id: AgreementId,
            /// Its outcome.
            outcome: JobOutcome,
        } => said("part_over").of(job).tells(DisclosedItem::JobStatus),
        /// Metascheduler to provider: it has received the report that a part is over.
        Heard {
            /// The job.
            job: JobId,
            /// The agreement.
            id: AgreementId,
        } => said("part_heard").of(job),
    }
}

/// Facts about a message of a protocol.
#[inline(always)]
fn spoken(message: &Spoken) -> Facts<'static> {
    said(word(message.kind())).tells(tells(message))
}

mod spoken {
    pub(super) fn kinds() -> Vec<&'static str> {
        super::Spoken::kinds().into_iter().map(super::word).collect()
    }
}

/// The name of a message in tables; no message of another protocol of actors has the same.
fn word(kind: &'static str) -> &'static str {
    macro_rules! words {
        ($($word:literal)*) => {
            match kind {
                $($word => concat!("tx_", $word),)*
                "not-ready" => "tx_not_ready",
                "not-enough" => "tx_not_enough",
                "yield-ask" => "tx_yield_ask",
                other => other,
            }
        };
    }
    words!(
        "prepare" "commit" "abort" "undo" "ready" "committed" "expired" "undone" "inquire" "book"
        "booked" "refused" "delete" "deleted" "over" "watch" "avail" "claim" "claimed" "start" "started"
        "preempted" "release" "released" "request" "upgrade" "grant" "confirm" "yield" "begin"
        "vote" "ask" "promised" "outbid" "propose" "accepted" "outcome" "known" "poll" "status"
        "query" "probe" "drop" "reserve" "held" "stale"
    )
}

/// Fact that a message of a protocol discloses about its sender.
fn tells(message: &Spoken) -> Tells<'static> {
    let item = match message {
        Spoken::TwoPhase(Wire::Down(message)) => asks(&message.instruction),
        Spoken::TwoPhase(Wire::Up(message)) => answers(&message.answer),
        Spoken::Polling(message) => match &message.body {
            Polled::Start(instruction) => asks(instruction),
            Polled::Status(Operation::Reserve, Status::Refused(counter)) => refuses(*counter),
            _ => None,
        },
        Spoken::Booking(message) => books(&message.body),
        Spoken::Paxos(message) => match &message.body {
            Ballot::Begin { .. } | Ballot::Prepare { .. } => Some(DisclosedItem::Job),
            Ballot::Vote { choice: Choice::Aborted(Some(counter)), .. } => refuses(*counter),
            _ => None,
        },
        Spoken::Claiming(message) => match &message.body {
            Claim::Claim(_) => Some(DisclosedItem::Job),
            Claim::NotEnough(counter) => refuses(*counter),
            Claim::Preempted => Some(DisclosedItem::Change),
            _ => None,
        },
        Spoken::Locking(message) => match &message.body {
            Locking::Request { .. } | Locking::Upgrade { .. } => Some(DisclosedItem::Job),
            Locking::YieldAsk { .. } => Some(DisclosedItem::Change),
            _ => None,
        },
        Spoken::Probing(message) => match &message.body {
            Probed::Query(_) => Some(DisclosedItem::Job),
            Probed::Status(..) | Probed::Probe(..) => Some(DisclosedItem::Change),
            Probed::Down(instruction) => asks(instruction),
            Probed::Up(answer) => answers(answer),
            Probed::Drop => None,
        },
    };
    item.map_or(Tells::Nothing, Tells::from)
}

fn asks(instruction: &Instruction<Room>) -> Option<DisclosedItem> {
    matches!(instruction, Instruction::Prepare { .. }).then_some(DisclosedItem::Job)
}

fn answers(answer: &Answer<Room>) -> Option<DisclosedItem> {
    match answer {
        Answer::NotReady(counter) => refuses(*counter),
        _ => None,
    }
}

fn books(booking: &Booking<Room>) -> Option<DisclosedItem> {
    match booking {
        Booking::Book { .. } | Booking::Watch { .. } => Some(DisclosedItem::Job),
        Booking::Booked { .. } => Some(DisclosedItem::Estimate),
        Booking::Over { .. } => Some(DisclosedItem::JobStatus),
        Booking::Refused { counter, .. } => refuses(*counter),
        Booking::Avail { .. } => Some(DisclosedItem::Change),
        Booking::Delete { .. } | Booking::Deleted { .. } => None,
    }
}

/// A provider that proposes another start discloses when it has room; otherwise, that it has none.
fn refuses(counter: Time) -> Option<DisclosedItem> {
    Some(if counter < Time::FOREVER { DisclosedItem::Estimate } else { DisclosedItem::Change })
}
