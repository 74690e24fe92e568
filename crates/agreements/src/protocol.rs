//! The common interface of all protocols, so that an actor can drive any of them.
//!
//! A [`Protocol`] names its rules, its messages and its machines: a coordinator, a participant and, if a
//! decision is replicated, a witness. Each machine takes messages, timers, the time and calls of its owner,
//! and puts out [`Output`]s. The owner of a coordinator receives a [`Verdict`], the owner of a participant
//! a [`Duty`].
//!
//! ```text
//!   owner of the coordinator                            owner of a participant
//!      │ open, close     ▲ Verdict                         ▲ Duty     │ ready, not_ready,
//!      ▼                 │                                 │          ▼ room_changed
//!   ┌─────────────────────────┐        messages        ┌─────────────────────────┐
//!   │       Coordinates       │◀──────────────────────▶│      Participates       │
//!   └─────────────────────────┘    ┌─────────┐         └─────────────────────────┘
//!                 ▲───────────────▶│ Witness │◀───────────────▲   (Paxos commit only)
//!                                  └─────────┘
//! ```
//!
//! A lost machine is started again from its records, in their order.

use std::fmt::Debug;
use std::hash::Hash;

use haggle_model::{ActorId, Span, Time};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use std::collections::BTreeMap;

use crate::{AgreementId, Output, Payload, Record, Subject};

/// A protocol by which one coordinator gets parts from several participants.
pub trait Protocol: Sized {
    /// Its guarantees.
    const TRAITS: Traits;
    /// Subject of the agreements.
    type Subject: Subject;
    /// Common data of all machines of a run: times, witnesses.
    type Rules: Times;
    /// Messages, in both directions.
    type Message: Message;
    /// The machine that requests parts.
    type Coordinator: Machine<Self, News = Verdict<Self::Subject>>
        + Coordinates<Self::Subject, Outputs<Self, Self::Coordinator>>;
    /// The machine that holds parts.
    type Participant: Machine<Self, News = Duty<Self::Subject>>
        + Participates<Self::Subject, Outputs<Self, Self::Participant>>;
    /// The machine that remembers decisions for others, [`Nobody`] in most protocols.
    type Witness: Machine<Self>;
}

/// Guarantees of a protocol, for tables of protocols and for tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// Its word.
    pub name: &'static str,
    /// Final state of a group.
    pub outcome: Outcome,
    /// True if requests wait at a participant until there is room. Then waiting groups can form cycles.
    pub waits: bool,
    /// True if parts are held until the coordinator gives them back with [`Coordinates::close`]; otherwise
    /// their participants carry them out and end them.
    pub closes: bool,
    /// True if parts are requested for now, and not for a start that all know.
    pub immediate: bool,
    /// True if a try goes on although a participant has no room now, but may have some later.
    pub awaits_room: bool,
}

impl Traits {
    /// A protocol in which parts are requested for a start that all know, and participants end them.
    pub const fn ahead(name: &'static str, outcome: Outcome) -> Traits {
        let (waits, closes, immediate, awaits_room) = (false, false, false, false);
        Traits { name, outcome, waits, closes, immediate, awaits_room }
    }

    /// A protocol in which parts are requested for now, until there is room.
    pub const fn now(name: &'static str, outcome: Outcome) -> Traits {
        Traits { immediate: true, awaits_room: true, ..Traits::ahead(name, outcome) }
    }
}

/// Times that follow from the rules of a protocol.
pub trait Times: Clone + Debug + Send + Serialize + DeserializeOwned {
    /// Time between repetitions of messages without answer; `None` = no message is ever lost.
    fn retry(&self) -> Option<Span>;

    /// True if a participant may have to hold a part until a coordinator is back, however long that takes.
    fn may_block(&self) -> bool {
        false
    }

    /// Time until all know that they may begin, if messages take at most `latency_max` and every participant
    /// of `parts` has room: no earlier start is requested. One poll and one round of negotiation are assumed.
    fn lead(&self, latency_max: Span, parts: usize) -> Span;
}

/// The time that messages take if they are sent one after the other.
pub(crate) fn messages(latency_max: Span, count: i64) -> Span {
    Span::from_micros(latency_max.as_micros().saturating_mul(count))
}

/// Final state of a group of parts, losses and crashes included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All are carried out or none: no part begins before all are held.
    Atomic,
    /// Some may begin for a while and are taken back: in the end all or none.
    Compensated,
    /// As compensated, but bookings of a crashed coordinator stay.
    Orphans,
}

