//! A decision about the applications of a workflow that are between two intervals.

use std::collections::BTreeMap;

use haggle_model::{ActorId, JobId, Span};
use haggle_planning::workflow::{Grants, Step};
use haggle_workflows::ledger::WorkflowId;
use serde::{Deserialize, Serialize};

use crate::protocol::planning::IntervalOrder;

/// Applications of a level that compete for machines.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Contest {
    pub(super) workflow: WorkflowId,
    grants: Grants<JobId>,
    /// Proposed intervals and their clusters.
    proposals: BTreeMap<JobId, (ActorId, IntervalOrder)>,
    /// True if an application found no machine.
    pub(super) is_short: bool,
}

impl Contest {
    /// None of these applications has proposed.
    pub(super) fn new(workflow: WorkflowId, pending: impl IntoIterator<Item = JobId>) -> Contest {
        let grants = Grants::new(pending);
        Contest { workflow, grants, proposals: BTreeMap::new(), is_short: false }
    }

    /// Another application is between two intervals at the same instant.
    pub(super) fn join(&mut self, job: JobId) {
        self.grants.join(job);
    }

    /// The next step.
    pub(super) fn step(&self) -> Step<JobId> {
        self.grants.step()
    }

    /// An application with this predicted time to its end proposes an interval at a cluster.
    pub(super) fn propose(&mut self, cluster: ActorId, order: IntervalOrder, remaining: Span) {
        let job = order.job.id;
        self.grants.propose(job, remaining);
        self.proposals.insert(job, (cluster, order));
    }

    /// The proposal of an application.
    pub(super) fn proposal(&self, job: JobId) -> Option<&(ActorId, IntervalOrder)> {
        self.proposals.get(&job)
    }

    /// An application finds no machine, and waits.
    pub(super) fn wait(&mut self, job: JobId) {
        self.is_short = true;
        self.leave(job);
    }

    /// The machines of a proposal are not free any more.
    pub(super) fn lapse(&mut self, job: JobId) {
        self.proposals.remove(&job);
        self.grants.lapse(job);
    }

    /// An application has its machines, or is withdrawn.
    pub(super) fn leave(&mut self, job: JobId) {
        self.proposals.remove(&job);
        self.grants.leave(job);
    }
}
