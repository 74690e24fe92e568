//! Paxos commit: who decides is replicated, so that a decision is reached although any `f` of
//! `2 f + 1` acceptors, the leader and the coordinator are down, and nobody in doubt waits for
//! one of them.
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
//! There is one consensus a participant: what it voted. A participant proposes its own vote at
//! ballot 0. When votes are missing, or somebody in doubt asks another leader (any acceptor can
//! be one), that leader takes a higher ballot:
//!
//! ```text
//!   leader                acceptors
//!     ├─ Ask b ──────────────▶│     promise to take part in no lower ballot
//!     │◀──────── Promised b ──┤     and say what they have accepted
//!     ● of f + 1: the vote of the highest ballot, none at all means aborted
//!     ├─ Propose b ──────────▶│
//!     │◀──────── Accepted b ──┤
//! ```
//!
//! Votes, promises and the ballots of a leader are on record before anybody hears of them. A
//! decision need not be: whoever asks again finds the same one. Whoever is prepared holds
//! without a lease, and inquires when it has waited for so long.
//!
//! With `retry` participants acknowledge the outcome to the coordinator, which then says that
//! the agreement is settled: acceptors forget it.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use haggle_model::{ActorId, Span};
use serde::{Deserialize, Serialize};

use crate::Subject;
use crate::protocol::{Body, Outcome, Protocol, Said, Traits};

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
    const TRAITS: Traits =
        Traits { name: "paxos", outcome: Outcome::Atomic, waits: false, closes: false };
    type Subject = S;
    type Rules = PaxosRules;
    type Message = Said<Ballot<S>>;
    type Coordinator = Proposer<S>;
    type Participant = Voter<S>;
    type Witness = Witness<S>;
}

/// Who decides, and how long is waited.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PaxosRules {
    /// Who is asked to decide first; it need not be an acceptor.
    pub leader: ActorId,
    /// Who remembers votes: an odd number, of which less than half may be down.
    pub acceptors: Vec<ActorId>,
    /// Whether participants send their votes only to as many acceptors as are needed.
    pub economical: bool,
    /// For how long a leader awaits votes.
    pub patience: Span,
    /// How long a participant that is prepared waits before it inquires, and between two
    /// inquiries.
    pub doubt: Span,
    /// Time between repetitions of what is not answered; `None` = no message is ever lost, and
    /// nothing is acknowledged.
    pub retry: Option<Span>,
}

impl PaxosRules {
    /// How many acceptors make a decision.
    pub fn quorum(&self) -> usize {
        self.acceptors.len() / 2 + 1
    }

    /// Who may lead, in the order in which they are asked.
    pub fn leaders(&self) -> Vec<ActorId> {
        let others = self.acceptors.iter().filter(|&&it| it != self.leader);
        std::iter::once(self.leader).chain(others.copied()).collect()
    }
}

/// What a participant voted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Choice<S: Subject> {
    /// It holds its part.
    Prepared(S::Terms),
    /// It does not, but could hold this; `None` = a leader decided for it.
    Aborted(Option<S::Counter>),
}

/// By participant.
pub type Choices<S> = BTreeMap<ActorId, Choice<S>>;

/// Whether all are prepared.
pub(crate) fn commits<S: Subject>(choices: &Choices<S>) -> bool {
    choices.values().all(|choice| matches!(choice, Choice::Prepared(_)))
}

/// What is said.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Ballot<S: Subject> {
    /// Coordinator to leader: have this decided.
    Begin {
        /// Who is asked for what.
        parts: BTreeMap<ActorId, S::Request>,
    },
    /// Leader to participant: hold this and vote.
    Prepare {
        /// What.
        request: S::Request,
        /// Who takes part.
        parts: Vec<ActorId>,
    },
    /// Participant to acceptors, at ballot 0.
    Vote {
        /// What.
        choice: Choice<S>,
        /// Of how many.
        parts: u32,
    },
    /// Leader to acceptors: take part in no lower ballot.
    Ask {
        /// The ballot.
        ballot: u64,
    },
    /// Acceptor to leader: it does not, and has accepted this, at these ballots.
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
    /// Acceptor to leader: it has.
    Accepted {
        /// The ballot.
        ballot: u64,
        /// By participant.
        choices: Choices<S>,
    },
    /// Leader to participant: all are prepared.
    Commit,
    /// Leader to participant: not all are.
    Abort,
    /// Leader to coordinator.
    Outcome {
        /// By participant.
        choices: Choices<S>,
    },
    /// Participant to any leader: what has been decided?
    Inquire {
        /// Who takes part.
        parts: Vec<ActorId>,
    },
    /// Participant to coordinator: it knows the outcome.
    Known,
}

impl<S: Subject> Body for Ballot<S> {
    fn kind(&self) -> &'static str {
        match self {
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
    }

    fn promises(&self) -> bool {
        matches!(self, Ballot::Vote { choice: Choice::Prepared(_), .. })
    }
}
