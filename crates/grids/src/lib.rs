//! Jobs on a grid of resources that fail: one scheduler sends every job to one
//! or several time-shared resources (Chtepen 2011, chapters 2 to 4).
//!
//! ```text
//!  reports of resources ─▶ View ─▶ a policy's round ─▶ actions: dispatch, cancel, migrate
//!                           ▲                             │
//!                           └────── its own decisions ────┘
//!  a resource:  TimeShared (speeds of its jobs)  +  IntervalRule (times of checkpoints)
//! ```
//!
//! [`time_shared`] models a resource, and [`checkpoints`](haggle_scheduling::checkpoints) the times at which jobs save
//! their progress. [`view`] holds the scheduler's knowledge, and [`scheduler`] its interface. The policies
//! are in [`queues`], [`replication`], [`wqr`], [`combined`] and [`rescheduling`], and [`policy`] lists
//! them. [`Resources::place`](resources::Resources::place) chooses the places of replicas. [`sessions`]
//! places sessions, which reserve a share and cannot wait.
//!
//! The view files resources by speed and jobs by number of replicas. So a round costs about as much as its
//! decisions, O(log n) each; only [`rescheduling`] examines every running job. [`estimate`] computes the
//! start of a job for metaschedulers. It follows all jobs that wait before that one: O((n + m) log r) for n
//! of them and m of r resources where something ends or is sent before.

pub mod combined;
mod ends;
pub mod erlang;
pub mod estimate;
pub mod jobs;
mod on_demand;
pub mod policy;
pub mod queues;
pub mod rank_set;
pub mod replication;
pub mod rescheduling;
pub mod resources;
mod rounds;
pub mod scheduler;
pub mod sessions;
pub mod time_shared;
pub mod view;
pub mod workflows;
pub mod wqr;

pub use combined::CombinedFt;
pub use estimate::Estimate;
pub use haggle_model::work::{EffectiveSpeed, Fraction, Speed, Work};
pub use haggle_scheduling::checkpoints::{
    CheckpointCost, Expiry, FailureHistory, IntervalRule, IntervalState, Routine,
};
pub use jobs::{GridJob, Jobs, Turn};
pub use policy::GridPolicy;
pub use queues::{Choice, QueueOrder, QueueScheduler};
pub use replication::{CancelMode, Replicas, Replication};
pub use rescheduling::Rescheduling;
pub use resources::{LoadUnit, Preference, Resource, ResourceId, Resources, SiteId};
pub use rounds::Rounds;
pub use scheduler::{Action, Checkpointing, GridScheduler, Insight, Round};
pub use sessions::{
    DynamicLimit, LightLoad, Session, SessionPolicy, SessionScheduler, Sessions, User,
};
pub use time_shared::{Share, Sharing, TimeShared, Usage, execution, make_room};
pub use view::{Detection, Report, View};
pub use wqr::Wqr;

/// Creates the scheduler of a grid, see [`GridPolicy::Own`].
pub type GridPolicyRule = fn(u32) -> Box<dyn GridScheduler>;

/// Creates a predictor of the lengths of tasks, see [`workflows::Prediction::Own`].
pub type PredictionRule = fn() -> Box<dyn workflows::prediction::Predictor>;
