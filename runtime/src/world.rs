//! What a run starts from: actors, the jobs that come, what fails, and the network.

use std::collections::BTreeMap;
use std::error::Error;

use haggle_agents::{AnyActor, Message};
use haggle_model::failures::Outage;
use haggle_model::{ActorId, EventsOrder, Job, Time};

use crate::bounds::{EXAMINED_MAX, IN_VAIN_MAX};
use crate::network::Network;
use crate::recovery::Blueprint;

/// Whatever goes wrong outside: reading a workload, writing a record.
pub type OutsideError = Box<dyn Error + Send + Sync>;

/// The jobs of one workload, in order of submission.
pub type Arrivals = Box<dyn Iterator<Item = Result<Job, OutsideError>> + Send>;

/// Everything a run starts from.
pub struct World {
    /// The actors, by [`ActorId`].
    pub actors: Vec<AnyActor>,
    /// The jobs that come to each user; read one ahead, so that memory does not
    /// grow with the length of a log. The world numbers them in order of
    /// (submission, place in this list).
    pub arrivals: Vec<(ActorId, Arrivals)>,
    /// What fails when; read one ahead.
    pub outages: Option<Outages>,
    /// When the run stops, whatever still waits or runs; what happens at that very
    /// instant still does. `None` = when every job is over.
    pub horizon: Option<Time>,
    /// How long messages travel, and what goes wrong on their way.
    pub network: Network,
    /// What comes first at one instant.
    pub order: EventsOrder,
    /// What is on its way when the run begins: when it arrives, and at whom.
    pub initial: Vec<(Time, ActorId, Message)>,
    /// How those are made anew that crash and restart; who is not in it stays as it is.
    pub blueprints: BTreeMap<ActorId, Blueprint>,
    /// How many messages in a row may bring no job further.
    pub in_vain_max: u64,
    /// How many plans, steps of plans and intervals may be examined while no job gets on.
    pub examined_max: u64,
}

impl Default for World {
    /// Nobody, and nothing to do.
    fn default() -> World {
        World {
            actors: Vec::new(),
            arrivals: Vec::new(),
            outages: None,
            horizon: None,
            network: Network::default(),
            order: EventsOrder::default(),
            initial: Vec::new(),
            blueprints: BTreeMap::new(),
            in_vain_max: IN_VAIN_MAX,
            examined_max: EXAMINED_MAX,
        }
    }
}

/// The failures of a run. They may go on for ever: without a horizon, what is to
/// fail after every job is over does not happen.
pub struct Outages {
    /// Who makes resources fail.
    pub nature: ActorId,
    /// How many resources there are.
    pub resources: u64,
    /// Number of a resource in nature's list and its outage, in order of failure.
    pub due: Box<dyn Iterator<Item = (usize, Outage)> + Send>,
}
