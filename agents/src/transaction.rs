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

mod seat;

use haggle_agreements::Rules;
use haggle_agreements::claiming::{Claiming, ClaimingRules};
use haggle_agreements::negotiation::{Negotiation, NegotiationRules};
use haggle_agreements::one_phase::{OnePhase, OnePhaseRules};
use haggle_agreements::ordered::{Ordered, OrderedRules};
use haggle_agreements::paxos::{Paxos, PaxosRules};
use haggle_agreements::polling::{Polling, PollingRules};
use haggle_agreements::probing::{Probing, ProbingRules};
use haggle_agreements::protocol::{Protocol, Times, Traits};
use haggle_agreements::seat::{Keeps, Seat};
use haggle_agreements::two_phase::TwoPhase;
use haggle_agreements::watch::{WatchRules, Watching};
use haggle_model::{ActorId, Span};

use crate::protocol::transaction::Room;

pub use seat::{Act, Acts, Coordinates, Drives, Participates, Witnesses};

/// A protocol with its parameters.
#[derive(Clone, Debug, PartialEq)]
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
        match $transaction {
            Transaction::TwoPhase($rules) => {
                type $P = TwoPhase<Room>;
                $do
            }
            Transaction::OnePhase($rules) => {
                type $P = OnePhase<Room>;
                $do
            }
            Transaction::Polling($rules) => {
                type $P = Polling<Room>;
                $do
            }
            Transaction::Paxos($rules) => {
                type $P = Paxos<Room>;
                $do
            }
            Transaction::Negotiation($rules) => {
                type $P = Negotiation<Room>;
                $do
            }
            Transaction::Claiming($rules) => {
                type $P = Claiming<Room>;
                $do
            }
            Transaction::Ordered($rules) => {
                type $P = Ordered<Room>;
                $do
            }
            Transaction::Probing($rules) => {
                type $P = Probing<Room>;
                $do
            }
            Transaction::Watch($rules) => {
                type $P = Watching<Room>;
                $do
            }
        }
    };
}

impl Transaction {
    /// Its guarantees.
    pub fn traits(&self) -> Traits {
        with!(self, P, _rules => P::TRAITS)
    }

    /// The machine of a coordinator, which must be started.
    pub fn coordinator(&self, me: ActorId) -> Box<dyn Coordinates> {
        with!(self, P, rules => {
            Box::new(Seat::<P, <P as Protocol>::Coordinator>::new(me, Clone::clone(rules), Keeps::All))
        })
    }

    /// The machine of a participant, which must be started.
    pub fn participant(&self, me: ActorId) -> Box<dyn Participates> {
        with!(self, P, rules => {
            Box::new(Seat::<P, <P as Protocol>::Participant>::new(me, Clone::clone(rules), Keeps::All))
        })
    }

    /// The machine of an acceptor, which must be started.
    pub fn witness(&self, me: ActorId) -> Box<dyn Witnesses> {
        with!(self, P, rules => {
            Box::new(Seat::<P, <P as Protocol>::Witness>::new(me, Clone::clone(rules), Keeps::All))
        })
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
