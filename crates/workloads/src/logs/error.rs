//! Errors in logs of all formats but the Standard Workload Format, with their places.

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::lines::Unreadable;

/// A problem in a log with its place: `jobs.txt:17:25: column Submit: …`.
#[derive(Debug)]
pub struct LogError {
    /// The log as the user named it, or `<stdin>`.
    pub log: Arc<str>,
    /// Line, from 1; 0 = the problem is with the log as a whole.
    pub line: u64,
    /// Byte column in the line, from 1; 0 = the problem is with the line as a whole.
    pub column: usize,
    /// The problem.
    pub problem: LogProblem,
}

/// A problem of a log or of one of its records.
#[derive(Debug)]
pub enum LogProblem {
    /// The log could not be opened.
    Open(io::Error),
    /// The log could not be read on, or its compressed data are damaged.
    Read(io::Error),
    /// The log is compressed in a format that is not supported.
    Compression(&'static str),
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
        match unreadable {
            Unreadable::Open(error) => LogProblem::Open(error),
            Unreadable::Read(error) => LogProblem::Read(error),
            Unreadable::Compression(kind) => LogProblem::Compression(kind),
        }
    }
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.log)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl fmt::Display for LogProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogProblem::Open(error) => write!(f, "cannot open the log: {error}"),
            LogProblem::Read(error) => write!(f, "cannot read on: {error}"),
            LogProblem::Compression(kind) => write!(
                f,
                "compressed with {kind}; only gzip and zstd are read, so decompress it first"
            ),
            LogProblem::Whole(problem) | LogProblem::Record(problem) => f.write_str(problem),
            LogProblem::Field { name, expected, found } => {
                write!(f, "{name}: expected {expected}, found \"{found}\"")
            }
        }
    }
}

// Written by hand: the message already includes that of the cause, so `source` returns only the cause of the cause.
impl std::error::Error for LogError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            LogProblem::Open(error) | LogProblem::Read(error) => error.source(),
            _ => None,
        }
    }
}
