//! Agreements between a coordinator and participants: their names, and what can be observed of them.

use serde::{Deserialize, Serialize};

use crate::{ActorId, JobId, Time};

/// Names an agreement for ever: its coordinator uses no number twice, also after a crash.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct AgreementId {
    /// Who collects the votes and decides.
    pub coordinator: ActorId,
    /// Its running number.
    pub number: u64,
}

/// What has happened in an agreement on the parts of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgreementEvent {
    /// By its coordinator: these are asked for a part each.
    Opened {
        /// Who.
        asked: Vec<ActorId>,
    },
    /// By its coordinator: it is decided that all carry out their parts.
    Decided,
    /// By its coordinator: all carry out their parts, or hold them until they are given back.
    Agreed {
        /// Who.
        parts: Vec<ActorId>,
    },
    /// By its coordinator: nobody carries out a part.
    Failed,
    /// By its coordinator: it was decided, and some could no longer carry out theirs.
    Broken,
    /// By anybody: it has sent a message of this kind.
    Sent(&'static str),
    /// By a participant: it holds a part.
    Held {
        /// So many processors.
        processors: u32,
        /// From when on it has them.
        start: Time,
        /// Until when; `None` = until more is said.
        end: Option<Time>,
        /// When it gives them back unless more is said; `None` = never.
        lease_end: Option<Time>,
    },
    /// By a participant: the start of its part has come, and it has its processors from now on.
    Occupied,
    /// By a participant: it carries out its part.
    CarriedOut {
        /// Until when it has its processors.
        end: Time,
    },
    /// By a participant: it gives its part up, whether or not it had begun.
    GivenUp,
    /// By a participant: its part has come to its end.
    PartOver,
}

/// Who waits for whom at one participant, by the jobs of the agreements.
pub type Waits = Vec<(JobId, JobId)>;
