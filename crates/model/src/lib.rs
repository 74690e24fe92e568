//! The parts of the simulated world: time, identifiers, jobs, processors, observations of a run.
//!
//! This crate reads no files, and has neither scheduling nor messages.

pub mod agreement;
mod by_job;
pub mod demand;
pub mod disclosure;
mod exact;
pub mod following;
pub mod grid;
pub mod ids;
pub mod interned;
pub mod iterative;
pub mod job;
pub mod job_stories;
pub mod law;
pub mod moldable;
pub mod network;
pub mod nodes;
pub mod observation;
pub mod phased;
pub mod platform;
pub mod processors;
pub mod progress;
pub mod random;
pub mod reservation;
pub mod shared;
pub mod stage_in;
pub mod time;
mod words;
pub mod work;
pub mod workflow;

pub use agreement::{AgreementEvent, AgreementId};
pub use by_job::ByJob;
pub use demand::{Amounts, Demand, MemoryWish, Resource, UnequalChunks, Wishes};
pub use disclosure::Disclosure;
pub use following::{FollowOn, Following};
pub use ids::{ActorId, JobId, ProviderId};
pub use iterative::Iterative;
pub use job::{Initial, Job, JobClass, JobShape};
pub use job_stories::JobStories;
pub use moldable::{Moldable, Sizing, Speedup};
pub use nodes::{NodeGroup, Nodes};
pub use observation::{
    AttemptOutcome, BagRecord, Booking, Coallocated, JobOutcome, JobPriority, JobRecord, LostRun,
    MaintenanceRecord, MessageFault, Observation, OffersMade, Refusal, SentCheckpoint, ShareRecord,
    TaskRun, WindowFate,
};
pub use phased::Phased;
pub use platform::{ActorInfo, ActorKind, Cast, ProviderInfo, SiteInfo};
pub use processors::ProcessorSet;
pub use stage_in::StageIn;
pub use time::{EventsOrder, Span, Time};
