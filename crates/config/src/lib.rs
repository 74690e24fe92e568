//! Files in TOML that people write. They are read with the place of every key and checked against a
//! JSON schema. All mistakes are reported together.
//!
//! ```text
//! Source ── document ──> spanned tree ── conform ──> tree that fits the schema, and what was wrong with it
//! ```
//!
//! This crate does not know the content of the files: the caller provides the schema and the formats of
//! strings.

pub mod document;
pub mod problem;

mod conform;
mod schema;
mod source;
mod suggest;

pub use conform::{Findings, FormatError, Rules, conform};
pub use problem::{Lines, Position, Problem};
pub use schema::Schema;
pub use source::{ReadError, Source, setting_lines};
pub use suggest::{either, nearest};
