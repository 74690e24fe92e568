//! Machines with one link each: the best set for a point is found exactly.

use serde::{Deserialize, Serialize};

use super::{Order, level, levels};
use crate::cluster::Cluster;
use crate::search::Point;

/// A map for machines with uplinks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::search) struct Uplinks {
    pub(super) order: Order,
    /// Bandwidth level of each machine, in their order.
    bandwidth: Vec<u32>,
}

impl Uplinks {
    pub(super) fn new(cluster: &Cluster, uplinks: &[f64], mut machines: Vec<u32>) -> Uplinks {
        let cpu = |machine: u32| cluster.cpu(machine);
        let uplink = |machine: u32| uplinks[machine as usize];
        machines.sort_by(|&one, &two| {
            let more_cpu = cpu(two).total_cmp(&cpu(one));
            more_cpu.then(uplink(two).total_cmp(&uplink(one))).then(one.cmp(&two))
        });
        let cpu_levels = levels(machines.iter().map(|&machine| cpu(machine)));
        let bandwidth_levels = levels(machines.iter().map(|&machine| uplink(machine)));
        let bandwidth =
            machines.iter().map(|&machine| level(&bandwidth_levels, uplink(machine))).collect();
        let cpu = machines.iter().map(|&machine| level(&cpu_levels, cpu(machine))).collect();
        Uplinks { order: Order { machines, cpu, cpu_levels, bandwidth_levels }, bandwidth }
    }

    /// Levels of CPU and bandwidth of each machine, by decreasing CPU.
    pub(in crate::search) fn machines(&self) -> impl Iterator<Item = (u32, u32)> {
        self.order.cpu.iter().copied().zip(self.bandwidth.iter().copied())
    }

    /// The machines with the most CPU among those with enough bandwidth.
    fn enough(&self, asked: Point) -> impl Iterator<Item = (usize, (u32, u32))> {
        let enough = move |&(_, (cpu, _)): &(usize, (u32, u32))| cpu >= asked.cpu;
        // Machines are by decreasing CPU, so the first one with too little ends the search.
        let machines = self.machines().enumerate().take_while(enough);
        machines
            .filter(move |&(_, (_, bandwidth))| bandwidth >= asked.bandwidth)
            .take(asked.processors as usize)
    }

    pub(super) fn real(&self, asked: Point) -> Option<Point> {
        let nothing = Point { cpu: u32::MAX, bandwidth: u32::MAX, processors: 0 };
        let real = self.enough(asked).fold(nothing, |real, (_, (cpu, bandwidth))| Point {
            // The last machine has the least CPU.
            cpu,
            bandwidth: real.bandwidth.min(bandwidth),
            processors: real.processors + 1,
        });
        (real.processors == asked.processors).then_some(real)
    }

    /// The highest value of each axis in sets that have at least `low`, of which there must be one.
    /// CPU: the level at which enough machines have the bandwidth. Bandwidth: the level at which enough
    /// machines have the CPU. Processors: the number of machines that have both.
    pub(super) fn limit(&self, low: Point) -> Point {
        let mut bandwidths = Vec::new();
        let mut limit = Point { processors: 0, ..low };
        for (cpu, bandwidth) in self.machines().take_while(|&(cpu, _)| cpu >= low.cpu) {
            bandwidths.push(bandwidth);
            if bandwidth >= low.bandwidth {
                limit.processors += 1;
                if limit.processors == low.processors {
                    limit.cpu = cpu;
                }
            }
        }
        let last = low.processors as usize - 1;
        // Only one element is needed, so the list is not sorted.
        let (_, &mut bandwidth, _) =
            bandwidths.select_nth_unstable_by(last, |one, two| two.cmp(one));
        Point { bandwidth, ..limit }
    }

    pub(super) fn places(&self, asked: Point) -> Vec<usize> {
        self.enough(asked).map(|(place, _)| place).collect()
    }
}
