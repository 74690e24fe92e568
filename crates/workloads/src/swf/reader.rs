//! The streaming reader: bytes in, records out, one reused line buffer.

use std::io::BufRead;
use std::sync::Arc;

use memchr::memmem;

use super::error::{OtherFormat, SwfError, SwfProblem};
use super::header::SwfHeader;
use super::number::{self, Decimals};
use super::record::SwfRecord;
use super::scan;
use crate::lines::{self, Found, Unreadable};
use haggle_model::Time;

pub use crate::lines::LINE_BYTES_MAX;

/// Longest header that is kept, bytes.
const HEADER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Number of skipped lines kept for the report.
const SKIPPED_KEPT: usize = 5;

haggle_model::words! {
    /// Treatment of a line that is not a record.
    #[derive(Default)]
    pub enum Malformed {
        /// It is an error.
        #[default]
        Refuse = "refuse",
        /// It is left out and counted.
        Skip = "skip",
    }
}

/// The lines that were skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkippedLines {
    /// Number of lines.
    pub count: u64,
    /// Problems of the first few.
    pub first: Vec<String>,
}

impl SkippedLines {
    pub(crate) fn add(&mut self, error: &impl std::error::Error) {
        self.count += 1;
        if self.first.len() < SKIPPED_KEPT {
            self.first.push(error.to_string());
        }
    }
}

/// Reads records one by one; the header is read when the reader is created.
///
/// ```
/// use haggle_workloads::swf::{Malformed, SwfReader};
/// let log = "; MaxProcs: 4\n1 0 -1 60 2 -1 -1 2 90 -1 1 -1 -1 -1 -1 -1 -1 -1\n";
/// let mut reader = SwfReader::new(log.as_bytes(), "example", Malformed::Refuse).unwrap();
/// assert_eq!(reader.header().max_procs(), Some(4));
/// assert_eq!(reader.next().unwrap().unwrap().requested_processors, 2);
/// assert!(reader.next().is_none());
/// ```
pub struct SwfReader<R> {
    input: R,
    log: Arc<str>,
    malformed: Malformed,
    header: SwfHeader,
    /// The current line without its end.
    buffer: Vec<u8>,
    line: u64,
    /// The buffer holds a line that was read during the search for the header's end.
    pending: bool,
    finished: bool,
    skipped: SkippedLines,
    /// Records so far with more than eighteen columns.
    wider: u64,
    /// Names of the columns behind the eighteenth.
    columns: Vec<String>,
}

impl<R> SwfReader<R> {
    /// The comments before the first job line.
    pub fn header(&self) -> &SwfHeader {
        &self.header
    }

    /// Number of the line read last, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Name of the log in messages.
    pub fn log(&self) -> &Arc<str> {
        &self.log
    }

    /// The malformed lines skipped so far.
    pub fn skipped(&self) -> &SkippedLines {
        &self.skipped
    }

    /// Records so far with more than eighteen columns.
    pub fn wider(&self) -> u64 {
        self.wider
    }

    /// Names of the columns behind the eighteenth, from the header (`ExtraColumns`) or from the user. A
    /// record may have more columns than names.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Values of the last record behind the eighteenth column, in their order.
    pub fn further(&self) -> Vec<String> {
        let words = self.buffer.split(|&byte| is_space(byte)).filter(|word| !word.is_empty());
        words.skip(18).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
    }

    /// Names the columns behind the eighteenth, in place of the names in the header.
    pub fn name_columns(&mut self, columns: Vec<String>) {
        self.columns = columns;
    }
}

impl<R: BufRead> SwfReader<R> {
    /// Reads the header; `log` is the name used in messages.
    pub fn new(
        input: R,
        log: impl Into<Arc<str>>,
        malformed: Malformed,
    ) -> Result<SwfReader<R>, SwfError> {
        let mut reader = SwfReader {
            input,
            log: log.into(),
            malformed,
            header: SwfHeader::default(),
            buffer: Vec::new(),
            line: 0,
            pending: false,
            finished: false,
            skipped: SkippedLines::default(),
            wider: 0,
            columns: Vec::new(),
        };
        reader.read_header()?;
        reader.columns = reader.header.extra_columns();
        Ok(reader)
    }

