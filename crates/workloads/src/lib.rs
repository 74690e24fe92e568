//! Input of the simulated world: jobs from logs and models, the steps that change them, failures of
//! resources, and traces of load.
//!
//! ```text
//! job log -> rules     \
//! Lublin-Feitelson     \
//! independent jobs     \
//! synthetic months     /-> steps, in order -> numbering -> JobStream
//! jobs in memory      /
//! ```
//!
//! [`Workload::open`] builds that pipe. Everything streams except sorting, which a rule must request
//! explicitly, and which needs temporary files instead of memory. Jobs come in order of submission.
//!
//! Draws belong to (seed, workload, purpose, job number), so a filter, a window
//! or another step before a drawing step does not change what a job draws.

pub mod cleaning;
pub mod error;
pub mod failures;
pub mod independent;
pub mod inspect;
pub mod lines;
pub mod load_trace;
pub mod logs;
pub mod lublin;
pub mod months;
pub mod placed;
pub mod rules;
pub mod source;
mod spill;
pub mod steps;
pub mod swf;

pub use cleaning::{CleaningCount, CleaningReport, SharedReport};
pub use error::WorkloadError;
pub use independent::IndependentJobs;
pub use inspect::{Inspector, WorkloadStatistics, inspect};
pub use lublin::LublinParameters;
pub use months::{MonthSite, SyntheticMonth};
pub use rules::Rules;
pub use source::{OpenWorkload, Source, WallClock, WatchedStep, Workload, local_clock};
pub use steps::{Step, merge, number_jobs};

use haggle_model::Job;

/// Jobs in order of submission; an error is the last item.
pub type JobStream = Box<dyn Iterator<Item = StreamItem> + Send>;

/// An item of a stream: a job, or the error that ends the stream.
pub type StreamItem = Result<Job, WorkloadError>;
