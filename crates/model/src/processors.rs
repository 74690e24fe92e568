//! Sets of processors as closed intervals: `0-3 5 7-9`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

/// Nearly all sets have one or two intervals, which need no allocation here. Two inline intervals take
/// no more room than a vector.
type Intervals = SmallVec<[(u32, u32); 2]>;

/// A set of processor numbers, kept as sorted, disjoint, maximal closed intervals.
///
/// Invariant: `intervals[i].1 + 1 < intervals[i + 1].0`.
#[derive(Clone, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
pub struct ProcessorSet {
    intervals: Intervals,
}

impl ProcessorSet {
    /// The empty set.
    pub const fn new() -> ProcessorSet {
        ProcessorSet { intervals: Intervals::new_const() }
    }

    /// The `count` processors from number `first` on.
    pub fn range(first: u32, count: u32) -> ProcessorSet {
        if count == 0 {
            return ProcessorSet::new();
        }
        // Written so that the last processor may have the largest number.
        ProcessorSet { intervals: smallvec![(first, first + (count - 1))] }
    }

    /// The intervals, ascending, both ends included.
    pub fn intervals(&self) -> &[(u32, u32)] {
        &self.intervals
    }

    /// Number of processors.
    pub fn count(&self) -> u32 {
        self.intervals.iter().map(|(first, last)| last - first + 1).sum()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.intervals.is_empty()
    }

    /// True if `processor` is in the set.
    pub fn contains(&self, processor: u32) -> bool {
        let after = self.intervals.partition_point(|&(first, _)| first <= processor);
        after > 0 && processor <= self.intervals[after - 1].1
    }

    /// Removes and returns the `count` lowest processors. If there are fewer, returns `None` and changes nothing.
    pub fn take_lowest(&mut self, count: u32) -> Option<ProcessorSet> {
        let mut wanted = count;
        let mut whole = 0;
        for &(first, last) in &self.intervals {
            let size = last - first + 1;
            if size > wanted {
                break;
            }
            wanted -= size;
            whole += 1;
        }
        if wanted > 0 && whole == self.intervals.len() {
            return None;
        }
        let mut taken = Intervals::with_capacity(whole + usize::from(wanted > 0));
        taken.extend(self.intervals.drain(..whole));
        if wanted > 0 {
            let split = &mut self.intervals[0];
            taken.push((split.0, split.0 + wanted - 1));
            split.0 += wanted;
        }
        Some(ProcessorSet { intervals: taken })
    }

    /// Puts the processors of `other` back in.
    ///
    /// # Panics
    /// If the sets overlap. Then one processor had two holders, which is a bug.
    pub fn insert_all(&mut self, other: &ProcessorSet) {
        for &(first, last) in &other.intervals {
            self.insert(first, last);
        }
    }

    fn insert(&mut self, first: u32, last: u32) {
        let at = self.intervals.partition_point(|&(start, _)| start < first);
        let joins_before = at > 0 && {
            let before = self.intervals[at - 1].1;
            assert!(before < first, "processor {first} is already in the set");
            before + 1 == first
        };
        let joins_after = at < self.intervals.len() && {
            let after = self.intervals[at].0;
            assert!(after > last, "processor {last} is already in the set");
            last + 1 == after
        };
        match (joins_before, joins_after) {
            (true, true) => {
                self.intervals[at - 1].1 = self.intervals[at].1;
                self.intervals.remove(at);
            }
            (true, false) => self.intervals[at - 1].1 = last,
            (false, true) => self.intervals[at].0 = first,
            (false, false) => self.intervals.insert(at, (first, last)),
        }
    }

    /// True if the sets have a processor in common.
    pub fn intersects(&self, other: &ProcessorSet) -> bool {
        !self.intersection(other).is_empty()
    }

    /// The processors that are in both sets.
    pub fn intersection(&self, other: &ProcessorSet) -> ProcessorSet {
        let mut intervals = Intervals::new();
        let (mut ours, mut theirs) = (self.intervals.iter(), other.intervals.iter());
        let (mut a, mut b) = (ours.next(), theirs.next());
        while let (Some(&(first, last)), Some(&(other_first, other_last))) = (a, b) {
            let both = (first.max(other_first), last.min(other_last));
            if both.0 <= both.1 {
                intervals.push(both);
            }
            // The interval that ends first can meet no further one.
            if last < other_last { a = ours.next() } else { b = theirs.next() }
        }
        ProcessorSet { intervals }
    }

