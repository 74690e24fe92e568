//! Bargaining over bags.

use haggle_model::Time;

use crate::bags::{Award, BagRequest, Bargainer, Batch, FreeSlot, Offer, merge};
use crate::composition::QueueEntry;
use crate::placing::free_slots;
use crate::plan::Part;
use crate::scheduler::{Slot, promise};

use super::Edf;
use super::demand::Demand;
use super::queue::Entry;
use super::trial::Trial;

impl Edf {
    /// Puts some of an offer's tasks into the plan.
    ///
    /// Fewer tasks may fit worse than all of them, because the entries behind them are placed differently.
    /// Then the plan of the whole offer is used, without the tasks at its end.
    fn award_offered(
        &mut self,
        now: Time,
        slot: Slot,
        bag: &BagRequest,
        tasks: u32,
        offer: Offer,
    ) -> Option<Time> {
        if tasks == 0 || tasks > offer.tasks {
            return None;
        }
        self.queue.end_tail_before(offer.completion);
        let whole_offer = (tasks < offer.tasks).then_some(offer.tasks);
        for tried in [Some(tasks), whole_offer].into_iter().flatten() {
            let demand = Demand::tasks(tried, bag.span, bag.earliest);
            let mut trial = Trial::new(demand, &self.config);
            self.stats.attempts += 1;
            if let Some(chain) = trial.attempt(&mut self.queue, now, offer.completion) {
                self.stats.repairs += chain.repairs;
                let batches = trial.apply(&mut self.queue, chain);
                let entry = Entry::new(slot, demand, offer.completion, batches);
                return Some(self.queue.accept(now, entry, tried - tasks));
            }
        }
        None
    }

    /// Puts tasks into free slots without moving other entries.
    fn award_placed(
        &mut self,
        now: Time,
        slot: Slot,
        bag: &BagRequest,
        batches: &[Batch],
        deadline: Time,
    ) -> Option<Time> {
        let mut batches = batches.to_vec();
        batches.sort_unstable();
        let tasks = batches.iter().try_fold(0_u32, |sum, batch| sum.checked_add(batch.tasks))?;
        let demand = Demand::tasks(tasks, bag.span, bag.earliest);
        let completion = demand.completion(&batches);
        let mut steps = self.queue.whole();
        for batch in &batches {
            let end = batch.start + demand.span;
            let possible = batch.tasks > 0
                && batch.start >= now
                && batch.start < Time::FOREVER
                && steps.min_free(batch.start, end) >= batch.tasks;
            if !possible {
                return None;
            }
            // Each batch must fit beside the ones before it.
            steps.add(batch.start, end, batch.tasks);
        }
        if tasks == 0 || completion > deadline {
            return None;
        }
        let mut entry = Entry::new(slot, demand, deadline.min(Time::FOREVER), batches);
        // Behind a job without a limit there is no place yet to be pinned to.
        entry.pinned = self.config.pinned && promise(completion).is_some();
        self.queue.insert_beside(entry);
        Some(completion)
    }
}

impl Bargainer for Edf {
    fn offers(&mut self, now: Time, bag: &BagRequest) -> Vec<Offer> {
        self.queue.forget_before(now);
        // Without a deadline the search begins now, to find the earliest completion.
        let wished = bag.deadline.unwrap_or(now).min(Time::FOREVER);
        let mut promises = Vec::new();
        for tasks in self.config.fractions.sizes(bag.tasks).into_iter().rev() {
            let mut trial = Trial::new(Demand::tasks(tasks, bag.span, bag.earliest), &self.config);
            let completion = trial.promise(&mut self.queue, now, wished, &mut self.stats);
            promises.push(Offer { tasks, completion });
            // No offer is earlier than wished, so offers for fewer tasks add nothing.
            if completion == wished {
                break;
            }
        }
        let mut offers = Vec::new();
        for offer in promises.into_iter().rev() {
            merge(&mut offers, offer);
        }
        offers
    }

    fn award(&mut self, now: Time, slot: Slot, bag: &BagRequest, award: &Award) -> Option<Time> {
        self.queue.forget_before(now);
        match award {
            Award::Offered { tasks, offer } => self.award_offered(now, slot, bag, *tasks, *offer),
            Award::Placed { batches, deadline } => {
                self.award_placed(now, slot, bag, batches, *deadline)
            }
        }
    }

    fn free_slots(&mut self, now: Time) -> Vec<FreeSlot> {
        free_slots(self.queue.whole().iter(), now)
    }

    fn tasks_due(&mut self, now: Time, started: &mut Vec<(Slot, u32)>) {
        self.queue.forget_before(now);
        self.queue.start(now, false, |slot, tasks| started.push((slot, tasks)));
    }

    fn tasks_finished(&mut self, now: Time, slot: Slot, tasks: u32, planned_end: Time) {
        let part = Part { processors: tasks, planned_end };
        let Some(ended) = self.queue.end(now, slot, part) else {
            debug_assert!(false, "only running tasks end");
            return;
        };
        self.given_back |= now < ended.planned_end;
        if !self.queue.plan().runs(slot) && !self.queue.waits(slot) {
            self.queue.forget(slot);
        }
    }

    fn wait_again(&mut self, now: Time, slot: Slot, tasks: &BagRequest) {
        self.queue.forget_before(now);
        let waiting = self.waiting().find(|&(other, ..)| other == slot).map_or(0, |it| it.1);
        // The waiting tasks of the share and the killed ones form one entry again.
        self.queue.remove(slot);
        let demand = Demand::tasks(waiting + tasks.tasks, tasks.span, tasks.earliest);
        self.accept(now, slot, demand, tasks.deadline.unwrap_or(now));
    }

    fn queue(&self) -> Vec<QueueEntry> {
        let entry = |(_, processors, promise)| QueueEntry { processors, promise };
        self.waiting().map(entry).collect()
    }

    fn latest_completion(&self, slot: Slot) -> Option<Time> {
        let planned = self.queue.planned(slot).map(|entry| entry.completion());
        planned.max(self.queue.plan().latest_end(slot))
    }
}
