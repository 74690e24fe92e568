//! Machines with a link for each pair. A set in which all links are good enough is a clique, and is built greedily.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Order, level, levels};
use crate::cluster::Cluster;
use crate::search::Point;

/// Number of machines that are tried as the first one of a set.
const SEEDS: usize = 8;

/// A map for machines with links between every two of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::search) struct Pairs {
    pub(super) order: Order,
    links: Arc<Vec<Vec<f64>>>,
}

impl Pairs {
    pub(super) fn new(
        cluster: &Cluster,
        links: &Arc<Vec<Vec<f64>>>,
        mut machines: Vec<u32>,
    ) -> Pairs {
        let cpu = |machine: u32| cluster.cpu(machine);
        machines.sort_by(|&one, &two| cpu(two).total_cmp(&cpu(one)).then(one.cmp(&two)));
        let cpu_levels = levels(machines.iter().map(|&machine| cpu(machine)));
        let rows = machines.iter().map(|&one| &links[one as usize]);
        let used = rows.flat_map(|row| machines.iter().map(|&two| row[two as usize]));
        let bandwidth_levels = levels(used);
        let cpu = machines.iter().map(|&machine| level(&cpu_levels, cpu(machine))).collect();
        Pairs {
            order: Order { machines, cpu, cpu_levels, bandwidth_levels },
            links: Arc::clone(links),
        }
    }

    fn link(&self, one: usize, two: usize) -> f64 {
        let machines = &self.order.machines;
        self.links[machines[one] as usize][machines[two] as usize]
    }

    /// The first complete set; each attempt starts with another of the machines with the most CPU.
    fn set(&self, asked: Point) -> Option<Vec<usize>> {
        let candidates = self.order.cpu.partition_point(|&cpu| cpu >= asked.cpu);
        (0..candidates.min(SEEDS)).find_map(|seed| self.grown(seed, candidates, asked))
    }

    fn grown(&self, seed: usize, candidates: usize, asked: Point) -> Option<Vec<usize>> {
        let enough = self.order.bandwidth_levels[asked.bandwidth as usize];
        let mut set = vec![seed];
        for next in (0..candidates).filter(|&next| next != seed) {
            if set.len() == asked.processors as usize {
                break;
            }
            if set.iter().all(|&member| self.link(member, next) >= enough) {
                set.push(next);
            }
        }
        (set.len() == asked.processors as usize).then_some(set)
    }

    pub(super) fn real(&self, asked: Point) -> Option<Point> {
        let set = self.set(asked)?;
        let pairs = set
            .iter()
            .enumerate()
            .flat_map(|(n, &one)| set[..n].iter().map(move |&two| self.link(one, two)));
        let least = pairs.fold(1.0, f64::min);
        let cpu = set.iter().map(|&place| self.order.cpu[place]).min()?;
        let bandwidth = level(&self.order.bandwidth_levels, least);
        Some(Point { cpu, bandwidth, processors: asked.processors })
    }

    pub(super) fn places(&self, asked: Point) -> Vec<usize> {
        self.set(asked).unwrap_or_default()
    }
}
