//! Workloads: where the jobs of a run come from and what is done to them first.
//!
//! ```text
//! log (SWF) -> rules  \
//! Lublin-Feitelson     >-> steps, in order -> numbering -> JobStream
//! jobs in memory      /
//! ```
//!
//! `Workload::open` builds that pipe. Everything streams except sorting,
//! which is asked for by name; jobs come in order of submission.
//!
//! Draws belong to (seed, workload, purpose, job number), so a filter, a window
//! or another step before a drawing step does not change what a job draws.

pub mod swf;
