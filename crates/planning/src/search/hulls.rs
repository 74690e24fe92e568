//! The fast search for machines with uplinks. The sets of n machines that can be best for any interval
//! are prepared once.
//!
//! Suppose that all computations depend on the available CPU in the same way, and all communications on
//! the bandwidth. Then an interval takes A·x + B·y on n machines. A and B depend on the interval and on
//! n, x on the least CPU and y on the least bandwidth of the set. For each n, the best set is therefore
//! a corner of the lower left convex hull of all (x, y), and bisection finds it.

use super::map::Uplinks;
use super::space::{Space, Work};
use super::{Incumbent, Point};

/// For each number of machines, from one: the corners from most CPU to most bandwidth.
#[derive(Clone, Debug)]
pub(super) struct Hulls(Vec<Vec<Corner>>);

#[derive(Clone, Copy, Debug)]
struct Corner {
    x: f64,
    y: f64,
    cpu: u32,
    bandwidth: u32,
}

/// More than the relative error of a sum of products. Corners this close to the best one are compared exactly.
const ROUNDING: f64 = 1e-12;

/// A point this little above a line may be on it, so it is kept. Tied sets are then not lost.
const ON_LINE: f64 = 4.0 * f64::EPSILON;

impl Hulls {
    /// Adds machine by machine, from most CPU to least. A machine with the k-th most bandwidth so
    /// far changes the least bandwidth of n machines only for n of k or more.
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

    /// The best set.
    pub(super) fn search(&self, space: &Space, work: &Work) -> Incumbent {
        let mut incumbent = Incumbent::default();
        for (processors, hull) in (1..).zip(&self.0) {
            let [a, b] = space.slopes(work, processors);
            let value = |corner: &Corner| a * corner.x + b * corner.y;
            let limit = incumbent.best.map_or(f64::INFINITY, |(best, _)| best.seconds);
            let (Some(first), Some(last)) = (hull.first(), hull.last()) else { continue };
            // No corner has a smaller x than the first one or a smaller y than the last one.
            if a * first.x + b * last.y > limit * (1.0 + ROUNDING) {
                continue;
            }
            let falls = |pair: &[Corner]| value(&pair[1]) < value(&pair[0]);
            // Along a convex hull, values fall and then rise.
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

/// Adds a corner with no more CPU than the others, and removes the corners that are then above the hull.
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
        // With equal CPU, the new corner has at least as much bandwidth, so it replaces the last one.
        if !above && last.cpu != new.cpu {
            break;
        }
        hull.pop();
    }
    hull.push(new);
}

/// The first number below `end` for which `holds` is false, or `end`.
fn partition_point(end: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = low.midpoint(high);
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low
}
