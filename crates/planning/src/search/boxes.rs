//! Box Elimination: a search for the best point that eliminates boxes of points by two rules.
//!
//! A box is represented by its low corner, which requires the least CPU, bandwidth and processors. If
//! no set meets it, none meets any point of the box. If a set meets it, the set gives the levels beyond
//! which no set exists. The second rule is a bound: no point of a box takes less than the most CPU and
//! bandwidth in it would, on the best number of processors. A box with a bound above the best set so
//! far contains no better set.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::space::{Space, Work};
use super::{Incumbent, Point, Rank};

/// Points between two corners, both included.
#[derive(Clone, Copy, Debug)]
struct Region {
    /// No set in it is better than this.
    bound: Rank,
    low: Point,
    high: Point,
    /// True if the set of its low corner has been priced.
    priced: bool,
}

/// Number of sets priced within the budget.
pub(super) fn budget(space: &Space) -> u64 {
    let (_, high) = space.corners();
    let levels = [high.cpu + 1, high.bandwidth + 1, high.processors].map(f64::from);
    let points: f64 = levels.into_iter().product();
    8 * (points.ln() / (4.0_f64 / 3.0).ln()).ceil().max(1.0) as u64
}

/// The best set, or the best of the first `budget` sets that were mapped.
pub(super) fn eliminate(space: &Space, work: &Work, budget: u64) -> Incumbent {
    let mut incumbent = Incumbent::default();
    let (low, high) = space.corners();
    let whole = Region { bound: space.bound(work, low, high), low, high, priced: false };
    let mut regions = BinaryHeap::from([Reverse(whole)]);
    let mut mapped = 0;
    while let Some(Reverse(region)) = regions.pop() {
        // A better set may have been found since the region was added.
        if !incumbent.would_improve(&region.bound) {
            continue;
        }
        let mut high = region.high;
        if !region.priced {
            if mapped == budget {
                break;
            }
            mapped += 1;
            // No set has even the least that the region requires.
            if !space.try_point(work, region.low, &mut incumbent) {
                continue;
            }
            high = space.map.limit(region.low, high);
        }
        for (low, high) in halves(region.low, high) {
            let bound = space.bound(work, low, high);
            if incumbent.would_improve(&bound) {
                // The part with the same low corner is mapped to the same set.
                let priced = low == region.low;
                regions.push(Reverse(Region { bound, low, high, priced }));
            }
        }
    }
    Incumbent { priced: mapped, ..incumbent }
}

/// The up to eight parts of a region with more than one point, each axis halved.
fn halves(low: Point, high: Point) -> impl Iterator<Item = (Point, Point)> {
    let parts = |low: u32, high: u32| {
        let middle = low.midpoint(high);
        let upper = (low < high).then_some((middle + 1, high));
        std::iter::once((low, if low < high { middle } else { high })).chain(upper)
    };
    let single = low == high;
    let parts = parts(low.cpu, high.cpu).flat_map(move |cpu| {
        parts(low.bandwidth, high.bandwidth).flat_map(move |bandwidth| {
            parts(low.processors, high.processors).map(move |processors| {
                let corner = |cpu, bandwidth, processors| Point { cpu, bandwidth, processors };
                let (low, high) = (
                    corner(cpu.0, bandwidth.0, processors.0),
                    corner(cpu.1, bandwidth.1, processors.1),
                );
                // One machine alone does not use bandwidth.
                let alone = high.processors == 1;
                (low, if alone { Point { bandwidth: low.bandwidth, ..high } } else { high })
            })
        })
    });
    parts.filter(move |_| !single)
}

impl Region {
    fn volume(&self) -> u64 {
        let side = |low: u32, high: u32| u64::from(high - low) + 1;
        side(self.low.cpu, self.high.cpu)
            * side(self.low.bandwidth, self.high.bandwidth)
            * side(self.low.processors, self.high.processors)
    }
}

/// The most promising one first, then the largest one.
impl Ord for Region {
    fn cmp(&self, other: &Region) -> Ordering {
        let bound = self.bound.seconds.total_cmp(&other.bound.seconds);
        // Corners break the last ties, so that the order never depends on that of insertion.
        bound
            .then(other.volume().cmp(&self.volume()))
            .then_with(|| (self.low, self.high).cmp(&(other.low, other.high)))
    }
}

impl PartialOrd for Region {
    fn partial_cmp(&self, other: &Region) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Region {
    fn eq(&self, other: &Region) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Region {}
