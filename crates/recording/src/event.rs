//! Events of a run, as the books take them. They can be written down and read again.

use std::borrow::Cow;

use haggle_model::interned::{self, Word};
use haggle_model::observation::DisclosedItem;
use haggle_model::{ActorId, JobId, MessageFault, Observation};
use haggle_runtime::RunStats;
use serde::{Deserialize, Serialize};

/// A message with a fault.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Faulty {
    /// Sender of the message.
    pub from: ActorId,
    /// Receiver of the message.
    pub to: ActorId,
    /// Its kind, a word of the table `messages`.
    #[serde(with = "interned")]
    pub kind: Word,
    /// The job it is about.
    pub job: Option<JobId>,
    /// Kind of the fault.
    pub fault: MessageFault,
    /// How often the message was resent because of the fault.
    pub resent: u64,
}

/// An event of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Event<'a> {
    /// A message was delivered.
    Message {
        from: ActorId,
        to: ActorId,
        #[serde(with = "interned")]
        kind: Word,
        job: Option<JobId>,
    },
    /// A delivered message discloses items about its sender.
    Disclosed { from: ActorId, to: ActorId, item: DisclosedItem, count: u32, job: Option<JobId> },
    /// An actor has crashed.
    Crashed(ActorId),
    /// A crashed actor has restarted.
    Restarted(ActorId),
    /// A message is hit by a fault.
    Fault(Faulty),
    /// An actor has reported an observation.
    Observed { actor: ActorId, observation: Cow<'a, Observation> },
    /// The run is over.
    Over(RunStats),
}
