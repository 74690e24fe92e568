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
mod set;

use std::fmt;

use haggle_model::{Demand, JobPriority, Nodes, Span, Time};
use serde::{Deserialize, Serialize};

use crate::scheduler::{Killed, Request, SchedulerConfig, Slot};
use crate::site::{Denied, OnPreemption, SiteConfig};

use self::calendar::Calendar;
pub use self::choice::Placing;
pub use self::queue::NodeQueue;
pub use self::set::NodeSet;

/// Chunks of a job on one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// Index of the node.
    pub node: u32,
    /// Number of chunks there, at least one.
    pub chunks: u32,
}

/// A queue on nodes as a scenario describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodesConfig {
    /// The nodes of the machine; `None` = it counts processors only, and takes no account of other demands.
    pub nodes: Option<Nodes>,
    /// Choice among nodes that are free.
    pub placing: Placing,
    /// Order, backfilling and compression.
    pub queue: SchedulerConfig,
    /// Queues, accounts and priorities, if there are any. They go with first come first served, EASY, and conservative
    /// backfilling that plans anew.
    pub site: Option<SiteConfig>,
}

/// A running job that is stopped for a waiting one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preempted {
    /// The running job.
    pub slot: Slot,
    /// The waiting job.
    pub waiting: Slot,
    /// Time at which it is stopped.
    pub end: Time,
    /// Its treatment then.
    pub then: OnPreemption,
}

/// Queues that place jobs on nodes.
pub trait OnNodes {
    /// As [`LocalScheduler::estimate_start`](crate::LocalScheduler::estimate_start), of a job with this demand.
    fn estimate(&mut self, now: Time, demand: &Demand, span: Option<Span>) -> Option<Time>;

    /// The nodes of a job that has been started last under `slot`, each with the number of processors that it takes
    /// there. Empty if the queue places no jobs on nodes: any free processors do.
    fn places(&self, slot: Slot) -> Vec<(u32, u32)>;

    /// The rules of the site accept a job, which then joins the queue at this instant or later.
    ///
    /// # Errors
    /// The reason for which they refuse it.
    fn accept(&mut self, now: Time, request: &Request) -> Result<(), Denied>;

    /// The priority of a job that waits or has been started last under `slot`; `None` without priorities.
    fn priority(&self, _: Slot) -> Option<JobPriority> {
        None
    }

    /// The running jobs that are stopped now for a waiting one, before the jobs that are due start. It is called until there
    /// are none. They go on until their
    /// stated ends, and the queue plans with these. The owner of the machine notifies the queue of the ends, as of all others.
    fn preempt(&mut self, _: Time) -> Vec<Preempted> {
        Vec::new()
    }

    /// A job that was [accepted](OnNodes::accept) goes away before it has joined the queue.
    fn gone_before(&mut self, slot: Slot);

    /// As [`LocalScheduler::failed`](crate::LocalScheduler::failed), of so many processors of each of these nodes.
    fn failed_on(&mut self, now: Time, nodes: &[(u32, u32)], killed: &[Killed]);

    /// Processors of nodes that had failed are back.
    fn restored_on(&mut self, now: Time, nodes: &[(u32, u32)]);
}

/// Such as `easy, arrival order, packed on nodes` or `easy, by priority, 2 queues`.
impl fmt::Display for NodesConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_priority = self.site.as_ref().is_some_and(|it| it.priority.is_some());
        self.queue.words(f, has_priority.then_some("by priority"))?;
        if self.nodes.is_some() {
            write!(f, ", {} on nodes", self.placing.name())?;
        }
        let Some(site) = &self.site else { return Ok(()) };
        match site.queues.len() {
            0 => Ok(()),
            1 => f.write_str(", one queue"),
            several => write!(f, ", {several} queues"),
        }
    }
}
