//! Transactions on the parts of jobs: any protocol of [`haggle_agreements`] with its parameters,
//! and the driver of its machines inside an actor.
//!
//! ```text
//!   actor ── open, hear, wake, ready, ... ──▶ Seat ──▶ machine
//!     ▲                                         │ ◀── outputs
//!     └──────── Act: send this, tell that ──────┘ records and timers stay here
//! ```
//!
//! The owner of a machine carries out its acts in order. An act may lead to more acts, which are
//! appended. A crash of the owner loses the machine; it starts again from its records.

use dyn_clone::DynClone;
use haggle_agreements::claiming::{Claiming, ClaimingRules};
use haggle_agreements::negotiation::{Negotiation, NegotiationRules};
use haggle_agreements::one_phase::{OnePhase, OnePhaseRules};
use haggle_agreements::ordered::{Ordered, OrderedRules};
use haggle_agreements::paxos::{Paxos, PaxosRules};
use haggle_agreements::polling::{Polling, PollingRules};
use haggle_agreements::probing::{Probing, ProbingRules};
use haggle_agreements::protocol::{self, Duty, Protocol, Times, Traits, Verdict};
use haggle_agreements::seat::{self, Drives};
use haggle_agreements::two_phase::TwoPhase;
use haggle_agreements::watch::{WatchRules, Watching};
use haggle_agreements::{AgreementId, Rules};
use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use crate::protocol::transaction::{Room, Spoken};

/// An act that a machine requests of its owner.
pub type Act<N> = seat::Act<Spoken, N>;

/// The acts that a machine requests of its owner, in order.
pub type Acts<N> = seat::Acts<Spoken, N>;

/// The seat of a coordinator of any protocol.
pub trait Coordinates:
    Drives<Spoken, Verdict<Room>>
    + protocol::Coordinates<Room, Acts<Verdict<Room>>>
    + DynClone
    + erased_serde::Serialize
{
}

impl<T> Coordinates for T where
    T: Drives<Spoken, Verdict<Room>>
        + protocol::Coordinates<Room, Acts<Verdict<Room>>>
        + Clone
        + Serialize
{
}

/// The seat of a participant of any protocol.
pub trait Participates:
    Drives<Spoken, Duty<Room>>
    + protocol::Participates<Room, Acts<Duty<Room>>>
    + DynClone
    + erased_serde::Serialize
{
    /// The requested part can never be held.
    fn never(&mut self, now: Time, id: AgreementId, acts: &mut Acts<Duty<Room>>) {
        self.never_ready(now, id, Time::FOREVER, acts);
    }
}

impl<T> Participates for T where
    T: Drives<Spoken, Duty<Room>>
        + protocol::Participates<Room, Acts<Duty<Room>>>
        + Clone
        + Serialize
{
}

/// The seat of an acceptor of any protocol, which stores decisions for others.
pub trait Witnesses: Drives<Spoken, ()> + DynClone + erased_serde::Serialize {}

impl<T: Drives<Spoken, ()> + Clone + Serialize> Witnesses for T {}

dyn_clone::clone_trait_object!(Coordinates);
dyn_clone::clone_trait_object!(Participates);
dyn_clone::clone_trait_object!(Witnesses);

/// A protocol with its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Transaction {
    /// All hold, then all commit.
    TwoPhase(Rules),
    /// All book, or the booked ones are deleted.
    OnePhase(OnePhaseRules),
    /// Two phases; the coordinator polls for answers.
    Polling(PollingRules),
    /// Acceptors decide in place of the coordinator.
    Paxos(PaxosRules),
    /// Rounds of later starts.
    Negotiation(NegotiationRules),
    /// Processors are claimed one by one.
    Claiming(ClaimingRules),
    /// Locks are requested in an order.
    Ordered(OrderedRules),
    /// Providers notify interested coordinators of changes.
    Probing(ProbingRules),
    /// Claims wait until all have room.
    Watch(WatchRules),
}

/// Evaluates the same expression with the type of any protocol and its rules.
macro_rules! with {
    ($transaction:expr, $P:ident, $rules:ident => $do:expr) => {
        with!(
            $transaction, $P, $rules => $do, TwoPhase: TwoPhase, OnePhase: OnePhase,
            Polling: Polling, Paxos: Paxos, Negotiation: Negotiation, Claiming: Claiming,
            Ordered: Ordered, Probing: Probing, Watch: Watching
        )
    };
    ($transaction:expr, $P:ident, $rules:ident => $do:expr, $($name:ident: $protocol:ident),*) => {
        match $transaction {
            $(Transaction::$name($rules) => {
                type $P = $protocol<Room>;
                $do
            })*
        }
    };
}

mod seated;

pub use seated::Seated;

impl Transaction {
    /// Its guarantees.
    pub fn traits(&self) -> Traits {
        with!(self, P, _rules => P::TRAITS)
    }

    /// The machine of a coordinator, which must be started.
    pub fn coordinator(&self, me: ActorId) -> Seated<dyn Coordinates> {
        Seated::new(self, me)
    }

    /// The machine of a participant, which must be started.
    pub fn participant(&self, me: ActorId) -> Seated<dyn Participates> {
        Seated::new(self, me)
    }

    /// The machine of an acceptor, which must be started.
    pub fn witness(&self, me: ActorId) -> Seated<dyn Witnesses> {
        Seated::new(self, me)
    }

    /// True if a participant may have to hold a part until a coordinator is back, however long that
    /// takes.
    pub fn may_block(&self) -> bool {
        with!(self, P, rules => <P as Protocol>::Rules::may_block(rules))
    }

    /// Time between repetitions of messages without answer; `None` = no message is ever lost.
    pub fn retry(&self) -> Option<Span> {
        with!(self, P, rules => <P as Protocol>::Rules::retry(rules))
    }

    /// Time until all know that they may begin, see [`Times::lead`].
    pub fn lead(&self, latency_max: Span, parts: usize) -> Span {
        with!(self, P, rules => <P as Protocol>::Rules::lead(rules, latency_max, parts))
    }
}
