//! Errors in a record of failures, with their places.

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::lines::Unreadable;

/// A problem in a record of failures with its place:
/// `event_trace.tab:17: field 7 (event_start_time): …`.
#[derive(Debug)]
pub struct TraceError {
    /// The file as the user named it, or `<stdin>`.
    pub file: Arc<str>,
    /// Line, from 1; 0 = the problem is with the file as a whole.
    pub line: u64,
    /// The problem.
    pub problem: TraceProblem,
}

/// A problem of a record of failures or of one of its lines.
#[derive(Debug)]
pub enum TraceProblem {
    /// The file could not be opened.
    Open(io::Error),
    /// The file could not be read on, or its compressed data are damaged.
    Read(io::Error),
    /// The file is compressed in a format that is not supported.
    Compression(&'static str),
    /// The file has no event.
    Empty,
    /// The file is in another format.
    OtherFormat {
        /// The supposed format.
        kind: &'static str,
        /// The way to use such a file.
        help: &'static str,
    },
    /// The line of column names lacks a column.
    NoColumn {
        /// The column.
        name: &'static str,
        /// The columns that are expected.
        expected: &'static str,
    },
    /// The line has more than this many bytes.
    LineTooLong(usize),
    /// The line has another number of fields.
    FieldCount {
        /// Expected number of fields.
        expected: usize,
        /// Number of fields found.
        found: usize,
    },
    /// The content of a field is wrong.
    Field {
        /// Field number, from 1.
        number: usize,
        /// Its name in the format.
        name: &'static str,
        /// Expected content.
        expected: &'static str,
        /// Content found, made printable.
        found: String,
    },
}

impl TraceProblem {
    /// True if reading can continue with the next line.
    pub const fn is_one_line(&self) -> bool {
        matches!(
            self,
            TraceProblem::LineTooLong(_)
                | TraceProblem::FieldCount { .. }
                | TraceProblem::Field { .. }
        )
    }
}

impl From<Unreadable> for TraceProblem {
    fn from(unreadable: Unreadable) -> TraceProblem {
        match unreadable {
            Unreadable::Open(error) => TraceProblem::Open(error),
            Unreadable::Read(error) => TraceProblem::Read(error),
            Unreadable::Compression(kind) => TraceProblem::Compression(kind),
        }
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": {}", self.problem)?;
        if self.problem.is_one_line() {
            write!(f, "; correct the line, or have malformed lines skipped")?;
        }
        Ok(())
    }
}

impl fmt::Display for TraceProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceProblem::Open(error) => write!(f, "cannot open the file: {error}"),
            TraceProblem::Read(error) => write!(f, "cannot read on: {error}"),
            TraceProblem::Compression(kind) => write!(
                f,
                "compressed with {kind}; only gzip and zstd are read, so decompress it first"
            ),
            TraceProblem::Empty => write!(f, "file holds no events that can be used"),
            TraceProblem::OtherFormat { kind, help } => {
                write!(f, "no record of failures: this looks like {kind}; {help}")
            }
            TraceProblem::NoColumn { name, expected } => {
                write!(f, "no column \"{name}\" in the line of column names; expected {expected}")
            }
            TraceProblem::LineTooLong(max) => write!(f, "line has more than {max} bytes"),
            TraceProblem::FieldCount { expected, found } => {
                write!(f, "expected {expected} fields, found {found}")
            }
            TraceProblem::Field { number, name, expected, found } => {
                write!(f, "field {number} ({name}): expected {expected}, found \"{found}\"")
            }
        }
    }
}

// Written by hand: the message already includes that of the cause, so `source` returns only the cause of the cause.
impl std::error::Error for TraceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            TraceProblem::Open(error) | TraceProblem::Read(error) => error.source(),
            _ => None,
        }
    }
}
