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

use haggle_agreements::claiming::{Claiming, ClaimingRules};
use haggle_agreements::negotiation::{Negotiation, NegotiationRules};
use haggle_agreements::one_phase::{OnePhase, OnePhaseRules};
use haggle_agreements::ordered::{Ordered, OrderedRules};
use haggle_agreements::paxos::{Paxos, PaxosRules};
use haggle_agreements::polling::{Polling, PollingRules};
use haggle_agreements::probing::{Probing, ProbingRules};
use haggle_agreements::protocol::{Protocol, Traits};
use haggle_agreements::seat::{Keeps, Seat};
use haggle_agreements::two_phase::TwoPhase;
use haggle_agreements::watch::{WatchRules, Watching};
use haggle_agreements::{InDoubt, Rules};
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
            Box::new(Seat::<P, <P as Protocol>::Coordinator>::new(me, rules.clone(), Keeps::All))
        })
    }

    /// The machine of a participant, which must be started.
    pub fn participant(&self, me: ActorId) -> Box<dyn Participates> {
        with!(self, P, rules => {
            Box::new(Seat::<P, <P as Protocol>::Participant>::new(me, rules.clone(), Keeps::All))
        })
    }

    /// The machine of an acceptor, which must be started.
    pub fn witness(&self, me: ActorId) -> Box<dyn Witnesses> {
        with!(self, P, rules => {
            Box::new(Seat::<P, <P as Protocol>::Witness>::new(me, rules.clone(), Keeps::All))
        })
    }

    /// True if parts are requested for now, and not for a start that all know.
    pub fn is_immediate(&self) -> bool {
        matches!(self, Transaction::Claiming(_) | Transaction::Ordered(_) | Transaction::Watch(_))
    }

    /// True if a try goes on although a provider has no room now, but may have some later.
    pub fn awaits_room(&self) -> bool {
        self.is_immediate() || matches!(self, Transaction::Probing(_))
    }

    /// True if a participant may have to hold a part until a coordinator is back, however long that
    /// takes.
    pub fn may_block(&self) -> bool {
        match self {
            Transaction::TwoPhase(rules) => rules.in_doubt != InDoubt::Release,
            Transaction::Paxos(_) | Transaction::Claiming(_) | Transaction::Ordered(_) => true,
            Transaction::OnePhase(_)
            | Transaction::Polling(_)
            | Transaction::Negotiation(_)
            | Transaction::Probing(_)
            | Transaction::Watch(_) => false,
        }
    }

    /// Time between repetitions of messages without answer; `None` = no message is ever lost.
    pub fn retry(&self) -> Option<Span> {
        match self {
            Transaction::TwoPhase(rules) => rules.retry,
            Transaction::OnePhase(rules) => rules.retry,
            Transaction::Polling(rules) => rules.retry,
            Transaction::Paxos(rules) => rules.retry,
            Transaction::Negotiation(rules) => rules.retry,
            Transaction::Claiming(rules) => rules.retry,
            Transaction::Ordered(rules) => rules.retry,
            Transaction::Probing(rules) => rules.retry,
            Transaction::Watch(rules) => rules.retry,
        }
    }

    /// Time until all know that they may begin, if messages take at most `latency_max` and every
    /// provider has room: no earlier start is requested. One poll and one round of negotiation are
    /// assumed.
    pub fn lead(&self, latency_max: Span, parts: usize) -> Span {
        let times = |count: i64| Span::from_micros(latency_max.as_micros().saturating_mul(count));
        match self {
            // Request, answer, decision.
            Transaction::TwoPhase(_) => times(3),
            // Requests one after the other, a refusal, and all taken back before anything begins.
            Transaction::OnePhase(rules) if rules.sequential => times(2 * parts as i64 + 1),
            Transaction::OnePhase(_) | Transaction::Negotiation(_) => times(3),
            // Request, acknowledgement, poll, answer, decision.
            Transaction::Polling(rules) => times(5) + rules.interval,
            // To the leader, to all, to the acceptors, to the leader, to all.
            Transaction::Paxos(_) => times(5),
            // Notice of room, request, answer, decision.
            Transaction::Probing(_) => times(5),
            Transaction::Claiming(_) | Transaction::Ordered(_) | Transaction::Watch(_) => {
                Span::ZERO
            }
        }
    }
}
