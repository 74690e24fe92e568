//! Metrics of nodes with several resources.

use haggle_model::{Amounts, Cast, Demand, JobRecord, Time};
use serde::{Deserialize, Serialize};

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

/// Use of the nodes of all providers that place jobs on nodes, over the whole run: a cut has no effect here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeUse {
    /// Jobs that ran there.
    pub jobs: u64,
    /// Σ run time × processors that they held, whole nodes of exclusive jobs included / (processors × makespan).
    pub processor_utilisation: Option<f64>,
    /// Σ run time × memory / (memory of all nodes × makespan); missing without memory.
    pub memory_utilisation: Option<f64>,
    /// Σ run time × accelerators / (accelerators of all nodes × makespan); missing without accelerators.
    pub gpu_utilisation: Option<f64>,
}

/// Amounts × microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NodeLog {
    jobs: u64,
    processors: u128,
    memory: u128,
    gpus: u128,
}

impl NodeLog {
    pub(super) fn job_over(&mut self, record: &JobRecord, cast: &Cast) {
        let Some((provider, start)) = record.provider.zip(record.start) else { return };
        let Some(nodes) = &cast.providers[provider.index()].nodes else { return };
        self.jobs += 1;
        let demand = record.job.demand.as_deref().copied().unwrap_or(Demand::processors(1));
        // Work before time zero belongs to no run.
        let time = (record.end - start.max(Time::ZERO)).as_micros().max(0) as u128;
        for (_, amounts) in nodes.held(&demand, &record.processors) {
            self.processors += u128::from(amounts.processors) * time;
            self.memory += u128::from(amounts.memory) * time;
            self.gpus += u128::from(amounts.gpus) * time;
        }
    }

    /// Sums up a run of this makespan (s); `None` if no provider places jobs on nodes.
    pub(super) fn sum_up(&self, cast: &Cast, makespan: Option<f64>) -> Option<NodeUse> {
        let sites = Vec::from_iter(cast.providers.iter().filter_map(|it| it.nodes.as_ref()));
        sites.first()?;
        // Sums of large nodes exceed the amounts of one.
        let all = |amount: fn(&Amounts) -> f64| -> f64 {
            sites.iter().flat_map(|it| it.capacities()).map(amount).sum()
        };
        let share = |used: u128, of: f64| {
            let whole = of * makespan.unwrap_or(0.0);
            (whole > 0.0).then(|| used as f64 / SECOND / whole)
        };
        Some(NodeUse {
            jobs: self.jobs,
            processor_utilisation: share(self.processors, all(|it| f64::from(it.processors))),
            memory_utilisation: share(self.memory, all(|it| it.memory as f64)),
            gpu_utilisation: share(self.gpus, all(|it| f64::from(it.gpus))),
        })
    }
}
