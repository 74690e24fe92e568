//! Search for the machines of a cluster that run an interval fastest (section 3.4).
//!
//! The execution time on a set of machines depends on three numbers: the least available part of its
//! processors, the least of the links between them, and its size. The search therefore
//! examines hypothetical points (CPU, bandwidth, processors), and maps each to a real set that has at
//! least as much. The publication only sketches Box Elimination; the bounds here are our own.

mod boxes;
mod hulls;
mod map;
mod scan;
mod space;

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

pub(crate) use space::{Space, Work};

haggle_model::words! {
    /// Search of a cluster for machines.
    #[derive(Default)]
    pub enum PlanSearch {
        // The same sets as the scan and by far the fastest, if all phases depend on loads in the same way.
        /// The best set for each number of machines, prepared once; with links of pairs, as `boxes`.
        #[default]
        Hulls = "hulls",
        /// Box Elimination: parts of the space of CPU, bandwidth and processors are left out if they cannot hold a
        /// better set.
        Boxes = "boxes",
        // The budget is 8·log_4/3(points) sets.
        /// As boxes, but abandoned after a number of sets that grows with the logarithm of the space.
        BoxesWithinBudget = "boxes-within-budget",
        // With uplinks, their number grows with the square of the number of machines. With links of
        // pairs, the scan suits only a few machines.
        /// All sets that could be best.
        Scan = "scan",
    }
}

/// A point of the search space: indices into the levels of CPU and bandwidth, from the least, and
/// the number of processors, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Point {
    pub(crate) cpu: u32,
    pub(crate) bandwidth: u32,
    pub(crate) processors: u32,
}

/// The result of a search.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Found {
    pub(crate) seconds: f64,
    /// The point that is mapped to this set.
    pub(crate) asked: Point,
}

/// Order of sets: by time, and for equal times by point.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rank {
    seconds: f64,
    point: Point,
}

impl Rank {
    /// The faster one first, then fewer processors, more CPU, more bandwidth.
    fn order(&self, other: &Rank) -> Ordering {
        let (one, two) = (self.point, other.point);
        self.seconds
            .total_cmp(&other.seconds)
            .then(one.processors.cmp(&two.processors))
            .then(two.cpu.cmp(&one.cpu))
            .then(two.bandwidth.cmp(&one.bandwidth))
    }

    fn beats(&self, other: &Rank) -> bool {
        self.order(other).is_lt()
    }
}

/// The best set so far, and the number of sets priced.
#[derive(Debug, Default)]
struct Incumbent {
    best: Option<(Rank, Point)>,
    priced: u64,
}

impl Incumbent {
    fn offer(&mut self, rank: Rank, asked: Point) {
        self.priced += 1;
        if self.would_improve(&rank) {
            self.best = Some((rank, asked));
        }
    }

    fn would_improve(&self, rank: &Rank) -> bool {
        self.best.is_none_or(|(best, _)| rank.beats(&best))
    }
}
