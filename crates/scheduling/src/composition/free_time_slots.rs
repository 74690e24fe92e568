//! Composition from the earliest free time slots of all providers (after Netto 2009, section 6.4.4,
//! FreeTimeSlots).

use std::cmp::Reverse;

use haggle_model::{Span, Time};

use crate::Profile;
use crate::bags::{Award, Batch, FreeSlot};

use super::view::{FreeTime, View, level};
use super::{BagCall, Composer, Composition, Part};

/// Fills the earliest free time slots; it sees no deadlines, so it can move no work.
#[derive(Clone, Copy, Debug, Default)]
pub struct FreeTimeSlots;

/// The free time of a provider while slots of it are filled.
#[derive(Debug)]
struct Filling {
    profile: Profile,
    task: Span,
    /// Earliest start of a task, and how many can start then.
    next: Option<(Time, u32)>,
    batches: Vec<Batch>,
}

impl Filling {
    fn new(free: &FreeTime, now: Time) -> Filling {
        let mut filling = Filling {
            profile: profile(&free.slots),
            task: free.task.max(Span::TICK),
            next: None,
            batches: Vec::new(),
        };
        filling.find_next(now);
        filling
    }

    fn find_next(&mut self, from: Time) {
        let start = self.profile.earliest_fit(1, self.task, from);
        let start = start.filter(|&start| start < Time::FOREVER);
        self.next = start.map(|start| (start, self.profile.min_free(start, start + self.task)));
    }

    fn put(&mut self, batch: Batch) {
        self.profile.add(batch.start, batch.start + self.task, batch.tasks);
        self.batches.push(batch);
        self.find_next(batch.start);
    }
}

/// Number of slots that are open at each time.
fn profile(slots: &[FreeSlot]) -> Profile {
    // At equal times the ends come first.
    let ends = slots.iter().filter(|slot| slot.end < Time::FOREVER).map(|slot| (slot.end, false));
    let starts = slots.iter().map(|slot| (slot.start, true));
    let mut changes: Vec<(Time, bool)> = ends.chain(starts).collect();
    changes.sort_unstable();
    let mut open: u32 = 0;
    let mut steps = Vec::new();
    let mut most = 0;
    for (time, opens) in changes {
        open = if opens { open + 1 } else { open.saturating_sub(1) };
        most = most.max(open);
        steps.push((time, open));
    }
    let mut profile = Profile::new(most);
    let mut before = (Time::from_micros(i64::MIN), 0);
    for &(time, free) in steps.iter().chain([&(Time::FOREVER, 0)]) {
        profile.add(before.0, time, most - before.1);
        before = (time, free);
    }
    profile
}

impl Composer for FreeTimeSlots {
    type Needs = level::Slots;
    const ASKS_FOR_OFFERS: bool = false;

    fn compose(
        &self,
        bag: &BagCall,
        views: &[View<level::Slots>],
        _turn: u64,
    ) -> Option<Composition> {
        let mut fillings: Vec<Filling> =
            views.iter().map(|view| Filling::new(view.free_time(), bag.now)).collect();
        let mut left = bag.tasks;
        let mut completion = bag.deadline.unwrap_or(bag.now);
        while left > 0 {
            // The earliest start; among equal ones the one with most processors.
            let next =
                |filling: &Filling| filling.next.map(|(start, tasks)| (start, Reverse(tasks)));
            let best = fillings.iter_mut().filter(|f| f.next.is_some()).min_by_key(|f| next(f))?;
            let (start, free) = best.next?;
            let tasks = left.min(free);
            completion = completion.max(start + best.task);
            best.put(Batch { start, tasks });
            left -= tasks;
        }
        let filled = fillings.into_iter().map(|filling| filling.batches).enumerate();
        let part = |(provider, batches)| Part {
            provider,
            award: Award::Placed { batches, deadline: completion },
            offer: None,
        };
        let parts: Vec<Part> =
            filled.filter(|(_, batches)| !batches.is_empty()).map(part).collect();
        let complete = !parts.is_empty();
        complete.then_some(Composition { completion, parts, balanced: false, sizes: 0 })
    }
}
