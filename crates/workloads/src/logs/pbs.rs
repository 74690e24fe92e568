//! The accounting of PBS Pro, OpenPBS and Torque: `date;type;job;key=value key=value ...`.
//!
//! Only records of type E, at the end of a job, have all facts; all others are dropped. Values may have spaces.

mod resources;

use std::io::BufRead;
use std::sync::Arc;

use super::Options;
use super::error::{LogError, LogProblem};
use super::keep::Kept;
use super::names::Names;
use super::notes::{NoteKind, Notes};
use super::reader::Records;
use super::slurm;
use super::source::Source;
use super::text::Text;
use crate::swf::{HeaderLine, Malformed, SwfHeader, SwfRecord, UNKNOWN_SPAN, number};
use haggle_model::{Span, Time};

/// Keys that a record uses.
const USED: [&[u8]; 22] = [
    b"user",
    b"group",
    b"account",
    b"queue",
    b"ctime",
    b"qtime",
    b"start",
    b"end",
    b"exec_host",
    b"Exit_status",
    b"Resource_List.walltime",
    b"Resource_List.select",
    b"Resource_List.nodes",
    b"Resource_List.procs",
    b"Resource_List.ncpus",
    b"Resource_List.mem",
    b"Resource_List.pmem",
    b"resources_used.cput",
    b"resources_used.mem",
    b"resources_used.walltime",
    b"resources_used.vmem",
    b"session",
];

/// Reads records one by one.
pub(super) struct Pbs {
    text: Text,
    header: SwfHeader,
    keep: Vec<String>,
    /// The columns that are kept; known behind the first job.
    kept: Option<Kept>,
    further: Vec<String>,
    users: Names,
    groups: Names,
    queues: Names,
    notes: Notes,
}

impl Pbs {
    pub(super) fn new(
        input: Box<dyn BufRead + Send>,
        log: Arc<str>,
        options: &Options,
        malformed: Malformed,
    ) -> Pbs {
        Pbs {
            text: Text::new(input, log, malformed),
            header: options.header(),
            keep: options.keep.clone(),
            kept: None,
            further: Vec::new(),
            users: Names::of(&options.names.users),
            groups: Names::of(&options.names.groups),
            queues: Names::of(&options.names.queues),
            notes: Notes::default(),
        }
    }

    /// The record of the current line; `None` if it is not the end of a job.
    fn record(&mut self) -> Result<Option<SwfRecord>, LogProblem> {
        let line = self.text.source.line;
        let mut parts = self.text.buffer.splitn(4, |&byte| byte == b';');
        let (Some(_), Some(kind), Some(id)) = (parts.next(), parts.next(), parts.next()) else {
            let problem =
                "expected `date;type;job;values`, as PBS and Torque write their accounting";
            return Err(LogProblem::Record(problem.to_owned()));
        };
        let &[kind] = kind else {
            return Err(LogProblem::field("type of the record", "a letter", kind));
        };
        if kind != b'E' {
            let fact = format!("record of type {}", kind.escape_ascii());
            self.notes.add(NoteKind::Dropped, fact, line);
            return Ok(None);
        }
        let Some(number) = job_number(id, &mut self.notes, line)? else {
            return Ok(None);
        };
        let values = Values::read(parts.next().unwrap_or_default());
        let mut record = values.record(number, &mut self.notes, line)?;
        let group = values.text(b"group").or_else(|| values.text(b"account"));
        let (users, groups) = ("user", "group");
        record.user =
            label(&mut self.users, values.text(b"user"), Some(users), &mut self.notes, line)?;
        record.group = label(&mut self.groups, group, Some(groups), &mut self.notes, line)?;
        record.queue = label(&mut self.queues, values.text(b"queue"), None, &mut self.notes, line)?;
        let names: Vec<String> =
            values.0.iter().map(|(key, _)| String::from_utf8_lossy(key).into_owned()).collect();
        let others: Vec<usize> =
            (0..names.len()).filter(|&at| !USED.contains(&values.0[at].0)).collect();
        if self.kept.is_none() {
            self.kept = Some(Kept::choose(&names, others.clone(), &self.keep)?.0);
        }
        let kept = self.kept.as_ref().map_or(&[][..], Kept::names);
        for at in others.into_iter().filter(|&at| !kept.contains(&names[at])) {
            self.notes.add(NoteKind::Dropped, format!("key {}", names[at]), line);
        }
        let value = |name: &String| {
            let text = values.text(name.as_bytes()).unwrap_or_default();
            String::from_utf8_lossy(text).into_owned()
        };
        self.further = kept.iter().map(value).collect();
        Ok(Some(record))
    }
}

