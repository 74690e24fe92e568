//! Running parts under each slot, and their planned ends.

use haggle_model::Time;
use serde::{Deserialize, Serialize};

use crate::scheduler::Slot;

/// Processors that are planned to be given back together: all of a rigid job, or tasks of a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) processors: u32,
    pub(crate) planned_end: Time,
}

/// Running parts, by slot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Running {
    /// Processors on which nothing runs.
    free: u32,
    slots: Vec<Held>,
}

/// The parts of one slot.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Held {
    /// The running part that started first: all of a rigid job, without a memory allocation.
    first: Option<Part>,
    /// The other parts in order of their start; no two have the same planned end.
    others: Vec<Part>,
    /// Latest end of a part that has ended.
    ended: Option<Time>,
}

impl Running {
    pub(crate) fn new(processors: u32) -> Running {
        Running { free: processors, slots: Vec::new() }
    }

    pub(crate) fn free(&self) -> u32 {
        self.free
    }

    fn held(&self, slot: Slot) -> Option<&Held> {
        self.slots.get(slot.index())
    }

    pub(crate) fn start(&mut self, slot: Slot, part: Part) {
        self.free -= part.processors;
        if slot.index() >= self.slots.len() {
            self.slots.resize_with(slot.index() + 1, Held::default);
        }
        self.slots[slot.index()].add(part);
    }

    /// The running part of a rigid job.
    pub(crate) fn only(&self, slot: Slot) -> Option<Part> {
        self.held(slot)?.first
    }

    /// Takes a part that has ended out of the running ones, if it runs.
    ///
    /// An overrun part has a later planned end than the one it was started with. So if no part has the
    /// given end, the part that started first is meant.
    pub(crate) fn end(&mut self, now: Time, slot: Slot, part: Part) -> Option<Part> {
        let held = self.slots.get_mut(slot.index())?;
        let ends = |other: Part| other.planned_end == part.planned_end;
        let place = held.parts().position(ends).unwrap_or(0);
        let running = held.part_mut(place)?;
        let over = Part { processors: part.processors.min(running.processors), ..*running };
        running.processors -= over.processors;
        if running.processors == 0 {
            held.remove(place);
        }
        held.ended = held.ended.max(Some(now));
        self.free += over.processors;
        Some(over)
    }

    /// Extends parts planned to end by `now` until `end`; returns the processors they hold.
    pub(crate) fn extend(&mut self, slot: Slot, now: Time, end: Time) -> u32 {
        let Some(held) = self.slots.get_mut(slot.index()) else { return 0 };
        let mut over = 0;
        let parts = Vec::from_iter(held.parts());
        // Extended parts may have the same planned end now; adding them again joins them.
        held.stop();
        for part in parts {
            let goes_on = part.planned_end <= now;
            over += if goes_on { part.processors } else { 0 };
            held.add(if goes_on { Part { planned_end: end, ..part } } else { part });
        }
        over
    }

    /// Closes idle processors.
    pub(crate) fn close(&mut self, processors: u32) {
        self.free -= processors;
    }

    /// Opens closed processors again.
    pub(crate) fn reopen(&mut self, processors: u32) {
        self.free += processors;
    }

    pub(crate) fn latest_planned_end(&self, slot: Slot) -> Option<Time> {
        self.held(slot)?.parts().map(|part| part.planned_end).max()
    }

    /// Latest end of the parts that have ended.
    pub(crate) fn latest_end(&self, slot: Slot) -> Option<Time> {
        self.held(slot)?.ended
    }

    pub(crate) fn forget(&mut self, slot: Slot) {
        if let Some(held) = self.slots.get_mut(slot.index()) {
            held.stop();
            held.ended = None;
        }
    }

    /// Processor-microseconds until the planned ends.
    pub(crate) fn work(&self, now: Time) -> u128 {
        let parts = self.slots.iter().flat_map(Held::parts);
        let left = |part: Part| (part.planned_end - now).as_micros().max(0) as u128;
        parts.map(|part| u128::from(part.processors) * left(part)).sum()
    }
}

impl Held {
    fn parts(&self) -> impl Iterator<Item = Part> {
        self.first.iter().chain(&self.others).copied()
    }

    fn part_mut(&mut self, place: usize) -> Option<&mut Part> {
        self.first.iter_mut().chain(&mut self.others).nth(place)
    }

    fn add(&mut self, part: Part) {
        let Some(first) = &mut self.first else {
            self.first = Some(part);
            return;
        };
        let mut parts = std::iter::once(first).chain(&mut self.others);
        match parts.find(|it| it.planned_end == part.planned_end) {
            Some(together) => together.processors += part.processors,
            None => self.others.push(part),
        }
    }

    fn remove(&mut self, place: usize) {
        match place.checked_sub(1) {
            Some(place) => {
                self.others.remove(place);
            }
            None => self.first = (!self.others.is_empty()).then(|| self.others.remove(0)),
        }
    }

    /// Removes all running parts.
    fn stop(&mut self) {
        self.first = None;
        self.others.clear();
    }
}
