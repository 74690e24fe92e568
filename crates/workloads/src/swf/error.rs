//! Errors in a log, with their places.

use std::fmt;
use std::io;

use super::record::FIELD_NAMES;
use crate::lines::Unreadable;
use crate::placed::{Placed, Problem};

/// A problem in a log with its place.
pub type SwfError = Placed<SwfProblem>;

/// A problem of a log or of one of its lines.
#[derive(Debug)]
pub enum SwfProblem {
    /// The log cannot be read.
    Unreadable(Unreadable),
    /// The first line that is no comment looks like another format.
    NotSwf(OtherFormat),
    /// The header comments take more than this many bytes.
    HeaderTooLong(usize),
    /// The line has more than this many bytes.
    LineTooLong(usize),
    /// The line has this many fields, fewer than 18.
    FieldCount(usize),
    /// The content of a field is wrong.
    Field {
        /// Field number, from 0.
        index: usize,
        /// Expected content.
        expected: &'static str,
        /// Content found, made printable.
        found: String,
    },
}

/// A format that was given instead of a log by mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherFormat {
    /// XML.
    Xml,
    /// JSON.
    Json,
    /// TOML.
    Toml,
    /// A script.
    Script,
    /// Lines that begin with `#`, as comments of many formats do.
    Hash,
    /// A table of the Failure Trace Archive.
    FailureTable,
    /// Failure records of Los Alamos.
    FailureRecords,
    /// Output of Slurm's accounting.
    Sacct,
    /// A table with a line of names.
    NamedColumns,
}

impl OtherFormat {
    /// The way to use such a file.
    pub const fn help(self) -> &'static str {
        match self {
            OtherFormat::Xml => "`haggle workflow inspect` reads a DAX",
            OtherFormat::Json => "`haggle workflow inspect` reads WfFormat",
            OtherFormat::Toml => "`haggle run` reads scenarios",
            OtherFormat::Script => "expected lines of 18 numbers",
            OtherFormat::Hash => {
                "comments of a log begin with `;`; `haggle run` reads scenarios, `haggle failures inspect` records of failures"
            }
            OtherFormat::FailureTable | OtherFormat::FailureRecords => {
                "`haggle failures inspect` reads it, and so does `recorded` of `[[failures]]`"
            }
            OtherFormat::Sacct => {
                "the format `sacct` reads it, if its fields include JobID and Submit"
            }
            OtherFormat::NamedColumns => {
                "write a line of 18 numbers for each job first; docs/formats.md describes them"
            }
        }
    }
}

impl fmt::Display for OtherFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OtherFormat::Xml => "XML, such as a DAX",
            OtherFormat::Json => "JSON",
            OtherFormat::Toml => "TOML or JSON",
            OtherFormat::Script => "a script",
            OtherFormat::Hash => "a format whose comments begin with #",
            OtherFormat::FailureTable => "an event table of the Failure Trace Archive",
            OtherFormat::FailureRecords => "the failure records of Los Alamos",
            OtherFormat::Sacct => "output of sacct",
            OtherFormat::NamedColumns => "a table with named columns",
        })
    }
}

impl SwfProblem {
    /// True if reading can continue with the next line.
    pub const fn is_one_line(&self) -> bool {
        matches!(
            self,
            SwfProblem::LineTooLong(_) | SwfProblem::FieldCount(_) | SwfProblem::Field { .. }
        )
    }
}

impl From<Unreadable> for SwfProblem {
    fn from(unreadable: Unreadable) -> SwfProblem {
        SwfProblem::Unreadable(unreadable)
    }
}

impl Problem for SwfProblem {
    fn cause(&self) -> Option<&io::Error> {
        match self {
            SwfProblem::Unreadable(unreadable) => unreadable.cause(),
            _ => None,
        }
    }
}

impl fmt::Display for SwfProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SwfProblem::Unreadable(unreadable) => unreadable.fmt(f),
            SwfProblem::NotSwf(kind) => {
                write!(
                    f,
                    "not a log in Standard Workload Format: this looks like {kind}; {}",
                    kind.help()
                )
            }
            SwfProblem::HeaderTooLong(max) => write!(f, "header has more than {max} bytes"),
            SwfProblem::LineTooLong(max) => write!(f, "line has more than {max} bytes"),
            SwfProblem::FieldCount(found) => write!(f, "expected 18 fields, found {found}"),
            SwfProblem::Field { index, expected, found } => {
                let name = FIELD_NAMES.get(*index).unwrap_or(&"unknown");
                write!(f, "field {} ({name}): expected {expected}, found \"{found}\"", index + 1)
            }
        }
    }
}
