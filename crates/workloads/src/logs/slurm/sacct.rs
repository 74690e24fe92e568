//! The text of `sacct -P` or `-p`, with any fields and any delimiter.
//!
//! ```text
//! JobIDRaw|Submit|Start|End|State|AllocCPUS|Timelimit
//! 4711|2024-01-31T10:54:00|2024-01-31T10:55:00|2024-01-31T11:55:00|COMPLETED|16|01:00:00
//! 4711.batch|2024-01-31T10:55:00|2024-01-31T10:55:00|2024-01-31T11:55:00|COMPLETED|16|
//! ```
//!
//! The first line has the names of the fields, unless the user names them.

mod fields;
mod split;

use std::io::BufRead;
use std::sync::Arc;

use fields::{Field, Fields};
use split::Split;

use super::super::Options;
use super::super::error::{LogError, LogProblem};
use super::super::notes::{NoteKind, Notes};
use super::super::reader::Records;
use super::super::source::Source;
use super::super::text::Text;
use super::super::zone::{A_TIME, Clock};
use super::units::{self, Id};
use super::{Accounting, Label, Memory, SlurmJob, State};
use crate::swf::{HeaderLine, Malformed, SwfHeader, SwfRecord};
use haggle_model::{Demand, Span, Time};

/// Reads records one by one.
pub(in super::super) struct Sacct {
    text: Text,
    header: SwfHeader,
    fields: Fields,
    split: Split,
    clock: Clock,
    accounting: Accounting,
    notes: Notes,
}

impl Sacct {
    /// Reads the line of names.
    pub(in super::super) fn new(
        input: Box<dyn BufRead + Send>,
        log: Arc<str>,
        options: &Options,
        malformed: Malformed,
    ) -> Result<Sacct, LogError> {
        let mut text = Text::new(input, log, malformed);
        let (split, fields) = if options.columns.is_empty() {
            text.next_line()?;
            let (split, names) =
                Split::of_names(&text.buffer).map_err(|problem| text.source.error(0, problem))?;
            (split, names)
        } else {
            (Split::default(), options.columns.clone())
        };
        let fields = Fields::new(fields, &options.keep, !options.demands.is_empty())
            .map_err(|problem| text.source.error(0, problem))?;
        Ok(Sacct {
            text,
            header: options.header(),
            fields,
            split,
            clock: Clock::new(options.zone.clone()),
            accounting: Accounting::new(options),
            notes: Notes::default(),
        })
    }

    /// The record of the current line; `None` for the step of a job.
    fn record(&mut self) -> Result<Option<SwfRecord>, (usize, LogProblem)> {
        let line = self.text.source.line;
        let joined = self.split.line(&self.text.buffer, &self.fields).map_err(|it| (0, it))?;
        let row = Row { text: &self.text.buffer, fields: &self.fields, split: &self.split };
        let (id, task) = row.id()?;
        if id == Id::Step {
            self.notes.add(NoteKind::Dropped, "step of a job", line);
            return Ok(None);
        }
        if let Some(name) = joined {
            let fact = format!("delimiter within {name}: its parts joined");
            self.notes.add(NoteKind::Changed, fact, line);
        }
        note_id(id, task, &mut self.notes, line);
        let job = row.job(id, &self.clock, &mut self.notes, line)?;
        let record = self.accounting.record(&job, &mut self.notes, line);
        for (at, fact) in &self.fields.dropped {
            if is_known(row.value(*at)) {
                self.notes.add(NoteKind::Dropped, fact, line);
            }
        }
        record.map(Some).map_err(|problem| (0, problem))
    }
}

/// Notes the loss of the relations between the tasks of an array and the parts of a job.
fn note_id(id: Id, shown: Id, notes: &mut Notes, line: u64) {
    match shown {
        Id::Task(..) => notes.add(NoteKind::Changed, "task of an array: a job of its own", line),
        Id::Tasks(_) => {
            notes.add(NoteKind::Changed, "tasks of an array that had not started: one job", line);
        }
        Id::Part(..) => {
            let fact = "part of a heterogeneous job: a job of its own";
            notes.add(NoteKind::Changed, fact, line);
        }
        Id::Job(_) | Id::Step => {}
    }
    if matches!(id, Id::Task(..) | Id::Part(..)) {
        let fact = "number of a task or part without JobIDRaw: made from its array or job";
        notes.add(NoteKind::Guessed, fact, line);
    }
}

