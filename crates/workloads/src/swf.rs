//! The Standard Workload Format: one job a line, 18 numbers, -1 for unknown values, header comments
//! after `;` (Chapin et al. 1999, version 2.2).
//!
//! Reading streams: memory does not depend on the length of the log. This module reads the numbers
//! unchanged. The rules for missing or odd numbers are in [`super::rules`].

mod error;
mod header;
mod input;
pub(crate) mod number;
mod reader;
mod record;
mod scan;
mod writer;

pub use error::{OtherFormat, SwfError, SwfProblem};
pub use header::{HeaderLine, SwfHeader};
pub use input::{SwfLog, open};
pub use reader::{LINE_BYTES_MAX, Malformed, SkippedLines, SwfReader, parse_bytes};
pub use record::{FIELD_NAMES, SwfRecord, UNKNOWN_SPAN};
pub use writer::{SwfWriter, write_header, write_record};
