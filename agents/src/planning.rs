//! The actors that reschedule applications of many phases (Sanjay and Vadhiyar 2011).
//!
//! ```text
//!         Submit                PlanRequest, TimesRequest, RunInterval
//!  user ─────────▶ rescheduler ───────────────────────────────────────▶ cluster
//!                     │   ▲  ◀── Plan, Times, Begun, IntervalOver, IntervalLost │ its planner, its machines
//!             Redraw  ▼   │ Redrawn                                             ▲
//!                  resource updates ────────────── Loads ───────────────────────┘
//! ```
//!
//! A cluster plans with the loads that its monitor has reported, and runs with the present loads.
//! The rescheduler knows clusters only by their messages. Messages between these actors take no
//! time, but checkpoints do.

pub mod cluster;
pub mod errors;
pub mod plan;
pub mod rescheduler;
pub mod trace;
pub mod updates;

pub use cluster::{Cluster, ClusterConfig, Costs};
pub use errors::PredictionErrors;
pub use plan::{PlannedCluster, PlansActors, PlansConfig};
pub use rescheduler::{Rescheduler, ReschedulerConfig};
pub use trace::TracedLoads;
pub use updates::{DrawnLoads, DrawnWays, LoadRanges, LoadSource, ResourceUpdates, Updates};
