//! The lines of a log.

use std::io::BufRead;
use std::sync::Arc;

use super::error::{LogError, LogProblem};
use super::source::Source;
use crate::lines::{self, Found, LINE_BYTES_MAX, Unreadable};
use crate::swf::Malformed;

/// A log as lines.
pub(super) struct Text {
    input: Box<dyn BufRead + Send>,
    pub(super) source: Source,
    /// The current line without its end.
    pub(super) buffer: Vec<u8>,
}

impl Text {
    pub(super) fn new(input: Box<dyn BufRead + Send>, log: Arc<str>, malformed: Malformed) -> Text {
        Text { input, source: Source::new(log, malformed), buffer: Vec::new() }
    }

    /// Reads the next line that is not blank; `false` at the end.
    pub(super) fn next_line(&mut self) -> Result<bool, LogError> {
        loop {
            let found = lines::fill_line(&mut self.input, &mut self.buffer)
                .map_err(|error| self.source.error(0, Unreadable::Read(error).into()))?;
            if found == Found::End {
                return Ok(false);
            }
            self.source.line += 1;
            if found == Found::TooLong {
                let problem = format!("line has more than {LINE_BYTES_MAX} bytes");
                let error = self.source.error(0, LogProblem::Record(problem));
                self.source.skip_or_fail(error)?;
                continue;
            }
            // Some editors begin a file with a byte order mark, which is no part of a log.
            if self.source.line == 1 && self.buffer.starts_with(b"\xef\xbb\xbf") {
                self.buffer.drain(..3);
            }
            if self.buffer.last() == Some(&b'\r') {
                self.buffer.pop();
            }
            if !self.buffer.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
    }
}
