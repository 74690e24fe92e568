//! Lanes: rows for intervals of time, so that those on one row never overlap.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::Bar;

/// Puts bars on lanes, the first of which is a row. Bars that start at once are in the order of their jobs and attempts, in
/// a simulation as in the results of its run. Returns the number of lanes, at least 1.
pub(crate) fn put_on_lanes(bars: &mut [Bar], first_row: u32) -> u32 {
    bars.sort_by_key(|bar| (bar.start, bar.job, bar.attempt, bar.end));
    let (lane, count) = lanes(&Vec::from_iter(bars.iter().map(|bar| (bar.start, bar.end))));
    for (bar, lane) in bars.iter_mut().zip(lane) {
        bar.row = first_row + lane;
    }
    count.max(1)
}

/// The lane of each interval, and the number of lanes. An interval gets the lowest free lane at its
/// start. Intervals are served by start; of those with one start, the ones without length come first,
/// and the others in the given order. The number of lanes is the largest number of intervals at once.
fn lanes(intervals: &[(i64, i64)]) -> (Vec<u32>, u32) {
    let mut order = Vec::from_iter(0..intervals.len());
    order.sort_by_key(|&at| (intervals[at].0, intervals[at].1 > intervals[at].0, at));
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
    fn bars_of_one_start_are_in_the_order_of_their_jobs() {
        let bar = |job: u32, attempt: u16, end: i64| Bar {
            start: 4,
            end,
            row: 0,
            rows: 1,
            job,
            attempt,
            look: 0,
            colour: 0,
        };
        let mut bars = [bar(7, 1, 5), bar(2, 2, 6), bar(2, 1, 9)];
        assert_eq!(put_on_lanes(&mut bars, 10), 3);
        let rows = bars.map(|it| (it.job, it.attempt, it.row));
        assert_eq!(rows, [(2, 1, 10), (2, 2, 11), (7, 1, 12)]);
    }

    #[test]
    fn an_interval_without_length_needs_a_lane_only_at_its_instant() {
        assert_eq!(lanes(&[(3, 5), (3, 3), (3, 3)]).1, 1);
    }
}
