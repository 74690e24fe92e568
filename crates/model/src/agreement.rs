//! Agreements between a coordinator and participants: identifiers and observable events.

use serde::{Deserialize, Serialize};

use crate::interned::Word;
use crate::{ActorId, JobId, Time};

/// Identifies an agreement for ever. Its coordinator uses no number twice, not even after a crash.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct AgreementId {
    /// The coordinator: it collects the votes and decides.
    pub coordinator: ActorId,
    /// Its running number at that coordinator.
    pub number: u64,
}

/// An event of an agreement on the parts of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AgreementEvent {
    /// By its coordinator: these actors are asked for a part each.
    Opened {
        /// The actors asked.
        asked: Vec<ActorId>,
    },
    /// By its coordinator: the decision that all participants carry out their parts.
    Decided,
    /// By its coordinator: all participants carry out their parts, or hold them until they give them back.
    Agreed {
        /// The participants.
        parts: Vec<ActorId>,
    },
    /// By its coordinator: no participant carries out a part.
    Failed,
    /// By its coordinator: the agreement was decided, but some participants could no longer carry out their parts.
    Broken,
    /// By any actor: it has sent a message of this kind.
    Sent(#[serde(with = "crate::interned")] Word),
    /// By a participant: it holds a part.
    Held {
        /// Number of processors.
        processors: u32,
        /// Start of the part.
        start: Time,
        /// End of the part; `None` = until a later message.
        end: Option<Time>,
        /// Time at which the participant gives the processors back without a further message; `None` = never.
        lease_end: Option<Time>,
    },
    /// By a participant: its part has started and occupies its processors.
    Occupied,
    /// By a participant: it carries out its part.
    CarriedOut {
        /// End of the part.
        end: Time,
    },
    /// By a participant: it gives its part up, before or after the start.
    GivenUp,
    /// By a participant: its part has ended.
    PartOver,
    /// By a participant: its part cannot run, because it has lost its processors or its place.
    PartFailed,
}

/// Wait-for relation at one participant: pairs of jobs of agreements, the first of which waits for the second.
pub type Waits = Vec<(JobId, JobId)>;