    fn read_header(&mut self) -> Result<(), SwfError> {
        let mut bytes = 0;
        loop {
            match self.next_line() {
                Ok(true) => {}
                Ok(false) => {
                    self.finished = true;
                    return Ok(());
                }
                // Treated as a malformed job line. If such lines are skipped, the header goes on behind it.
                Err(SwfProblem::LineTooLong(max)) => {
                    let error = self.error(0, SwfProblem::LineTooLong(max));
                    self.skip_or_fail(error)?;
                    continue;
                }
                Err(problem) => return Err(self.error(0, problem)),
            }
            // Some editors begin a file with a byte order mark, which is no part of a log.
            if self.line == 1 && self.buffer.starts_with(b"\xef\xbb\xbf") {
                self.buffer.drain(..3);
            }
            match kind(&self.buffer) {
                LineKind::Blank => {}
                LineKind::Comment => {
                    bytes += self.buffer.len();
                    if bytes > HEADER_BYTES_MAX {
                        return Err(self.error(0, SwfProblem::HeaderTooLong(HEADER_BYTES_MAX)));
                    }
                    self.header.push_comment(&self.buffer);
                }
                LineKind::Job => {
                    // Columns behind the 18th may have any words.
                    if let Some(kind) = other_format(&self.buffer)
                        && parse_record(&self.buffer).is_err()
                    {
                        return Err(self.error(0, SwfProblem::NotSwf(kind)));
                    }
                    self.pending = true;
                    return Ok(());
                }
            }
        }
    }

    /// Reads the next line into the buffer; `false` at the end of the log.
    fn next_line(&mut self) -> Result<bool, SwfProblem> {
        let found =
            lines::fill_line(&mut self.input, &mut self.buffer).map_err(Unreadable::Read)?;
        if found != Found::End {
            self.line += 1;
        }
        match found {
            Found::End => Ok(false),
            Found::Line => Ok(true),
            Found::TooLong => Err(SwfProblem::LineTooLong(LINE_BYTES_MAX)),
        }
    }

    fn next_record(&mut self) -> Result<Option<SwfRecord>, SwfError> {
        loop {
            if !self.pending {
                match self.next_line() {
                    Ok(true) => {}
                    Ok(false) => return Ok(None),
                    Err(problem) => {
                        let error = self.error(0, problem);
                        self.skip_or_fail(error)?;
                        continue;
                    }
                }
            }
            self.pending = false;
            if kind(&self.buffer) != LineKind::Job {
                continue;
            }
            // Almost all lines are common ones; only the others are parsed a second time.
            if let Some(record) = scan::record(&self.buffer) {
                return Ok(Some(record));
            }
            match parse_record(&self.buffer) {
                Ok((record, is_wider)) => {
                    self.wider += u64::from(is_wider);
                    return Ok(Some(record));
                }
                Err(wrong) => {
                    let error = self.error(wrong.column, wrong.problem);
                    self.skip_or_fail(error)?;
                }
            }
        }
    }

    fn skip_or_fail(&mut self, error: SwfError) -> Result<(), SwfError> {
        if self.malformed == Malformed::Refuse || !error.problem.is_one_line() {
            return Err(error);
        }
        self.skipped.add(&error);
        Ok(())
    }

    fn error(&self, column: usize, problem: SwfProblem) -> SwfError {
        SwfError { log: Arc::clone(&self.log), line: self.line, column, problem }
    }
}

/// Ends after the first error.
impl<R: BufRead> Iterator for SwfReader<R> {
    type Item = Result<SwfRecord, SwfError>;

    fn next(&mut self) -> Option<Result<SwfRecord, SwfError>> {
        if self.finished {
            return None;
        }
        let next = self.next_record().transpose();
        self.finished = !matches!(next, Some(Ok(_)));
        next
    }
}

/// Reads a whole log from memory and returns the number of its records. It is the entry for fuzzing and
/// for checks of a text, and panics on no input.
pub fn parse_bytes(bytes: &[u8], malformed: Malformed) -> Result<u64, SwfError> {
    let input = lines::decompressed(bytes).map_err(|unreadable| SwfError {
        log: Arc::from("<memory>"),
        line: 0,
        column: 0,
        problem: unreadable.into(),
    })?;
    let mut count = 0;
    for record in SwfReader::new(input, "<memory>", malformed)? {
        record?;
        count += 1;
    }
    Ok(count)
}

