//! The language of claims: expressions over runs, and what a comparison means.
//!
//! ```text
//! whoever has runs ── Source ──> language ──> Quantity, which is drawn
//!                                         └──> Verdict, whether a claim held
//! ```
//!
//! This crate knows nothing of scenarios, sweeps or studies: what an expression asks for comes from a [`Source`].

pub mod language;
pub mod quantity;
pub mod source;
pub mod verdict;

pub use language::{Evidence, Language, Mistake};
pub use quantity::{Quantity, Sample};
pub use source::{Absent, Point, Source};
pub use verdict::Verdict;
