//! Paxos commit: the decision is replicated. It is reached although any `f` of `2 f + 1` acceptors, the
//! leader and the coordinator are down, and a participant in doubt waits for none of them.
//!
//! ```text
//!   c          leader         p1      p2          a acceptors
//!   ├─ Begin ───▶│             │       │             │      fault-free: 2 n + n a + a + 2
//!   │            ├─ Prepare ──▶│       │             │      messages, known after 5 d;
//!   │            ├─ Prepare ───┼──────▶│             │      a = 2 f + 1, or f + 1 in the
//!   │            │             ├ Vote ─┼────────────▶│      economical form
//!   │            │             │       ├ Vote ──────▶│
//!   │            │◀────────────┼───────┼── Accepted ─┤
//!   │            ● f + 1 acceptors say the same of all
//!   │◀─ Outcome ─┤             │       │
//!   │            ├─ Commit ───▶│       │
//!   │            ├─ Commit ────┼──────▶│
//! ```
//!
//! There is one consensus for each participant: its vote. A participant proposes its own vote at ballot 0.
//! If votes are missing, or if a participant in doubt asks another leader (any acceptor can be one), that
//! leader takes a higher ballot:
//!
//! ```text
//!   leader                acceptors
//!     ├─ Ask b ──────────────▶│     promise to take part in no lower ballot
//!     │◀──────── Promised b ──┤     and report the accepted votes
//!     ● of f + 1: the vote of the highest ballot, none at all means aborted
//!     ├─ Propose b ──────────▶│
//!     │◀──────── Accepted b ──┤
//! ```
//!
//! Votes, promises and the ballots of a leader are on record before another actor is notified of them. A
//! decision need not be: a repeated query finds the same one. A prepared participant holds without a lease,
//! and inquires after a fixed wait.
//!
//! With `retry`, participants acknowledge the outcome to the coordinator. Its messages then report that the
//! agreement is settled, and acceptors forget it.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use haggle_model::{ActorId, Span};
use serde::{Deserialize, Serialize};

use crate::Subject;
use crate::protocol::{Body, Outcome, Protocol, Said, Times, Traits, kinds, messages};

mod coordinator;
mod participant;
mod witness;

pub use coordinator::{Proposer, ProposerStage};
pub use participant::{Stance, Voter};
pub use witness::{Seat, Witness};

/// Paxos commit about `S`.
#[derive(Clone, Copy, Debug)]
pub struct Paxos<S>(PhantomData<S>);

impl<S: Subject> Protocol for Paxos<S> {
    const TRAITS: Traits = Traits::ahead("paxos", Outcome::Atomic);
    type Subject = S;
    type Rules = PaxosRules;
    type Message = Said<Ballot<S>>;
    type Coordinator = Proposer<S>;
    type Participant = Voter<S>;
    type Witness = Witness<S>;
}

/// Deciding actors and waiting times.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PaxosRules {
    /// The actor that is asked to decide first; it need not be an acceptor.
    pub leader: ActorId,
    /// The actors that remember votes: an odd number, of which less than half may be down.
    pub acceptors: Vec<ActorId>,
    /// True if participants send their votes only to as many acceptors as needed.
    pub economical: bool,
    /// Time for which a leader awaits votes.
    pub patience: Span,
    /// Time that a prepared participant waits before it inquires, and between two inquiries.
    pub doubt: Span,
    /// Time between repetitions of unanswered messages; `None` = no message is ever lost, and no message is
    /// acknowledged.
    pub retry: Option<Span>,
}

impl Times for PaxosRules {
    fn retry(&self) -> Option<Span> {
        self.retry
    }

    fn may_block(&self) -> bool {
        true
    }

    fn lead(&self, latency_max: Span, _: usize) -> Span {
        // To the leader, to all, to the acceptors, to the leader, to all.
        messages(latency_max, 5)
    }
}

impl PaxosRules {
    /// Number of acceptors that make a decision.
    pub fn quorum(&self) -> usize {
        self.acceptors.len() / 2 + 1
    }

    /// Possible leaders, in the order in which they are asked.
    pub fn leaders(&self) -> Vec<ActorId> {
        let others = self.acceptors.iter().filter(|&&it| it != self.leader);
        std::iter::once(self.leader).chain(others.copied()).collect()
    }
}

/// Vote of a participant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Choice<S: Subject> {
    /// It holds its part.
    Prepared(S::Terms),
    /// It does not; the counter is a possible alternative. `None` = a leader decided for it.
    Aborted(Option<S::Counter>),
}

/// Votes by participant.
pub type Choices<S> = BTreeMap<ActorId, Choice<S>>;

/// Returns whether all are prepared.
pub(crate) fn commits<S: Subject>(choices: &Choices<S>) -> bool {
    choices.values().all(|choice| matches!(choice, Choice::Prepared(_)))
}

/// Messages of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Ballot<S: Subject> {
    /// Coordinator to leader: get a decision on these parts.
    Begin {
        /// Participants and the requests to them.
        parts: BTreeMap<ActorId, S::Request>,
    },
    /// Leader to participant: hold this and vote.
    Prepare {
        /// The request.
        request: S::Request,
        /// The participants.
        parts: Vec<ActorId>,
    },
    /// Participant to acceptors, at ballot 0.
    Vote {
        /// The vote.
        choice: Choice<S>,
        /// Number of participants.
        parts: u32,
    },
    /// Leader to acceptors: take part in no lower ballot.
    Ask {
        /// The ballot.
        ballot: u64,
    },
    /// Acceptor to leader: it promises that, and has accepted these votes at these ballots.
    Promised {
        /// The ballot.
        ballot: u64,
        /// By participant.
        accepted: BTreeMap<ActorId, (u64, Choice<S>)>,
    },
    /// Acceptor to leader: it takes part only in ballots from this one on.
    Outbid {
        /// The ballot.
        ballot: u64,
    },
    /// Leader to acceptors: accept this.
    Propose {
        /// The ballot.
        ballot: u64,
        /// By participant.
        choices: Choices<S>,
    },
    /// Acceptor to leader: it has accepted them.
    Accepted {
        /// The ballot.
        ballot: u64,
        /// By participant.
        choices: Choices<S>,
    },
    /// Leader to participant: all are prepared.
    Commit,
    /// Leader to participant: not all are prepared.
    Abort,
    /// Leader to coordinator.
    Outcome {
        /// By participant.
        choices: Choices<S>,
    },
    /// Participant to any leader: requests the decision.
    Inquire {
        /// The participants.
        parts: Vec<ActorId>,
    },
    /// Participant to coordinator: it knows the outcome.
    Known,
}

impl<S: Subject> Body for Ballot<S> {
    kinds! {
        Ballot::Begin { .. } => "begin",
        Ballot::Prepare { .. } => "prepare",
        Ballot::Vote { .. } => "vote",
        Ballot::Ask { .. } => "ask",
        Ballot::Promised { .. } => "promised",
        Ballot::Outbid { .. } => "outbid",
        Ballot::Propose { .. } => "propose",
        Ballot::Accepted { .. } => "accepted",
        Ballot::Commit => "commit",
        Ballot::Abort => "abort",
        Ballot::Outcome { .. } => "outcome",
        Ballot::Inquire { .. } => "inquire",
        Ballot::Known => "known",
    }

    fn promises(&self) -> bool {
        matches!(self, Ballot::Vote { choice: Choice::Prepared(_), .. })
    }
}
