//! From the `[plans]` of a scenario to clusters and their rescheduler.

use std::path::{Path, PathBuf};

use haggle_agents::planning::{
    Costs, DrawnLoads, DrawnWays, LoadRanges, LoadSource, PlannedCluster, PlansConfig,
    PredictionErrors, TracedLoads, Updates,
};
use haggle_planning::Method;
use haggle_planning::plan::{GeneticOptions, IncrementalOptions};
use haggle_workloads::load_trace::{LoadFileError, LoadTrace};

use haggle_scenario::{LogPathError, file, log_path};

use super::workflows::Workflows;

/// Bits a second in a Mbit/s.
const MBIT: f64 = 1e6;

/// Reason why the loads of clusters cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadsError {
    /// The path of their record cannot be resolved.
    #[error("plans: loads `{loads}` cannot be found: {error}")]
    Path {
        /// The path as written.
        loads: String,
        /// Why.
        #[source]
        error: LogPathError,
    },
    /// The record cannot be read, or has no loads.
    #[error("plans: loads {0}")]
    Trace(#[from] LoadFileError),
}

/// The record of loads, if there is one: the path as written, and the file.
type Input = Option<(String, PathBuf)>;

/// The clusters and the rescheduler of a scenario that lies in `folder`, with the workflows of its
/// applications, and the record of loads that was read.
pub(super) fn plans(
    seed: u64,
    plans: &file::Plans,
    folder: &Path,
    workflows: Workflows,
) -> Result<(PlansConfig, Input), LoadsError> {
    let count = plans.clusters.len();
    let clusters = plans.clusters.iter().map(|it| PlannedCluster {
        name: it.name.to_string(),
        speed: it.speed,
        costs: Costs {
            within: plans.within.0,
            between: plans.between.0,
            // Bytes to Mbit.
            checkpoint: plans.checkpoint.0 as f64 * 8.0 / MBIT,
            bandwidth: it.bandwidth.0 / MBIT,
            // The same to every cluster; only the loads differ.
            ways: vec![plans.bandwidth.0 / MBIT; count],
        },
    });
    let clusters = clusters.collect();
    let ways = DrawnWays {
        seed,
        clusters: plans.clusters.iter().map(|it| it.name.to_string()).collect(),
        range: (plans.available_min.fraction(), plans.available_max.fraction()),
    };
    let (loads, updates, input) = match &plans.loads {
        Some(written) => {
            let path = log_path(written, folder)
                .map_err(|error| LoadsError::Path { loads: written.clone(), error })?;
            let traced = traced(&path, plans, ways)?;
            let updates = traced.updates();
            let loads: Box<dyn LoadSource> = Box::new(traced);
            (loads, updates, Some((written.clone(), path)))
        }
        None => {
            let updates =
                plans.period.map_or(Updates::AfterInterval, |period| Updates::Every(period.0));
            (drawn(seed, plans, ways), updates, None)
        }
    };
    let config = PlansConfig {
        seed,
        clusters,
        method: method(plans),
        search: plans.search,
        threshold: plans.threshold.0,
        monitor_delay: plans.monitor_delay.0,
        errors: PredictionErrors { seed, sigma: plans.prediction_error.fraction() },
        updates,
        loads,
        workflows,
    };
    Ok((config, input))
}

fn traced(path: &Path, plans: &file::Plans, ways: DrawnWays) -> Result<TracedLoads, LoadFileError> {
    let clusters = plans.clusters.iter().map(|it| (it.name.as_str(), it.machines));
    let clusters = Vec::from_iter(clusters);
    let machines = Vec::from_iter(clusters.iter().map(|(_, machines)| *machines));
    Ok(TracedLoads::new(LoadTrace::open(path, &clusters)?, &machines, ways))
}

fn drawn(seed: u64, plans: &file::Plans, ways: DrawnWays) -> Box<dyn LoadSource> {
    let ranges = plans.clusters.iter().map(|it| LoadRanges {
        name: it.name.to_string(),
        machines: it.machines,
        cpu: (it.cpu_min.fraction(), it.cpu_max.fraction()),
        links: (it.link_min.fraction(), it.link_max.fraction()),
    });
    let links = plans.links;
    Box::new(DrawnLoads { seed, clusters: ranges.collect(), links, ways })
}

fn method(plans: &file::Plans) -> Option<Method> {
    match plans.method {
        file::PlanMethod::None => None,
        file::PlanMethod::Incremental => Some(Method::Incremental(IncrementalOptions::default())),
        file::PlanMethod::Division => Some(Method::Division),
        file::PlanMethod::Genetic => {
            let file::PlanGenetic { generations, population, elite, crossover, mutation } =
                plans.genetic;
            Some(Method::Genetic(GeneticOptions {
                generations: generations as usize,
                population: population as usize,
                elite: elite.fraction(),
                crossover: crossover.fraction(),
                mutation: mutation.fraction(),
            }))
        }
        file::PlanMethod::Optimum => Some(Method::Optimum),
    }
}

/// Description of the plans of a cluster.
pub(super) fn scheduler(method: file::PlanMethod) -> &'static str {
    match method {
        file::PlanMethod::None => "time-shared, no rescheduling",
        file::PlanMethod::Incremental => "time-shared, incremental plans",
        file::PlanMethod::Division => "time-shared, plans by division",
        file::PlanMethod::Genetic => "time-shared, genetic plans",
        file::PlanMethod::Optimum => "time-shared, optimal plans",
    }
}
