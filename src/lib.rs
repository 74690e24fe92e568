//! haggle simulates autonomous resource providers that bargain over work.
//!
//! This is the library behind the command `haggle`. A scenario is read from a file or put together
//! in code ([`Builder`]). It is carried out in memory ([`summarise`]) or into a folder
//! ([`write()`](fn@write)). Results are read back by name or row by row ([`Summary`], [`Results`]):
//!
//! ```
//! use haggle::scenario::file::{Lublin, Model, Policy};
//! use haggle::{Builder, summarise};
//!
//! let experiment = Builder::new("one-site")
//!     .workload("jobs", |jobs| {
//!         jobs.model = Some(Model::LublinFeitelson);
//!         jobs.lublin = Some(Lublin::of(100, 64));
//!     })
//!     .provider("north", 64, |north| north.policy = Policy::easy())
//!     .user("users", "jobs", "north", |_| {})
//!     .build()?;
//! for run in experiment.runs() {
//!     let summary = summarise(&run)?;
//!     assert_eq!(summary.metric("jobs"), Some(100.0));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | floor | crate | what it does |
//! |---|---|---|
//! | [`studies`] | `haggle-studies` | draws published figures again, with what was claimed about them |
//! | [`script`] | `haggle-script` | the language of claims: expressions over runs |
//! | [`experiment`] | `haggle-experiment` | from a scenario to a world, a run, a folder, a sweep |
//! | [`scenario`] | `haggle-scenario` | scenario files: reading, checking, resolving, expanding sweeps |
//! | [`plots`] | `haggle-plots` | figures from results |
//! | [`results`] | `haggle-results` | tables, metrics, statistics |
//! | [`runtime`] | `haggle-runtime` | the clock, worlds put together from actors of one's own |
//! | [`scheduling`] | `haggle-scheduling` | decisions: the input and the result of own rules |
//! | [`model`] | `haggle-model` | times, jobs, ids |
//!
//! Own rules ([`Rules`]) extend the words of scenarios in code and in files: a [`Builder`] takes
//! them, and so does the whole command line as a function ([`command::main_with`]).
//!
//! Without its default feature `command`, nothing of the command line is built.

#[cfg(feature = "command")]
pub mod command;

#[cfg(feature = "command")]
mod cli;
#[cfg(feature = "command")]
mod commands;
#[cfg(feature = "command")]
mod exit;
#[cfg(feature = "command")]
mod interrupt;
#[cfg(feature = "command")]
mod progress;
#[cfg(feature = "command")]
mod report;
#[cfg(feature = "command")]
mod shell;
#[cfg(feature = "command")]
mod slurm;

#[cfg(feature = "command")]
use haggle_results::visible;

pub use haggle_audit as audit;
pub use haggle_experiment as experiment;
pub use haggle_grids as grids;
pub use haggle_model as model;
pub use haggle_plots as plots;
pub use haggle_results as results;
pub use haggle_runtime as runtime;
pub use haggle_scenario as scenario;
pub use haggle_scheduling as scheduling;
pub use haggle_script as script;
pub use haggle_studies as studies;
pub use haggle_trial as trial;
pub use haggle_workloads as workloads;

pub use haggle_experiment::{ExperimentError, summarise, write};
pub use haggle_results::{RunReader as Results, Summary};
pub use haggle_scenario::{Builder, Experiment, Rules, Run};