/// A message about an agreement.
pub trait Message: Payload {
    /// All words under which such messages are counted.
    const KINDS: &'static [&'static str];
    /// The agreement.
    fn id(&self) -> AgreementId;
    /// The word under which it is counted.
    fn kind(&self) -> &'static str;
    /// Returns whether its sender promises to hold or carry out a part, which it must then not forget.
    fn promises(&self) -> bool;
}

/// Rules and messages of a machine: those of a [`Protocol`], or of one side that has an owner of its own.
pub trait Setting {
    /// Data that the machine needs to start.
    type Rules: Clone + Send + Serialize + DeserializeOwned;
    /// Messages that it receives.
    type Received;
    /// Messages that it sends.
    type Sent;
}

impl<P: Protocol> Setting for P {
    type Rules = P::Rules;
    type Received = P::Message;
    type Sent = P::Message;
}

/// Outputs of a machine, in order.
pub type Outputs<K, M> = Vec<
    Output<
        <K as Setting>::Sent,
        <M as Machine<K>>::Record,
        <M as Machine<K>>::Timer,
        <M as Machine<K>>::News,
    >,
>;

/// One role in a protocol. A machine is plain data, so a snapshot of a run contains it.
pub trait Machine<K: Setting>: Clone + Send + Serialize + DeserializeOwned {
    /// Durable state of the machine.
    type Record: Record;
    /// Its timers.
    type Timer: Copy + Debug + Ord + Hash + Send + Serialize + DeserializeOwned;
    /// News for its owner.
    type News: Clone + Debug + PartialEq;

    /// A machine with these records; there are none at its first start.
    fn start(
        me: ActorId,
        rules: &K::Rules,
        records: Vec<Self::Record>,
        now: Time,
        out: &mut Outputs<K, Self>,
    ) -> Self;

    /// A message has arrived.
    fn on_message(
        &mut self,
        now: Time,
        from: ActorId,
        message: K::Received,
        out: &mut Outputs<K, Self>,
    );

    /// A timer has expired.
    fn on_timer(&mut self, now: Time, timer: Self::Timer, out: &mut Outputs<K, Self>);
}

/// The coordinator's side. `O` are the [outputs](Outputs) of a machine, or the
/// [acts](crate::seat::Acts) of its seat.
pub trait Coordinates<S: Subject, O> {
    /// Requests these parts, all or none. Protocols that request one part after the other use this order
    /// unless they have one of their own. Returns the agreement's number; `None` after a crash.
    fn open(&mut self, now: Time, parts: Parts<S>, out: &mut O) -> Option<u64>;

    /// Gives up an undecided agreement. In a protocol whose parts are held until they are given back, gives
    /// them back: the work has ended.
    fn close(&mut self, now: Time, number: u64, out: &mut O);

    /// The agreements that are not over.
    fn open_numbers(&self) -> Vec<u64>;

    /// True if an agreement is not over.
    fn is_open(&self, number: u64) -> bool {
        self.open_numbers().contains(&number)
    }
}

/// Participants and the requests to them.
pub type Parts<S> = Vec<(ActorId, <S as Subject>::Request)>;

/// The participant's side. `O` are the [outputs](Outputs) of a machine, or the
/// [acts](crate::seat::Acts) of its seat.
pub trait Participates<S: Subject, O> {
    /// The requested part is held from now on, for the time `lease` if the protocol has leases.
    fn ready(&mut self, now: Time, id: AgreementId, terms: S::Terms, lease: Span, out: &mut O);

    /// The requested part cannot be held now; `counter` is a possible alternative.
    fn not_ready(&mut self, now: Time, id: AgreementId, counter: S::Counter, out: &mut O);

    /// The requested part can never be held: no coordinator must wait for it.
    fn never_ready(&mut self, now: Time, id: AgreementId, counter: S::Counter, out: &mut O) {
        self.not_ready(now, id, counter, out);
    }

    /// A part that was carried out has ended. A protocol that may request it again remembers that. After a
    /// restart the owner must call this for each ended part that [`Participates::bound`] lists as started.
    fn over(&mut self, _now: Time, _id: AgreementId, _out: &mut O) {}

    /// Room may have become free: waiting requests are considered again.
    fn room_changed(&mut self, _now: Time, _out: &mut O) {}

    /// Takes a held part that is not carried out yet for a more urgent request, if the protocol permits
    /// that. Returns whether its room is free now.
    fn preempt(&mut self, _now: Time, _id: AgreementId, _out: &mut O) -> bool {
        false
    }

    /// Notifies the watchers of a request whether there is room for it.
    fn available(&mut self, _now: Time, _id: AgreementId, _fits: bool, _out: &mut O) {}

