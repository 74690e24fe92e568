//! Plans of rescheduling: on one cluster compared with the optimum, as whole runs on grids of clusters,
//! and their settings (Sanjay and Vadhiyar 2011, section 7). The performance models of the paper's
//! applications are not published, so these are synthetic.

mod costs;
mod counts;
mod errors;
mod runs;
mod settings;

use std::sync::Arc;

use haggle_model::Span;
use haggle_planning::multi::Migration;
use haggle_planning::plan::{GeneticOptions, IncrementalOptions};
use haggle_planning::{Application, Method, Phase};

use super::{Compute, Effort, each};

pub(super) use costs::{Hierarchies, PlanBandwidths, PlanCosts, PlanLoads};
pub(super) use counts::PlanCounts;
pub(super) use errors::{PredictionErrors, PredictionRuns};
pub(super) use runs::{PlanGroups, PlanLinks, PlanRuns};
pub(super) use settings::PlanSettings;

/// The paper's planners, with their words.
fn methods() -> [(&'static str, Method); 3] {
    [
        ("incremental", Method::Incremental(IncrementalOptions::default())),
        ("division", Method::Division),
        ("genetic", Method::Genetic(GeneticOptions::default())),
    ]
}

/// Minimum length of an interval (section 4).
const THRESHOLD: Span = Span::from_secs(1200);
/// Number of machines of the single cluster (section 7.2.2).
const MACHINES: usize = 512;
/// Our own: the paper gives neither the fixed part of a move nor the size of a checkpoint.
const MIGRATION: Migration = Migration { fixed: 60.0, volume: 200.0 };

fn application(phases: &[Phase], merged: usize) -> Result<Arc<Application>, String> {
    let application = Application::new(phases, 1.0).map_err(|error| error.to_string())?;
    Ok(Arc::new(application.merged(merged)))
}
