//! Writing a workload as a log, job by job.

use std::path::Path;

use haggle_model::{Span, Time};
use haggle_workloads::OpenWorkload;
use haggle_workloads::swf::{SwfHeader, SwfRecord, SwfWriter, UNKNOWN_SPAN};

use super::Target;
use crate::commands::Error;
use crate::commands::output::{Output, failed};
use crate::interrupt;

/// Treatment of the log's waiting times.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Waits {
    AsRecorded,
    Unknown,
}

/// Writes the jobs of `workload`, after its header and a note on the changes, and returns their
/// number.
///
/// The start time of the header is corrected by `moved`, the shift of time zero by steps, and by
/// the shift of the rules. `waits` tells whether the recorded waiting times are valid: after a
/// change of arrivals they are not.
pub(super) fn write(
    workload: OpenWorkload,
    note: &str,
    moved: Span,
    waits: Waits,
    target: &Target,
) -> Result<u64, Error> {
    let OpenWorkload { mut jobs, header, report, .. } = workload;
    // The first job is read before anything is written. Only then are the existence of a job and
    // the shift of time zero known.
    let first = jobs.next().transpose()?.ok_or_else(|| Error::NoJobLeft(target.out.clone()))?;
    let shift = Span::from_micros(report.snapshot().shift_us) + moved;
    let header = noted(header, note, shift);
    let path: &Path = &target.out;
    let fail = |error| failed(path, error);
    // Behind the first job, so that an empty window leaves no file.
    let mut writer = SwfWriter::new(Output::create(path, target.force)?, &header).map_err(fail)?;
    let mut written = 0;
    for job in std::iter::once(Ok(first)).chain(jobs) {
        let job = job?;
        // Stretched gaps saturate there, so that such times would be wrong.
        if job.submit >= Time::ZERO + Span::FOREVER {
            return Err(Error::Unfit {
                message: format!(
                    "job {} would be submitted behind the longest time, {} s",
                    written + 1,
                    Span::FOREVER
                ),
                hint: "choose a smaller factor for the gaps".to_owned(),
            });
        }
        let mut record = SwfRecord::from_job(&job);
        if waits == Waits::Unknown {
            record.wait = UNKNOWN_SPAN;
        }
        writer.write(&record).map_err(fail)?;
        written += 1;
    }
    let output = writer.finish().map_err(fail)?;
    // The log is complete now and only needs its name.
    interrupt::end_at_once(false);
    output.finish()?;
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
