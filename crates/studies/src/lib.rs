//! Published figures, drawn again, and claims about them, compared with the results.
//!
//! ```text
//! scenarios/STUDY/figures.toml, claims.toml ── library, catalogue ──> figures, claims
//!    sweeps ──> experiment::sweep ──> summary.json ─┐
//!    live runs ──> the same folders ────────────────┤
//!    study  ──> a table computed by code ───────────┴──> Data
//!                                                         ├── language ──> draw ──> PNG, CSV
//!                                                         └── language ──> Verdict on each claim
//! ```
//!
//! A claim is data: the statement in words, and an expression over the runs whose value is a
//! [`Verdict`](haggle_script::Verdict). Expressions are those of the crate `haggle-script`, which gets
//! values from a study's [`Data`].

pub mod backfilling_limit;
pub mod catalogue;
pub mod data;
pub mod draw;
pub mod judge;
pub mod library;
pub mod live;
pub mod logs;
pub mod obtain;
pub mod page;
pub mod prediction;
pub mod quick;
pub mod study;

pub use catalogue::{Catalogue, Claim, Figure, Study};
pub use data::Data;
pub use judge::{Finding, Judgement, judge};
pub use library::Library;
