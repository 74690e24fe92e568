//! Rows of a text with a line of names, and values that are separated by a letter and may be quoted.

use std::io::BufRead;
use std::sync::Arc;

use super::super::error::{LogError, LogProblem};
use super::super::source::Source;
use super::super::text::Text;
use crate::swf::Malformed;

/// Most columns of a table.
const COLUMNS_MAX: usize = 4_096;

/// The rows, and the values of the current one.
pub(super) struct Csv {
    text: Text,
    parser: csv_core::Reader,
    separator: u8,
    names: Vec<String>,
    /// The values of the row, one behind the other.
    values: Vec<u8>,
    /// The end of each value.
    ends: Vec<usize>,
}

impl Csv {
    /// Reads the line of names.
    pub(super) fn new(
        input: Box<dyn BufRead + Send>,
        log: Arc<str>,
        separator: Option<char>,
        malformed: Malformed,
    ) -> Result<Csv, LogError> {
        let mut text = Text::new(input, log, malformed);
        text.next_line()?;
        let separator = separator.map_or_else(|| likely_separator(&text.buffer), |it| it as u8);
        let parser = csv_core::ReaderBuilder::new().delimiter(separator).build();
        let mut rows = Csv {
            text,
            parser,
            separator,
            names: Vec::new(),
            values: Vec::new(),
            ends: Vec::new(),
        };
        rows.split().map_err(|problem| rows.text.source.error(0, problem))?;
        let name = |at| String::from_utf8_lossy(rows.value(at)).into_owned();
        rows.names = (0..rows.ends.len()).map(name).collect();
        Ok(rows)
    }

    pub(super) fn source(&self) -> &Source {
        &self.text.source
    }

    pub(super) fn source_mut(&mut self) -> &mut Source {
        &mut self.text.source
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Reads the next row; `false` at the end.
    pub(super) fn next(&mut self) -> Result<bool, LogError> {
        while self.text.next_line()? {
            let found = self.split().and_then(|()| self.check_count());
            match found {
                Ok(()) => return Ok(true),
                Err(problem) => {
                    let error = self.text.source.error(0, problem);
                    self.text.source.skip_or_fail(error)?;
                }
            }
        }
        Ok(false)
    }

    /// The value of a column in the current row.
    pub(super) fn value(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        self.values[start..self.ends[at]].trim_ascii()
    }

    fn check_count(&self) -> Result<(), LogProblem> {
        let (expected, found) = (self.names.len(), self.ends.len());
        if found == expected {
            return Ok(());
        }
        Err(LogProblem::Record(format!(
            "expected {expected} values, found {found}; values that contain the separator need quotes, and no value \
             has a line break"
        )))
    }

    fn split(&mut self) -> Result<(), LogProblem> {
        let line = &self.text.buffer;
        self.parser.reset();
        self.values.resize(line.len() + 1, 0);
        // As many values as the line has separators, and one more.
        let most = memchr::memchr_iter(self.separator, line).count() + 1;
        if most > COLUMNS_MAX {
            let problem = format!("more than {COLUMNS_MAX} values; is the separator right?");
            return Err(LogProblem::Record(problem));
        }
        self.ends.resize(most + 1, 0);
        let (mut read, mut written, mut count) = (0, 0, 0);
        loop {
            // Without input, the parser closes the value and the record.
            let (result, used, out, ended) = self.parser.read_record(
                &line[read..],
                &mut self.values[written..],
                &mut self.ends[count..],
            );
            read += used;
            written += out;
            count += ended;
            match result {
                csv_core::ReadRecordResult::InputEmpty => {}
                csv_core::ReadRecordResult::OutputFull
                | csv_core::ReadRecordResult::OutputEndsFull
                | csv_core::ReadRecordResult::Record
                | csv_core::ReadRecordResult::End => break,
            }
        }
        self.ends.truncate(count);
        Ok(())
    }
}

/// The separator. Spreadsheets of countries with decimal commas write semicolons.
fn likely_separator(names: &[u8]) -> u8 {
    let has = |sign: &u8| names.contains(sign);
    *[b',', b';', b'\t', b'|'].iter().find(|&sign| has(sign)).unwrap_or(&b',')
}
