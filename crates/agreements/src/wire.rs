//! Messages between the two sides of an agreement, and the interface to their drivers.

use std::fmt::Debug;
use std::hash::Hash;

pub use haggle_model::AgreementId;
use haggle_model::{ActorId, Span, Time};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Data that can be sent, persisted and compared.
pub trait Payload: Clone + Debug + Eq + Hash + Send + Serialize + DeserializeOwned {}

impl<T: Clone + Debug + Eq + Hash + Send + Serialize + DeserializeOwned> Payload for T {}

/// Durable state of a machine, recorded as it changes.
pub trait Record: Payload {
    /// Fewer records that start the same machine: ended agreements leave none.
    fn compact(records: Vec<Self>) -> Vec<Self>;
}

/// Records of a machine without memory.
impl Record for () {
    fn compact(_: Vec<()>) -> Vec<()> {
        Vec::new()
    }
}

/// Subject of an agreement: the contents of its messages.
pub trait Subject: Clone + Debug + Eq + Hash {
    /// Request to a participant to hold a part.
    type Request: Payload;
    /// Terms on which it holds the part.
    type Terms: Payload;
    /// Its proposal when it cannot.
    type Counter: Payload;
    /// Data that it needs to carry out a part, beside its hold; `()` in every [protocol](crate::protocol).
    type Order: Payload;
}

/// Behaviour of a participant that is ready and knows no decision when its lease ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum InDoubt {
    /// Gives the hold back: no hold outlives its lease, and a commit may come too late.
    Release,
    /// Keeps the hold and asks the coordinator until it answers: no commit comes too late, and
    /// a hold lasts as long as its coordinator cannot be reached.
    Inquire {
        /// Time between two inquiries.
        every: Span,
    },
}

/// From the coordinator to a participant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct ToParticipant<S: Subject> {
    /// The agreement.
    pub id: AgreementId,
    /// All agreements of this coordinator with smaller numbers have ended: messages about them are old, and
    /// a hold for one of them was not committed.
    pub settled: u64,
    /// The instruction.
    pub instruction: Instruction<S>,
}

/// Instruction of a coordinator to a participant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Instruction<S: Subject> {
    /// Hold this part, and report the terms.
    Prepare {
        /// The part to be held.
        request: S::Request,
        /// Time of the hold, from when the participant is ready.
        lease: Span,
        /// Behaviour after that time.
        in_doubt: InDoubt,
    },
    /// All are ready: carry out the held part.
    Commit(S::Order),
    /// Give up the held part.
    Abort,
    /// Give up the held or committed part: another participant's lease ended too soon.
    Undo,
}

/// From a participant to the coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct ToCoordinator<S: Subject> {
    /// The agreement.
    pub id: AgreementId,
    /// The answer.
    pub answer: Answer<S>,
}

/// Answer of a participant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Answer<S: Subject> {
    /// It is held.
    Ready {
        /// The terms.
        terms: S::Terms,
        /// Time of the hold from when it was first reported; it may be shorter than requested.
        lease: Span,
    },
    /// It is not held; the counter is a possible alternative.
    NotReady(S::Counter),
    /// It is being carried out; with new terms if it was no longer held.
    Committed(Option<S::Terms>),
    /// Too late: it was given back, and is no longer available.
    Expired,
    /// Nothing is held or committed any longer.
    Undone,
    /// Ready, but the lease has ended: requests the decision.
    Inquire,
}

/// Output of a machine. Its driver must carry out outputs one after the other. The machines survive a crash
/// between any two of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output<M, R, T, E> {
    /// To send a message.
    Send {
        /// Its receiver.
        to: ActorId,
        /// The message.
        message: M,
    },
    /// To add this to the durable records before any later output.
    Persist(R),
    /// To set this timer to this time; an earlier setting of it is void.
    Set {
        /// The timer.
        timer: T,
        /// Its time, not before now.
        at: Time,
    },
    /// To stop this timer.
    Stop(T),
    /// News for the actor that owns the machine.
    Tell(E),
}
