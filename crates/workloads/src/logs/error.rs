//! Errors in logs of all formats but the Standard Workload Format, with their places.

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::lines::Unreadable;
use crate::placed::{Placed, Problem};

/// A problem in a log with its place.
pub type LogError = Placed<LogProblem>;

/// A problem of a log or of one of its records.
#[derive(Debug)]
pub enum LogProblem {
    /// The log cannot be read.
    Unreadable(Unreadable),
    /// The log as a whole is wrong: the problem and the remedy.
    Whole(String),
    /// A record is wrong: the problem and the remedy.
    Record(String),
    /// The content of a field is wrong.
    Field {
        /// Name of the field or column.
        name: String,
        /// Expected content.
        expected: &'static str,
        /// Content found, made printable.
        found: String,
    },
}

impl LogProblem {
    /// The problem of a field with the content `found`.
    pub(super) fn field(name: &str, expected: &'static str, found: &[u8]) -> LogProblem {
        LogProblem::Field { name: name.to_owned(), expected, found: printable(found) }
    }

    /// True if reading can continue with the next record.
    pub const fn is_one_record(&self) -> bool {
        matches!(self, LogProblem::Record(_) | LogProblem::Field { .. })
    }

    /// The error at a place of a log.
    pub(super) fn at(self, log: &Arc<str>, line: u64, column: usize) -> LogError {
        LogError { log: Arc::clone(log), line, column, problem: self }
    }
}

/// The start of a text in a form that fits into a one-line message.
pub(super) fn printable(text: &[u8]) -> String {
    const SHOWN_BYTES_MAX: usize = 40;
    let shown = &text[..text.len().min(SHOWN_BYTES_MAX)];
    let dots = if shown.len() < text.len() { "..." } else { "" };
    format!("{}{dots}", shown.escape_ascii())
}

impl From<Unreadable> for LogProblem {
    fn from(unreadable: Unreadable) -> LogProblem {
        LogProblem::Unreadable(unreadable)
    }
}

impl Problem for LogProblem {
    fn cause(&self) -> Option<&io::Error> {
        match self {
            LogProblem::Unreadable(unreadable) => unreadable.cause(),
            _ => None,
        }
    }
}

impl fmt::Display for LogProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogProblem::Unreadable(unreadable) => unreadable.fmt(f),
            LogProblem::Whole(problem) | LogProblem::Record(problem) => f.write_str(problem),
            LogProblem::Field { name, expected, found } => {
                write!(f, "{name}: expected {expected}, found \"{found}\"")
            }
        }
    }
}
