//! Workloads: where the jobs of a run come from and what is done to them first.
//!
//! ```text
//! log (SWF) -> rules  \
//! Lublin-Feitelson     \
//! independent jobs     \
//! synthetic months     /-> steps, in order -> numbering -> JobStream
//! jobs in memory      /
//! ```
//!
//! [`Workload::open`] builds that pipe. Everything streams except sorting,
//! which is asked for by name; jobs come in order of submission.
//!
//! Draws belong to (seed, workload, purpose, job number), so a filter, a window
//! or another step before a drawing step does not change what a job draws.

pub mod cleaning;
pub mod error;
pub mod independent;
pub mod inspect;
pub mod law;
pub mod lublin;
pub mod months;
pub mod rules;
pub mod source;
pub mod steps;
pub mod swf;

pub use cleaning::{CleaningCount, CleaningReport, SharedReport};
pub use error::WorkloadError;
pub use independent::IndependentJobs;
pub use inspect::{Inspector, WorkloadStatistics, inspect};
pub use law::{Law, LawError};
pub use lublin::LublinParameters;
pub use months::{MonthSite, SyntheticMonth};
pub use rules::Rules;
pub use source::{OpenWorkload, Source, WallClock, WatchedStep, Workload, local_clock};
pub use steps::{Step, merge, number_jobs};

use crate::Job;

/// Jobs in order of submission; nothing comes after an error.
pub type JobStream = Box<dyn Iterator<Item = StreamItem> + Send>;

/// What a stream gives: a job, or why there are no more.
pub type StreamItem = Result<Job, WorkloadError>;
