//! Results of a run: writes and reads tables, metrics and statistics.
//!
//! ```text
//! JobRecord, message, disclosure ──> RunWriter ──> FinishedRun ──> DIR/*.parquet, DIR/*.csv
//!        └──> Metrics ──> Summary ─────────────────────^          DIR/summary.json, provenance.json
//! SettledJob, AttemptRecord ──> as JobRecords
//! DIR ──> RunReader ──> figures, comparisons, explanations
//! ```
//!
//! This crate draws nothing and runs nothing. The columns of all tables are defined in [`columns`],
//! from which the manual's page is made.

pub mod about;
pub mod attempts;
pub mod columns;
pub mod critical;
pub mod digest;
pub mod manual;
pub mod metrics;
pub mod pack;
pub mod provenance;
pub mod reader;
pub mod sites;
pub mod start_table;
pub mod stats;
pub mod sweep;
pub mod sweep_folder;
pub mod visible;
pub mod waits;
pub mod writer;

mod buffer;
mod csv_file;
mod digits;
mod error;
mod folder;
mod parquet_file;
mod regular;
mod tables;
mod tally;
mod words;

pub use about::About;
pub use attempts::AttemptView;
pub use columns::Table;
pub use digest::{RunDigest, sha256};
pub use error::ResultsError;
pub use folder::{Existing, is_file_of_run};
pub use metrics::{
    AttemptLoss, Cut, Extent, GridViolation, MessageFaults, Metrics, MetricsOptions, Moves,
    Networks, Plans, SettledAttempt, SettledJob, Summary,
};
pub use pack::PackWriter;
pub use provenance::{Input, OwnRule, Provenance, SnapshotCost, Timing};
pub use reader::{JobRow, JobTimes, PlacementRow, ResourceRow, RunReader};
pub use regular::read_text;
pub use sweep_folder::{SweepFolder, folder_of_run};
pub use writer::{
    Availability, FinishedRun, Format, JobRows, Loss, Messages, Preceding, RunWriter, WriteOptions,
};
