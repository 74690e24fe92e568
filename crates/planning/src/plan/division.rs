//! From one interval to more and more: the next marker is set where it saves most, and no marker is
//! removed (section 5.2).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use haggle_model::Span;

use super::{Plan, Problem};
use crate::{Interval, IntervalOracle};

/// A possible marker: the change of the cost, its place, and its interval.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Split {
    change: Span,
    marker: usize,
    interval: Interval,
}

/// The cheapest of the plans that the division heuristic passes through; of equal ones, the one with
/// the fewest intervals.
///
/// It examines places for a marker, at most Φ(Φ-1)/2. A marker splits one interval into two, and the
/// costs of the others stay the same. Each interval is therefore examined once, for its best place.
pub fn division<O: IntervalOracle>(problem: &Problem<'_, O>) -> Plan<O::Schedule> {
    let mut examined = 0;
    let mut best_split = |interval: Interval| {
        examined += interval.phases() as u64 - 1;
        let places = interval.first..interval.last;
        places.filter_map(|marker| split(problem, interval, marker)).min().map(Reverse)
    };
    let mut splits = BinaryHeap::from_iter(best_split(problem.whole()));
    let mut markers = Vec::new();
    let mut change = Span::ZERO;
    // The plan of one interval is also a candidate, if it is valid.
    let alone = problem.valid_time(problem.whole()).map(|_| (change, 0));
    let mut least = alone;
    while let Some(Reverse(Split { change: more, marker, interval })) = splits.pop() {
        markers.push(marker);
        change += more;
        let cost = (change, markers.len());
        least = Some(least.map_or(cost, |least| least.min(cost)));
        let (left, right) = interval.split_after(marker);
        splits.extend(best_split(left));
        splits.extend(best_split(right));
    }
    // Before sorting: the markers are still in the order in which they were set.
    markers.truncate(least.map_or(0, |(_, markers)| markers));
    markers.sort_unstable();
    problem.plan(&markers).examined(examined)
}

/// Change of the cost by a marker, if both new intervals are valid.
fn split<O: IntervalOracle>(
    problem: &Problem<'_, O>,
    interval: Interval,
    marker: usize,
) -> Option<Split> {
    let (left, right) = interval.split_after(marker);
    let apart = problem.valid_time(left)? + problem.valid_time(right)?;
    let change = apart + problem.rescheduling - problem.oracle.least_time(interval);
    Some(Split { change, marker, interval })
}
