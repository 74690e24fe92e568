//! Readers of job logs: one trait for all formats.
//!
//! ```text
//! file -> LogReader -> SwfRecord -> rules (CleanJobs) -> Job
//!            |  \
//!            |   values of further columns -> a converted log
//!            notes: what was dropped, changed or guessed
//! ```
//!
//! Records are also written: `LogWriter` is the trait of all formats of output.
//!
//! A record has the 18 fields of the Standard Workload Format, which all rules, steps and schedulers
//! use. All further columns of a format are values with a name. A reader streams: its memory does not
//! depend on the number of records. Only the profiles of Batsim are held in memory.

mod batsim;
mod detect;
mod error;
mod gwf;
mod json;
mod keep;
mod members;
mod names;
mod notes;
mod pbs;
mod reader;
pub mod slurm;
mod source;
mod table;
mod text;
mod writer;
mod zone;

use std::io::{BufRead, Cursor, Read};
use std::path::Path;
use std::sync::Arc;

pub use batsim::{BatsimJobs, BatsimVersion, BatsimWorkload};
pub use error::{LogError, LogProblem};
pub use names::Numbered;
pub(crate) use notes::{FirstLines, keep_line};
pub use notes::{Note, NoteKind, Notes};
use reader::{Reader, Records};
pub use table::Mapping;
pub use writer::LogWriter;
pub use zone::Zone;

use haggle_model::Demand;

use crate::error::WorkloadError;
use crate::lines;
use crate::swf::{
    HeaderLine, Malformed, SkippedLines, SwfError, SwfHeader, SwfLog, SwfReader, SwfRecord,
};

haggle_model::words! {
    /// Format of a job log.
    pub enum LogFormat {
        /// Standard Workload Format: a line of numbers for each job.
        Swf = "swf",
        /// Text of Slurm's `sacct -P` or `-p`, with any fields.
        Sacct = "sacct",
        /// JSON of Slurm's `sacct --json`, of all versions.
        SacctJson = "sacct-json",
        /// Accounting of PBS Pro, OpenPBS and Torque.
        Pbs = "pbs",
        /// Grid Workload Format of the Grid Workloads Archive.
        Gwf = "gwf",
        /// Workload of Batsim as JSON, of versions 4 and 5.
        Batsim = "batsim",
        /// A text with a line of names and separated values, by a mapping file.
        Csv = "csv",
        /// A Parquet file, by a mapping file.
        Parquet = "parquet",
    }
}

haggle_model::words! {
    /// A resource beside processors for which jobs ask as their records say.
    pub enum LoggedDemand {
        /// The number of nodes that the user asked for. A job that ran on one node needs one.
        Nodes = "nodes",
        /// Memory that the job got, or that it asked for if it got nothing.
        Memory = "memory",
        /// Accelerators, likewise.
        Gpus = "gpus",
    }
}

/// The way in which a log is read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Its format; `None` = by its content.
    pub format: Option<LogFormat>,
    /// The zone of its local times; `None` = not known, so that they are taken as UTC.
    pub zone: Option<Zone>,
    /// Names of its columns, if the log has none: of the fields of sacct, or of the columns behind the 18th of
    /// the Standard Workload Format.
    pub columns: Vec<String>,
    /// The mapping of the columns of a table.
    pub mapping: Option<Mapping>,
    /// Columns that are kept unchanged although a record has no place for them; `all` = all of them. A log in
    /// the Standard Workload Format keeps all of its columns.
    pub keep: Vec<String>,
    /// Names whose numbers are stated.
    pub names: Numbered,
    /// Resources for which jobs ask as their records say.
    pub demands: Vec<LoggedDemand>,
}

impl Options {
    /// Refuses options that have no effect on a format.
    fn check(&self, format: LogFormat) -> Result<(), LogProblem> {
        use LogFormat::{Batsim, Csv, Gwf, Parquet, Sacct, SacctJson, Swf};
        let problem = match format {
            Swf if !self.keep.is_empty() => {
                "a log in Standard Workload Format keeps all of its columns, so no columns to keep can be chosen"
            }
            Swf | Batsim if !self.names.is_empty() => {
                "numbers of names are stated, but a log of this format has no names; remove them, or name another format"
            }
            format if !self.demands.is_empty() && !matches!(format, Sacct | SacctJson) => {
                "jobs of this format state no nodes and accelerators; remove `demands`, or use the step `demand` for their memory"
            }
            Swf | Gwf | Batsim if self.zone.is_some() => {
                "times of this format have no time zone; remove the time zone, or name another format"
            }
            Sacct | Swf if self.mapping.is_none() => return Ok(()),
            Csv | Parquet if self.mapping.is_none() => {
                "a table needs a mapping of its columns (`mapping`)"
            }
            _ if !self.columns.is_empty() => {
                "the names of columns are given, but this format has its own; remove them, or name another format"
            }
            Csv | Parquet => return Ok(()),
            _ if self.mapping.is_some() => {
                "a mapping is given, but this format needs none; remove it, or name the format `csv` or `parquet`"
            }
            _ => return Ok(()),
        };
        Err(LogProblem::Whole(problem.to_owned()))
    }

