//! The table of nodes: their resources, and their use.

use std::sync::Arc;

use haggle_model::{Amounts, Cast, Demand, JobRecord, ProviderId, Span, Time};

use crate::tables::NodeCells;

const MICROS: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

/// Use of the nodes of all providers that place jobs on nodes.
#[derive(Debug)]
pub(super) struct NodeUse {
    cast: Arc<Cast>,
    /// By provider and node.
    used: Vec<Vec<Used>>,
}

/// Amounts of a node x microseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    processors: u128,
    memory: u128,
    gpus: u128,
}

impl Used {
    fn add(&mut self, amounts: Amounts, time: Span) {
        let time = time.as_micros().max(0) as u128;
        self.processors += u128::from(amounts.processors) * time;
        self.memory += u128::from(amounts.memory) * time;
        self.gpus += u128::from(amounts.gpus) * time;
    }
}

impl NodeUse {
    pub(super) fn new(cast: &Arc<Cast>) -> NodeUse {
        let nodes = cast.providers.iter().map(|it| it.nodes.as_ref());
        let used =
            nodes.map(|it| vec![Used::default(); it.map_or(0, |nodes| nodes.capacities().len())]);
        NodeUse { used: used.collect(), cast: Arc::clone(cast) }
    }

    pub(super) fn job_over(&mut self, record: &JobRecord) {
        let Some((provider, start)) = record.provider.zip(record.start) else { return };
        let Some(nodes) = &self.cast.providers[provider.index()].nodes else { return };
        let demand = record.job.demand.as_deref().copied().unwrap_or(Demand::processors(1));
        // Work before time zero belongs to no run.
        let time = record.end - start.max(Time::ZERO);
        for (node, amounts) in nodes.held(&demand, &record.processors) {
            self.used[provider.index()][node as usize].add(amounts, time);
        }
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = NodeCells<'_>> {
        let providers = (0..).zip(&self.cast.providers).zip(&self.used);
        providers.flat_map(|((number, provider), used)| {
            let nodes = provider.nodes.iter().flat_map(|it| it.capacities());
            let mut first = provider.first_processor;
            (0..).zip(nodes.zip(used)).map(move |(node, (capacity, used))| {
                let (from, time) = (first, |of: u128| of as f64 / MICROS);
                first += capacity.processors;
                NodeCells {
                    provider: ProviderId(number),
                    node,
                    first: i64::from(from),
                    last: i64::from(first) - 1,
                    processors: i64::from(capacity.processors),
                    memory: capacity.memory as i64,
                    gpus: i64::from(capacity.gpus),
                    busy_time: time(used.processors),
                    memory_time: (capacity.memory > 0).then(|| time(used.memory)),
                    gpu_time: (capacity.gpus > 0).then(|| time(used.gpus)),
                }
            })
        })
    }
}
