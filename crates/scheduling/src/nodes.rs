//! Queues of a machine whose nodes have several resources.
//!
//! ```text
//!   demand of a job ──▶ calendar: when do its chunks fit on nodes, for its whole time?
//!                       choice:   on which nodes then?
//!                       queue:    which jobs may go there, by the policy?
//! ```
//!
//! A queue that counts processors alone is exact as long as each processor can serve each job. With memory,
//! accelerators or whole nodes that is no longer so: free processors may be on the wrong nodes.

mod calendar;
mod choice;
mod plan;
mod queue;

use haggle_model::{Demand, Nodes, Span, Time};
use serde::{Deserialize, Serialize};

use crate::scheduler::{Killed, SchedulerConfig, Slot};

pub use self::calendar::Calendar;
pub use self::choice::Placing;
pub use self::queue::NodeQueue;

/// Chunks of a job on one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// Index of the node.
    pub node: u32,
    /// Number of chunks there, at least one.
    pub chunks: u32,
}

/// A queue on nodes as a scenario describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodesConfig {
    /// The nodes of the machine.
    pub nodes: Nodes,
    /// Choice among nodes that are free.
    pub placing: Placing,
    /// Order, backfilling and compression.
    pub queue: SchedulerConfig,
}

/// Queues that place jobs on nodes.
pub trait OnNodes {
    /// As [`LocalScheduler::estimate_start`](crate::LocalScheduler::estimate_start), of a job with this demand.
    fn estimate(&mut self, now: Time, demand: &Demand, span: Option<Span>) -> Option<Time>;

    /// The nodes of a job that has been started last under `slot`, each with the number of processors that it takes
    /// there. Empty if the queue places no jobs on nodes: any free processors do.
    fn places(&self, slot: Slot) -> Vec<(u32, u32)>;

    /// As [`LocalScheduler::failed`](crate::LocalScheduler::failed), of so many processors of each of these nodes.
    fn failed_on(&mut self, now: Time, nodes: &[(u32, u32)], killed: &[Killed]);

    /// Processors of nodes that had failed are back.
    fn restored_on(&mut self, now: Time, nodes: &[(u32, u32)]);
}
