//! Files of workflows: WfCommons' WfFormat (JSON) 1.3 to 1.6, and Pegasus' DAX (XML), plain or
//! packed with gzip or zstd. The formats are distinguished by their first byte.
//!
//! Rules for cases that files leave open:
//!
//! - The work of a task is its recorded run time: the machine that ran it is the reference machine.
//! - The bytes of an edge are those of all files that the parent writes and the child reads. A task
//!   that reads a file of another task comes after it, also if it is not listed as a child.
//! - Files that no task writes are read from storage. A file with one writer that also reads it is
//!   read from storage, too.
//! - A file may have several writers, because names are used again or because tasks change a file in
//!   place. Its readers are fed by writers that are their ancestors over all other edges. Of these, only
//!   the latest counts. A writer that is the ancestor of another one is replaced. The bytes are
//!   those of the writer. A reader without such a writer reads from storage.
//! - Files that no other task reads are written to storage, by each writer that feeds no reader.

mod dax;
mod draft;
mod error;
mod feeders;
mod size;
mod wfformat;
mod write;

use std::io::{BufRead, Read};
use std::path::Path;
use std::sync::Arc;

use haggle_workloads::lines::{self, Unreadable};

use crate::Workflow;

pub use error::{FileError, FileProblem};
pub use write::write;

/// Largest size of the unpacked text of a workflow, bytes. A million tasks take less. The bound
/// protects against damaged or hostile files that unpack to more.
pub const FILE_BYTES_MAX: u64 = 2 << 30;

haggle_model::words! {
    /// Treatment of a size of a file, or of a run time, that is negative.
    #[derive(Default)]
    pub enum NegativeValues {
        /// It is an error.
        #[default]
        Refuse = "refuse",
        /// It counts as 0.
        Zero = "zero",
    }
}

/// Rules for reading files.
///
/// ```
/// use haggle_workflows::files::{NegativeValues, Rules};
/// let dax = r#"<adag><job id="a" runtime="1"><uses file="f" link="output" size="-3"/></job></adag>"#;
/// let read = Rules { negative_values: NegativeValues::Zero }.parse_bytes(dax.as_bytes()).unwrap();
/// assert_eq!(read.notes, ["1 negative value counts as 0, such as the size of file \"f\" (-3)"]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Sizes and run times below 0, as some generators draw them.
    pub negative_values: NegativeValues,
}

/// A workflow as its file describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// The workflow.
    pub workflow: Workflow,
    /// Notes on unexpected readings of the file, one sentence each.
    pub notes: Vec<String>,
    /// Sizes and run times below 0 that count as 0.
    pub negative_values: usize,
}

impl Rules {
    /// Reads the workflow at `path`, or from standard input for `-`.
    pub fn read(&self, path: &Path) -> Result<Described, FileError> {
        let file: Arc<str> = Arc::from(lines::name(path));
        parse(lines::open(path), &file, *self)
    }

    /// Reads the workflow in `bytes`, plain or packed; errors name `<memory>`.
    pub fn parse_bytes(&self, bytes: &[u8]) -> Result<Described, FileError> {
        parse(lines::decompressed(bytes), &Arc::from("<memory>"), *self)
    }
}

/// Reads the workflow at `path` under the default rules, or from standard input for `-`.
pub fn read(path: &Path) -> Result<Workflow, FileError> {
    Ok(Rules::default().read(path)?.workflow)
}

/// Reads the workflow in `bytes` under the default rules, plain or packed; errors name `<memory>`.
pub fn parse_bytes(bytes: &[u8]) -> Result<Workflow, FileError> {
    Ok(Rules::default().parse_bytes(bytes)?.workflow)
}

fn parse<'a>(
    input: Result<Box<dyn BufRead + Send + 'a>, Unreadable>,
    file: &Arc<str>,
    rules: Rules,
) -> Result<Described, FileError> {
    let error = |problem| FileError { file: Arc::clone(file), line: 0, problem };
    let mut bytes = Vec::new();
    let read = input.map_err(|unreadable| error(unreadable.into()))?;
    // One byte above the limit shows that the text is longer.
    let mut bounded = read.take(FILE_BYTES_MAX + 1);
    bounded.read_to_end(&mut bytes).map_err(|cause| error(FileProblem::Read(cause)))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(error(FileProblem::TooLong));
    }
    let text = std::str::from_utf8(&bytes).map_err(|cause| FileError {
        line: line_at(&bytes, cause.valid_up_to()),
        ..error(FileProblem::NotText)
    })?;
    // Some editors begin a file with a byte order mark, which no parser here expects.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let draft = match text.trim_start().bytes().next() {
        Some(b'{') => wfformat::parse(text, rules),
        Some(b'<') => dax::parse(text, rules),
        _ => return Err(error(FileProblem::UnknownFormat)),
    };
    let built = draft.and_then(draft::Draft::build);
    built.map_err(|(line, problem)| FileError { line, ..error(problem) })
}

/// The line, from 1, of the byte at `place`.
fn line_at(bytes: &[u8], place: usize) -> usize {
    1 + bytes[..place.min(bytes.len())].iter().filter(|&&byte| byte == b'\n').count()
}
