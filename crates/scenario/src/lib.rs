//! Scenario files: TOML in, checked and resolved scenarios out.
//!
//! ```text
//!   text ── document ──> spanned tree ── conform ──> tree that fits the schema
//!                                                         │ serde
//!   numbered runs <── sweep ── resolved scenarios <── check, resolve
//! ```
//!
//! The types in [`file`](mod@file) are the only description of the format: serde reads and writes them, and
//! schemars turns them into the schema of `haggle schema`. `conform` checks a file against that schema before
//! serde reads it. It can therefore continue after a mistake, and report all mistakes together, each at its place.
//! Rules that a schema cannot express (names that exist, sizes that fit together) are in `check`.
//!
//! ```
//! use haggle_scenario::{Experiment, Logs, Source};
//!
//! let text = r#"
//! [[workload]]
//! name = "jobs"
//! jobs = [{ submit = "0s", processors = 4, requested = "2h", run = "90min" }]
//!
//! [[provider]]
//! name = "north"
//! processors = 8
//!
//! [[user]]
//! name = "users"
//! workload = "jobs"
//! submits-to = "north"
//! "#;
//! let experiment = Experiment::read(Source::new("tiny.toml", text), Logs::MustExist)?;
//! assert_eq!(experiment.runs().count(), 1);
//!
//! let wrong = text.replace("processors = 8", "procesors = 8");
//! let error = Experiment::read(Source::new("tiny.toml", wrong), Logs::MustExist).unwrap_err();
//! assert_eq!(error.to_string(), "tiny.toml:8:1: [[provider]] has no key `procesors`");
//! # Ok::<(), haggle_scenario::InvalidScenario>(())
//! ```

pub mod file;
pub mod keys;
pub mod manual;
pub mod quantity;
pub mod vocabulary;

mod build;
mod directory;
mod holds;
mod problem;
mod takers;

pub mod changing;
mod check;
mod failures;
mod inherit;
mod initial;
mod log_path;
mod nodes;
mod own;
mod resolve;
mod rules;
pub mod schema;
mod site;
mod sweep;
mod workload;
mod write;

pub use build::{Builder, InvalidBuild};
pub use check::{Logs, exclusions_page};
pub use directory::Directory;
pub use file::Scenario;
pub use haggle_config::{
    Lines, Position, Problem, ReadError, Source, document, either, nearest, setting_lines,
};
pub use initial::{
    StateProblem, done_before_start, grid_initial_number, grid_state_problems, initial_name,
    initial_number, start_state_problems,
};
pub use log_path::{LogPathError, log_path};
pub use own::OwnRule;
pub use problem::{InvalidScenario, Warning, Warnings};
pub use rules::Rules;
pub use schema::SCHEMA_TEXT;
pub use sweep::{Experiment, References, Run, Setting, Variant};
pub use workload::{RunBy, WorkflowModel, WorkflowsError, listed_jobs};
pub use write::relative;
