//! What the two sides of an agreement say to each other, and to whoever drives them.

use std::fmt::Debug;
use std::hash::Hash;

pub use haggle_model::AgreementId;
use haggle_model::{ActorId, Span, Time};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Something that can be said, persisted and compared.
pub trait Payload: Clone + Debug + Eq + Hash + Serialize + DeserializeOwned {}

impl<T: Clone + Debug + Eq + Hash + Serialize + DeserializeOwned> Payload for T {}

/// What a machine must not forget, written down as it comes.
pub trait Record: Payload {
    /// Fewer records that start the same machine: what is over leaves nothing behind.
    fn compact(records: Vec<Self>) -> Vec<Self>;
}

/// Of who forgets everything.
impl Record for () {
    fn compact(_: Vec<()>) -> Vec<()> {
        Vec::new()
    }
}

/// What an agreement is about: the contents of its messages.
pub trait Subject: Clone + Debug + Eq + Hash {
    /// What a participant is asked to hold.
    type Request: Payload;
    /// On what terms it holds that.
    type Terms: Payload;
    /// What it proposes instead when it cannot.
    type Counter: Payload;
    /// What it has to know to carry out what it holds.
    type Order: Payload;
    /// What it says about a share that it took although it held nothing any more.
    type Receipt: Payload;
}

/// What a participant does that is ready and knows no decision when its lease ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum InDoubt {
    /// Gives the hold back: no hold outlives its lease, and a commit may come too late.
    Release,
    /// Keeps the hold and asks the coordinator until it answers: no commit comes too late, and
    /// a hold lasts as long as its coordinator cannot be reached.
    Inquire {
        /// Time between two questions.
        every: Span,
    },
}

/// From the coordinator to a participant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct ToParticipant<S: Subject> {
    /// The agreement.
    pub id: AgreementId,
    /// All agreements of this coordinator with smaller numbers are over: messages about them
    /// are old, and a hold for one of them was not committed.
    pub settled: u64,
    /// What to do.
    pub instruction: Instruction<S>,
}

/// What a coordinator wants of a participant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Instruction<S: Subject> {
    /// Hold this for me, and say on what terms.
    Prepare {
        /// What is to be held.
        request: S::Request,
        /// For how long, from when the participant is ready.
        lease: Span,
        /// What comes after that.
        in_doubt: InDoubt,
    },
    /// All are ready: carry out what you hold.
    Commit(S::Order),
    /// Give up what you hold.
    Abort,
    /// Give up what you hold or have committed: somebody else's lease ended too soon.
    Undo,
}

/// From a participant to the coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct ToCoordinator<S: Subject> {
    /// The agreement.
    pub id: AgreementId,
    /// What there is to say.
    pub answer: Answer<S>,
}

/// What a participant answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Answer<S: Subject> {
    /// It is held.
    Ready {
        /// On these terms.
        terms: S::Terms,
        /// For so long from when this was first said; not longer than asked for, if the
        /// participant has reasons.
        lease: Span,
    },
    /// It is not held, but this could be.
    NotReady(S::Counter),
    /// It is being carried out; with a receipt if it was no longer held.
    Committed(Option<S::Receipt>),
    /// Too late: it was given back, and can no longer be had.
    Expired,
    /// Nothing is held or committed any more.
    Undone,
    /// Ready, but the lease is over: what has been decided?
    Inquire,
}

/// What a machine wants to happen. Whoever drives it carries out one after the other; a crash
/// between two of them is one more thing that the machines survive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output<M, R, T, E> {
    /// Send this.
    Send {
        /// To whom.
        to: ActorId,
        /// The message.
        message: M,
    },
    /// Add this to the durable records before anything that follows.
    Persist(R),
    /// Let this timer go off then, and no longer when it was to go off before.
    Set {
        /// Which.
        timer: T,
        /// When, not before now.
        at: Time,
    },
    /// Let this timer not go off.
    Stop(T),
    /// For the actor that owns the machine.
    Tell(E),
}