    /// Removes the processors of `other`.
    ///
    /// # Panics
    /// If one of them is not in the set. Then another holder has it, which is a bug.
    pub fn remove_all(&mut self, other: &ProcessorSet) {
        for &(first, last) in &other.intervals {
            let at = self.intervals.partition_point(|&(_, end)| end < first);
            let covers = |&(start, end): &(u32, u32)| start <= first && last <= end;
            let &(start, end) =
                self.intervals.get(at).filter(|interval| covers(interval)).unwrap_or_else(|| {
                    panic!("processors {first} to {last} are not all in the set")
                });
            let left = (start < first).then(|| (start, first - 1));
            let right = (last < end).then(|| (last + 1, end));
            match (left, right) {
                (Some(left), Some(right)) => {
                    self.intervals[at] = left;
                    self.intervals.insert(at + 1, right);
                }
                (Some(rest), None) | (None, Some(rest)) => self.intervals[at] = rest,
                (None, None) => {
                    self.intervals.remove(at);
                }
            }
        }
    }

    /// The processors that are in at least one of the sets.
    pub fn union(&self, other: &ProcessorSet) -> ProcessorSet {
        let mut all: Intervals = self.intervals.iter().chain(&other.intervals).copied().collect();
        all.sort_unstable();
        let mut intervals = Intervals::with_capacity(all.len());
        for (first, last) in all {
            match intervals.last_mut() {
                // Neighbours are joined as well. The largest number has no successor.
                Some(before) if first <= before.1.saturating_add(1) => {
                    before.1 = before.1.max(last)
                }
                _ => intervals.push((first, last)),
            }
        }
        ProcessorSet { intervals }
    }

    /// The same set with every number raised by `offset`.
    pub fn shifted(&self, offset: u32) -> ProcessorSet {
        let intervals =
            self.intervals.iter().map(|&(first, last)| (first + offset, last + offset)).collect();
        ProcessorSet { intervals }
    }
}

/// Intervals joined by `-` inside and a space between: `0-3 5 7-9`.
impl fmt::Display for ProcessorSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, &(first, last)) in self.intervals.iter().enumerate() {
            let space = if i == 0 { "" } else { " " };
            if first == last {
                write!(f, "{space}{first}")?;
            } else {
                write!(f, "{space}{first}-{last}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for ProcessorSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

/// Error for a text that is not a set of processors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a set of processors such as \"0-3 5 7-9\"")]
pub struct ParseProcessorSetError(String);

impl FromStr for ProcessorSet {
    type Err = ParseProcessorSetError;

    fn from_str(text: &str) -> Result<ProcessorSet, ParseProcessorSetError> {
        let fail = || ParseProcessorSetError(text.to_owned());
        let mut set = ProcessorSet::new();
        for part in text.split_whitespace() {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first: u32 = first.parse().map_err(|_| fail())?;
            let last: u32 = last.parse().map_err(|_| fail())?;
            // A repeated processor must be an error here, because the insertion would panic.
            let ascending = set.intervals.last().is_none_or(|&(_, before)| before < first);
            if last < first || !ascending {
                return Err(fail());
            }
            set.insert(first, last);
        }
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowest_processors_are_taken_and_put_back() {
        let mut free = ProcessorSet::range(0, 10);
        let a = free.take_lowest(4).expect("ten are free");
        let b = free.take_lowest(3).expect("six are free");
        assert_eq!((a.to_string(), b.to_string()), ("0-3".into(), "4-6".into()));
        free.insert_all(&a);
        let c = free.take_lowest(6).expect("seven are free");
        assert_eq!(c.to_string(), "0-3 7-8");
        assert_eq!(free.take_lowest(2), None);
        assert_eq!(free.to_string(), "9");
        free.insert_all(&c);
        free.insert_all(&b);
        assert_eq!(free, ProcessorSet::range(0, 10));
    }

    #[test]
    fn a_union_joins_what_touches() {
        let set = |text: &str| text.parse::<ProcessorSet>().expect("valid");
        assert_eq!(set("0-3 8").union(&set("2-5 7 20")).to_string(), "0-5 7-8 20");
        assert_eq!(set("").union(&set("4")).to_string(), "4");
    }

    #[test]
    fn text_round_trips() {
        for text in ["", "0", "0-3 5 7-9"] {
            assert_eq!(text.parse::<ProcessorSet>().expect("valid").to_string(), text);
        }
        for wrong in ["3-1", "a", "5 3", "1-2-3"] {
            assert!(wrong.parse::<ProcessorSet>().is_err(), "{wrong}");
        }
    }

    #[test]
    #[should_panic(expected = "already in the set")]
    fn a_processor_cannot_be_freed_twice() {
        ProcessorSet::range(0, 4).insert_all(&ProcessorSet::range(3, 1));
    }
}
