//! The log that a reader reads: its name, the place in it, and the records that are skipped.

use std::sync::Arc;

use super::error::{LogError, LogProblem};
use crate::swf::{Malformed, SkippedLines};

/// A log, and the place of the current record.
pub(super) struct Source {
    pub(super) log: Arc<str>,
    malformed: Malformed,
    /// The line at which the record begins, from 1.
    pub(super) line: u64,
    pub(super) skipped: SkippedLines,
}

impl Source {
    pub(super) fn new(log: Arc<str>, malformed: Malformed) -> Source {
        Source { log, malformed, line: 0, skipped: SkippedLines::default() }
    }

    /// An error in the current record; `column` from 1, or 0 for the whole line.
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