    /// Parts that it holds or carries out by its records; an owner takes them over after a restart.
    fn bound(&self) -> Vec<Bound<S>>;

    /// Pairs of agreements of which the first waits here for the second to give its part back.
    fn waits(&self) -> Vec<(AgreementId, AgreementId)> {
        Vec::new()
    }
}

/// A part to which a participant is bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound<S: Subject> {
    /// The agreement.
    pub id: AgreementId,
    /// The request; `None` = it was carried out without a request.
    pub request: Option<S::Request>,
    /// True if it is carried out; otherwise it is held.
    pub started: bool,
}

/// News for the owner of a coordinator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<S: Subject> {
    /// All participants will carry out their parts: decided and on record.
    Decided {
        /// The agreement.
        number: u64,
    },
    /// All carry out their parts, or hold them until they are given back.
    Agreed {
        /// The agreement.
        number: u64,
        /// Terms on which they hold the parts, as far as they have reported them.
        terms: BTreeMap<ActorId, S::Terms>,
    },
    /// No part will be carried out.
    Failed {
        /// The agreement.
        number: u64,
        /// Proposals of participants that could not hold their parts.
        counters: BTreeMap<ActorId, S::Counter>,
    },
    /// It was decided, but some parts could no longer be carried out; the others have been given up.
    Broken {
        /// The agreement.
        number: u64,
    },
}

impl<S: Subject> Verdict<S> {
    /// The agreement.
    pub fn number(&self) -> u64 {
        match self {
            Verdict::Decided { number }
            | Verdict::Agreed { number, .. }
            | Verdict::Failed { number, .. }
            | Verdict::Broken { number } => *number,
        }
    }
}

/// A duty of the owner of a participant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Duty<S: Subject> {
    /// To decide whether it can hold this: [`Participates::ready`] or [`Participates::not_ready`].
    Consider {
        /// The agreement.
        id: AgreementId,
        /// The part to be held.
        request: S::Request,
        /// Requested time of the hold.
        lease: Span,
    },
    /// To carry out the held part.
    CarryOut {
        /// The agreement.
        id: AgreementId,
    },
    /// To give up a part that is considered, held or carried out, if that is still so: the duty is repeated
    /// after a crash.
    GiveUp {
        /// The agreement.
        id: AgreementId,
    },
    /// To report, now and after each change, whether there is room for this.
    Watch {
        /// The agreement.
        id: AgreementId,
        /// The part for which room is needed.
        request: S::Request,
    },
    /// To stop these reports.
    Unwatch {
        /// The agreement.
        id: AgreementId,
    },
}

/// The common form of a protocol's messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Said<B: Body> {
    /// The agreement.
    pub id: AgreementId,
    /// All agreements of this coordinator with smaller numbers have ended: messages about them are old.
    /// Participants repeat the number that they received.
    pub settled: u64,
    /// The contents.
    pub body: B,
}

/// The contents of a protocol's message.
pub trait Body: Payload {
    /// All words under which such contents are counted.
    const KINDS: &'static [&'static str];
    /// The word under which it is counted.
    fn kind(&self) -> &'static str;
    /// Returns whether its sender promises to hold or carry out a part.
    fn promises(&self) -> bool {
        false
    }
}

/// Makes `kind` and `KINDS` from the words of all cases.
macro_rules! kinds {
    ($($case:pat => $kind:literal,)*) => {
        const KINDS: &'static [&'static str] = &[$($kind),*];

        fn kind(&self) -> &'static str {
            match self {
                $($case => $kind,)*
            }
        }
    };
}
pub(crate) use kinds;

impl<B: Body> Message for Said<B> {
    const KINDS: &'static [&'static str] = B::KINDS;

    fn id(&self) -> AgreementId {
        self.id
    }

    fn kind(&self) -> &'static str {
        self.body.kind()
    }

    fn promises(&self) -> bool {
        self.body.promises()
    }
}

/// A role that a protocol does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Nobody;

impl<K: Setting> Machine<K> for Nobody {
    type Record = ();
    type Timer = ();
    type News = ();

    fn start(_: ActorId, _: &K::Rules, _: Vec<()>, _: Time, _: &mut Outputs<K, Nobody>) -> Nobody {
        Nobody
    }

    fn on_message(&mut self, _: Time, _: ActorId, _: K::Received, _: &mut Outputs<K, Nobody>) {}

    fn on_timer(&mut self, _: Time, (): (), _: &mut Outputs<K, Nobody>) {}
}
