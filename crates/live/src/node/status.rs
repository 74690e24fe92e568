//! The state of a node, for its operator.

use std::collections::BTreeMap;
use std::time::Duration;

use actix::{Context, Handler};
use serde::{Deserialize, Serialize};

use super::{Node, Real};
use crate::ending::Progress;
use crate::machine::Tally;

/// Counts of a node since its process began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Inputs: messages that were taken or refused, and steps of the own clock.
    pub inputs: u64,
    /// Messages of other nodes that were taken.
    pub taken: u64,
    /// Messages of other nodes that were refused.
    pub refused: u64,
    /// Messages to other nodes.
    pub sent: u64,
    /// Syncs of the journal.
    pub syncs: u64,
    /// Time of all syncs together, microseconds.
    pub sync_micros: u64,
    /// Time of the longest sync, microseconds.
    pub longest_sync_micros: u64,
}

impl Counts {
    pub(super) fn synced(&mut self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.syncs += 1;
        self.sync_micros = self.sync_micros.saturating_add(micros);
        self.longest_sync_micros = self.longest_sync_micros.max(micros);
    }
}

/// The state of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Its name.
    pub node: String,
    /// The names of its actors.
    pub actors: Vec<String>,
    /// Time of the run, seconds.
    pub time: f64,
    /// Seconds of the run in a second of real time.
    pub scale: f64,
    /// Number of this process among all that had its journal.
    pub incarnation: u32,
    /// Its jobs.
    pub progress: Progress,
    /// True if the run is over.
    pub is_over: bool,
    /// Names of all other nodes; true if there is a connection.
    pub peers: BTreeMap<String, bool>,
    /// Messages to other nodes that these have not acknowledged.
    pub waiting: u64,
    /// Messages of nodes whose clocks are ahead.
    pub early: u64,
    /// Number of the last record of its journal.
    pub records: u64,
    /// Counts since its process began.
    pub counts: Counts,
    /// Counts of its real machine.
    pub machine: Option<Tally>,
}

/// Asks for the state of a node.
#[derive(actix::Message)]
#[rtype(result = "Status")]
pub struct Ask;

impl Handler<Ask> for Node {
    type Result = actix::MessageResult<Ask>;

    fn handle(&mut self, _: Ask, _: &mut Context<Self>) -> Self::Result {
        let (core, run) = (self.keeper.core(), &self.run);
        let members = core.members().iter().filter_map(|it| run.names.get(it.index()));
        let others = (0..).zip(&run.nodes).filter(|it| it.0 != self.part);
        let session = core.session();
        actix::MessageResult(Status {
            node: self.identity.name().to_string(),
            actors: members.cloned().collect(),
            time: self.clock.now().as_secs_f64(),
            scale: run.scale,
            incarnation: self.keeper.incarnation(),
            progress: self.progress.unwrap_or_default(),
            is_over: self.keeper.is_over(),
            peers: others
                .map(|(peer, name)| (name.to_string(), self.connections.contains_key(&peer)))
                .collect(),
            waiting: session.peers().map(|it| session.waiting(it) as u64).sum(),
            early: self.early.values().map(|it| it.len() as u64).sum(),
            records: self.keeper.records(),
            counts: self.counts,
            machine: self.real.as_ref().and_then(Real::tally),
        })
    }
}
