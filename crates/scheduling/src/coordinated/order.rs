//! The order in which waiting batches are examined.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::Range;

use haggle_model::{Span, Time};

use super::entries::Entries;
use super::entry::Entry;
use crate::bags::Batch;
use crate::scheduler::Slot;

/// Key that orders the batches of an entry. It never decreases from one start to the next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Key {
    /// The same time for all batches.
    Fixed(Time),
    /// The start of each batch, plus this span.
    AfterStart(Span),
}

impl Key {
    fn of(self, batch: &Batch) -> Time {
        match self {
            Key::Fixed(time) => time,
            Key::AfterStart(span) => batch.start + span,
        }
    }
}

/// All waiting batches, by key, then by entry, then by start.
///
/// The batches of each entry are in order already, so they are merged, not sorted. The result is a sequence
/// of runs, each with batches of one entry. Later batches keep their places in the entry when earlier ones
/// move. Entries are sorted by their first batches: rigid jobs have no more.
#[derive(Debug)]
pub(super) struct Order {
    /// Every entry with its key; among equal keys the first entry goes first.
    entries: Vec<(Slot, Key)>,
    /// The next line.
    next: Option<Line>,
    /// Lines that have not had a turn, the first one last.
    fresh: Vec<Line>,
    /// Lines that have had a turn.
    later: BinaryHeap<Reverse<Line>>,
}

/// Remaining batches of one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    /// Key of the first batch.
    key: Time,
    /// Index in `entries`.
    place: usize,
    /// Number of batches.
    batches: usize,
}

impl Order {
    /// The order of these waiting `entries`, and of their batches that start after `after`.
    pub(super) fn new<'a>(
        entries: impl Iterator<Item = (Slot, Key, &'a Entry)>,
        after: Time,
    ) -> Order {
        let (count, _) = entries.size_hint();
        let (keyed, lines) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let later = BinaryHeap::with_capacity(count);
        let mut order = Order { entries: keyed, next: None, fresh: lines, later };
        for (place, (slot, key, entry)) in entries.enumerate() {
            order.entries.push((slot, key));
            let line = order.line(place, &entry.waiting, after);
            order.fresh.extend(line);
        }
        order.fresh.sort_unstable_by_key(|&line| Reverse(line));
        order.next = order.fresh.pop();
        order
    }

    /// The next run: an entry and the range of its batches. Batches that start at or before `after` are
    /// skipped.
    pub(super) fn next(&mut self, entries: &Entries, after: Time) -> Option<(Slot, Range<usize>)> {
        loop {
            let Line { place, batches: left, .. } = self.next?;
            let (slot, key) = self.entries[place];
            let entry = entries.in_use(slot);
            let first = entry.waiting.len() - left;
            let batches = &entry.waiting[first..];
            let run = match self.peek() {
                _ if batches[0].start <= after => 0,
                None => left,
                Some(other) => {
                    let comes = |batch: &&Batch| (key.of(batch), place) < (other.key, other.place);
                    batches.iter().take_while(comes).count()
                }
            };
            let line = self.line(place, &batches[run..], after);
            self.next = self.first_of(line);
            if run > 0 {
                return Some((slot, first..first + run));
            }
        }
    }

    /// The line of those last batches of an entry that start after `after`.
    fn line(&self, place: usize, batches: &[Batch], after: Time) -> Option<Line> {
        let first = batches.partition_point(|batch| batch.start <= after);
        let (_, key) = self.entries[place];
        let batch = batches.get(first)?;
        Some(Line { key: key.of(batch), place, batches: batches.len() - first })
    }

    /// The line after the next one.
    fn peek(&self) -> Option<Line> {
        let later = self.later.peek().map(|&Reverse(line)| line);
        self.fresh.last().copied().into_iter().chain(later).min()
    }

    /// The first of all lines, with `line` added.
    fn first_of(&mut self, line: Option<Line>) -> Option<Line> {
        let first = self.peek();
        if line.is_some_and(|line| first.is_none_or(|first| line < first)) {
            return line;
        }
        if first == self.fresh.last().copied() {
            self.fresh.pop();
            self.later.extend(line.map(Reverse));
            return first;
        }
        match (line, self.later.peek_mut()) {
            (Some(line), Some(mut first)) => Some(std::mem::replace(&mut first.0, line)),
            (None, Some(first)) => Some(PeekMut::pop(first).0),
            (line, None) => line,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::coordinated::entry::Kind;

    /// An entry with these starts, and its key: one time, or a span after each start.
    fn entries() -> impl Strategy<Value = Vec<(Entry, Key)>> {
        let starts = prop::collection::btree_set(0..60_i64, 1..20);
        let one = (starts, any::<bool>(), 0..30_i64).prop_map(|(starts, fixed, key)| {
            let batch = |start| Batch { start: Time::from_secs(start), tasks: 1 };
            let batches: Vec<Batch> = starts.into_iter().map(batch).collect();
            let entry = Entry::new(Kind::Share, 0, 1, Span::TICK, Time::ZERO, &batches);
            let after_start = Key::AfterStart(Span::from_secs(key));
            (entry, if fixed { Key::Fixed(Time::from_secs(key * 2)) } else { after_start })
        });
        prop::collection::vec(one, 0..6)
    }

    proptest! {
        #[test]
        fn merged_as_if_sorted(entries in entries(), first in -1..20_i64, later in 0..3_i64) {
            let keyed = (0..).map(Slot).zip(&entries);
            let mut sorted: Vec<(Time, Slot, Time)> = keyed
                .clone()
                .flat_map(|(slot, (entry, key))| {
                    entry.waiting.iter().map(move |batch| (key.of(batch), slot, batch.start))
                })
                .collect();
            sorted.sort_unstable();
            let mut after = Time::from_secs(first);
            let mut order = Order::new(keyed.map(|(slot, (entry, key))| (slot, *key, entry)), after);
            let mut waiting = Entries::default();
            (0..).map(Slot).zip(&entries).for_each(|(slot, (entry, _))| waiting.insert(slot, entry.clone()));
            let mut sorted = sorted.into_iter();
            while let Some((slot, run)) = order.next(&waiting, after) {
                prop_assert!(!run.is_empty());
                for batch in &entries[slot.index()].0.waiting[run] {
                    let due = sorted.find(|&(_, _, start)| start > after);
                    prop_assert_eq!(due.map(|(_, slot, start)| (slot, start)), Some((slot, batch.start)));
                }
                after += Span::from_secs(later);
            }
            prop_assert!(sorted.all(|(_, _, start)| start <= after));
        }
    }
}
