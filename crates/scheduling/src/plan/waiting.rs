//! Waiting jobs in the order in which they are examined.

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::index::{FIRST, Key};
use crate::scheduler::Slot;

/// A job that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Its place in the order; unique.
    pub(crate) key: Key,
    /// Its planned start.
    pub(crate) booked: Time,
    /// Time it requests.
    pub(crate) span: Span,
    pub(crate) slot: Slot,
    pub(crate) processors: u32,
}

/// A sorted list that is walked from end to end far more often than it is changed. So changes are noted,
/// and applied together before the next walk.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Waiting {
    /// Sorted, except for entries that a walk has moved; some entries have gone.
    list: Vec<Entry>,
    /// Not yet in the list, in no order.
    joined: Vec<Entry>,
    /// Number of entries in the list that have gone.
    gone: usize,
    /// Buffer for merging.
    merged: Vec<Entry>,
}

impl Waiting {
    /// Number of waiting jobs.
    pub(crate) fn len(&self) -> usize {
        self.list.len() + self.joined.len() - self.gone
    }

    /// Adds a job.
    pub(crate) fn insert(&mut self, entry: Entry) {
        self.joined.push(entry);
    }

    /// Adds a job behind all others, at once; returns its place in the list.
    pub(crate) fn push(&mut self, entry: Entry) -> usize {
        debug_assert!(self.joined.is_empty(), "others may belong behind it");
        self.list.push(entry);
        self.list.len() - 1
    }

    /// All jobs, including entries that have gone but have not been taken out.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.list.iter().chain(&self.joined)
    }

    /// One of the jobs waits no longer; `waits` of [`Waiting::settle`] must return `false` for it.
    pub(crate) fn one_has_gone(&mut self) {
        self.gone += 1;
    }

    /// Returns whether the list should be brought in order to save memory.
    pub(crate) fn most_have_gone(&self) -> bool {
        self.gone > 2 * self.len() + 64
    }

    /// Brings the list in order: inserts joined jobs and removes those that have gone.
    pub(crate) fn settle(&mut self, waits: impl Fn(&Entry) -> bool) {
        if self.gone > 0 {
            self.list.retain(&waits);
            self.joined.retain(&waits);
            self.gone = 0;
        }
        self.merge();
    }

    /// Brings the list in order where any bookings and keys have changed. `present` returns the present
    /// state of an entry, if it waits. An entry out of order is taken out and inserted again.
    pub(crate) fn renew(&mut self, present: impl Fn(&Entry) -> Option<Entry>) {
        let Waiting { list, joined, gone, .. } = self;
        let mut renewed = |entry: &mut Entry| {
            let present = present(entry);
            *entry = present.unwrap_or(*entry);
            present.is_some()
        };
        joined.retain_mut(&mut renewed);
        let mut last = FIRST;
        list.retain_mut(|entry| {
            let waits = renewed(entry);
            let in_order = waits && last < entry.key;
            if in_order {
                last = entry.key;
            } else if waits {
                joined.push(*entry);
            }
            in_order
        });
        *gone = 0;
        self.merge();
    }

    /// The list; in order if it has been settled.
    pub(crate) fn list(&self) -> &[Entry] {
        &self.list
    }

    /// The list, to change bookings; [`Waiting::sort_again`] follows where keys change with them.
    pub(crate) fn list_mut(&mut self) -> &mut [Entry] {
        &mut self.list
    }

    /// Moves the jobs at these ascending places, whose keys have changed, to where they belong.
    pub(crate) fn sort_again(&mut self, places: &[usize]) {
        if places.is_empty() {
            return;
        }
        let Waiting { list, joined, .. } = self;
        let mut moved = places.iter().copied().peekable();
        let mut place = 0;
        list.retain(|entry| {
            let has_moved = moved.next_if_eq(&place).is_some();
            place += 1;
            if has_moved {
                joined.push(*entry);
            }
            !has_moved
        });
        self.merge();
    }

    /// Merges joined jobs into the list.
    fn merge(&mut self) {
        let Waiting { list, joined, merged, .. } = self;
        let Some(first) = joined.iter().map(|entry| entry.key).min() else { return };
        joined.sort_unstable_by_key(|entry| entry.key);
        // Entries before the first joined one stay in place.
        let kept = list.partition_point(|entry| entry.key < first);
        let mut from = kept;
        merged.clear();
        for &entry in joined.iter() {
            let before = list[from..].partition_point(|other| other.key < entry.key);
            merged.extend_from_slice(&list[from..from + before]);
            merged.push(entry);
            from += before;
        }
        merged.extend_from_slice(&list[from..]);
        list.truncate(kept);
        list.append(merged);
        joined.clear();
    }
}
