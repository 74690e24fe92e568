//! Errors in a file of a workflow, with their places.

use std::fmt;
use std::io;
use std::sync::Arc;

use haggle_workloads::lines::Unreadable;
use thiserror::Error;

use super::FILE_BYTES_MAX;
use crate::GraphError;

/// Characters of a name or message that errors show.
const SHOWN: usize = 80;

/// A problem with its place: `montage.json:17: task "mAdd": …`.
#[derive(Debug)]
pub struct FileError {
    /// The file as the user named it, `<stdin>` or `<memory>`.
    pub file: Arc<str>,
    /// Line, from 1; 0 = the problem is with the file as a whole, or the format gives no lines.
    pub line: usize,
    /// The problem.
    pub problem: FileProblem,
}

/// A problem of a file of a workflow.
#[derive(Debug, Error)]
pub enum FileProblem {
    /// The file could not be opened.
    #[error("cannot open the file: {0}")]
    Open(io::Error),
    /// The file could not be read on, or its compressed data are damaged.
    #[error("cannot read on: {0}")]
    Read(io::Error),
    /// The file is compressed in a format that is not supported.
    #[error("compressed with {0}; only gzip and zstd are read, so decompress it first")]
    Compression(&'static str),
    /// The unpacked text exceeds the limit.
    #[error("more than {} MiB of text; split the workflow", FILE_BYTES_MAX >> 20)]
    TooLong,
    /// The file has bytes that are not UTF-8.
    #[error("not a text in UTF-8; expected WfFormat (JSON) or DAX (XML)")]
    NotText,
    /// The file begins like neither format.
    #[error("begins neither with {{ nor with <; expected WfFormat (JSON) or DAX (XML)")]
    UnknownFormat,
    /// The text is no JSON, or lacks parts of WfFormat.
    #[error("not WfFormat: {}", shown(.0))]
    Json(String),
    /// The text is no XML, or lacks parts of DAX.
    #[error("not a DAX: {}", shown(.0))]
    Xml(String),
    /// The version of WfFormat is not supported.
    #[error("WfFormat {}; versions 1.3 to 1.6 are read, so convert it", quoted(.0))]
    Version(String),
    /// A part of a task is missing or out of range.
    #[error("task {}: {what}", quoted(.name))]
    Task {
        /// The task.
        name: String,
        /// The problem, and the expected value.
        what: &'static str,
    },
    /// A named parent or child is no task of the file.
    #[error("task {} names {}, but there is no such task", quoted(.name), quoted(.other))]
    UnknownTask {
        /// The task that names it.
        name: String,
        /// The unknown name.
        other: String,
    },
    /// A file that a task reads or writes has no size.
    #[error("task {}: file {} has no size; add it to the files", quoted(.name), quoted(.file))]
    NoSize {
        /// The task.
        name: String,
        /// The file.
        file: String,
    },
    /// The size of a file is no whole number of bytes, or below 0.
    #[error("task {}: size of file {} is {}; {}", quoted(.task), quoted(.file), shown(.found), size_help(*.negative))]
    Size {
        /// The task that reads or writes the file.
        task: String,
        /// The file.
        file: String,
        /// The size as written in the file.
        found: String,
        /// True if it is a number below 0.
        negative: bool,
    },
    /// The run time of a task is below 0.
    #[error("task {}: run time is {seconds} s; expected at least 0 s; the option negative-values = \"zero\" counts it as 0", quoted(.task))]
    NegativeRunTime {
        /// The task.
        task: String,
        /// Its run time.
        seconds: f64,
    },
    /// The list of files has a file twice with different sizes.
    #[error("file {} is listed with {first} B and with {second} B; list it once", quoted(.file))]
    TwoSizes {
        /// The file.
        file: String,
        /// The one size.
        first: String,
        /// The other.
        second: String,
    },
    /// A file has too many writers and readers to match them.
    #[error("file {} has too many writers and readers to find the writer of each reader; give each version a name of its own", quoted(.file))]
    TooManyWriters {
        /// The file.
        file: String,
    },
    /// The tasks and edges do not form a workflow.
    #[error("{}", shown(&.0.to_string()))]
    Graph(#[from] GraphError),
}

/// Makes a text printable on one line and limits its length.
pub(super) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(4 * SHOWN).flat_map(char::escape_debug).collect();
    // Quotation marks and apostrophes cannot break a line, so they stay as they are.
    shown = shown.replace("\\\"", "\"").replace("\\'", "'");
    if text.chars().nth(4 * SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

pub(super) fn quoted(name: &str) -> String {
    let end = if name.chars().nth(SHOWN).is_some() { "…" } else { "" };
    format!("\"{}{end}\"", shown(&name.chars().take(SHOWN).collect::<String>()))
}

const fn size_help(negative: bool) -> &'static str {
    match negative {
        true => "expected bytes, at least 0; the option negative-values = \"zero\" counts it as 0",
        false => "expected a whole number of bytes",
    }
}

impl From<Unreadable> for FileProblem {
    fn from(unreadable: Unreadable) -> FileProblem {
        match unreadable {
            Unreadable::Open(error) => FileProblem::Open(error),
            Unreadable::Read(error) => FileProblem::Read(error),
            Unreadable::Compression(kind) => FileProblem::Compression(kind),
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": {}", self.problem)
    }
}

// Written by hand: the message already includes that of the cause.
impl std::error::Error for FileError {}
