//! The language of claims: expressions over runs, and the meaning of comparisons.
//!
//! ```text
//! caller with runs ── Source ──> language ──> Quantity, which is drawn
//!                                         └──> Verdict, whether a claim held
//! ```
//!
//! A [`Condition`] is an expression of the same language over the columns of a table.
//!
//! This crate is independent of scenarios, sweeps and studies: the data of an expression come from a
//! [`Source`].

pub mod condition;
pub mod language;
pub mod quantity;
pub mod source;
pub mod verdict;

pub use condition::{Condition, Value};
pub use language::{Evidence, Language, Mistake};
pub use quantity::{Quantity, Sample};
pub use source::{Absent, Point, Source};
pub use verdict::{Outcome, Verdict};
