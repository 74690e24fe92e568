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
//! A cluster plans with what its monitor has reported, and runs by what is there. The rescheduler knows
//! what clusters tell it. Messages between these actors take no time, checkpoints do.

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