#[derive(PartialEq, Eq)]
enum LineKind {
    Blank,
    Comment,
    Job,
}

fn kind(line: &[u8]) -> LineKind {
    match line.iter().find(|&&byte| !is_space(byte)) {
        None => LineKind::Blank,
        Some(b';') => LineKind::Comment,
        Some(_) => LineKind::Job,
    }
}

/// The format of a file that is no log, recognised by its first line.
fn other_format(line: &[u8]) -> Option<OtherFormat> {
    let text = line.trim_ascii();
    let has = |part: &[u8]| memmem::find(text, part).is_some();
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.\"".contains(byte);
    let key = text.split(|&byte| byte == b'=').next().unwrap_or_default().trim_ascii_end();
    let assigns = key.len() < text.len() && key.iter().all(is_key);
    match text.first()? {
        // Names of columns are tested before first letters, because the names of an event table may begin
        // with `#`.
        _ if has(b"event_start_time") || has(b"node_name") => Some(OtherFormat::FailureTable),
        // A log has at least 18 columns.
        _ if text.iter().filter(|&&byte| byte == b'\t').count() == 8 => {
            Some(OtherFormat::FailureTable)
        }
        _ if has(b"Prob Started") => Some(OtherFormat::FailureRecords),
        _ if has(b"JobID") || has(b"JobIDRaw") => Some(OtherFormat::Sacct),
        b'<' => Some(OtherFormat::Xml),
        b'{' => Some(OtherFormat::Json),
        b'[' => Some(OtherFormat::Toml),
        b'#' if text.starts_with(b"#!") => Some(OtherFormat::Script),
        b'#' => Some(OtherFormat::Hash),
        first if first.is_ascii_alphabetic() && assigns => Some(OtherFormat::Toml),
        first if first.is_ascii_alphabetic() && (text.contains(&b'|') || text.contains(&b',')) => {
            Some(OtherFormat::NamedColumns)
        }
        _ => None,
    }
}

#[inline]
fn is_space(byte: u8) -> bool {
    // One comparison for tab, line feed, vertical tab, form feed and carriage return.
    byte == b' ' || byte.wrapping_sub(b'\t') < 5
}

struct Wrong {
    column: usize,
    problem: SwfProblem,
}

/// The slow, careful parser: accepts every spelling of a number, and reports the error of other lines.
/// Also returns whether there are more than 18 columns.
fn parse_record(line: &[u8]) -> Result<(SwfRecord, bool), Wrong> {
    let tokens = Tokens::split(line)?;
    let record = SwfRecord {
        number: tokens.read(0, |token| number::large(token, Decimals::Refuse))?,
        submit: Time::ZERO + tokens.read(1, number::span)?,
        wait: tokens.read(2, number::span)?,
        run_time: tokens.read(3, number::span)?,
        allocated_processors: tokens.read(4, number::small)?,
        average_cpu_time: tokens.read(5, number::span)?,
        used_memory: tokens.read(6, |token| number::large(token, Decimals::RoundUp))?,
        requested_processors: tokens.read(7, number::small)?,
        requested_time: tokens.read(8, number::span)?,
        requested_memory: tokens.read(9, |token| number::large(token, Decimals::RoundUp))?,
        status: tokens.read(10, number::small)?,
        user: tokens.read(11, number::small)?,
        group: tokens.read(12, number::small)?,
        executable: tokens.read(13, number::small)?,
        queue: tokens.read(14, number::small)?,
        partition: tokens.read(15, number::small)?,
        preceding_job: tokens.read(16, |token| number::large(token, Decimals::Refuse))?,
        think_time: tokens.read(17, number::span)?,
    };
    Ok((record, tokens.is_wider))
}

/// The first 18 places of a line between spaces.
struct Tokens<'a> {
    line: &'a [u8],
    places: [(u32, u32); 18],
    is_wider: bool,
}

