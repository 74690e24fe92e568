//! Studies without simulation: a table computed by code, drawn and used in claims like a sweep.
//!
//! A new study is a type with [`Compute`] and a line in [`ALL`]; figures refer to it with `study = "…"`.

mod composition_table;
mod fragments;
mod frames;
mod grid_jobs;
mod iterative;
mod moldable_jobs;
mod plans;
mod protocols;
mod size_searches;
mod workflows;
mod workload_table;

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::data::Data;
use haggle_experiment::threads::on_threads;

/// Amount of computing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// The whole study.
    Full,
    /// The part for a quick reproduction.
    Quick,
}

/// Maximum number of replications in a quick reproduction.
const QUICK_REPLICATIONS: u32 = 3;

impl Effort {
    /// The number of replications to compute, of `all`. A reduction is recorded in `data`.
    fn replications(self, all: u32, data: &mut Data) -> u32 {
        let left = match self {
            Effort::Full => all,
            Effort::Quick => all.min(QUICK_REPLICATIONS),
        };
        if left < all {
            data.cuts.replications = Some((left, all));
        }
        left
    }
}

/// Computes one result for each number, in their order, on all processors.
fn each<T: Send>(
    numbers: &[u64],
    of: impl Fn(u64) -> Result<T, String> + Sync,
) -> Result<Vec<T>, String> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(numbers.len())));
    on_threads(workers.min(numbers.len()), || {
        loop {
            // The counter hands out places only. Results are passed on under the lock, so relaxed order is
            // enough.
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(&number) = numbers.get(place) else { break };
            let one = of(number);
            found.lock().expect("no worker has panicked").push((place, one));
        }
    });
    let mut found = found.into_inner().expect("no worker has panicked");
    // Workers finish in any order.
    found.sort_unstable_by_key(|(place, _)| *place);
    // Of several errors, the one at the first number is returned, whichever came first.
    found.into_iter().map(|(_, one)| one).collect()
}

/// A computation of rows for figures and claims.
pub trait Compute: Sync {
    /// Its name in catalogues.
    fn name(&self) -> &'static str;

    /// The scenario whose workloads it reads: the study of the library and the file, if any.
    fn scenario(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// Computes its rows. The axes distinguish them, and the seed is the replication.
    ///
    /// # Errors
    /// If data are missing: a description and a remedy.
    fn compute(&self, effort: Effort) -> Result<Data, String>;
}

/// Every study that is part of the program.
pub const ALL: &[&dyn Compute] = &[
    &composition_table::CompositionTable,
    &workload_table::WorkloadTable,
    &frames::Frames,
    &grid_jobs::GridJobs,
    &fragments::BackfillingLimit,
    &moldable_jobs::SpeedupCurves,
    &moldable_jobs::JobKinds,
    &moldable_jobs::SizeSearch,
    &size_searches::SizeSearches,
    &protocols::ProtocolTraits,
    &protocols::Deliveries,
    &plans::PlanCosts,
    &plans::Hierarchies,
    &plans::PlanRuns,
    &plans::PlanGroups,
    &plans::PlanLinks,
    &plans::PlanLoads,
    &plans::PlanBandwidths,
    &plans::PlanCounts,
    &plans::PlanSettings,
    &plans::PredictionErrors,
    &plans::PredictionRuns,
    &iterative::ResourceSets,
    &iterative::Throughputs,
    &iterative::Courses,
    &iterative::Executions,
    &iterative::Topologies,
    &iterative::Optima,
    &workflows::WorkflowExample,
    &workflows::WorkflowInputs,
    &workflows::EstimateCurves,
    &workflows::LengthPredictions,
    &workflows::WorkflowParameters,
    &workflows::WorkflowSites,
];