/// The number of a job such as `123.server`; `None` for the record of a whole array.
fn job_number(id: &[u8], notes: &mut Notes, line: u64) -> Result<Option<i64>, LogProblem> {
    let wrong = || LogProblem::field("job", "a job such as 123.server or 123[4].server", id);
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let end = digits(id);
    let whole = |text: &[u8]| number::large(text, number::Decimals::Refuse).ok();
    let job = whole(&id[..end]).ok_or_else(wrong)?;
    let task = match &id[end..] {
        [b'[', b']', ..] => {
            let fact = "record of a whole array, whose tasks have their own";
            notes.add(NoteKind::Dropped, fact, line);
            return Ok(None);
        }
        [b'[' | b'-', rest @ ..] => whole(&rest[..digits(rest)]).ok_or_else(wrong)?,
        [] | [b'.', ..] => return Ok(Some(job)),
        _ => return Err(wrong()),
    };
    notes.add(NoteKind::Changed, "task of an array: a job of its own", line);
    notes.add(NoteKind::Guessed, "number of a task: made from its array", line);
    // Seven digits have place for the tasks of any array.
    let number = job.saturating_mul(10_000_000).saturating_add(task);
    (number <= 1 << 53).then_some(Some(number)).ok_or_else(wrong)
}

fn label(
    names: &mut Names,
    text: Option<&[u8]>,
    what: Option<&'static str>,
    notes: &mut Notes,
    line: u64,
) -> Result<i32, LogProblem> {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Ok(-1);
    };
    if let Some(what) = what {
        let fact = format!("name of a {what}: a number, in the order of appearance");
        notes.add(NoteKind::Changed, fact, line);
    }
    let number = names.number(&String::from_utf8_lossy(text));
    number.ok_or_else(|| LogProblem::Whole("too many names; is it a log of PBS?".to_owned()))
}

/// The values of a record, by their keys.
struct Values<'a>(Vec<(&'a [u8], &'a [u8])>);

impl<'a> Values<'a> {
    fn read(text: &'a [u8]) -> Values<'a> {
        let mut values: Vec<(&[u8], (usize, usize))> = Vec::new();
        let mut at = 0;
        for word in text.split(|&byte| byte == b' ') {
            let (start, end) = (at, at + word.len());
            at = end + 1;
            let key = memchr::memchr(b'=', word).filter(|&key| key > 0);
            match (key, values.last_mut()) {
                (Some(key), _) => values.push((&word[..key], (start + key + 1, end))),
                // A word without a key continues the value before it, which has a space.
                (None, Some((_, place))) if !word.is_empty() => place.1 = end,
                _ => {}
            }
        }
        Values(values.into_iter().map(|(key, (start, end))| (key, &text[start..end])).collect())
    }

    /// The value of a key. Texts that users choose come first in a record, so that the last value of a key
    /// is the one that PBS wrote.
    fn text(&self, key: &[u8]) -> Option<&'a [u8]> {
        self.0.iter().rev().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }

