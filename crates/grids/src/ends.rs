//! Next ends of jobs on resources, as the grid's scheduler knows them. They are filed so that [an
//! estimate](super::estimate) need not examine all resources.

use std::collections::BTreeSet;

use haggle_model::work::{EffectiveSpeed, Speed, Work};
use haggle_model::{JobId, Time};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::jobs::GridJob;
use super::resources::ResourceId;

/// A resource and the jobs that hold a slot there and stay; a failed resource has no slots.
#[derive(Clone, Debug)]
pub(super) struct Held {
    /// Speed that the background load leaves.
    pub(super) avail: Speed,
    /// Number of jobs that it runs at the same time.
    pub(super) slots: u32,
    pub(super) replicas: SmallVec<[Replica; 1]>,
}

impl Held {
    /// Speed of each of its jobs.
    pub(super) fn share(&self) -> EffectiveSpeed {
        EffectiveSpeed::shared(self.avail, self.replicas.len().max(1) as u64)
    }

    /// End of its first job if nothing changes, possibly in the past; `None` if no job ends.
    fn next_end(&self) -> Option<Time> {
        let share = self.share();
        let next = self.replicas.iter().map(|replica| replica.end(share)).min();
        next.filter(|&end| end < Time::FOREVER)
    }
}

/// A job that holds a slot, with a lower bound of its progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replica {
    pub(super) job: JobId,
    length: Work,
    /// Time since which it has computed, from nothing,
    since: Time,
    /// and time since which it has computed, from the state of its newest checkpoint.
    saved_at: Time,
    saved: Work,
}

impl Replica {
    /// A job that was sent to a resource at `since`.
    pub(super) fn new(job: JobId, since: Time, known: &GridJob) -> Replica {
        let &GridJob { length, saved, saved_at, .. } = known;
        // The job has computed from the checkpoint since that arrived, but not before it was sent here.
        Replica { job, length, since, saved_at: saved_at.max(since), saved }
    }

    /// Remaining work, with its present share.
    pub(super) fn left(&self, now: Time, share: EffectiveSpeed) -> Work {
        let left = self.length.saturating_sub(share.over(now - self.since));
        let unsaved = self.length.saturating_sub(self.saved);
        left.min(unsaved.saturating_sub(share.over(now - self.saved_at)))
    }

    /// Its end from the remaining work, possibly in the past. It may be early by the rounding of shares.
    fn end(&self, share: EffectiveSpeed) -> Time {
        let unsaved = self.length.saturating_sub(self.saved);
        let end = self.since + self.length.at_effective(share);
        end.min(self.saved_at + unsaved.at_effective(share))
    }
}

/// Resources by the next end of a job.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Ends {
    by_resource: Vec<Option<Time>>,
    order: BTreeSet<(Time, ResourceId)>,
    /// Resources that a job is leaving: it holds its slot until it has left.
    left: BTreeSet<ResourceId>,
}

impl Ends {
    /// Files the present jobs of a resource.
    pub(super) fn file(&mut self, id: ResourceId, held: &Held, is_left: bool) {
        if id.index() >= self.by_resource.len() {
            self.by_resource.resize(id.index() + 1, None);
        }
        let next = held.next_end();
        let before = std::mem::replace(&mut self.by_resource[id.index()], next);
        if let Some(before) = before {
            // The order has one entry for each resource at most.
            self.order.remove(&(before, id));
        }
        self.order.extend(next.map(|next| (next, id)));
        if is_left {
            self.left.insert(id);
        } else {
            self.left.remove(&id);
        }
    }

    /// Resources where a job ends, or should have ended, with the time; the earliest first.
    pub(super) fn order(&self) -> &BTreeSet<(Time, ResourceId)> {
        &self.order
    }

    /// Resources that a job is leaving.
    pub(super) fn left(&self) -> &BTreeSet<ResourceId> {
        &self.left
    }
}
