//! Maps a point, which requires CPU, bandwidth and processors, to machines that have them.

mod pairs;
mod uplinks;

use serde::{Deserialize, Serialize};

use super::Point;
use crate::cluster::{Cluster, Network};

pub(super) use pairs::Pairs;
pub(super) use uplinks::Uplinks;

/// Usable machines by decreasing CPU.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Order {
    machines: Vec<u32>,
    /// CPU level of each machine.
    cpu: Vec<u32>,
    cpu_levels: Vec<f64>,
    bandwidth_levels: Vec<f64>,
}

/// Map from a point to a set of machines.
#[derive(Clone, Debug, Serialize, Deserialize)]
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

    /// Number of usable machines.
    pub(super) fn usable(&self) -> u32 {
        self.order().machines.len() as u32
    }

    /// The distinct available parts of processors, ascending.
    pub(super) fn cpu_levels(&self) -> &[f64] {
        &self.order().cpu_levels
    }

    /// The distinct available parts of links, ascending.
    pub(super) fn bandwidth_levels(&self) -> &[f64] {
        &self.order().bandwidth_levels
    }

    /// Real values of the machines to which `asked` is mapped, or `None` if there are too few. A single
    /// machine has all of the bandwidth.
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

    /// The highest useful requirements between `low`, for which there are machines, and `high`.
    pub(super) fn limit(&self, low: Point, high: Point) -> Point {
        let limit = match self {
            Map::Uplinks(uplinks) => uplinks.limit(low),
            // Sets of pairs are found greedily, which proves no limit.
            Map::Pairs(_) => high,
        };
        Point {
            cpu: high.cpu.min(limit.cpu),
            bandwidth: high.bandwidth.min(limit.bandwidth),
            processors: high.processors.min(limit.processors),
        }
    }

    /// The machines to which `asked` is mapped.
    pub(super) fn machines(&self, asked: Point) -> Vec<u32> {
        let machines = &self.order().machines;
        let places = match self {
            Map::Uplinks(uplinks) => uplinks.places(asked),
            Map::Pairs(pairs) => pairs.places(asked),
        };
        places.into_iter().map(|place| machines[place]).collect()
    }

    /// The point under which a set found for `asked` is kept. If possible, sets with the same real
    /// point get the same point, so that results do not depend on the path of the search.
    pub(super) fn canonical(&self, asked: Point, real: Point) -> Point {
        match self {
            // A single machine was given all of the bandwidth; its own link may have less.
            Map::Uplinks(_) if real.processors == 1 => Point { bandwidth: 0, ..real },
            Map::Uplinks(_) => real,
            // The greedy search need not find the same set for its real point.
            Map::Pairs(_) => asked,
        }
    }
}

/// The distinct values, ascending.
fn levels(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut levels: Vec<f64> = values.collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    levels
}

/// The level of a value.
fn level(levels: &[f64], value: f64) -> u32 {
    levels.partition_point(|&level| level < value) as u32
}
