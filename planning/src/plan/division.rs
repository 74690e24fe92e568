//! From one interval to ever more: the next marker goes where it saves most, and no marker is taken
//! back (section 5.2).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use haggle_model::Span;

use super::{Plan, Problem};
use crate::{Interval, IntervalOracle};

/// A marker that may be set: by how much it changes the cost, where, and in what.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Split {
    change: Span,
    marker: usize,
    interval: Interval,
}

/// The cheapest of the plans that the division heuristic passes through; of equal ones the one with
/// the fewest intervals.
///
/// It examines places for a marker, Φ(Φ-1)/2 at most. A marker changes one interval into two, and
/// the others cost what they cost: so each interval is looked at once, for the best place in it.
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
    // The plan of one interval is a candidate, too, if it is valid.
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
    markers.truncate(least.map_or(0, |(_, markers)| markers));
    markers.sort_unstable();
    problem.plan(&markers).examined(examined)
}

/// What a marker costs, if both intervals beside it are valid.
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
