//! Carries scenarios out: opens the workloads, builds the world, runs it, and writes and draws the
//! results.
//!
//! ```text
//! Scenario ──> workload, world ──> haggle_runtime::run ──> haggle_recording ──> folder ──> figures
//! ```

pub mod about;
pub mod branches;
pub mod calibrate;
pub mod cast;
mod changes;
mod checkpoints;
pub mod compare;
pub mod cost;
mod data;
pub mod explain;
pub mod failures;
pub mod figures;
pub mod forecast;
pub mod grid;
mod in_code;
pub mod leftovers;
mod maintenance;
mod mapping;
mod memory;
mod networks;
pub mod no_effect;
pub mod plans;
pub mod readable;
mod reservations;
mod resuming;
pub mod run;
mod run_metrics;
mod seating;
pub mod snapshots;
pub mod start_state;
pub mod sweep;
pub mod threads;
pub mod transactions;
mod trunk;
mod workflows;
pub mod workload;
pub mod world;

pub use in_code::{summarise, write};
pub use run::{
    Conduct, Destination, ExperimentError, Figures, Keep, Outcome, Unwatched, Watch, Written, run,
    run_prepared, run_with_snapshots,
};
