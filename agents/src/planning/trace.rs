//! Recorded loads.

use haggle_model::Time;
use haggle_workloads::load_trace::{LoadEpoch, LoadTrace};
use serde::{Deserialize, Serialize};

use super::updates::{DrawnWays, LoadSource, Updates};
use crate::protocol::planning::{ClusterLoads, LinkLoads};

/// Loads of machines from a trace. A trace has no data about the links between clusters: their
/// availability is drawn after each change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracedLoads {
    epochs: Vec<LoadEpoch>,
    /// Number of epochs that have come.
    past: usize,
    /// The available parts of processors and of links, by cluster.
    parts: Vec<(Vec<f64>, Vec<f64>)>,
    ways: DrawnWays,
}

impl TracedLoads {
    /// The loads of clusters with so many machines each; `trace` must have been read for them.
    pub fn new(trace: LoadTrace, machines: &[u32], ways: DrawnWays) -> TracedLoads {
        let idle = |&count: &u32| (vec![1.0; count as usize], vec![1.0; count as usize]);
        let parts = machines.iter().map(idle).collect();
        TracedLoads { epochs: trace.epochs, past: 0, parts, ways }
    }

    /// Times at which loads change.
    pub fn updates(&self) -> Updates {
        let later = self.epochs.iter().map(|epoch| epoch.at).filter(|&at| at > Time::ZERO);
        Updates::At(later.collect())
    }
}

#[typetag::serde]
impl LoadSource for TracedLoads {
    fn at(&mut self, epoch: usize) -> Vec<ClusterLoads> {
        // A trace may have fewer epochs than are asked for; after its end loads stay as they are.
        let known = self.epochs.len().min(epoch + 1);
        // All epochs since the last request, because each holds changes only.
        for epoch in &self.epochs[self.past.min(known)..known] {
            for change in &epoch.changes {
                let machines = change.first as usize..=change.last as usize;
                let (cpu, links) = &mut self.parts[change.cluster];
                cpu[machines.clone()].fill(change.cpu);
                links[machines].fill(change.link);
            }
        }
        self.past = known;
        let loads = self.parts.iter().zip(self.ways.at(epoch));
        let loads = loads.map(|((cpu, links), ways)| ClusterLoads {
            cpu: cpu.clone(),
            links: LinkLoads::Uplinks(links.clone()),
            ways,
        });
        loads.collect()
    }
}
