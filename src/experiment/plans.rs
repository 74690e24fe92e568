//! From the `[plans]` of a scenario to clusters and their rescheduler.

use haggle_agents::planning::{
    Costs, DrawnLoads, LoadRanges, PlannedCluster, PlansConfig, Updates,
};
use haggle_planning::plan::{GeneticOptions, IncrementalOptions};
use haggle_planning::{Method, Search};

use crate::scenario::file;

/// Bits a second in a Mbit/s.
const MBIT: f64 = 1e6;

/// The clusters and the rescheduler of a scenario.
pub(super) fn plans(seed: u64, plans: &file::Plans) -> PlansConfig {
    let count = plans.clusters.len();
    let clusters = plans.clusters.iter().map(|it| PlannedCluster {
        name: it.name.to_string(),
        speed: it.speed,
        costs: Costs {
            within: plans.within.0,
            between: plans.between.0,
            checkpoint: plans.checkpoint.0 as f64 * 8.0 / MBIT,
            bandwidth: it.bandwidth.0 / MBIT,
            ways: vec![plans.bandwidth.0 / MBIT; count],
        },
    });
    let ranges = plans.clusters.iter().map(|it| LoadRanges {
        name: it.name.to_string(),
        machines: it.machines,
        cpu: (it.cpu_min.fraction(), it.cpu_max.fraction()),
        uplinks: (it.link_min.fraction(), it.link_max.fraction()),
    });
    PlansConfig {
        seed,
        clusters: clusters.collect(),
        method: method(plans.method),
        search: Search::default(),
        threshold: plans.threshold.0,
        monitor_delay: plans.monitor_delay.0,
        updates: plans.period.map_or(Updates::AfterInterval, |period| Updates::Every(period.0)),
        loads: Box::new(DrawnLoads {
            seed,
            clusters: ranges.collect(),
            ways: (plans.available_min.fraction(), plans.available_max.fraction()),
        }),
    }
}

fn method(method: file::PlanMethod) -> Option<Method> {
    match method {
        file::PlanMethod::None => None,
        file::PlanMethod::Incremental => Some(Method::Incremental(IncrementalOptions::default())),
        file::PlanMethod::Division => Some(Method::Division),
        file::PlanMethod::Genetic => Some(Method::Genetic(GeneticOptions::default())),
        file::PlanMethod::Optimum => Some(Method::Optimum),
    }
}

/// How a cluster plans, in words.
pub(super) fn scheduler(method: file::PlanMethod) -> &'static str {
    match method {
        file::PlanMethod::None => "time-shared, no rescheduling",
        file::PlanMethod::Incremental => "time-shared, incremental plans",
        file::PlanMethod::Division => "time-shared, plans by division",
        file::PlanMethod::Genetic => "time-shared, genetic plans",
        file::PlanMethod::Optimum => "time-shared, optimal plans",
    }
}