    fn value<T>(
        &self,
        key: &str,
        expected: &'static str,
        parse: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, LogProblem> {
        let Some(text) = self.text(key.as_bytes()) else {
            return Ok(None);
        };
        parse(text).map(Some).ok_or_else(|| LogProblem::field(key, expected, text))
    }

    fn instant(&self, key: &str) -> Result<Option<Time>, LogProblem> {
        let seconds = |text: &[u8]| number::span(text).ok().filter(|span| *span >= Span::ZERO);
        let span = self.value(key, "seconds since 1970", seconds)?;
        // 0 stands for an instant that did not come.
        Ok(span.filter(|span| *span > Span::ZERO).map(|span| Time::ZERO + span))
    }

    fn span(&self, key: &str) -> Result<Option<Span>, LogProblem> {
        let read = |text: &[u8]| {
            let seconds = || number::span(text).ok().filter(|span| *span >= Span::ZERO);
            slurm::clock_span(text).or_else(seconds)
        };
        self.value(key, "a length of time such as 12:30:00", read)
    }

    fn record(&self, number: i64, notes: &mut Notes, line: u64) -> Result<SwfRecord, LogProblem> {
        let submit = match self.instant("ctime")? {
            Some(time) => Some(time),
            None => self.instant("qtime")?,
        };
        let (start, end) = (self.instant("start")?, self.instant("end")?);
        let mut between =
            |from: Option<Time>, to: Option<Time>, fact: &'static str| match (from, to) {
                (Some(from), Some(to)) if to < from => {
                    notes.add(NoteKind::Changed, fact, line);
                    UNKNOWN_SPAN
                }
                (Some(from), Some(to)) => to - from,
                _ => UNKNOWN_SPAN,
            };
        let wait = between(submit, start, "start before the submission: waiting time unknown");
        let run_time = between(start, end, "end before the start: run time unknown");
        let allocated = self.value("exec_host", "hosts such as n1/0*8+n2/0-7", resources::hosts)?;
        let requested = self.requested()?;
        let processors = allocated.or(requested).filter(|&count| count > 0).map(i64::from);
        let of_processor = |amount: Option<i64>| Some(amount? / processors?);
        let memory = "an amount such as 8gb or 8192mb";
        let requested_memory =
            match self.value("Resource_List.pmem", memory, resources::kilobytes)? {
                Some(amount) => Some(amount),
                None => {
                    of_processor(self.value("Resource_List.mem", memory, resources::kilobytes)?)
                }
            };
        let used_memory =
            of_processor(self.value("resources_used.mem", memory, resources::kilobytes)?);
        let cpu_time = self.span("resources_used.cput")?.zip(processors);
        let exit = |text: &[u8]| number::large(text, number::Decimals::Refuse).ok();
        Ok(SwfRecord {
            wait,
            run_time,
            allocated_processors: allocated.unwrap_or(-1),
            requested_processors: requested.unwrap_or(-1),
            requested_time: self.span("Resource_List.walltime")?.unwrap_or(UNKNOWN_SPAN),
            average_cpu_time: cpu_time
                .map_or(UNKNOWN_SPAN, |(time, count)| Span::from_micros(time.as_micros() / count)),
            used_memory: used_memory.unwrap_or(-1),
            requested_memory: requested_memory.unwrap_or(-1),
            status: match self.value("Exit_status", "a whole number", exit)? {
                None => -1,
                Some(0) => 1,
                Some(_) => 0,
            },
            ..SwfRecord::unknown(number, submit.unwrap_or(Time::ZERO + UNKNOWN_SPAN))
        })
    }

    /// Requested processors: of PBS Pro by `select`, of Torque by `nodes` or `procs`.
    fn requested(&self) -> Result<Option<i32>, LogProblem> {
        const A_NUMBER: &str = "a number of processors";
        for (key, expected, parse) in [
            (
                "Resource_List.select",
                "chunks such as 2:ncpus=8+1",
                resources::select as fn(&[u8]) -> Option<i32>,
            ),
            ("Resource_List.nodes", "nodes such as 2:ppn=8+1", resources::nodes),
            ("Resource_List.procs", A_NUMBER, resources::count),
            ("Resource_List.ncpus", A_NUMBER, resources::count),
        ] {
            if let Some(count) = self.value(key, expected, parse)? {
                return Ok(Some(count));
            }
        }
        Ok(None)
    }
}

impl Records for Pbs {
    fn source(&self) -> &Source {
        &self.text.source
    }

    fn header(&self) -> &SwfHeader {
        &self.header
    }

    fn next_job(&mut self) -> Result<Option<SwfRecord>, LogError> {
        while self.text.next_line()? {
            match self.record() {
                Ok(Some(record)) => return Ok(Some(record)),
                Ok(None) => {}
                Err(problem) => {
                    let error = self.text.source.error(0, problem);
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
        self.queues.header_lines("Queue")
    }

    fn columns(&self) -> &[String] {
        self.kept.as_ref().map_or(&[], Kept::names)
    }

    fn further(&self) -> Vec<String> {
        self.further.clone()
    }
}
