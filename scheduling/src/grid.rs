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
//! [`checkpoint`].

pub mod checkpoint;
pub mod time_shared;
pub mod units;

pub use checkpoint::{CheckpointCost, Expiry, FailureHistory, IntervalRule, IntervalState};
pub use time_shared::{Share, Sharing, TimeShared, Usage};
pub use units::{EffectiveSpeed, Fraction, Speed, Work};
