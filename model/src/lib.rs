//! What the world is made of: time, identifiers, jobs, processors, what can be
//! observed of a run, the workloads that bring jobs into it, and the failures that
//! take resources out of it.
//!
//! This crate knows nothing of scheduling, messages or files of results.

pub mod bag_stories;
pub mod disclosure;
pub mod failures;
pub mod grid;
pub mod ids;
pub mod job;
mod lines;
pub mod network;
pub mod observation;
pub mod platform;
pub mod processors;
pub mod random;
pub mod time;
pub mod work;
pub mod workload;

pub use bag_stories::BagStories;
pub use disclosure::Disclosure;
pub use ids::{ActorId, JobId, ProviderId};
pub use job::{Job, JobClass, JobShape};
pub use observation::{
    BagRecord, JobOutcome, JobRecord, Observation, OffersMade, Refusal, ShareRecord, TaskRun,
};
pub use platform::{ActorInfo, ActorKind, Cast, ProviderInfo};
pub use processors::ProcessorSet;
pub use time::{Span, Time};
