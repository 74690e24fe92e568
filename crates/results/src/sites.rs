//! The nodes of a run, and the demands of its jobs, from its tables.

use std::collections::BTreeMap;

use haggle_model::{Amounts, Demand, MemoryWish, NodeGroup, Nodes, ProcessorSet, Wishes};

use crate::JobRow;
use crate::reader::{NodeRow, PlacementRow};

/// The nodes of a provider that places jobs on nodes.
#[derive(Clone, Debug)]
pub struct Site {
    /// Its nodes.
    pub nodes: Nodes,
    /// Run-wide number of its first processor.
    first: i64,
}

/// The providers that place jobs on nodes, by name. `rows` are those of the table `nodes`.
pub fn sites(rows: &[NodeRow]) -> BTreeMap<String, Site> {
    let mut sites = BTreeMap::new();
    for rows in rows.chunk_by(|a, b| a.provider == b.provider) {
        let group = |it: &NodeRow| {
            let (processors, gpus) = (it.processors as u32, it.gpus as u32);
            NodeGroup { count: 1, capacity: Amounts { processors, gpus, memory: it.memory as u64 } }
        };
        let nodes = Nodes::new(&Vec::from_iter(rows.iter().map(group)));
        sites.insert(rows[0].provider.clone(), Site { nodes, first: rows[0].first });
    }
    sites
}

/// Resources of a node that an attempt holds for some time.
#[derive(Clone, Copy, Debug)]
pub struct Holding {
    /// The job.
    pub job: i64,
    /// Number of the node at its provider.
    pub node: u32,
    /// The resources.
    pub amounts: Amounts,
    /// From this time on, s.
    pub start: f64,
    /// Until this time, s.
    pub end: f64,
}

impl Site {
    /// The provider's own numbers of these run-wide processors, both included.
    pub fn processors(&self, first: i64, last: i64) -> ProcessorSet {
        ProcessorSet::range((first - self.first) as u32, (last - first + 1) as u32)
    }

    /// The resources that attempts hold here. `placements` are those at this provider.
    pub fn holdings<'a>(
        &self,
        placements: impl Iterator<Item = &'a PlacementRow>,
        demand: impl Fn(i64) -> Option<Demand>,
    ) -> Vec<Holding> {
        let mut attempts: BTreeMap<(i64, i64), (f64, f64, ProcessorSet)> = BTreeMap::new();
        for it in placements {
            let attempt = attempts.entry((it.job, it.attempt));
            let (.., processors) = attempt.or_insert((it.start, it.end, ProcessorSet::new()));
            processors.insert_all(&self.processors(it.first, it.last));
        }
        let mut holdings = Vec::new();
        for ((job, _), (start, end, processors)) in attempts {
            let Some(demand) = demand(job) else { continue };
            let held = self.nodes.held(&demand, &processors).into_iter();
            holdings.extend(held.map(|(node, amounts)| Holding { job, node, amounts, start, end }));
        }
        holdings
    }
}

impl JobRow {
    /// Its demand for resources of nodes.
    pub fn demand(&self) -> Demand {
        let processors = self.processors as u32;
        let wishes = Wishes {
            nodes: self.nodes.map(|it| it as u32),
            gpus: self.gpus.unwrap_or(0) as u32,
            memory: self.memory.map(|it| MemoryWish::Job(it as u64)),
            exclusive: self.exclusive == Some(true),
        };
        // A run has no other demands, but a table may be damaged.
        Demand::new(processors, wishes).unwrap_or(Demand::processors(processors))
    }
}
