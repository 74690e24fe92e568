//! The Grid Workload Format of the Grid Workloads Archive: 29 columns with white space between them, -1 for
//! unknown values, comments after `#`.

use std::io::BufRead;
use std::sync::Arc;

use super::Options;
use super::error::{LogError, LogProblem};
use super::keep::Kept;
use super::names::Names;
use super::notes::{NoteKind, Notes};
use super::reader::Records;
use super::source::Source;
use super::text::Text;
use crate::swf::number::{self, Decimals};
use crate::swf::{HeaderLine, Malformed, SwfHeader, SwfRecord};
use haggle_model::{Span, Time};

/// The columns. The first 16 are those of the Standard Workload Format.
pub(super) const COLUMNS: [&str; 29] = [
    "JobID",
    "SubmitTime",
    "WaitTime",
    "RunTime",
    "NProcs",
    "AverageCPUTimeUsed",
    "UsedMemory",
    "ReqNProcs",
    "ReqTime",
    "ReqMemory",
    "Status",
    "UserID",
    "GroupID",
    "ExecutableID",
    "QueueID",
    "PartitionID",
    "OrigSiteID",
    "LastRunSiteID",
    "JobStructure",
    "JobStructureParams",
    "UsedNetwork",
    "UsedLocalDiskSpace",
    "UsedResources",
    "ReqPlatform",
    "ReqNetwork",
    "ReqLocalDiskSpace",
    "ReqResources",
    "VOID",
    "ProjectID",
];

/// Columns that a record has.
const IN_RECORD: usize = 16;

/// Reads records one by one.
pub(super) struct Gwf {
    text: Text,
    header: SwfHeader,
    kept: Kept,
    /// Places of the columns of which nothing is used, and that fact about each.
    dropped: Vec<(usize, String)>,
    /// Start and end of each column of the current line.
    places: Vec<(usize, usize)>,
    users: Names,
    groups: Names,
    executables: Names,
    queues: Names,
    partitions: Names,
    notes: Notes,
}

impl Gwf {
    pub(super) fn new(
        input: Box<dyn BufRead + Send>,
        log: Arc<str>,
        options: &Options,
        malformed: Malformed,
    ) -> Result<Gwf, LogError> {
        let text = Text::new(input, log, malformed);
        let names = COLUMNS.map(str::to_owned);
        let kept = Kept::choose(&names, (IN_RECORD..COLUMNS.len()).collect(), &options.keep);
        let (kept, dropped) = kept.map_err(|problem| text.source.error(0, problem))?;
        let mut header = SwfHeader::default();
        header.push("Version", "2.2");
        Ok(Gwf {
            text,
            header,
            kept,
            dropped,
            places: Vec::new(),
            users: Names::of(&options.names.users),
            groups: Names::of(&options.names.groups),
            executables: Names::default(),
            queues: Names::of(&options.names.queues),
            partitions: Names::of(&options.names.partitions),
            notes: Notes::default(),
        })
    }

    fn record(&mut self) -> Result<SwfRecord, (usize, LogProblem)> {
        let line = self.text.source.line;
        let text = &self.text.buffer[..];
        split(text, &mut self.places);
        let found = self.places.len();
        if found != COLUMNS.len() {
            let comma = if found == 1 && text.contains(&b',') {
                "; the dialect with commas is read by a mapping (format `csv`)"
            } else {
                ""
            };
            let problem = format!("expected {} columns, found {found}{comma}", COLUMNS.len());
            return Err((0, LogProblem::Record(problem)));
        }
        let row = Row { text, places: &self.places };
        let notes = &mut self.notes;
        let large = |token: &[u8]| number::large(token, Decimals::Refuse);
        let memory = |token: &[u8]| number::large(token, Decimals::RoundUp);
        let record = SwfRecord {
            number: row.read(0, large)?,
            submit: Time::ZERO + row.read(1, number::span)?,
            wait: row.read(2, number::span)?,
            run_time: row.read(3, number::span)?,
            allocated_processors: row.read(4, number::small)?,
            average_cpu_time: row.read(5, number::span)?,
            used_memory: row.read(6, memory)?,
            requested_processors: row.read(7, number::small)?,
            requested_time: row.read(8, number::span)?,
            requested_memory: row.read(9, memory)?,
            status: row.read(10, number::small)?,
            user: row.label(11, &mut self.users, notes, line)?,
            group: row.label(12, &mut self.groups, notes, line)?,
            executable: row.label(13, &mut self.executables, notes, line)?,
            queue: row.label(14, &mut self.queues, notes, line)?,
            partition: row.label(15, &mut self.partitions, notes, line)?,
            preceding_job: -1,
            think_time: Span::from_secs(-1),
        };
        for (at, fact) in &self.dropped {
            if row.token(*at) != b"-1" {
                self.notes.add(NoteKind::Dropped, fact, line);
            }
        }
        Ok(record)
    }
}

