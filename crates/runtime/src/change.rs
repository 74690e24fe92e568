//! Changes of a world while its run goes on.

use haggle_agents::{AnyActor, Message, RunMessage, Settings};
use haggle_model::{ActorId, Time};

use crate::error::RunError;
use crate::network::Network;
use crate::world::{Arrivals, Outages};

/// Changes of a world at an instant. They take effect before all messages of that instant.
pub struct Change {
    /// The instant, after time zero.
    pub at: Time,
    /// New settings of the actors that change, as the changed scenario describes these actors before their first message.
    /// Actors behind the last one of the run are added to it.
    pub actors: Vec<(ActorId, AnyActor)>,
    /// True if the random streams of these actors and of the network are replaced, too.
    pub reseeded: bool,
    /// Time at which the run stops from now on.
    pub horizon: Option<Time>,
    /// Latencies and faults of messages that are sent from now on. Crashes stay as they are.
    pub network: Network,
    /// Jobs that arrive from the instant on, by user; `None` = the same as before.
    pub arrivals: Option<Vec<(ActorId, Arrivals)>>,
    /// Outages from the instant on; `None` = the same as before. Outages that have begun end when they would have.
    pub outages: Option<Outages>,
}

impl Change {
    /// The messages by which actors get their settings.
    pub(crate) fn settings(
        actors: Vec<(ActorId, AnyActor)>,
        reseeded: bool,
    ) -> impl Iterator<Item = (ActorId, Message)> {
        actors.into_iter().map(move |(to, actor)| {
            let settings = Box::new(Settings { actor, reseeded });
            (to, Message::Run(RunMessage::Changed(settings)))
        })
    }
}

/// Reason why a run does not change.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The instant of the change has passed.
    #[error("the change at {at} s is too late: the run is at {now} s")]
    TooLate {
        /// Instant of the change.
        at: Time,
        /// Present time.
        now: Time,
    },
    /// Another change is due at that instant.
    #[error("another change is due at {at} s")]
    Taken {
        /// Instant of both.
        at: Time,
    },
    /// The run cannot continue.
    #[error(transparent)]
    Run(#[from] RunError),
}
