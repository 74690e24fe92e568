//! The entries of a queue by slot, and the first planned start of each beside them.
//!
//! Whoever looks through all of the queue asks as a rule only who starts next. That is kept apart
//! from the entries, side by side, so that ten thousand entries cost a look at a few pages of memory.

use haggle_model::Time;

use super::entry::{Entry, Kind};
use crate::scheduler::Slot;

/// Where nothing waits: after all time.
const NOTHING: Time = Time::from_micros(i64::MAX);

/// All entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    /// By slot.
    list: Vec<Option<Entry>>,
    /// The same: what of it starts first.
    firsts: Vec<First>,
    /// How many entries are shares.
    shares: usize,
}

/// What of an entry starts first.
#[derive(Clone, Copy, Debug)]
struct First {
    /// [`NOTHING`] if nothing of it waits.
    start: Time,
    /// Of the entry, in the order of arrival.
    sequence: u32,
}

impl First {
    fn of(entry: &Entry) -> First {
        let start = entry.waiting.first().map_or(NOTHING, |batch| batch.start);
        First { start, sequence: entry.sequence as u32 }
    }
}

impl Entries {
    /// How many slots there are, in use or not.
    pub(super) fn slots(&self) -> usize {
        self.list.len()
    }

    /// The entry of a slot, if it is in use.
    pub(super) fn get(&self, slot: Slot) -> Option<&Entry> {
        self.list.get(slot.index())?.as_ref()
    }

    /// The same of a slot in use.
    ///
    /// # Panics
    /// If it is not.
    pub(super) fn in_use(&self, slot: Slot) -> &Entry {
        self.list[slot.index()].as_ref().expect("a slot in use has an entry")
    }

    /// Changes the entry of a slot, if it is in use.
    pub(super) fn change_any<T>(
        &mut self,
        slot: Slot,
        change: impl FnOnce(&mut Entry) -> T,
    ) -> Option<T> {
        let entry = self.list.get_mut(slot.index())?.as_mut()?;
        let changed = change(entry);
        self.firsts[slot.index()] = First::of(entry);
        Some(changed)
    }

    /// The same of a slot in use.
    ///
    /// # Panics
    /// If it is not.
    pub(super) fn change<T>(&mut self, slot: Slot, change: impl FnOnce(&mut Entry) -> T) -> T {
        self.change_any(slot, change).expect("a slot in use has an entry")
    }

    /// Plans a job that waits for another start.
    pub(super) fn plan_job(&mut self, slot: Slot, start: Time) {
        self.change(slot, |entry| entry.waiting[0].start = start);
    }

    /// Adds an entry under a slot that is not in use.
    pub(super) fn insert(&mut self, slot: Slot, entry: Entry) {
        if slot.index() >= self.list.len() {
            self.list.resize(slot.index() + 1, None);
            self.firsts.resize(slot.index() + 1, First { start: NOTHING, sequence: 0 });
        }
        self.shares += usize::from(entry.kind == Kind::Share);
        self.firsts[slot.index()] = First::of(&entry);
        self.list[slot.index()] = Some(entry);
    }

    /// Takes an entry out, if the slot is in use.
    pub(super) fn remove(&mut self, slot: Slot) -> Option<Entry> {
        let entry = self.list.get_mut(slot.index())?.take()?;
        self.shares -= usize::from(entry.kind == Kind::Share);
        self.firsts[slot.index()].start = NOTHING;
        Some(entry)
    }

    /// All entries with their slots.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Slot, &Entry)> {
        let slots = (0..).map(Slot);
        slots.zip(&self.list).filter_map(|(slot, entry)| Some((slot, entry.as_ref()?)))
    }

    /// Those of which something is planned to start by `time`.
    pub(super) fn due(&self, time: Time) -> impl Iterator<Item = (Slot, &Entry)> {
        let slots = (0..).map(Slot).zip(&self.firsts);
        let due = slots.filter(move |(_, first)| first.start <= time);
        due.map(|(slot, _)| (slot, self.in_use(slot)))
    }

    /// When something starts next.
    pub(super) fn next_start(&self) -> Option<Time> {
        let next = self.firsts.iter().map(|first| first.start).min();
        next.filter(|&start| start < NOTHING)
    }

    /// How many entries wait, or have something that does.
    pub(super) fn waiting(&self) -> usize {
        self.firsts.iter().filter(|first| first.start < NOTHING).count()
    }

    /// Whether some are shares.
    pub(super) fn has_shares(&self) -> bool {
        self.shares > 0
    }

    /// The planned start of the entry that came as the so many-th, if it still waits under this slot.
    pub(super) fn planned(&self, slot: Slot, sequence: u32) -> Option<Time> {
        let first = self.firsts.get(slot.index())?;
        (first.sequence == sequence && first.start < NOTHING).then_some(first.start)
    }
}
