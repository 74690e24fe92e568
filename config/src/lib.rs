//! Files in TOML that people write: read with the place of every key, held to a JSON schema, with all mistakes
//! reported together.
//!
//! ```text
//! Source ── document ──> spanned tree ── conform ──> tree that fits the schema, and what was wrong with it
//! ```
//!
//! Nothing here knows what the files are about: the schema and the formats of strings come from whoever reads them.

pub mod document;
pub mod problem;

mod conform;
mod schema;
mod source;
mod suggest;

pub use conform::{Findings, FormatError, Rules, conform};
pub use problem::{Lines, Position, Problem};
pub use schema::Schema;
pub use source::{ReadError, Source};
pub use suggest::{either, nearest};
