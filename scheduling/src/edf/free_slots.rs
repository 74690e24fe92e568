//! The free time of every single processor (Netto 2009, section 6.3.2).

use std::cmp::Reverse;

use haggle_model::Time;

use crate::bags::FreeSlot;

use super::steps::Steps;

/// The free time in `steps` from `now` on, processor by processor, sorted by
/// start, then later end first.
///
/// Where processors become busy, those go that were free for the shortest
/// while. That keeps long slots whole: so many tasks fit side by side into the
/// slots as there are processors free all the while.
pub(super) fn free_slots(steps: &Steps, now: Time) -> Vec<FreeSlot> {
    let mut slots = Vec::new();
    let mut open: Vec<Time> = Vec::new();
    let mut steps = steps.iter().peekable();
    while let Some((start, free)) = steps.next() {
        if steps.peek().is_some_and(|&(end, _)| end <= now) {
            continue;
        }
        let (time, free) = (start.max(now), free as usize);
        while open.len() > free {
            slots.extend(open.pop().map(|start| FreeSlot { start, end: time }));
        }
        open.resize(free, time);
    }
    slots.extend(open.into_iter().map(|start| FreeSlot { start, end: Time::FOREVER }));
    slots.sort_by_key(|slot| (slot.start, Reverse(slot.end)));
    slots
}