/// True if a text has a value.
fn is_known(text: &[u8]) -> bool {
    !matches!(text, b"" | b"Unknown" | b"None" | b"NONE" | b"N/A" | b"None assigned" | b"(null)")
}

/// The fields of a line.
struct Row<'a> {
    text: &'a [u8],
    fields: &'a Fields,
    split: &'a Split,
}

impl<'a> Row<'a> {
    fn value(&self, at: usize) -> &'a [u8] {
        let (start, end) = self.split.places[at];
        self.text[start..end].trim_ascii()
    }

    /// The value of a field that the log has, if it is known.
    fn known(&self, field: Field) -> Option<&'a [u8]> {
        Some(self.value(self.fields.at(field)?)).filter(|text| is_known(text))
    }

    /// The parsed value of a field, if it is known.
    fn read<T>(
        &self,
        field: Field,
        expected: &'static str,
        parse: impl FnOnce(&'a [u8]) -> Option<T>,
    ) -> Result<Option<T>, (usize, LogProblem)> {
        let Some(text) = self.known(field) else {
            return Ok(None);
        };
        match parse(text) {
            Some(value) => Ok(Some(value)),
            None => Err(self.wrong(field, expected, text)),
        }
    }

    fn wrong(&self, field: Field, expected: &'static str, text: &[u8]) -> (usize, LogProblem) {
        let at = self.fields.at(field).unwrap_or(0);
        let name = self.fields.name(at);
        (self.split.places[at].0 + 1, LogProblem::field(name, expected, text))
    }

    /// The number of the record, and the form in which Slurm shows it.
    fn id(&self) -> Result<(Id, Id), (usize, LogProblem)> {
        const EXPECTED: &str = "the number of a job, such as 1234, 1234_5 or 1234.batch";
        let raw = self.read(Field::JobIdRaw, EXPECTED, Id::read)?;
        let shown = self.read(Field::JobId, EXPECTED, Id::read)?;
        match raw.or(shown) {
            Some(id) => Ok((id, shown.unwrap_or(id))),
            None => {
                let field = if self.fields.at(Field::JobIdRaw).is_some() {
                    Field::JobIdRaw
                } else {
                    Field::JobId
                };
                Err(self.wrong(field, EXPECTED, b""))
            }
        }
    }

    fn job(
        &self,
        id: Id,
        clock: &Clock,
        notes: &mut Notes,
        line: u64,
    ) -> Result<SlurmJob<'a>, (usize, LogProblem)> {
        let mut time = |field, earliest: Option<Time>| {
            self.read(field, A_TIME, |text| clock.time(text, earliest, notes, line))
        };
        let submit = time(Field::Submit, None)?;
        let start = time(Field::Start, submit)?;
        let end = time(Field::End, start)?;
        let memory = self.memory(notes, line)?;
        Ok(SlurmJob {
            number: id.number(),
            submit,
            start,
            end,
            elapsed: self.elapsed()?,
            suspended: self.read(Field::Suspended, A_LENGTH, units::span)?,
            limit: self.limit()?,
            state: self.read(Field::State, "a state of a job", State::read)?.unwrap_or_default(),
            allocated: self.count(Field::AllocCpus, Field::AllocTres, b"cpu")?,
            requested: self.count(Field::ReqCpus, Field::ReqTres, b"cpu")?,
            nodes: self.count(Field::Nodes, Field::AllocTres, b"node")?,
            least_nodes: self.read(Field::ReqNodes, "a number", units::whole)?,
            gpus: self.gpus(),
            allocated_memory: self.allocated_memory(),
            memory,
            processor_time: self.read(Field::TotalCpu, A_LENGTH, units::span)?,
            user: self.number_or_name(Field::Uid, Field::User)?,
            group: self.number_or_name(Field::Gid, Field::Group)?,
            quality: self.name(Field::Qos),
            partition: self.name(Field::Partition),
        })
    }

    fn elapsed(&self) -> Result<Option<Span>, (usize, LogProblem)> {
        let seconds = |text| units::whole(text).map(Span::from_secs);
        match self.read(Field::ElapsedRaw, "seconds", seconds)? {
            Some(span) => Ok(Some(span)),
            None => self.read(Field::Elapsed, A_LENGTH, units::span),
        }
    }

    fn limit(&self) -> Result<super::Limit, (usize, LogProblem)> {
        const EXPECTED: &str = "a limit such as 1-00:00:00, UNLIMITED or Partition_Limit";
        let raw = self.read(Field::TimelimitRaw, "minutes", units::limit_in_minutes)?;
        let limit = match raw {
            Some(limit) => Some(limit),
            None => self.read(Field::Timelimit, EXPECTED, units::limit)?,
        };
        Ok(limit.unwrap_or_default())
    }

    fn count(
        &self,
        field: Field,
        list: Field,
        kind: &[u8],
    ) -> Result<Option<i64>, (usize, LogProblem)> {
        let stated = self.read(field, "a number", units::whole)?;
        Ok(stated.or_else(|| units::resource(self.known(list)?, kind)))
    }

    /// Accelerators that the job got, or those that it asked for if it got nothing.
    fn gpus(&self) -> Option<i64> {
        let list = self.known(Field::AllocTres).or_else(|| self.known(Field::ReqTres))?;
        units::gpus(list)
    }

    /// Memory that the job got.
    fn allocated_memory(&self) -> Option<Memory> {
        let amount = units::value_of(self.known(Field::AllocTres)?, b"mem")?;
        units::memory(amount).map(|it| it.0)
    }

    fn memory(&self, notes: &mut Notes, line: u64) -> Result<Option<Memory>, (usize, LogProblem)> {
        let found =
            self.read(Field::ReqMem, "an amount such as 4Gc, 64000Mn or 8G", units::memory)?;
        match found {
            Some((_, true)) => {
                let fact = "requested memory with a flag of Slurm in its number: read as that of a processor";
                notes.add(NoteKind::Changed, fact, line);
            }
            Some((Memory::Job(amount), _)) if amount > 0 => {
                let fact = "requested memory without c or n: taken as that of the whole job";
                notes.add(NoteKind::Guessed, fact, line);
            }
            _ => {}
        }
        Ok(found.map(|(memory, _)| memory))
    }

    /// The number in a field, or else the name in another one.
    fn number_or_name(&self, number: Field, name: Field) -> Result<Label<'a>, (usize, LogProblem)> {
        let number = self.read(number, "a number", units::whole)?;
        Ok(number.map_or_else(|| self.name(name), Label::Number))
    }

    fn name(&self, field: Field) -> Label<'a> {
        // A text that is no UTF-8 has no name that could be written.
        let name = self.known(field).and_then(|name| std::str::from_utf8(name).ok());
        name.map_or(Label::Unknown, Label::Name)
    }
}

