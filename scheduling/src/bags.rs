//! Bags of independent one-processor tasks, and what a local scheduler that
//! bargains over them is asked for.
//!
//! A provider is sent a [`BagRequest`] and answers with [`Offer`]s, "so many
//! tasks done by then". What is awarded to it is a *share*: one entry of its
//! queue, under one [`Slot`], whose tasks need not start together.

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::composition::QueueEntry;
use crate::scheduler::{LocalScheduler, Slot};

/// A bag as one provider sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BagRequest {
    /// Tasks of the whole bag, at least one.
    pub tasks: u32,
    /// Planned time of one task on this machine, at least a tick.
    pub span: Span,
    /// When its user wants it done; `None` = as early as possible.
    pub deadline: Option<Time>,
    /// No task starts before: until then an agreement may still be under way.
    pub earliest: Time,
}

/// So many tasks of a bag, done by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Offer {
    /// Tasks the provider would take.
    pub tasks: u32,
    /// When they would be done: a promise, once it is awarded.
    pub completion: Time,
}

/// What a rule of one's own may know when it decides what becomes of an offer, see [`OfferRule`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// The present.
    pub now: Time,
    /// The bag: its tasks, and the time of one of them here.
    pub bag: BagRequest,
    /// Computing power of the provider, in thousandths of a reference processor.
    pub power: u64,
    /// Work that it still has to do, in thousandths of a reference processor times microseconds.
    pub load: u128,
    /// Drawn uniformly from [0, 1), once for each answer to a call.
    pub draw: f64,
}

/// What a provider tells of an offer that it has planned: by how much later than planned it says the tasks will be done;
/// `None` = it does not tell of it. What is told can be kept, for the plan does not depend on it.
pub type OfferRule = fn(&Asked, &Offer) -> Option<Span>;

/// Tasks of a share that start together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Batch {
    /// Their planned start.
    pub start: Time,
    /// How many, at least one.
    pub tasks: u32,
}

/// One processor that is free for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FreeSlot {
    /// From when.
    pub start: Time,
    /// Until when; [`Time::FOREVER`] for the last slot of a processor.
    pub end: Time,
}

/// What is awarded to a provider.
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
        /// Where they go.
        batches: Vec<Batch>,
        /// When the whole bag will be done: the provider may move them within that.
        deadline: Time,
    },
}

/// The sizes for which a provider makes offers: these fractions of the bag.
#[derive(Clone, Debug, PartialEq, Eq)]
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

    /// The sizes for a bag of so many tasks: ascending, without duplicates, the whole bag last.
    pub fn sizes(&self, tasks: u32) -> Vec<u32> {
        let part = |&(a, b): &(u32, u32)| {
            let size = u64::from(tasks) * u64::from(a) / u64::from(b);
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

/// Adds an offer for more tasks than all before; offers that promise less for later go.
pub(crate) fn merge(offers: &mut Vec<Offer>, offer: Offer) {
    while offers.last().is_some_and(|last| last.completion >= offer.completion) {
        offers.pop();
    }
    offers.push(offer);
}

/// A local scheduler that bargains.
///
/// Rigid jobs of local users go through [`LocalScheduler`]; shares of bags go
/// through here, in the same space of slots. Asking changes no decision.
pub trait Bargainer: LocalScheduler {
    /// Offers for a bag: strictly increasing in tasks and in completion, the whole bag last.
    /// A completion of [`Time::FOREVER`] means that none can be promised.
    fn offers(&mut self, now: Time, bag: &BagRequest) -> Vec<Offer>;

    /// Puts a share into the plan under `slot` and returns its planned
    /// completion, not later than awarded; `None`, and nothing changes, if that
    /// is not possible any more. While the plan is the one an offer was made
    /// on, an award of it never fails.
    fn award(&mut self, now: Time, slot: Slot, bag: &BagRequest, award: &Award) -> Option<Time>;

    /// The free time of every processor from now on over the whole plan, sorted
    /// by start, then later end first.
    fn free_slots(&mut self, now: Time) -> Vec<FreeSlot>;

    /// Appends (slot, tasks) for the tasks that start now, in order, and takes their processors.
    fn tasks_due(&mut self, now: Time, started: &mut Vec<(Slot, u32)>);

    /// Tasks of a share that started together have ended, at their planned end or before.
    /// The share is forgotten when its last task has ended.
    fn tasks_finished(&mut self, now: Time, slot: Slot, tasks: u32, planned_end: Time);

    /// Tasks of a share that were killed wait again, at the earliest place there
    /// is and for the deadline that was promised; it may be too late for that.
    /// The share is known even if it had nothing else left.
    fn wait_again(&mut self, now: Time, slot: Slot, tasks: &BagRequest);

    /// The metascheduler has said when the whole bag of this share will be done.
    fn bag_expected(&mut self, _slot: Slot, _completion: Time) {}

    /// Whether something has ended early since waiting work was rescheduled, if it is.
    fn wants_rescheduling(&self) -> bool {
        false
    }

    /// Moves waiting work up to what has become free.
    fn reschedule(&mut self, _now: Time) {}

    /// Latest planned completion of the tasks here, those included that have ended.
    fn latest_completion(&self, slot: Slot) -> Option<Time>;

    /// What waits, in the queue's order.
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
