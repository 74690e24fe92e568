//! The fast search for machines with uplinks: what can be best for n machines is prepared for all
//! intervals at once.
//!
//! If all computations depend on the available CPU in the same way, and all communications on the
//! bandwidth, then an interval takes A·x + B·y on n machines, where x is large for little CPU and y
//! for little bandwidth; the interval and n say what A and B are, the machines what x and y are. So
//! for each n only those sets can be best that are corners of the convex hull of their (x, y), to
//! the lower left, and the best of these is found by bisection.

use super::map::Uplinks;
use super::space::{Space, Work};
use super::{Incumbent, Point};

/// For each number of machines, from one, the corners from most CPU to most bandwidth.
#[derive(Debug)]
pub(super) struct Hulls(Vec<Vec<Corner>>);

#[derive(Clone, Copy, Debug)]
struct Corner {
    x: f64,
    y: f64,
    cpu: u32,
    bandwidth: u32,
}

/// By how much sums of products may be wrong, and more: what is as close to the best is compared
/// exactly.
const ROUNDING: f64 = 1e-12;

/// What is no farther above a line is on it, for all that can be computed: sets that tie are kept.
const ON_LINE: f64 = 4.0 * f64::EPSILON;

impl Hulls {
    /// Adds machine by machine, from most CPU to least. A machine changes what n machines have at
    /// least only where n is greater than the number of those with more bandwidth.
    pub(super) fn new(uplinks: &Uplinks, x: impl Fn(u32) -> f64, y: impl Fn(u32) -> f64) -> Hulls {
        let mut hulls: Vec<Vec<Corner>> = Vec::new();
        let mut most_bandwidth: Vec<u32> = Vec::new();
        for (cpu, own) in uplinks.machines() {
            let place = most_bandwidth.partition_point(|&bandwidth| bandwidth >= own);
            most_bandwidth.insert(place, own);
            hulls.push(Vec::new());
            for (hull, &bandwidth) in hulls.iter_mut().zip(&most_bandwidth).skip(place) {
                push(hull, Corner { x: x(cpu), y: y(bandwidth), cpu, bandwidth });
            }
        }
        Hulls(hulls)
    }

    /// The best set there is.
    pub(super) fn search(&self, space: &Space, work: &Work) -> Incumbent {
        let mut incumbent = Incumbent::default();
        for (processors, hull) in (1..).zip(&self.0) {
            let [a, b] = space.slopes(work, processors);
            let value = |corner: &Corner| a * corner.x + b * corner.y;
            let limit = incumbent.best.map_or(f64::INFINITY, |(best, _)| best.seconds);
            let (Some(first), Some(last)) = (hull.first(), hull.last()) else { continue };
            if a * first.x + b * last.y > limit * (1.0 + ROUNDING) {
                continue;
            }
            let falls = |pair: &[Corner]| value(&pair[1]) < value(&pair[0]);
            let lowest = partition_point(hull.len() - 1, |place| falls(&hull[place..]));
            let close = limit.min(value(&hull[lowest])) * (1.0 + ROUNDING);
            let is_close = |&corner: &&Corner| value(corner) <= close;
            let before = hull[..lowest].iter().rev().take_while(is_close);
            for corner in before.chain(hull[lowest..].iter().take_while(is_close)) {
                let real = Point { cpu: corner.cpu, bandwidth: corner.bandwidth, processors };
                space.offer(work, space.map.rid_of_links(real), &mut incumbent);
            }
        }
        incumbent
    }
}

/// Adds a corner with no more CPU than all before, and drops those that it puts above the hull.
fn push(hull: &mut Vec<Corner>, new: Corner) {
    while let Some(last) = hull.last() {
        let above = match hull.len().checked_sub(2).map(|place| hull[place]) {
            Some(before) => {
                let over = (last.y - before.y) * (new.x - before.x);
                let under = (new.y - before.y) * (last.x - before.x);
                over - under > ON_LINE * before.y * new.x
            }
            None => false,
        };
        if !above && last.cpu != new.cpu {
            break;
        }
        hull.pop();
    }
    hull.push(new);
}

/// The first number below `end` for which `holds` does not, or `end`.
fn partition_point(end: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = low.midpoint(high);
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low
}
