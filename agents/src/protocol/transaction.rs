//! Transactions: all providers carry out their parts of a rigid job, or none does, by a protocol
//! that the scenario chooses (Netto 2009, section 2.1).
//!
//! ```text
//!   metascheduler                         provider
//!       │ ◀── what the protocol says ─────▶ │  about the part of one job; acceptors join in under "paxos"
//!       │ ◀───────────────────── TooWide ───│  the provider has fewer processors than the part needs
//!       │ ── Begin ───────────────────────▶ │  where parts are held until they are given back ("ordered")
//!       │ ◀───────────────────────── Begun ─│
//!       │ ◀────────────────────────── Over ─│  again until it is heard, if messages may be lost
//!       │ ── Heard ───────────────────────▶ │
//! ```
//!
//! What is said between the two lines is what [`haggle_agreements`] says, about [`Room`].

use haggle_agreements::booking::Booking;
use haggle_agreements::claiming::{Claim, Claiming};
use haggle_agreements::locking::Locking;
use haggle_agreements::negotiation::{Negotiation, Windowed};
use haggle_agreements::one_phase::OnePhase;
use haggle_agreements::ordered::Ordered;
use haggle_agreements::paxos::{Ballot, Choice, Paxos};
use haggle_agreements::polling::{Operation, Polled, Polling, Status};
use haggle_agreements::probing::{Probed, Probing};
use haggle_agreements::protocol::{Message as _, Protocol};
use haggle_agreements::two_phase::{TwoPhase, Wire};
use haggle_agreements::watch::Watching;
use haggle_agreements::{AgreementId, Answer, Instruction, Subject};
use haggle_model::job::HiddenRunTime;
use haggle_model::observation::DisclosedItem;
use haggle_model::{JobId, JobOutcome, Span, Time};
use serde::{Deserialize, Serialize};

use super::said::{Tells, protocol, said};

/// What transactions are about: processors for the part of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Room;

impl Subject for Room {
    type Request = Ask;
    /// From when on they are held.
    type Terms = Time;
    /// The first start that would be possible; [`Time::FOREVER`] = it is not said, or there is none.
    type Counter = Time;
    type Order = Time;
    type Receipt = ();
}

/// What is asked of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ask {
    /// The job.
    pub job: JobId,
    /// Processors, all of the time.
    pub processors: u32,
    /// For how long from the start on; then the part is stopped.
    pub span: Span,
    /// The first start; where that has passed, now.
    pub from: Time,
    /// The last start; `None` = as early as asked for, and no other is proposed.
    pub until: Option<Time>,
    /// The program itself, for the machine.
    pub run_time: HiddenRunTime,
    /// By how many percent it takes longer on several providers.
    pub overhead: u32,
    /// Whether claims that are not may be taken back for this one.
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

/// A protocol about [`Room`] whose messages travel as [`Spoken`].
pub trait Speaks: Protocol<Subject = Room> {
    /// A message as it travels.
    fn wrap(message: Self::Message) -> Spoken;
    /// A message that has travelled, if it is one of this protocol.
    fn unwrap(spoken: Spoken) -> Option<Self::Message>;
}

macro_rules! spoken {
    ($($(#[$doc:meta])* $Name:ident($protocol:ty),)*) => {
        /// What is said in any of the protocols.
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Spoken {
            $($(#[$doc])* $Name(<$protocol as Protocol>::Message),)*
        }

        impl Spoken {
            /// The agreement.
            pub fn id(&self) -> AgreementId {
                match self {
                    $(Spoken::$Name(message) => message.id(),)*
                }
            }

            /// The word by which it is counted.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Spoken::$Name(message) => message.kind(),)*
                }
            }
        }

        $(impl Speaks for $protocol {
            fn wrap(message: Self::Message) -> Spoken {
                Spoken::$Name(message)
            }

            fn unwrap(spoken: Spoken) -> Option<Self::Message> {
                match spoken {
                    Spoken::$Name(message) => Some(message),
                    _ => None,
                }
            }
        })*
    };
}

spoken! {
    /// Two-phase commit.
    TwoPhase(TwoPhase<Room>),
    /// All are booked, or what is booked is deleted.
    OnePhase(OnePhase<Room>),
    /// Two-phase commit whose answers are fetched.
    Polling(Polling<Room>),
    /// Paxos commit.
    Paxos(Paxos<Room>),
    /// Rounds of other starts.
    Negotiation(Negotiation<Room>),
    /// Processors are claimed one by one.
    Claiming(Claiming<Room>),
    /// Locks are asked for in an order.
    Ordered(Ordered<Room>),
    /// Who is interested is told of changes.
    Probing(Probing<Room>),
    /// Claims wait until all have room.
    Watching(Watching<Room>),
}

protocol! {
    /// What is said about the parts of a job that is agreed on.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum TransactionMessage {
        /// Between any two: what the protocol says. Discloses the job to who is asked for a part, and
        /// that there is no room, or when there is some, where a provider says that.
        Said {
            /// The job.
            job: JobId,
            /// What is said.
            message: Box<Spoken>,
        } => said(word(message)).of(job).tells(tells(message)),
        /// Provider to metascheduler: it has fewer processors than its part needs, so that asking again
        /// is no use. Discloses that.
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
            /// How it ended.
            outcome: JobOutcome,
        } => said("part_over").of(job).tells(DisclosedItem::JobStatus),
        /// Metascheduler to provider: it has heard that a part is over.
        Heard {
            /// The job.
            job: JobId,
            /// The agreement.
            id: AgreementId,
        } => said("part_heard").of(job),
    }
}

/// The word of a message in tables, which no message of another protocol of actors has.
fn word(message: &Spoken) -> &'static str {
    macro_rules! words {
        ($($word:literal)*) => {
            match message.kind() {
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

/// What a message of a protocol discloses about its sender.
fn tells(message: &Spoken) -> Tells<'static> {
    let item = match message {
        Spoken::TwoPhase(Wire::Down(message)) => asks(&message.instruction),
        Spoken::TwoPhase(Wire::Up(message)) => answers(&message.answer),
        Spoken::Polling(message) => match &message.body {
            Polled::Start(instruction) => asks(instruction),
            Polled::Status(Operation::Reserve, Status::Refused(counter)) => refuses(*counter),
            _ => None,
        },
        Spoken::OnePhase(message) => books(&message.body),
        Spoken::Negotiation(message) => books(&message.body),
        Spoken::Watching(message) => books(&message.body),
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
        Spoken::Ordered(message) => match &message.body {
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

/// A provider that proposes another start says when there is room; otherwise, that there is none.
fn refuses(counter: Time) -> Option<DisclosedItem> {
    Some(if counter < Time::FOREVER { DisclosedItem::Estimate } else { DisclosedItem::Change })
}