impl<'a> Tokens<'a> {
    fn split(line: &'a [u8]) -> Result<Tokens<'a>, Wrong> {
        let mut places = [(0, 0); 18];
        let mut count = 0;
        let mut at = 0;
        loop {
            while at < line.len() && is_space(line[at]) {
                at += 1;
            }
            if at == line.len() {
                break;
            }
            let start = at;
            while at < line.len() && !is_space(line[at]) {
                at += 1;
            }
            if let Some(place) = places.get_mut(count) {
                // A line has at most LINE_BYTES_MAX bytes, so the conversion cannot truncate.
                *place = (start as u32, at as u32);
            }
            count += 1;
        }
        if count < 18 {
            return Err(Wrong { column: 0, problem: SwfProblem::FieldCount(count) });
        }
        Ok(Tokens { line, places, is_wider: count > 18 })
    }

    #[inline]
    fn read<T>(
        &self,
        index: usize,
        parse: impl Fn(&[u8]) -> Result<T, number::Expected>,
    ) -> Result<T, Wrong> {
        let (start, end) = self.places[index];
        let token = &self.line[start as usize..end as usize];
        parse(token).map_err(|expected| wrong_field(index, start as usize, token, expected))
    }
}

#[cold]
fn wrong_field(index: usize, start: usize, token: &[u8], expected: &'static str) -> Wrong {
    const SHOWN_BYTES_MAX: usize = 40;
    let shown = &token[..token.len().min(SHOWN_BYTES_MAX)];
    let dots = if shown.len() < token.len() { "..." } else { "" };
    Wrong {
        column: start + 1,
        problem: SwfProblem::Field {
            index,
            expected,
            found: format!("{}{dots}", shown.escape_ascii()),
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GOOD: &str = "1 0 -1 60 2 -1 -1 2 90 -1 1 3 4 5 6 7 -1 -1";

    fn read(log: &[u8], malformed: Malformed) -> Result<Vec<SwfRecord>, String> {
        SwfReader::new(log, "ctc.swf", malformed)
            .and_then(Iterator::collect)
            .map_err(|error| error.to_string())
    }

    fn check_refused(log: &[u8], message: &str) {
        assert_eq!(read(log, Malformed::Refuse), Err(message.to_owned()));
    }

    #[test]
    fn further_columns_may_have_words_of_other_formats() {
        let fields = "1 0 5 60 2 -1 -1 2 90 -1 1 3 4 5 6 7 -1 -1";
        let read = |text: String| {
            SwfReader::new(text.as_bytes(), Arc::from("a.swf"), Malformed::Refuse)
                .and_then(|log| log.collect::<Result<Vec<_>, _>>())
                .map(|records| records.len())
        };
        for word in ["JobID", "node_name", "Prob Started"] {
            assert_eq!(read(format!("{fields} {word}\n")).ok(), Some(1), "{word}");
            assert!(read(format!("{word} {fields}\n")).is_err(), "{word}");
        }
    }

    #[test]
    fn all_eighteen_fields_are_read() {
        let records = read(GOOD.as_bytes(), Malformed::Refuse).expect("a good line");
        let record = records[0];
        assert_eq!((record.number, record.submit), (1, Time::ZERO));
        assert_eq!(record.run_time.as_micros(), 60_000_000);
        assert_eq!(record.requested_time.as_micros(), 90_000_000);
        assert_eq!(
            (record.user, record.group, record.executable, record.queue, record.partition),
            (3, 4, 5, 6, 7)
        );
    }

    #[test]
    fn line_ends_tabs_blank_lines_and_comments_do_not_matter() {
        let tabs = GOOD.replace(' ', "\t");
        let log = format!("\u{feff}; Version: 2\r\n\r\n{tabs}\r\n; later\n  {GOOD}  ");
        let reader = SwfReader::new(log.as_bytes(), "a", Malformed::Refuse).expect("a header");
        assert_eq!(reader.header().version(), Some("2"));
        assert_eq!(reader.filter(Result::is_ok).count(), 2);
    }

    #[test]
    fn a_field_that_is_no_number_is_named_with_its_place() {
        let log = format!("; Version: 2\n{GOOD}\n{}\n", GOOD.replace("60", "abc"));
        check_refused(
            log.as_bytes(),
            "ctc.swf:3:8: field 4 (run time): expected a number, found \"abc\"",
        );
        check_refused(
            GOOD.replace("90", "\u{e9}").as_bytes(),
            "ctc.swf:1:21: field 9 (requested time): expected a number, found \"\\xc3\\xa9\"",
        );
    }

    #[test]
    fn too_few_fields_are_refused() {
        check_refused(b"1 2 3\n", "ctc.swf:1: expected 18 fields, found 3");
        let log = format!("{} DAG-1", GOOD.replace(" -1 -1 2", ""));
        check_refused(log.as_bytes(), "ctc.swf:1: expected 18 fields, found 16");
    }

    #[test]
    fn columns_behind_the_eighteenth_are_passed_over_and_counted() {
        let log = format!("{GOOD}\tDAG-1\t1\n{GOOD}\n{GOOD} x\r\n");
        let mut reader = SwfReader::new(log.as_bytes(), "a", Malformed::Refuse).expect("readable");
        let first = reader.next().expect("a line").expect("a record");
        assert_eq!((first.preceding_job, first.requested_processors), (-1, 2));
        assert!(reader.by_ref().all(|record| record.is_ok_and(|record| record == first)));
        assert_eq!(reader.wider(), 2);
    }

    #[test]
    fn columns_behind_the_eighteenth_have_values_and_names() {
        let log = format!("; ExtraColumns: gpus, site\tnote\n{GOOD} 4\t-1 a:b\r\n{GOOD}\n");
        let mut reader = SwfReader::new(log.as_bytes(), "a", Malformed::Refuse).expect("readable");
        assert_eq!(reader.columns(), ["gpus", "site", "note"]);
        assert!(reader.next().is_some_and(|record| record.is_ok()));
        assert_eq!(reader.further(), ["4", "-1", "a:b"]);
        assert!(reader.next().is_some_and(|record| record.is_ok()));
        assert!(reader.further().is_empty());
        reader.name_columns(vec!["gpus".to_owned()]);
        assert_eq!(reader.columns(), ["gpus"]);
    }

    #[test]
    fn an_endless_line_is_refused_and_can_be_skipped() {
        let mut log = vec![b'7'; 3 * LINE_BYTES_MAX];
        check_refused(&log, "ctc.swf:1: line has more than 65536 bytes");
        log.push(b'\n');
        log.extend_from_slice(GOOD.as_bytes());
        assert_eq!(read(&log, Malformed::Skip).map(|records| records.len()), Ok(1));
    }

    #[test]
    fn skipped_lines_are_counted_and_the_first_are_kept() {
        let log = format!("{}{GOOD}\n", "x y\n".repeat(9));
        let mut reader = SwfReader::new(log.as_bytes(), "a", Malformed::Skip).expect("readable");
        assert!(reader.next().is_some_and(|record| record.is_ok()));
        assert!(reader.next().is_none());
        assert_eq!(reader.skipped().count, 9);
        assert_eq!(reader.skipped().first.len(), 5);
        assert_eq!(reader.skipped().first[0], "a:1: expected 18 fields, found 2");
    }

    fn careful(line: &str) -> Option<SwfRecord> {
        parse_record(line.as_bytes()).ok().map(|(record, _)| record)
    }

    proptest! {
        #[test]
        fn the_quick_reading_agrees_with_the_careful_one(fields in prop::collection::vec(
            "-?[0-9]{1,13}(\\.[0-9]{0,8})?|-1| |\t|[0-9]{1,4}|[0-9]{1,4}|-1\r", 18..20
        )) {
            let line = fields.join(" ");
            if let Some(quick) = scan::record(line.as_bytes()) {
                prop_assert_eq!(careful(&line), Some(quick), "{}", line);
            }
        }

        #[test]
        fn common_lines_are_read_quickly(fields in prop::collection::vec("-1|[0-9]{1,9}", 18)) {
            let line = fields.join("  ");
            let quick = scan::record(line.as_bytes());
            prop_assert!(quick.is_some());
            prop_assert_eq!(careful(&line), quick);
        }
    }

    #[test]
    fn nothing_comes_after_an_error() {
        let log = format!("x\n{GOOD}\n");
        let mut reader = SwfReader::new(log.as_bytes(), "a", Malformed::Refuse).expect("readable");
        assert!(reader.next().is_some_and(|record| record.is_err()));
        assert!(reader.next().is_none());
    }
}