/// Description of the expected text where a length of time could not be read.
const A_LENGTH: &str = "a length of time such as 1-02:03:04";

impl Records for Sacct {
    fn source(&self) -> &Source {
        &self.text.source
    }

    fn header(&self) -> &SwfHeader {
        &self.header
    }

    fn next_job(&mut self) -> Result<Option<SwfRecord>, LogError> {
        while self.text.next_line()? {
            if self.split.is_names(&self.text.buffer) {
                self.notes.add(NoteKind::Dropped, "line of names again", self.text.source.line);
                continue;
            }
            match self.record() {
                Ok(Some(record)) => return Ok(Some(record)),
                Ok(None) => {}
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
        self.accounting.names()
    }

    fn columns(&self) -> &[String] {
        self.fields.kept().names()
    }

    fn demand(&mut self, processors: u32) -> Option<Demand> {
        self.accounting.demand(processors, &mut self.notes, self.text.source.line)
    }

    fn further(&self) -> Vec<String> {
        let row = Row { text: &self.text.buffer, fields: &self.fields, split: &self.split };
        let value = |&at: &usize| match row.value(at) {
            text if is_known(text) => String::from_utf8_lossy(text).into_owned(),
            _ => String::new(),
        };
        self.fields.kept().places().iter().map(value).collect()
    }
}
