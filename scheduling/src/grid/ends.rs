//! When jobs end next where, as far as a grid's scheduler knows, filed so that [an estimate](super::estimate)
//! need not look at all resources.

use std::collections::BTreeSet;

use haggle_model::work::{EffectiveSpeed, Speed, Work};
use haggle_model::{JobId, Time};
use smallvec::SmallVec;

use super::jobs::GridJob;
use super::resources::ResourceId;

/// A resource and the jobs that hold a slot there and stay; one that is down has no slots.
#[derive(Clone, Debug)]
pub(super) struct Held {
    /// What the background load leaves of its speed.
    pub(super) avail: Speed,
    /// How many jobs it takes at the same time.
    pub(super) slots: u32,
    pub(super) replicas: SmallVec<[Replica; 1]>,
}

impl Held {
    /// What each of its jobs gets.
    pub(super) fn share(&self) -> EffectiveSpeed {
        EffectiveSpeed::shared(self.avail, self.replicas.len().max(1) as u64)
    }

    /// When the first of its jobs ends if nothing changes, or has ended already; `None` if none does.
    fn next_end(&self) -> Option<Time> {
        let share = self.share();
        let next = self.replicas.iter().map(|replica| replica.end(share)).min();
        next.filter(|&end| end < Time::FOREVER)
    }
}

/// A job that holds a slot, with what it has computed at least.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replica {
    pub(super) job: JobId,
    length: Work,
    /// It has computed since then, from nothing,
    since: Time,
    /// and since then, from that: what its newest checkpoint holds.
    saved_at: Time,
    saved: Work,
}

impl Replica {
    /// A job that was sent to a resource then.
    pub(super) fn new(job: JobId, since: Time, known: &GridJob) -> Replica {
        let &GridJob { length, saved, saved_at, .. } = known;
        Replica { job, length, since, saved_at: saved_at.max(since), saved }
    }

    /// What is left of it, with the share that it has now.
    pub(super) fn left(&self, now: Time, share: EffectiveSpeed) -> Work {
        let left = self.length.saturating_sub(share.over(now - self.since));
        let unsaved = self.length.saturating_sub(self.saved);
        left.min(unsaved.saturating_sub(share.over(now - self.saved_at)))
    }

    /// When it ends by that, or has ended; before that at most by what is lost where shares are rounded.
    fn end(&self, share: EffectiveSpeed) -> Time {
        let unsaved = self.length.saturating_sub(self.saved);
        let end = self.since + self.length.at_effective(share);
        end.min(self.saved_at + unsaved.at_effective(share))
    }
}

/// Resources by when something ends there.
#[derive(Clone, Debug, Default)]
pub(super) struct Ends {
    by_resource: Vec<Option<Time>>,
    order: BTreeSet<(Time, ResourceId)>,
    /// Those that a job leaves: until it has, it holds a slot.
    left: BTreeSet<ResourceId>,
}

impl Ends {
    /// Files what a resource holds now.
    pub(super) fn file(&mut self, id: ResourceId, held: &Held, is_left: bool) {
        if id.index() >= self.by_resource.len() {
            self.by_resource.resize(id.index() + 1, None);
        }
        let next = held.next_end();
        let before = std::mem::replace(&mut self.by_resource[id.index()], next);
        if let Some(before) = before {
            self.order.remove(&(before, id));
        }
        self.order.extend(next.map(|next| (next, id)));
        if is_left {
            self.left.insert(id);
        } else {
            self.left.remove(&id);
        }
    }

    /// Those where something ends, or should have ended: when, the first one first.
    pub(super) fn order(&self) -> &BTreeSet<(Time, ResourceId)> {
        &self.order
    }

    /// Those that a job leaves.
    pub(super) fn left(&self) -> &BTreeSet<ResourceId> {
        &self.left
    }
}
