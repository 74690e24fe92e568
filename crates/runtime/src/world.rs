//! The start of a run: actors, arriving jobs, failures, and the network.

use std::collections::{BTreeMap, VecDeque};
use std::error::Error;

use haggle_agents::{AnyActor, Message};
use haggle_model::{ActorId, EventsOrder, Job, Time};
use haggle_workloads::failures::Outage;

use crate::bounds::{EXAMINED_MAX, NO_PROGRESS_MAX};
use crate::change::Change;
use crate::network::Network;
use crate::recovery::Blueprint;

/// An error outside of the run, from reading a workload or writing a record.
pub type OutsideError = Box<dyn Error + Send + Sync>;

/// The jobs of one workload, in order of submission.
pub type Arrivals = Box<dyn Iterator<Item = Result<Job, OutsideError>> + Send>;

/// The initial state of a run.
pub struct World {
    /// The actors, by [`ActorId`].
    pub actors: Vec<AnyActor>,
    /// The jobs that arrive at each user; read a few ahead, so that memory does not grow with the length
    /// of a log. The world numbers them in order of (submission, index in this list).
    pub arrivals: Vec<(ActorId, Arrivals)>,
    /// Outages of resources; read one ahead.
    pub outages: Option<Outages>,
    /// Time at which the run stops, even if jobs wait or run. Events at this very instant still happen.
    /// `None` = when every job is over.
    pub horizon: Option<Time>,
    /// Latencies and faults of messages.
    pub network: Network,
    /// Order of events at one instant.
    pub order: EventsOrder,
    /// Messages under way when the run begins: time of arrival, receiver, and message.
    pub initial: Vec<(Time, ActorId, Message)>,
    /// Blueprints by which actors are rebuilt after a crash. An actor without one keeps its state.
    pub blueprints: BTreeMap<ActorId, Blueprint>,
    /// Changes while the run goes on, in order of their instants.
    pub changes: Vec<Change>,
    /// Largest number of consecutive messages without progress of a job.
    pub no_progress_max: u64,
    /// Largest number of plans, steps of plans and intervals examined without progress of a job.
    pub examined_max: u64,
}

impl World {
    /// Puts the first `count` changes into the world, as far as a run that has taken them reads from it, and returns the
    /// others.
    pub(crate) fn skip_changes(&mut self, count: u32) -> VecDeque<Change> {
        let mut changes = VecDeque::from(std::mem::take(&mut self.changes));
        for change in changes.drain(..(count as usize).min(changes.len())) {
            self.arrivals = change.arrivals.unwrap_or(std::mem::take(&mut self.arrivals));
            self.outages = change.outages.or(self.outages.take());
            let known = self.actors.len();
            let added = change.actors.into_iter().filter(|(actor, _)| actor.index() >= known);
            self.actors.extend(added.map(|(_, actor)| actor));
        }
        changes
    }
}

impl Default for World {
    /// A world without actors and jobs.
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
            changes: Vec::new(),
            no_progress_max: NO_PROGRESS_MAX,
            examined_max: EXAMINED_MAX,
        }
    }
}

/// The failures of a run. They may be endless. Without a horizon, failures after the end of all jobs do not happen.
pub struct Outages {
    /// Actor that makes resources fail.
    pub nature: ActorId,
    /// Number of resources.
    pub resources: u64,
    /// Number of a resource in nature's list and its outage, in order of failure.
    pub due: Box<dyn Iterator<Item = (usize, Outage)> + Send>,
}
