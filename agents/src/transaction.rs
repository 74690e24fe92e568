//! Transactions on the parts of jobs: any protocol of [`haggle_agreements`], with its parameters, and
//! what drives its machines inside an actor.
//!
//! ```text
//!   actor ── open, hear, wake, ready, ... ──▶ Seat ──▶ machine
//!     ▲                                         │ ◀── outputs
//!     └──────── Act: send this, tell that ──────┘ records and timers stay here
//! ```
//!
//! The owner of a machine carries out its acts in their order; what it does may lead to more, which
//! come after those that are there. When it crashes, a machine is lost; it starts again from its
//! records.

mod seat;

use haggle_agreements::claiming::{Claiming, ClaimingRules};
use haggle_agreements::negotiation::{Negotiation, NegotiationRules};
use haggle_agreements::one_phase::{OnePhase, OnePhaseRules};
use haggle_agreements::ordered::{Ordered, OrderedRules};
use haggle_agreements::paxos::{Paxos, PaxosRules};
use haggle_agreements::polling::{Polling, PollingRules};
use haggle_agreements::probing::{Probing, ProbingRules};
use haggle_agreements::protocol::{Protocol, Traits};
use haggle_agreements::two_phase::TwoPhase;
use haggle_agreements::watch::{WatchRules, Watching};
use haggle_agreements::{InDoubt, Rules};
use haggle_model::{ActorId, Span};

use crate::protocol::transaction::Room;

pub use seat::{Act, Acts, Coordinates, Drives, Participates, Seat, Witnesses};

/// A protocol with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Transaction {
    /// All hold, then all commit.
    TwoPhase(Rules),
    /// All book, or what is booked is deleted.
    OnePhase(OnePhaseRules),
    /// Two phases whose answers are fetched.
    Polling(PollingRules),
    /// Acceptors decide in place of the coordinator.
    Paxos(PaxosRules),
    /// Rounds of later starts.
    Negotiation(NegotiationRules),
    /// Processors are claimed one by one.
    Claiming(ClaimingRules),
    /// Locks are asked for in an order.
    Ordered(OrderedRules),
    /// Who is interested is told of changes.
    Probing(ProbingRules),
    /// Claims wait until all have room.
    Watch(WatchRules),
}

/// Does the same with the type of any protocol and its rules.
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
    /// What it promises.
    pub fn traits(&self) -> Traits {
        with!(self, P, _rules => P::TRAITS)
    }

    /// The machine of who asks, which has yet to be started.
    pub fn coordinator(&self, me: ActorId) -> Box<dyn Coordinates> {
        with!(self, P, rules => {
            Box::new(Seat::<P, <P as Protocol>::Coordinator>::new(me, rules))
        })
    }

    /// The machine of who holds, which has yet to be started.
    pub fn participant(&self, me: ActorId) -> Box<dyn Participates> {
        with!(self, P, rules => {
            Box::new(Seat::<P, <P as Protocol>::Participant>::new(me, rules))
        })
    }

    /// The machine of who remembers decisions for others, which has yet to be started.
    pub fn witness(&self, me: ActorId) -> Box<dyn Witnesses> {
        with!(self, P, rules => {
            Box::new(Seat::<P, <P as Protocol>::Witness>::new(me, rules))
        })
    }

    /// Whether parts are asked for now, and not from a start on that all know.
    pub fn is_immediate(&self) -> bool {
        matches!(self, Transaction::Claiming(_) | Transaction::Ordered(_) | Transaction::Watch(_))
    }

    /// Whether a try goes on where somebody has no room, and may have some later.
    pub fn awaits_room(&self) -> bool {
        self.is_immediate() || matches!(self, Transaction::Probing(_))
    }

    /// Whether somebody who holds a part may have to hold it until a coordinator is back, however
    /// long that takes.
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

    /// Time between repetitions of what is not answered; `None` = no message is ever lost.
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

    /// How long it takes until all know that they may begin, where messages take so long at most and
    /// everybody has room: nothing is asked for before that. Polls, and rounds of negotiation, are
    /// taken to be one.
    pub fn lead(&self, latency_max: Span, parts: usize) -> Span {
        let times = |count: i64| Span::from_micros(latency_max.as_micros().saturating_mul(count));
        match self {
            // Asked, answered, told.
            Transaction::TwoPhase(_) => times(3),
            // Asked one after the other, refused, taken back before anything begins.
            Transaction::OnePhase(rules) if rules.sequential => times(2 * parts as i64 + 1),
            Transaction::OnePhase(_) | Transaction::Negotiation(_) => times(3),
            // Asked, accepted, polled, answered, told.
            Transaction::Polling(rules) => times(5) + rules.interval,
            // To the leader, to all, to the acceptors, to the leader, to all.
            Transaction::Paxos(_) => times(5),
            // Told of room, asked, answered, told.
            Transaction::Probing(_) => times(5),
            Transaction::Claiming(_) | Transaction::Ordered(_) | Transaction::Watch(_) => {
                Span::ZERO
            }
        }
    }
}
