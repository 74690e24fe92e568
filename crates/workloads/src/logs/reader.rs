//! The reader around the records of any format but the common one.

use std::sync::Arc;

use haggle_model::Demand;

use super::LogReader;
use super::error::LogError;
use super::notes::Notes;
use super::source::Source;
use crate::error::WorkloadError;
use crate::swf::{HeaderLine, SkippedLines, SwfHeader, SwfRecord};

/// The records of a format.
pub(super) trait Records {
    fn source(&self) -> &Source;

    fn header(&self) -> &SwfHeader;

    /// The next record; `None` at the end.
    fn next_job(&mut self) -> Result<Option<SwfRecord>, LogError>;

    fn notes(&self) -> &Notes;

    /// True if there may be names.
    fn has_names(&self) -> bool {
        true
    }

    /// Lines of a header for names behind numbers.
    fn names(&self) -> Vec<HeaderLine>;

    /// Names of the columns that are kept.
    fn columns(&self) -> &[String];

    /// Values of the last record in these columns.
    fn further(&self) -> Vec<String>;

    /// The demand of the last record, as a job of so many processors.
    fn demand(&mut self, _processors: u32) -> Option<Demand> {
        None
    }
}

/// Reads the records of a format, up to the first error.
pub(super) struct Reader<F> {
    records: F,
    finished: bool,
}

impl<F> Reader<F> {
    pub(super) fn new(records: F) -> Reader<F> {
        Reader { records, finished: false }
    }
}

impl<F: Records> LogReader for Reader<F> {
    fn log(&self) -> &Arc<str> {
        &self.records.source().log
    }

    fn header(&self) -> &SwfHeader {
        self.records.header()
    }

    fn next_record(&mut self) -> Result<Option<SwfRecord>, WorkloadError> {
        if self.finished {
            return Ok(None);
        }
        let next = self.records.next_job();
        self.finished = !matches!(next, Ok(Some(_)));
        next.map_err(WorkloadError::Log)
    }

    fn line(&self) -> u64 {
        self.records.source().line
    }

    fn skipped(&self) -> &SkippedLines {
        &self.records.source().skipped
    }

    fn notes(&self) -> &Notes {
        self.records.notes()
    }

    fn has_names(&self) -> bool {
        self.records.has_names()
    }

    fn names(&self) -> Vec<HeaderLine> {
        self.records.names()
    }

    fn columns(&self) -> &[String] {
        self.records.columns()
    }

    fn further(&self) -> Vec<String> {
        self.records.further()
    }

    fn demand(&mut self, processors: u32) -> Option<Demand> {
        self.records.demand(processors)
    }
}
