//! From a point that asks for CPU, bandwidth and processors to machines that have them.

mod pairs;
mod uplinks;

use super::Point;
use crate::cluster::{Cluster, Network};

pub(super) use pairs::Pairs;
pub(super) use uplinks::Uplinks;

/// Usable machines by decreasing CPU.
#[derive(Debug)]
pub(super) struct Order {
    machines: Vec<u32>,
    /// The level of CPU of each.
    cpu: Vec<u32>,
    cpu_levels: Vec<f64>,
    bandwidth_levels: Vec<f64>,
}

/// How a set is found for a point.
#[derive(Debug)]
pub(super) enum Map {
    Uplinks(Uplinks),
    Pairs(Pairs),
}

impl Map {
    /// A map to these machines; `None` if there are none.
    pub(super) fn new(cluster: &Cluster, usable: Vec<u32>) -> Option<Map> {
        (!usable.is_empty()).then(|| match cluster.network() {
            Network::Uplinks(uplinks) => Map::Uplinks(Uplinks::new(cluster, uplinks, usable)),
            Network::Links(links) => Map::Pairs(Pairs::new(cluster, links, usable)),
        })
    }

    fn order(&self) -> &Order {
        match self {
            Map::Uplinks(uplinks) => &uplinks.order,
            Map::Pairs(pairs) => &pairs.order,
        }
    }

    /// How many machines may be used.
    pub(super) fn usable(&self) -> u32 {
        self.order().machines.len() as u32
    }

    /// The different parts of processors that are available, ascending.
    pub(super) fn cpu_levels(&self) -> &[f64] {
        &self.order().cpu_levels
    }

    /// The different parts of links that are available, ascending.
    pub(super) fn bandwidth_levels(&self) -> &[f64] {
        &self.order().bandwidth_levels
    }

    /// What the machines really have that are taken for `asked`, or `None` if there are too few. A
    /// single machine has all of the bandwidth.
    pub(super) fn real(&self, asked: Point) -> Option<Point> {
        let real = match self {
            Map::Uplinks(uplinks) => uplinks.real(asked)?,
            Map::Pairs(pairs) => pairs.real(asked)?,
        };
        Some(self.rid_of_links(real))
    }

    /// The same point, with all of the bandwidth if it is a single machine.
    pub(super) fn rid_of_links(&self, real: Point) -> Point {
        let top = self.bandwidth_levels().len() as u32 - 1;
        if real.processors == 1 { Point { bandwidth: top, ..real } } else { real }
    }

    /// The most that is worth asking for between `low`, for which there are machines, and `high`.
    pub(super) fn limit(&self, low: Point, high: Point) -> Point {
        let limit = match self {
            Map::Uplinks(uplinks) => uplinks.limit(low),
            Map::Pairs(_) => high,
        };
        Point {
            cpu: high.cpu.min(limit.cpu),
            bandwidth: high.bandwidth.min(limit.bandwidth),
            processors: high.processors.min(limit.processors),
        }
    }

    /// The machines that are taken for `asked`.
    pub(super) fn machines(&self, asked: Point) -> Vec<u32> {
        let machines = &self.order().machines;
        let places = match self {
            Map::Uplinks(uplinks) => uplinks.places(asked),
            Map::Pairs(pairs) => pairs.places(asked),
        };
        places.into_iter().map(|place| machines[place]).collect()
    }

    /// The point by which a set is kept that was found for `asked`. Of sets with the same real
    /// point it shall not matter which way the search took, where that can be had.
    pub(super) fn canonical(&self, asked: Point, real: Point) -> Point {
        match self {
            Map::Uplinks(_) if real.processors == 1 => Point { bandwidth: 0, ..real },
            Map::Uplinks(_) => real,
            Map::Pairs(_) => asked,
        }
    }
}

/// The different values, ascending.
fn levels(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut levels: Vec<f64> = values.collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    levels
}

/// The level that a value is.
fn level(levels: &[f64], value: f64) -> u32 {
    levels.partition_point(|&level| level < value) as u32
}
