//! The end of a run, which its nodes agree on: all jobs have arrived and are over, or the horizon is reached.
//!
//! ```text
//!   node ── progress ──▶ coordinator       whenever it changes, after a sync
//!   node ◀──── end ───── coordinator       once all jobs of all nodes are over
//!   node ─── ended ────▶ coordinator       its journal has its last record
//!   node ◀─── ended ──── coordinator       all nodes have ended
//! ```
//!
//! The node of the first part is the coordinator. Arrivals end for good, and a job that is over stays so. The sum of
//! reports of different times is therefore never over too early.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::parts::PartId;

/// The part whose node decides the end.
pub const COORDINATOR: PartId = 0;

/// Jobs of a node. A job may arrive at one node, and be over at another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Jobs that have arrived.
    pub jobs: u64,
    /// Jobs that are over.
    pub over: u64,
    /// True if further jobs will arrive.
    pub awaits: bool,
}

/// The knowledge of the coordinator.
#[derive(Clone, Debug)]
pub struct Agreement {
    nodes: usize,
    reports: BTreeMap<PartId, Progress>,
    ended: BTreeSet<PartId>,
}

impl Agreement {
    /// The knowledge before the first report of `nodes` nodes.
    pub fn new(nodes: usize) -> Agreement {
        Agreement { nodes, reports: BTreeMap::new(), ended: BTreeSet::new() }
    }

    /// Notes the progress of a node.
    pub fn report(&mut self, part: PartId, progress: Progress) {
        self.reports.insert(part, progress);
    }

    /// The sum of all reports. Without a report of each node, further jobs are expected.
    pub fn sum(&self) -> Progress {
        let none = Progress { awaits: self.reports.len() < self.nodes, ..Progress::default() };
        self.reports.values().fold(none, |sum, it| Progress {
            jobs: sum.jobs + it.jobs,
            over: sum.over + it.over,
            awaits: sum.awaits || it.awaits,
        })
    }

    /// True if all jobs have arrived and are over.
    pub fn is_over(&self) -> bool {
        let sum = self.sum();
        !sum.awaits && sum.jobs == sum.over
    }

    /// Notes that a node has ended. Returns true if that was not known.
    pub fn ended(&mut self, part: PartId) -> bool {
        self.ended.insert(part)
    }

    /// The nodes that have not ended yet.
    pub fn open(&self) -> impl Iterator<Item = PartId> {
        (0..self.nodes as PartId).filter(|it| !self.ended.contains(it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(jobs: u64, over: u64, awaits: bool) -> Progress {
        Progress { jobs, over, awaits }
    }

    #[test]
    fn a_run_is_over_with_its_last_job() {
        let mut agreement = Agreement::new(3);
        agreement.report(0, progress(2, 0, false));
        agreement.report(1, progress(0, 2, false));
        assert!(!agreement.is_over(), "a node has not reported");
        agreement.report(2, progress(0, 0, true));
        assert!(!agreement.is_over(), "jobs will arrive");
        agreement.report(2, progress(1, 0, false));
        assert!(!agreement.is_over(), "a job runs");
        agreement.report(1, progress(0, 3, false));
        assert!(agreement.is_over());
        assert_eq!(agreement.open().collect::<Vec<_>>(), [0, 1, 2]);
        assert!(agreement.ended(1) && !agreement.ended(1));
        assert_eq!(agreement.open().collect::<Vec<_>>(), [0, 2]);
    }
}
