//! Writes the table of jobs as Batsim writes that of a run, from a log that has the starts of its jobs.

use std::io::{self, Write};

use super::super::notes::{NoteKind, Notes};
use super::super::writer::{LogWriter, note_lost};
use crate::swf::{SwfRecord, UNKNOWN_SPAN};
use haggle_model::{Span, Time};

const COLUMNS: &str = "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,\
                       final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,\
                       allocated_resources,consumed_energy,metadata";

/// The name of the first workload of a run of Batsim.
const WORKLOAD: &str = "w0";

/// Writes a line for each job.
pub struct BatsimJobs<W> {
    out: W,
    notes: Notes,
}

impl<W: Write> BatsimJobs<W> {
    /// Writes the line of names.
    pub fn new(mut out: W) -> io::Result<BatsimJobs<W>> {
        writeln!(out, "{COLUMNS}")?;
        Ok(BatsimJobs { out, notes: Notes::default() })
    }

    /// Returns the facts about values that were dropped or guessed.
    pub fn finish(mut self) -> io::Result<Notes> {
        self.out.flush()?;
        Ok(self.notes)
    }
}

impl<W: Write> LogWriter for BatsimJobs<W> {
    fn write(&mut self, record: &SwfRecord, further: &[String]) -> io::Result<bool> {
        if record.wait == UNKNOWN_SPAN || record.run_time < Span::ZERO {
            self.notes.count(NoteKind::Dropped, "job without a start");
            return Ok(false);
        }
        note_lost(&mut self.notes, record, further);
        self.notes.count(NoteKind::Guessed, "numbers of its processors: none");
        let state = state(record);
        if record.status == -1 {
            self.notes.count(NoteKind::Guessed, "status that is not known: completed");
        }
        let submit = record.submit - Time::ZERO;
        let start = submit + record.wait;
        let end = start + record.run_time;
        let turnaround = record.wait + record.run_time;
        let SwfRecord { number, run_time, wait, requested_time, .. } = record;
        write!(
            self.out,
            "{number},{WORKLOAD},delay{run_time},{submit},{},{requested_time},{},{state},{start},{run_time},{end},{wait},\
             {turnaround},",
            record.requested_processors,
            u8::from(state == COMPLETED),
        )?;
        if *run_time > Span::ZERO {
            write!(self.out, "{}", turnaround.as_secs_f64() / run_time.as_secs_f64())?;
        }
        self.out.write_all(b",,-1,\n")?;
        Ok(true)
    }
}

const COMPLETED: &str = "COMPLETED_SUCCESSFULLY";

/// The final state of a job by its status.
fn state(record: &SwfRecord) -> &'static str {
    let at_limit = record.requested_time > Span::ZERO && record.run_time >= record.requested_time;
    match record.status {
        0 if at_limit => "COMPLETED_WALLTIME_REACHED",
        0 => "COMPLETED_FAILED",
        5 => "COMPLETED_KILLED",
        _ => COMPLETED,
    }
}
