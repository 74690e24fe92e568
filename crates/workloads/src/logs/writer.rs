//! Writers of logs: one trait for all formats.

use std::io::{self, Write};

use super::notes::{NoteKind, Notes};
use crate::swf::{SwfRecord, SwfWriter, UNKNOWN_SPAN};

/// A writer of jobs in a format.
pub trait LogWriter {
    /// Writes a job, with its values in further columns. `false` if the format cannot have the job, which is then
    /// left out.
    fn write(&mut self, record: &SwfRecord, further: &[String]) -> io::Result<bool>;
}

impl<W: Write> LogWriter for SwfWriter<W> {
    fn write(&mut self, record: &SwfRecord, further: &[String]) -> io::Result<bool> {
        self.write_with(record, further).map(|()| true)
    }
}

/// Values of a record that Batsim has no place for.
type Field = (&'static str, fn(&SwfRecord) -> bool);

const FIELDS: [Field; 9] = [
    ("allocated processors, which are not those requested", |it| {
        ![-1, it.requested_processors].contains(&it.allocated_processors)
    }),
    ("average processor time", |it| it.average_cpu_time != UNKNOWN_SPAN),
    ("memory", |it| it.used_memory != -1 || it.requested_memory != -1),
    ("user", |it| it.user != -1),
    ("group", |it| it.group != -1),
    ("executable", |it| it.executable != -1),
    ("queue", |it| it.queue != -1),
    ("partition", |it| it.partition != -1),
    ("preceding job or think time", |it| it.preceding_job != -1 || it.think_time != UNKNOWN_SPAN),
];

/// Counts the values of a record and of its further columns that Batsim has no place for.
pub(super) fn note_lost(notes: &mut Notes, record: &SwfRecord, further: &[String]) {
    for (fact, is_known) in FIELDS {
        if is_known(record) {
            notes.count(NoteKind::Dropped, fact);
        }
    }
    if !further.is_empty() {
        notes.count(NoteKind::Dropped, "columns behind the 18th");
    }
}