    /// The header of a log whose times count from 1970.
    fn header(&self) -> SwfHeader {
        let mut header = SwfHeader::default();
        header.push("Version", "2.2");
        header.push("UnixStartTime", 0);
        if let Some(zone) = &self.zone {
            header.push("TimeZone", zone.standard_offset());
            header.push("TimeZoneString", zone);
        }
        header
    }
}

/// A log that was opened: that of the common format is read without calls through a table.
pub enum OpenLog {
    /// A log in the Standard Workload Format.
    Swf(SwfLog),
    /// A log in another format.
    Other(Box<dyn LogReader + Send>),
}

impl OpenLog {
    /// The facts before the records of the log.
    pub fn header(&self) -> &SwfHeader {
        match self {
            OpenLog::Swf(reader) => reader.header(),
            OpenLog::Other(reader) => reader.header(),
        }
    }

    /// The reader, whichever format it reads.
    pub fn into_reader(self) -> Box<dyn LogReader + Send> {
        match self {
            OpenLog::Swf(reader) => Box::new(reader),
            OpenLog::Other(reader) => reader,
        }
    }
}

/// Opens the log at `path`, or standard input for `-`, and reads what comes before its records.
pub fn open(
    path: &Path,
    options: &Options,
    malformed: Malformed,
) -> Result<OpenLog, WorkloadError> {
    let log: Arc<str> = Arc::from(lines::name(path));
    let input = lines::open(path).map_err(|unreadable| match options.format {
        // Without a format, a log is called as the common one.
        None | Some(LogFormat::Swf) => WorkloadError::Swf(SwfError {
            log: Arc::clone(&log),
            line: 0,
            column: 0,
            problem: unreadable.into(),
        }),
        Some(_) => WorkloadError::Log(LogProblem::from(unreadable).at(&log, 0, 0)),
    })?;
    read(input, log, options, malformed)
}

/// Reads a log from an input.
pub fn read(
    mut input: Box<dyn BufRead + Send>,
    log: Arc<str>,
    options: &Options,
    malformed: Malformed,
) -> Result<OpenLog, WorkloadError> {
    let format = match options.format {
        Some(format) => format,
        None => {
            let start = detect::start(&mut input)
                .map_err(|error| LogProblem::from(lines::Unreadable::Read(error)).at(&log, 0, 0))?;
            let format = match detect::format(&start) {
                LogFormat::Parquet => LogFormat::Parquet,
                _ if options.mapping.is_some() => LogFormat::Csv,
                format => format,
            };
            input = Box::new(Cursor::new(start).chain(input));
            format
        }
    };
    options.check(format).map_err(|problem| problem.at(&log, 0, 0))?;
    Ok(match format {
        LogFormat::Swf => {
            let mut reader = SwfReader::new(input, log, malformed)?;
            if !options.columns.is_empty() {
                reader.name_columns(options.columns.clone());
            }
            OpenLog::Swf(reader)
        }
        LogFormat::Batsim => other(batsim::Batsim::new(input, log, options, malformed)?),
        LogFormat::Pbs => other(pbs::Pbs::new(input, log, options, malformed)),
        LogFormat::Gwf => other(gwf::Gwf::new(input, log, options, malformed)?),
        LogFormat::Csv => {
            let mapping = options.mapping.as_ref().expect("checked above");
            other(table::Table::of_text(input, log, options, mapping, malformed)?)
        }
        LogFormat::Parquet => {
            let mapping = options.mapping.as_ref().expect("checked above");
            other(table::Table::of_parquet(input, log, options, mapping, malformed)?)
        }
        LogFormat::SacctJson => other(slurm::json::SacctJson::new(input, log, options, malformed)),
        LogFormat::Sacct => other(slurm::sacct::Sacct::new(input, log, options, malformed)?),
    })
}

