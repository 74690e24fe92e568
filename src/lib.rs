//! haggle simulates autonomous resource providers that bargain over work.
//!
//! This is the library behind the command `haggle`. A scenario is read from a file or put together in code
//! ([`Builder`]), carried out in memory ([`summarise`]) or into a folder ([`write()`](fn@write)), and its results are
//! read back by name or row by row ([`Summary`], [`Results`]):
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
//!     .provider("north", 64, |north| north.policy = Policy::Easy)
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
//! | [`experiment`] | `haggle-experiment` | from a scenario to a world, a run, a folder, a sweep |
//! | [`scenario`] | `haggle-scenario` | scenario files: reading, checking, resolving, expanding sweeps |
//! | [`plots`] | `haggle-plots` | figures from results |
//! | [`results`] | `haggle-results` | tables, metrics, statistics |
//! | [`runtime`] | `haggle-runtime` | the clock, worlds put together from actors of one's own |
//!
//! Without its default feature `command`, nothing of the command line is built.

pub use haggle_experiment as experiment;
pub use haggle_plots as plots;
pub use haggle_results as results;
pub use haggle_runtime as runtime;
pub use haggle_scenario as scenario;
pub use haggle_studies as studies;

pub use haggle_experiment::{ExperimentError, summarise, write};
pub use haggle_results::{RunReader as Results, Summary};
pub use haggle_scenario::{Builder, Experiment, Run};
