//! Judges scenarios that were drawn at random: whatever they say, a few things must hold.
//!
//! ```text
//! scenario ── three event logs ──> equal?                 twice, and on the other driver
//!     │  ── run, checked ──> folder ── explain, compare, every figure
//!     │                        └── its scenario.toml, on the other driver ──> the same digest?
//!     ├── taken apart into a base and one that extends it ──> the same scenario?
//!     └── sweep, cut short, resumed ──> the same tables?
//! ```
//!
//! Which features meet in a case is counted by [`features`].

pub mod draw;
pub mod features;
pub mod verify;

mod judge;
mod outcome;

pub use judge::{Bounds, judge};
pub use outcome::{Failure, FailureKind, Outcome, Verdict};