fn other(records: impl Records + Send + 'static) -> OpenLog {
    OpenLog::Other(Box::new(Reader::new(records)))
}

/// Reads a whole log from memory and returns the number of its records. It is the entry for fuzzing,
/// and panics on no input.
pub fn parse_bytes(
    bytes: &[u8],
    options: &Options,
    malformed: Malformed,
) -> Result<u64, WorkloadError> {
    let log: Arc<str> = Arc::from("<memory>");
    let plain = lines::decompressed(Cursor::new(bytes.to_vec()))
        .map_err(|unreadable| LogProblem::from(unreadable).at(&log, 0, 0))?;
    let mut reader = read(plain, log, options, malformed)?.into_reader();
    let mut count = 0;
    while reader.next_record()?.is_some() {
        reader.further();
        count += 1;
    }
    Ok(count)
}

/// A reader of a job log in any format.
pub trait LogReader {
    /// Name of the log in messages.
    fn log(&self) -> &Arc<str>;

    /// The facts about the log that come before its records, as a header of the Standard Workload Format.
    fn header(&self) -> &SwfHeader;

    /// The next record; `None` at the end. A record after an error has no meaning.
    fn next_record(&mut self) -> Result<Option<SwfRecord>, WorkloadError>;

    /// Number of the line at which the last record begins, from 1.
    fn line(&self) -> u64;

    /// The malformed records that were skipped so far.
    fn skipped(&self) -> &SkippedLines;

    /// Values so far that were dropped, changed or guessed.
    fn notes(&self) -> &Notes {
        static NONE: Notes = Notes::NONE;
        &NONE
    }

    /// True if [`LogReader::names`] has lines at the end of the log.
    fn has_names(&self) -> bool {
        false
    }

    /// Lines of a header that are known only behind the last record: names behind the numbers of records.
    fn names(&self) -> Vec<HeaderLine> {
        Vec::new()
    }

    /// Names of the further columns. A record may have values behind the last name.
    fn columns(&self) -> &[String];

    /// Values of the last record in the further columns, in their order; empty = no value.
    fn further(&self) -> Vec<String>;

    /// The demand of the last record, as a job of so many processors; `None` if it asks for no more than them, or if
    /// demands are not read.
    fn demand(&mut self, _processors: u32) -> Option<Demand> {
        None
    }

    /// Records so far whose further columns a user of the fields alone should know about.
    fn wider(&self) -> u64 {
        0
    }
}

impl<R: BufRead> LogReader for SwfReader<R> {
    fn log(&self) -> &Arc<str> {
        SwfReader::log(self)
    }

    fn header(&self) -> &SwfHeader {
        SwfReader::header(self)
    }

    #[inline]
    fn next_record(&mut self) -> Result<Option<SwfRecord>, WorkloadError> {
        self.next().transpose().map_err(WorkloadError::Swf)
    }

    fn line(&self) -> u64 {
        SwfReader::line(self)
    }

    fn skipped(&self) -> &SkippedLines {
        SwfReader::skipped(self)
    }

    fn columns(&self) -> &[String] {
        SwfReader::columns(self)
    }

    fn further(&self) -> Vec<String> {
        SwfReader::further(self)
    }

    fn wider(&self) -> u64 {
        SwfReader::wider(self)
    }
}

impl LogReader for Box<dyn LogReader + Send> {
    fn log(&self) -> &Arc<str> {
        (**self).log()
    }

    fn header(&self) -> &SwfHeader {
        (**self).header()
    }

    fn next_record(&mut self) -> Result<Option<SwfRecord>, WorkloadError> {
        (**self).next_record()
    }

    fn line(&self) -> u64 {
        (**self).line()
    }

    fn skipped(&self) -> &SkippedLines {
        (**self).skipped()
    }

    fn notes(&self) -> &Notes {
        (**self).notes()
    }

    fn has_names(&self) -> bool {
        (**self).has_names()
    }

    fn names(&self) -> Vec<HeaderLine> {
        (**self).names()
    }

    fn columns(&self) -> &[String] {
        (**self).columns()
    }

    fn further(&self) -> Vec<String> {
        (**self).further()
    }

    fn demand(&mut self, processors: u32) -> Option<Demand> {
        (**self).demand(processors)
    }

    fn wider(&self) -> u64 {
        (**self).wider()
    }
}
