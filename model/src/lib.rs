//! What the world is made of: time, identifiers, jobs, processors, what can be
//! observed of a run, and the workloads that bring jobs into it.
//!
//! This crate knows nothing of scheduling, messages or files of results.

pub mod ids;
pub mod job;
pub mod observation;
pub mod platform;
pub mod processors;
pub mod random;
pub mod time;
pub mod workload;

pub use ids::{ActorId, JobId, ProviderId};
pub use job::{Job, JobClass};
pub use observation::{JobOutcome, JobRecord, Observation, Refusal};
pub use platform::{ActorInfo, ActorKind, Cast, ProviderInfo};
pub use processors::ProcessorSet;
pub use time::{Span, Time};
