//! Operators that make plans from plans. A plan is a set of markers, ascending and before the last phase.

use std::cmp::Reverse;

use haggle_model::Span;

use super::Problem;
use crate::IntervalOracle;

/// Each has the markers of one parent up to the phase `cut`, and those of the other parent after it.
pub fn crossover(one: &[usize], other: &[usize], cut: usize) -> [Vec<usize>; 2] {
    let (one_before, one_behind) = one.split_at(one.partition_point(|&marker| marker <= cut));
    let (before, behind) = other.split_at(other.partition_point(|&marker| marker <= cut));
    [[one_before, behind].concat(), [before, one_behind].concat()]
}

/// Halves, by number of phases, the interval with the longest time among those with at least two phases.
pub fn split<O: IntervalOracle>(problem: &Problem<'_, O>, mut markers: Vec<usize>) -> Vec<usize> {
    let long = problem.intervals(&markers).enumerate().filter(|(_, part)| part.phases() > 1);
    // The minimum of the reverse, because `max_by_key` returns the last of equal ones.
    let longest = long.min_by_key(|&(_, part)| Reverse(problem.oracle.least_time(part)));
    if let Some((place, interval)) = longest {
        // An odd phase belongs to the first half.
        markers.insert(place, interval.first + interval.phases().div_ceil(2) - 1);
    }
    markers
}

/// Joins the interval with the shortest time with the shorter one of its neighbours.
pub fn merge<O: IntervalOracle>(problem: &Problem<'_, O>, mut markers: Vec<usize>) -> Vec<usize> {
    let times: Vec<Span> =
        problem.intervals(&markers).map(|interval| problem.oracle.least_time(interval)).collect();
    let shortest = (0..times.len()).min_by_key(|&place| times[place]).unwrap_or(0);
    let left = shortest.checked_sub(1).map(|left| (times[left], left));
    let right = times.get(shortest + 1).map(|&time| (time, shortest));
    // A marker has the number of the interval that it ends; the left one wins a tie.
    if let Some((_, marker)) = [left, right].into_iter().flatten().min() {
        markers.remove(marker);
    }
    markers
}
