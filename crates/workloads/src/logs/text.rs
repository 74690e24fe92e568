//! The lines of a log, with the name of the log, the place in it, and the lines that are skipped.

use std::io::BufRead;
use std::sync::Arc;

use super::error::{LogError, LogProblem};
use crate::lines::{self, Found, LINE_BYTES_MAX};
use crate::swf::{Malformed, SkippedLines};

/// A log as lines.
pub(super) struct Text {
    input: Box<dyn BufRead + Send>,
    pub(super) log: Arc<str>,
    malformed: Malformed,
    /// The current line without its end.
    pub(super) buffer: Vec<u8>,
    /// Its number, from 1.
    pub(super) line: u64,
    pub(super) skipped: SkippedLines,
}

impl Text {
    pub(super) fn new(input: Box<dyn BufRead + Send>, log: Arc<str>, malformed: Malformed) -> Text {
        let skipped = SkippedLines::default();
        Text { input, log, malformed, buffer: Vec::new(), line: 0, skipped }
    }

    /// Reads the next line that is not blank; `false` at the end.
    pub(super) fn next_line(&mut self) -> Result<bool, LogError> {
        loop {
            let found = lines::fill_line(&mut self.input, &mut self.buffer)
                .map_err(|error| self.error(0, LogProblem::Read(error)))?;
            if found == Found::End {
                return Ok(false);
            }
            self.line += 1;
            if found == Found::TooLong {
                let problem = format!("line has more than {LINE_BYTES_MAX} bytes");
                self.skip_or_fail(self.error(0, LogProblem::Record(problem)))?;
                continue;
            }
            // Some editors begin a file with a byte order mark, which is no part of a log.
            if self.line == 1 && self.buffer.starts_with(b"\xef\xbb\xbf") {
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

    /// An error in the current line; `column` from 1, or 0 for the whole line.
    pub(super) fn error(&self, column: usize, problem: LogProblem) -> LogError {
        problem.at(&self.log, self.line, column)
    }

    /// Skips the record with the error, if that is wanted and possible.
    pub(super) fn skip_or_fail(&mut self, error: LogError) -> Result<(), LogError> {
        if self.malformed == Malformed::Refuse || !error.problem.is_one_record() {
            return Err(error);
        }
        self.skipped.add(&error);
        Ok(())
    }
}
