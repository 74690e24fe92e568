//! Bags of independent one-processor tasks, and the interface of a local scheduler that bargains over them.
//!
//! A provider receives a [`BagRequest`] and answers with [`Offer`]s, each a number of tasks and their
//! completion. The award to a provider is a *share*: one entry of its queue, under one [`Slot`], whose
//! tasks need not start together.

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::composition::QueueEntry;
use crate::scheduler::Slot;

/// A bag as one provider sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BagRequest {
    /// Tasks of the whole bag, at least one.
    pub tasks: u32,
    /// Planned time of one task on this machine, at least a tick.
    pub span: Span,
    /// Completion that its user wishes; `None` = as early as possible.
    pub deadline: Option<Time>,
    /// Earliest start of a task: until then an agreement may still be in progress.
    pub earliest: Time,
}

/// A number of tasks of a bag and their completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Offer {
    /// Tasks the provider would take.
    pub tasks: u32,
    /// Their completion: a promise, once it is awarded.
    pub completion: Time,
}

/// Data for a rule of one's own that decides about an offer, see [`OfferRule`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// The present.
    pub now: Time,
    /// The bag: its tasks, and the time of one of them here.
    pub bag: BagRequest,
    /// Computing power of the provider, in thousandths of a reference processor.
    pub power: u64,
    /// Remaining work, in thousandths of a reference processor times microseconds.
    pub load: u128,
    /// Drawn uniformly from [0, 1), once for each answer to a call.
    pub draw: f64,
}

/// Disclosure of a planned offer: the span by which the disclosed completion is later than the planned one;
/// `None` = the offer is not disclosed. Disclosed offers can be kept, because the plan does not depend on
/// them.
pub type OfferRule = fn(&Asked, &Offer) -> Option<Span>;

/// Tasks of a share that start together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Batch {
    /// Their planned start.
    pub start: Time,
    /// Number of tasks, at least one.
    pub tasks: u32,
}

/// Free time of one processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FreeSlot {
    /// Start of the free time.
    pub start: Time,
    /// End of the free time; [`Time::FOREVER`] for the last slot of a processor.
    pub end: Time,
}

/// An award to a provider.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Award {
    /// Some or all of the tasks of an offer it made.
    Offered {
        /// Tasks, at most those of the offer.
        tasks: u32,
        /// The offer.
        offer: Offer,
    },
    /// Tasks in free time slots it published.
    Placed {
        /// Places of the tasks.
        batches: Vec<Batch>,
        /// Completion of the whole bag: the provider may move the tasks within that.
        deadline: Time,
    },
}

/// The sizes for which a provider makes offers: these fractions of the bag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fractions(Vec<(u32, u32)>);

impl Fractions {
    /// Fractions (a, b) = a/b, each above 0 and at most 1; the whole bag is added if it is missing.
    ///
    /// # Panics
    /// If one is not.
    pub fn new(mut fractions: Vec<(u32, u32)>) -> Fractions {
        assert!(fractions.iter().all(|&(a, b)| 0 < a && a <= b), "fractions are in (0, 1]");
        fractions.push((1, 1));
        Fractions(fractions)
    }

    /// The sizes for a bag of `tasks` tasks: ascending, without duplicates, the whole bag last.
    pub fn sizes(&self, tasks: u32) -> Vec<u32> {
        let part = |&(a, b): &(u32, u32)| {
            let size = u64::from(tasks) * u64::from(a) / u64::from(b);
            // A part of a small bag may be less than a task.
            (size as u32).max(1)
        };
        let mut sizes: Vec<u32> = self.0.iter().map(part).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }
}

/// 10, 25, 50, 75 and 100 % (Netto 2009, section 6.3).
impl Default for Fractions {
    fn default() -> Fractions {
        Fractions::new(vec![(1, 10), (1, 4), (1, 2), (3, 4), (1, 1)])
    }
}

/// Adds an offer for more tasks than all before; removes offers for fewer tasks that are no earlier.
pub(crate) fn merge(offers: &mut Vec<Offer>, offer: Offer) {
    while offers.last().is_some_and(|last| last.completion >= offer.completion) {
        offers.pop();
    }
    offers.push(offer);
}

/// A local scheduler that bargains.
///
/// Rigid jobs of local users use [`LocalScheduler`](crate::LocalScheduler); shares of bags use this trait, with common slots. A
/// request for offers changes no decision.
pub trait Bargainer {
    /// Offers for a bag: strictly increasing in tasks and in completion, the whole bag last.
    /// A completion of [`Time::FOREVER`] means that none can be promised.
    fn offers(&mut self, now: Time, bag: &BagRequest) -> Vec<Offer>;

    /// Puts a share into the plan under `slot` and returns its planned completion, not later than awarded.
    /// Returns `None`, and changes nothing, if that is no longer possible. While the plan is the one of an
    /// offer, its award never fails.
    fn award(&mut self, now: Time, slot: Slot, bag: &BagRequest, award: &Award) -> Option<Time>;

    /// The free time of every processor from now on over the whole plan, sorted
    /// by start, then later end first.
    fn free_slots(&mut self, now: Time) -> Vec<FreeSlot>;

    /// Appends (slot, tasks) for the tasks that start now, in order, and takes their processors.
    fn tasks_due(&mut self, now: Time, started: &mut Vec<(Slot, u32)>);

    /// Tasks of a share that started together have ended, at their planned end or before.
    /// The share is forgotten when its last task has ended.
    fn tasks_finished(&mut self, now: Time, slot: Slot, tasks: u32, planned_end: Time);

    /// Killed tasks of a share wait again, at the earliest place and for the promised deadline; it may be
    /// too late for that. The share is known even if it had no other task left.
    fn wait_again(&mut self, now: Time, slot: Slot, tasks: &BagRequest);

    /// The metascheduler has reported the completion of the whole bag of this share.
    fn bag_expected(&mut self, _slot: Slot, _completion: Time) {}

    /// Returns whether something has ended early since waiting work was last rescheduled, if the scheduler
    /// reschedules.
    fn wants_rescheduling(&self) -> bool {
        false
    }

    /// Moves waiting work up to returned time.
    fn reschedule(&mut self, _now: Time) {}

    /// Latest completion of the tasks here, planned or past.
    fn latest_completion(&self, slot: Slot) -> Option<Time>;

    /// Waiting work, in the queue's order.
    fn queue(&self) -> Vec<QueueEntry>;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OX-1 of the offers.
    #[test]
    fn sizes_are_fractions_of_the_bag() {
        let sizes = |tasks| Fractions::default().sizes(tasks);
        assert_eq!(sizes(512), [51, 128, 256, 384, 512]);
        assert_eq!(sizes(10), [1, 2, 5, 7, 10]);
        assert_eq!(sizes(7), [1, 3, 5, 7]);
        assert_eq!(sizes(3), [1, 2, 3]);
        assert_eq!(sizes(1), [1]);
    }
}
