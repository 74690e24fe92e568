//! A set of small numbers that knows its n-th member, for drawing one at random.

use serde::{Deserialize, Serialize};

/// A set of numbers from 0 on, in order; every operation takes O(log n).
///
/// A Fenwick tree over the numbers: entry i counts the members among the last
/// (lowest set bit of i) numbers before i.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RankSet {
    /// One more entry than numbers; the count of numbers is a power of two.
    counts: Vec<u32>,
    members: Vec<bool>,
    len: usize,
}

impl RankSet {
    /// Number of members.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no members.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns whether `number` is a member.
    pub fn contains(&self, number: u32) -> bool {
        self.members.get(number as usize).is_some_and(|&member| member)
    }

    /// Adds a number; `false` if it was a member.
    pub fn insert(&mut self, number: u32) -> bool {
        self.cover(number as usize);
        let new = !std::mem::replace(&mut self.members[number as usize], true);
        if new {
            self.len += 1;
            self.count(number, |count| *count += 1);
        }
        new
    }

    /// Takes a number out; `false` if it was no member.
    pub fn remove(&mut self, number: u32) -> bool {
        let member = self.contains(number);
        if member {
            self.members[number as usize] = false;
            self.len -= 1;
            self.count(number, |count| *count -= 1);
        }
        member
    }

    /// Number of members below `number`.
    pub fn rank(&self, number: u32) -> usize {
        let mut index = (number as usize).min(self.members.len());
        let mut rank = 0;
        while index > 0 {
            rank += self.counts[index] as usize;
            // Drops the lowest set bit: the next entry counts the numbers before this one's.
            index &= index - 1;
        }
        rank
    }

    /// The member with `rank` members below it.
    pub fn select(&self, rank: usize) -> Option<u32> {
        if rank >= self.len {
            return None;
        }
        let (mut index, mut left, mut step) = (0, rank, self.members.len());
        while step > 0 {
            if let Some(&count) = self.counts.get(index + step)
                && count as usize <= left
            {
                index += step;
                left -= count as usize;
            }
            step /= 2;
        }
        Some(index as u32)
    }

    /// A member that is not in `excluded`. `draw` is called with the number of such members, unless that is
    /// zero.
    pub fn draw_except(
        &self,
        excluded: impl IntoIterator<Item = u32>,
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Option<u32> {
        let members = excluded.into_iter().filter(|&number| self.contains(number));
        let mut ranks: Vec<usize> = members.map(|number| self.rank(number)).collect();
        ranks.sort_unstable();
        ranks.dedup();
        let choices = self.len - ranks.len();
        if choices == 0 {
            return None;
        }
        let mut rank = draw(choices);
        assert!(rank < choices, "a draw is below its bound");
        // The ranks ascend: each excluded one that is not above the result moves it up by one.
        for excluded in ranks {
            rank += usize::from(excluded <= rank);
        }
        self.select(rank)
    }

    fn count(&mut self, number: u32, change: impl Fn(&mut u32)) {
        let mut index = number as usize + 1;
        while index < self.counts.len() {
            change(&mut self.counts[index]);
            index += index & index.wrapping_neg();
        }
    }

    /// Makes room for `number`.
    fn cover(&mut self, number: usize) {
        if number >= self.members.len() {
            let size = (number + 1).next_power_of_two().max(64);
            let before = self.members.len();
            self.members.resize(size, false);
            self.counts.resize(size + 1, 0);
            // Of the new entries only the powers of two reach back to the old numbers.
            let mut power = (before * 2).max(1);
            while power <= size && before > 0 {
                self.counts[power] = self.len as u32;
                power *= 2;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranks_are_those_of_a_sorted_list(
            steps in prop::collection::vec((any::<bool>(), 0..300_u32), 1..300),
            excluded in prop::collection::vec(0..300_u32, 0..6),
            draw in any::<usize>(),
        ) {
            let (mut fast, mut obvious) = (RankSet::default(), BTreeSet::new());
            for (insert, number) in steps {
                if insert {
                    prop_assert_eq!(fast.insert(number), obvious.insert(number));
                } else {
                    prop_assert_eq!(fast.remove(number), obvious.remove(&number));
                }
                prop_assert_eq!(fast.len(), obvious.len());
            }
            for (rank, &number) in obvious.iter().enumerate() {
                prop_assert_eq!(fast.select(rank), Some(number));
                prop_assert_eq!(fast.rank(number), rank);
            }
            prop_assert_eq!(fast.select(obvious.len()), None);
            let left: Vec<u32> =
                obvious.into_iter().filter(|number| !excluded.contains(number)).collect();
            let drawn = fast.draw_except(excluded, &mut |bound| draw % bound);
            prop_assert_eq!(drawn, (!left.is_empty()).then(|| left[draw % left.len().max(1)]));
        }
    }
}
