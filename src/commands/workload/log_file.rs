//! Writing a workload as a log, job by job.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;

use haggle_model::{Job, Span, Time};
use haggle_workloads::OpenWorkload;
use haggle_workloads::logs::{BatsimJobs, BatsimVersion, BatsimWorkload, LogWriter, Notes};
use haggle_workloads::swf::{SwfHeader, SwfRecord, SwfWriter, UNKNOWN_SPAN, write_header};

use super::target::{Format, Target};
use crate::commands::Error;
use crate::commands::output::{Output, failed};
use crate::interrupt;

/// Treatment of the log's waiting times.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Waits {
    AsRecorded,
    Unknown,
}

/// A job with its values behind the 18th column.
pub(super) struct Line {
    pub(super) job: Job,
    pub(super) further: Vec<String>,
}

/// Jobs that are written as a log, with the facts about them.
pub(super) trait Log {
    /// The next job; `None` at the end.
    fn next_line(&mut self) -> Result<Option<Line>, Error>;

    /// The header of the original log.
    fn header(&self) -> SwfHeader;

    /// Shift of time zero against that of the header, microseconds. Known behind the first job.
    fn shift_us(&self) -> i64;

    /// True if the header is complete only behind the last job.
    fn has_late_header(&self) -> bool {
        false
    }
}

/// A workload whose steps moved time zero by `moved`.
pub(super) struct Stepped {
    pub(super) workload: OpenWorkload,
    pub(super) moved: Span,
}

impl Log for Stepped {
    fn next_line(&mut self) -> Result<Option<Line>, Error> {
        let job = self.workload.jobs.next().transpose()?;
        Ok(job.map(|job| Line { job, further: Vec::new() }))
    }

    fn header(&self) -> SwfHeader {
        let mut header = self.workload.header.clone();
        // No step keeps the columns behind the 18th.
        header.set_extra_columns(&[]);
        header
    }

    fn shift_us(&self) -> i64 {
        self.workload.report.snapshot().shift_us + self.moved.as_micros()
    }
}

/// The jobs that were written.
pub(super) struct Written {
    pub(super) jobs: u64,
    /// Values that the format has no place for.
    pub(super) notes: Notes,
}

/// Writes the jobs of `log`. In Standard Workload Format, the header comes first, with a note on the changes.
///
/// The start time of the header is corrected by the shift of time zero. `waits` tells whether the recorded
/// waiting times are valid: after a change of arrivals they are not.
pub(super) fn write(
    mut log: impl Log,
    note: &str,
    waits: Waits,
    target: &Target,
) -> Result<Written, Error> {
    // The first job is read before anything is written. Only then are the existence of a job and
    // the shift of time zero known.
    let first = log.next_line()?.ok_or_else(|| Error::NoJobLeft(target.out.clone()))?;
    let path: &Path = &target.out;
    let fail = |error| failed(path, error);
    let header = |log: &dyn Log| noted(log.header(), note, Span::from_micros(log.shift_us()));
    // Behind the first job, so that an empty window leaves no file.
    let mut output = Output::create(path, target.force)?;
    let mut notes = Notes::NONE;
    let version = match target.format() {
        Format::Batsim4 => BatsimVersion::Four,
        _ => BatsimVersion::Five,
    };
    let jobs = match target.format() {
        Format::Batsim4 | Format::Batsim5 => {
            let mut writer = BatsimWorkload::new(&mut output, version).map_err(fail)?;
            let jobs = write_jobs(&mut log, first, waits, &mut writer, path)?;
            notes = writer.finish(&log.header()).map_err(fail)?;
            jobs
        }
        Format::BatsimJobs => {
            let mut writer = BatsimJobs::new(&mut output).map_err(fail)?;
            let jobs = write_jobs(&mut log, first, waits, &mut writer, path)?;
            notes = writer.finish().map_err(fail)?;
            jobs
        }
        Format::Swf if log.has_late_header() => {
            // The lines wait in a file without a name until the header is complete.
            let lines = BufWriter::new(tempfile::tempfile().map_err(fail)?);
            let mut writer = SwfWriter::new(lines, &SwfHeader::default()).map_err(fail)?;
            let jobs = write_jobs(&mut log, first, waits, &mut writer, path)?;
            let lines = writer.finish().and_then(|lines| lines.into_inner().map_err(Into::into));
            write_header(&mut output, &header(&log)).map_err(fail)?;
            append(&mut output, lines.map_err(fail)?).map_err(fail)?;
            jobs
        }
        Format::Swf => {
            let mut writer = SwfWriter::new(&mut output, &header(&log)).map_err(fail)?;
            let jobs = write_jobs(&mut log, first, waits, &mut writer, path)?;
            writer.finish().map_err(fail)?;
            jobs
        }
    };
    if jobs == 0 {
        let facts: Vec<&str> = notes.as_slice().iter().map(|note| note.fact.as_str()).collect();
        return Err(Error::Unfit {
            message: format!("no job can be written in this format: {}", facts.join(", ")),
            hint: "name another format by --to".to_owned(),
        });
    }
    // The log is complete now and only needs its name.
    interrupt::end_at_once(false);
    output.finish()?;
    Ok(Written { jobs, notes })
}

fn append(output: &mut Output, mut lines: File) -> io::Result<()> {
    lines.rewind()?;
    io::copy(&mut lines, output)?;
    output.flush()
}

/// Writes `first` and all jobs behind it.
fn write_jobs(
    log: &mut impl Log,
    first: Line,
    waits: Waits,
    writer: &mut impl LogWriter,
    path: &Path,
) -> Result<u64, Error> {
    let (mut read, mut written) = (0, 0);
    let mut next = Some(first);
    while let Some(Line { job, further }) = next {
        // Stretched gaps saturate there, so that such times would be wrong.
        if job.submit >= Time::ZERO + Span::FOREVER {
            return Err(Error::Unfit {
                message: format!(
                    "job {} would be submitted behind the longest time, {} s",
                    read + 1,
                    Span::FOREVER
                ),
                hint: "choose a smaller factor for the gaps".to_owned(),
            });
        }
        let mut record = SwfRecord::from_job(&job);
        if waits == Waits::Unknown {
            record.wait = UNKNOWN_SPAN;
        }
        let is_written = writer.write(&record, &further).map_err(|error| failed(path, error))?;
        read += 1;
        written += u64::from(is_written);
        next = log.next_line()?;
    }
    Ok(written)
}

fn noted(mut header: SwfHeader, note: &str, shift: Span) -> SwfHeader {
    // Headers have whole seconds; rounded down, also for a shift to an earlier time.
    let seconds = shift.as_micros().div_euclid(1_000_000);
    let start = header.unix_start_time().and_then(|start| start.checked_add(seconds));
    if let Some(start) = start.filter(|_| seconds != 0) {
        let is_start = |key: &str| key.eq_ignore_ascii_case("UnixStartTime");
        for line in header.lines.iter_mut().filter(|line| is_start(&line.key)) {
            line.value = start.to_string();
        }
    }
    let mut note = note.to_owned();
    if shift != Span::ZERO {
        note.push_str(&format!("; time zero is {shift} s after that of the original"));
    }
    header.push("Note", note);
    header
}
