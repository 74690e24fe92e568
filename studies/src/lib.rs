//! Published figures, drawn again, with what was claimed about them beside what came out.
//!
//! ```text
//! scenarios/STUDY/figures.toml, claims.toml ── library, catalogue ──> figures, claims
//!    sweeps ──> experiment::sweep ──> summary.json ─┐
//!    study  ──> a table computed by code ───────────┴──> Data
//!                                                         ├── language ──> draw ──> PNG, CSV
//!                                                         └── language ──> Verdict on each claim
//! ```
//!
//! A claim is data: what was said, in words, and an expression over the runs that comes to a
//! [`Verdict`]. The expressions' words are those of [`language`]; what a comparison
//! means is decided in [`verdict`] and nowhere else.

pub mod catalogue;
pub mod data;
pub mod draw;
pub mod judge;
pub mod language;
pub mod library;
pub mod logs;
pub mod obtain;
pub mod page;
pub mod quantity;
pub mod quick;
pub mod study;
pub mod verdict;

pub use catalogue::{Catalogue, Claim, Figure, Study};
pub use data::Data;
pub use judge::{Finding, Judgement, judge};
pub use library::Library;
pub use quantity::{Quantity, Sample};
pub use verdict::Verdict;
