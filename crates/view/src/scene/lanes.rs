//! Lanes: rows for intervals of time, so that those on one row never overlap.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// The lane of each interval, and the number of lanes. An interval gets the lowest free lane at its
/// start; intervals are served by start. The number of lanes is the largest number of intervals at
/// once.
pub fn lanes(intervals: &[(i64, i64)]) -> (Vec<u32>, u32) {
    let mut order = Vec::from_iter(0..intervals.len());
    order.sort_by_key(|&at| (intervals[at], at));
    let mut lanes = vec![0; intervals.len()];
    let mut free: BTreeSet<u32> = BTreeSet::new();
    let mut taken: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
    let mut count = 0;
    for at in order {
        let (start, end) = intervals[at];
        while let Some(&Reverse((until, lane))) = taken.peek()
            && until <= start
        {
            taken.pop();
            free.insert(lane);
        }
        let lane = free.pop_first().unwrap_or_else(|| {
            count += 1;
            count - 1
        });
        lanes[at] = lane;
        taken.push(Reverse((end, lane)));
    }
    (lanes, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_at_once_have_different_lanes() {
        let (places, count) = lanes(&[(0, 10), (5, 7), (10, 12), (6, 20), (7, 9)]);
        assert_eq!((places, count), (vec![0, 1, 0, 2, 1], 3));
        assert_eq!(lanes(&[]), (Vec::new(), 0));
    }

    #[test]
    fn an_interval_without_length_needs_a_lane_only_at_its_instant() {
        assert_eq!(lanes(&[(3, 3), (3, 3), (3, 5)]).1, 1);
    }
}