fn split(text: &[u8], places: &mut Vec<(usize, usize)>) {
    places.clear();
    let mut at = 0;
    for word in text.split(u8::is_ascii_whitespace) {
        if !word.is_empty() {
            places.push((at, at + word.len()));
        }
        at += word.len() + 1;
    }
}

/// The columns of a line.
struct Row<'a> {
    text: &'a [u8],
    places: &'a [(usize, usize)],
}

impl Row<'_> {
    fn token(&self, at: usize) -> &[u8] {
        let (start, end) = self.places[at];
        &self.text[start..end]
    }

    fn read<T>(
        &self,
        at: usize,
        parse: impl Fn(&[u8]) -> Result<T, number::Expected>,
    ) -> Result<T, (usize, LogProblem)> {
        let token = self.token(at);
        let wrong =
            |expected| (self.places[at].0 + 1, LogProblem::field(COLUMNS[at], expected, token));
        parse(token).map_err(wrong)
    }

    /// The number in a column, or one that stands for the name there.
    fn label(
        &self,
        at: usize,
        names: &mut Names,
        notes: &mut Notes,
        line: u64,
    ) -> Result<i32, (usize, LogProblem)> {
        let token = self.token(at);
        if let Ok(number) = number::small(token) {
            return Ok(number);
        }
        if at < 14 {
            let fact = format!("name in {}: a number, in the order of appearance", COLUMNS[at]);
            notes.add(NoteKind::Changed, fact, line);
        }
        let problem = || LogProblem::Whole(format!("too many names in {}", COLUMNS[at]));
        names
            .number(&String::from_utf8_lossy(token))
            .ok_or_else(|| (self.places[at].0 + 1, problem()))
    }
}

impl Records for Gwf {
    fn source(&self) -> &Source {
        &self.text.source
    }

    fn header(&self) -> &SwfHeader {
        &self.header
    }

    fn next_job(&mut self) -> Result<Option<SwfRecord>, LogError> {
        while self.text.next_line()? {
            if self.text.buffer.trim_ascii_start().starts_with(b"#") {
                continue;
            }
            match self.record() {
                Ok(record) => return Ok(Some(record)),
                Err((column, problem)) => {
                    let error = self.text.source.error(column, problem);
                    self.text.source.skip_or_fail(error)?;
                }
            }
        }
        Ok(None)
    }

    fn notes(&self) -> &Notes {
        &self.notes
    }

    fn names(&self) -> Vec<HeaderLine> {
        [self.queues.header_lines("Queue"), self.partitions.header_lines("Partition")].concat()
    }

    fn columns(&self) -> &[String] {
        self.kept.names()
    }

    fn further(&self) -> Vec<String> {
        let row = Row { text: &self.text.buffer, places: &self.places };
        let value = |&at: &usize| match row.token(at) {
            b"-1" => String::new(),
            token => String::from_utf8_lossy(token).into_owned(),
        };
        self.kept.places().iter().map(value).collect()
    }
}
