//! Files of workflows: WfCommons' WfFormat (JSON) 1.3 to 1.5, and Pegasus' DAX (XML), plain or
//! packed with gzip or zstd. The formats are told apart by their first byte.
//!
//! What files leave open is read as follows:
//!
//! - The work of a task is its recorded run time: whatever ran it is the reference machine.
//! - The bytes of an edge are those of all files that the parent writes and the child reads. A task
//!   that reads a file of another one comes after it, whether or not it is listed as a child.
//! - Files that no task writes are read from storage, and so are those that a task changes in place.
//! - Files that no other task reads are written to storage.

mod dax;
mod draft;
mod error;
mod wfformat;
mod write;

use std::io::{BufRead, Read};
use std::path::Path;
use std::sync::Arc;

use haggle_model::lines::{self, Unreadable};

use crate::Workflow;

pub use error::{FileError, FileProblem};
pub use write::write;

/// Most bytes of the unpacked text of a workflow: more than a million tasks take, and a bound to what
/// a damaged or hostile file unpacks to.
pub const FILE_BYTES_MAX: u64 = 2 << 30;

/// Reads the workflow at `path`, or from standard input for `-`.
pub fn read(path: &Path) -> Result<Workflow, FileError> {
    let file: Arc<str> = Arc::from(lines::name(path));
    parse(lines::open(path), &file)
}

/// Reads the workflow in `bytes`, plain or packed; errors name `<memory>`.
pub fn parse_bytes(bytes: &[u8]) -> Result<Workflow, FileError> {
    parse(lines::decompressed(bytes), &Arc::from("<memory>"))
}

fn parse<'a>(
    input: Result<Box<dyn BufRead + Send + 'a>, Unreadable>,
    file: &Arc<str>,
) -> Result<Workflow, FileError> {
    let error = |problem| FileError { file: Arc::clone(file), line: 0, problem };
    let mut bytes = Vec::new();
    let read = input.map_err(|unreadable| error(unreadable.into()))?;
    let mut bounded = read.take(FILE_BYTES_MAX + 1);
    bounded.read_to_end(&mut bytes).map_err(|cause| error(FileProblem::Read(cause)))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(error(FileProblem::TooLong));
    }
    let text = std::str::from_utf8(&bytes).map_err(|cause| FileError {
        line: line_at(&bytes, cause.valid_up_to()),
        ..error(FileProblem::NotText)
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let draft = match text.trim_start().bytes().next() {
        Some(b'{') => wfformat::parse(text),
        Some(b'<') => dax::parse(text),
        _ => return Err(error(FileProblem::UnknownFormat)),
    };
    let built = draft.and_then(draft::Draft::build);
    built.map_err(|(line, problem)| FileError { line, ..error(problem) })
}

/// The line, from 1, of the byte at `place`.
fn line_at(bytes: &[u8], place: usize) -> usize {
    1 + bytes[..place.min(bytes.len())].iter().filter(|&&byte| byte == b'\n').count()
}
