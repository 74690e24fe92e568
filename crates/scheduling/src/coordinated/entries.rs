//! The entries of a queue by slot, with the first planned start of each beside them.
//!
//! Searches through the whole queue usually need only the first starts. So these are stored apart from the
//! entries, side by side: for ten thousand entries they take only a few pages of memory.

use haggle_model::Time;
use serde::{Deserialize, Serialize};

use super::entry::{Entry, Kind};
use crate::scheduler::Slot;

/// Start of an entry without waiting tasks: after all time.
const NOTHING: Time = Time::from_micros(i64::MAX);

/// All entries.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Entries {
    /// By slot.
    list: Vec<Option<Entry>>,
    /// The first start of each entry, by slot.
    firsts: Vec<First>,
    /// Number of entries that are shares.
    shares: usize,
}

/// The first start of an entry.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct First {
    /// [`NOTHING`] if no task of it waits.
    start: Time,
    /// Number of the entry in the order of arrival.
    sequence: u32,
}

impl First {
    fn of(entry: &Entry) -> First {
        let start = entry.waiting.first().map_or(NOTHING, |batch| batch.start);
        First { start, sequence: entry.sequence as u32 }
    }
}

impl Entries {
    /// Number of slots, in use or not.
    pub(super) fn slots(&self) -> usize {
        self.list.len()
    }

    /// The entry of a slot, if it is in use.
    pub(super) fn get(&self, slot: Slot) -> Option<&Entry> {
        self.list.get(slot.index())?.as_ref()
    }

    /// As [`Entries::get`], of a slot in use.
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

    /// As [`Entries::change_any`], of a slot in use.
    ///
    /// # Panics
    /// If it is not.
    pub(super) fn change<T>(&mut self, slot: Slot, change: impl FnOnce(&mut Entry) -> T) -> T {
        self.change_any(slot, change).expect("a slot in use has an entry")
    }

    /// Gives a waiting job another planned start.
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

    /// Entries with a task planned to start by `time`.
    pub(super) fn due(&self, time: Time) -> impl Iterator<Item = (Slot, &Entry)> {
        let slots = (0..).map(Slot).zip(&self.firsts);
        let due = slots.filter(move |(_, first)| first.start <= time);
        due.map(|(slot, _)| (slot, self.in_use(slot)))
    }

    /// The next planned start.
    pub(super) fn next_start(&self) -> Option<Time> {
        let next = self.firsts.iter().map(|first| first.start).min();
        next.filter(|&start| start < NOTHING)
    }

    /// Number of entries with waiting tasks.
    pub(super) fn waiting(&self) -> usize {
        self.firsts.iter().filter(|first| first.start < NOTHING).count()
    }

    /// Returns whether there are shares.
    pub(super) fn has_shares(&self) -> bool {
        self.shares > 0
    }

    /// The planned start of the `sequence`-th entry, if it still waits under this slot.
    pub(super) fn planned(&self, slot: Slot, sequence: u32) -> Option<Time> {
        let first = self.firsts.get(slot.index())?;
        (first.sequence == sequence && first.start < NOTHING).then_some(first.start)
    }
}
