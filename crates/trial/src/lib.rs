//! Judges scenarios that were drawn at random: a few rules must hold for each of them.
//!
//! ```text
//! scenario ── three event logs ──> equal?                 twice, and on the other driver
//!     │  ── run, checked ──> folder ── explain, compare, every figure
//!     │                        └── its scenario.toml, on the other driver ──> the same digest?
//!     ├── taken apart into a base and one that extends it ──> the same scenario?
//!     └── sweep, cut short, resumed ──> the same tables?
//! ```
//!
//! The features that meet in a case are counted by [`features`]. The histories of a small world are searched by
//! [`histories`].

pub mod draw;
pub mod features;
pub mod histories;
pub mod verify;

mod judge;
mod outcome;

pub use judge::{Bounds, judge};
pub use outcome::{Failure, FailureKind, Outcome, Verdict};
