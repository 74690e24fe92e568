//! Jobs on a grid of resources that fail: one scheduler sends every job to one
//! or several time-shared resources (Chtepen 2011, chapters 2 to 4).
//!
//! ```text
//!  reports of resources ─▶ View ─▶ a policy's round ─▶ actions: dispatch, cancel, migrate
//!                           ▲                             │
//!                           └──── what it decided itself ─┘
//!  a resource:  TimeShared (who computes how fast)  +  IntervalRule (when it saves)
//! ```
//!
//! What a resource does is in [`time_shared`], when a job saves its progress in
//! [`checkpoints`](crate::checkpoints). What the scheduler knows is in [`view`], what it is asked for
//! in [`scheduler`]. The policies are in [`queues`], [`replication`], [`wqr`],
//! [`combined`] and [`rescheduling`], and [`policy`] lists them; where replicas go is
//! [`Resources::place`](resources::Resources::place). Sessions, which reserve a share and
//! cannot wait, are placed by [`sessions`].
//!
//! The view files resources by speed and jobs by number of replicas, so a round
//! costs about as much as what it decides, O(log n) a decision; only
//! [`rescheduling`] looks at every job that runs. What metaschedulers ask, when a job would start, is in
//! [`estimate`], which follows all jobs that wait before that one: O((n + m) log r) for n of them and m of r
//! resources where something ends or is sent before.

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

pub use crate::checkpoints::{
    CheckpointCost, Expiry, FailureHistory, IntervalRule, IntervalState, Routine,
};
pub use combined::CombinedFt;
pub use estimate::Estimate;
pub use haggle_model::work::{EffectiveSpeed, Fraction, Speed, Work};
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
