//! Any table of jobs, by a mapping of its columns to the fields of a record.

mod csv;
mod mapping;
mod parquet;

use std::io::BufRead;
use std::sync::Arc;

use csv::Csv;
use mapping::{Column, MemoryUnit, NoUnit, SpanUnit, Status, TimeUnit};

use parquet::Parquet;

pub use mapping::Mapping;

use super::error::{LogError, LogProblem, printable};
use super::keep::Kept;
use super::names::{Names, Numbered};
use super::notes::{NoteKind, Notes};
use super::reader::Records;
use super::source::Source;
use super::zone::{A_TIME, Clock};
use super::{Options, slurm};
use crate::swf::{HeaderLine, Malformed, SwfHeader, SwfRecord, UNKNOWN_SPAN};
use haggle_model::{Span, Time};

/// The rows of a table, and the values of the current one.
enum Rows {
    Text(Box<Csv>),
    Parquet(Box<Parquet>),
}

impl Rows {
    fn names(&self) -> &[String] {
        match self {
            Rows::Text(rows) => rows.names(),
            Rows::Parquet(rows) => &rows.names,
        }
    }

    fn source(&self) -> &Source {
        match self {
            Rows::Text(rows) => rows.source(),
            Rows::Parquet(rows) => &rows.source,
        }
    }

    fn source_mut(&mut self) -> &mut Source {
        match self {
            Rows::Text(rows) => rows.source_mut(),
            Rows::Parquet(rows) => &mut rows.source,
        }
    }

    /// Reads the next row; `false` at the end.
    fn next(&mut self) -> Result<bool, LogError> {
        match self {
            Rows::Text(rows) => rows.next(),
            Rows::Parquet(rows) => rows.next(),
        }
    }

    /// The value of a column in the current row.
    fn value(&self, at: usize) -> &[u8] {
        match self {
            Rows::Text(rows) => rows.value(at),
            Rows::Parquet(rows) => rows.value(at),
        }
    }

    /// Refuses a unit of dates.
    fn check_unit(&self, place: Option<Place<TimeUnit>>) -> Result<(), LogProblem> {
        let (Rows::Parquet(rows), Some(place)) = (self, place) else {
            return Ok(());
        };
        if place.unit == TimeUnit::Seconds || !rows.has_dates(place.at) {
            return Ok(());
        }
        let name = &rows.names[place.at];
        Err(LogProblem::Whole(format!(
            "column {name:?} has timestamps, which have a unit of their own; remove `unit` from its mapping"
        )))
    }
}

/// Reads records one by one.
pub(super) struct Table {
    rows: Rows,
    header: SwfHeader,
    missing: Vec<String>,
    places: Places,
    kept: Kept,
    /// Places of the columns of which nothing is used, and that fact about each.
    dropped: Vec<(usize, String)>,
    clock: Clock,
    labels: Labels,
    notes: Notes,
    count: i64,
}

/// The columns of a record in the table.
struct Places {
    number: Option<Place<NoUnit>>,
    submit: Place<TimeUnit>,
    start: Option<Place<TimeUnit>>,
    end: Option<Place<TimeUnit>>,
    wait: Option<Place<SpanUnit>>,
    run: Option<Place<SpanUnit>>,
    processors: Option<Place<NoUnit>>,
    requested_processors: Option<Place<NoUnit>>,
    requested_time: Option<Place<SpanUnit>>,
    processor_time: Option<Place<SpanUnit>>,
    used_memory: Option<Place<MemoryUnit>>,
    requested_memory: Option<Place<MemoryUnit>>,
    status: Option<(usize, Status)>,
    user: Option<Place<NoUnit>>,
    group: Option<Place<NoUnit>>,
    executable: Option<Place<NoUnit>>,
    queue: Option<Place<NoUnit>>,
    partition: Option<Place<NoUnit>>,
}

/// A column in the table, with its unit and factor.
#[derive(Clone, Copy)]
struct Place<U> {
    at: usize,
    unit: U,
    times: f64,
}

/// Numbers of names.
struct Labels {
    users: Names,
    groups: Names,
    executables: Names,
    queues: Names,
    partitions: Names,
}

impl Labels {
    fn of(names: &Numbered) -> Labels {
        Labels {
            users: Names::of(&names.users),
            groups: Names::of(&names.groups),
            executables: Names::default(),
            queues: Names::of(&names.queues),
            partitions: Names::of(&names.partitions),
        }
    }
}

impl Table {
    /// A table in a text with a line of names.
    pub(super) fn of_text(
        input: Box<dyn BufRead + Send>,
        log: Arc<str>,
        options: &Options,
        mapping: &Mapping,
        malformed: Malformed,
    ) -> Result<Table, LogError> {
        let rows = Csv::new(input, log, mapping.separator, malformed)?;
        Table::new(Rows::Text(Box::new(rows)), options, mapping)
    }

    /// A table in a Parquet file.
    pub(super) fn of_parquet(
        input: Box<dyn BufRead + Send>,
        log: Arc<str>,
        options: &Options,
        mapping: &Mapping,
        malformed: Malformed,
    ) -> Result<Table, LogError> {
        let rows = Parquet::new(input, log, malformed)?;
        if mapping.separator.is_some() {
            let problem = "the mapping has a `separator`, but Parquet has none; remove it";
            return Err(rows.source.error(0, LogProblem::Whole(problem.to_owned())));
        }
        Table::new(Rows::Parquet(Box::new(rows)), options, mapping)
    }

    /// Finds the columns by their names.
    fn new(rows: Rows, options: &Options, mapping: &Mapping) -> Result<Table, LogError> {
        let mut used = Vec::new();
        let places = Places::find(mapping, rows.names(), &mut used)
            .map_err(|it| rows.source().error(0, it))?;
        for place in [Some(places.submit), places.start, places.end] {
            rows.check_unit(place).map_err(|problem| rows.source().error(0, problem))?;
        }
        let others = (0..rows.names().len()).filter(|at| !used.contains(at)).collect();
        let kept = Kept::choose(rows.names(), others, &options.keep);
        let (kept, dropped) = kept.map_err(|problem| rows.source().error(0, problem))?;
        let zone = options.zone.clone().or_else(|| mapping.time_zone.clone());
        let mut header = Options { zone: zone.clone(), ..Options::default() }.header();
        if let Some(size) = mapping.machine_size {
            header.push("MaxProcs", size);
        }
        Ok(Table {
            rows,
            header,
            missing: mapping.missing.clone(),
            places,
            kept,
            dropped,
            clock: Clock::new(zone),
            labels: Labels::of(&options.names),
            notes: Notes::default(),
            count: 0,
        })
    }

    fn record(&mut self) -> Result<SwfRecord, LogProblem> {
        let line = self.rows.source().line;
        self.count += 1;
        let row = Row { rows: &self.rows, missing: &self.missing };
        let places = &self.places;
        let number = match row.whole(places.number)? {
            Some(number) => number,
            None => {
                self.notes.add(NoteKind::Guessed, "number of a job: its place in the table", line);
                self.count
            }
        };
        let mut time = |place: Option<Place<TimeUnit>>, earliest| {
            row.time(place, &self.clock, earliest, &mut self.notes, line)
        };
        let submit = time(Some(places.submit), None)?;
        let start = time(places.start, submit)?;
        let end = time(places.end, start)?;
        let wait = match (row.span(places.wait)?, submit, start) {
            (Some(wait), ..) => Some(wait),
            (None, Some(submit), Some(start)) => Some(start - submit),
            _ => None,
        };
        let run = match (row.span(places.run)?, start, end) {
            (Some(run), ..) => Some(run),
            (None, Some(start), Some(end)) => Some(end - start),
            _ => None,
        };
        let mut known = |span: Option<Span>, fact: &'static str| match span {
            Some(span) if span < Span::ZERO => {
                self.notes.add(NoteKind::Changed, fact, line);
                UNKNOWN_SPAN
            }
            span => span.unwrap_or(UNKNOWN_SPAN),
        };
        let wait = known(wait, "negative waiting time: unknown");
        let run_time = known(run, "negative run time: unknown");
        let allocated = row.processors(places.processors)?;
        let requested = row.processors(places.requested_processors)?;
        let processors = allocated.or(requested).filter(|&count| count > 0);
        let cpu_time = row.span(places.processor_time)?.zip(processors);
        let Labels { users, groups, executables, queues, partitions } = &mut self.labels;
        let notes = &mut self.notes;
        let record = SwfRecord {
            wait,
            run_time,
            allocated_processors: allocated.unwrap_or(-1),
            requested_processors: requested.unwrap_or(-1),
            requested_time: row.span(places.requested_time)?.unwrap_or(UNKNOWN_SPAN),
            average_cpu_time: cpu_time.map_or(UNKNOWN_SPAN, |(time, count)| {
                Span::from_micros(time.as_micros() / i64::from(count))
            }),
            used_memory: row.memory(places.used_memory)?.unwrap_or(-1),
            requested_memory: row.memory(places.requested_memory)?.unwrap_or(-1),
            status: row.status(places.status.as_ref(), notes, line),
            user: row.label(
                places.user,
                users,
                Some("name of a user: a number, in the order of appearance"),
                notes,
                line,
            )?,
            group: row.label(
                places.group,
                groups,
                Some("name of a group: a number, in the order of appearance"),
                notes,
                line,
            )?,
            executable: row.label(
                places.executable,
                executables,
                Some("name of an executable: a number, in the order of appearance"),
                notes,
                line,
            )?,
            queue: row.label(places.queue, queues, None, notes, line)?,
            partition: row.label(places.partition, partitions, None, notes, line)?,
            ..SwfRecord::unknown(number, submit.unwrap_or(Time::ZERO + UNKNOWN_SPAN))
        };
        for (at, fact) in &self.dropped {
            if row.known(*at).is_some() {
                self.notes.add(NoteKind::Dropped, fact, line);
            }
        }
        Ok(record)
    }
}

impl Places {
    /// Finds the columns of a mapping by their names, and adds their places to `used`.
    fn find(
        mapping: &Mapping,
        names: &[String],
        used: &mut Vec<usize>,
    ) -> Result<Places, LogProblem> {
        let mut at = |key: &str, wanted: &str| {
            let place = names.iter().position(|name| name == wanted);
            used.extend(place);
            place.ok_or_else(|| {
                let all = names.join(", ");
                LogProblem::Whole(format!(
                    "no column {wanted:?}, which the mapping names for `{key}`; the table has {all}"
                ))
            })
        };
        let columns = &mapping.columns;
        Ok(Places {
            number: place("number", columns.number.as_ref(), &mut at)?,
            submit: {
                let submit = place("submit", Some(&columns.submit), &mut at)?;
                submit.unwrap_or(Place { at: 0, unit: TimeUnit::Seconds, times: 1.0 })
            },
            start: place("start", columns.start.as_ref(), &mut at)?,
            end: place("end", columns.end.as_ref(), &mut at)?,
            wait: place("wait", columns.wait.as_ref(), &mut at)?,
            run: place("run", columns.run.as_ref(), &mut at)?,
            processors: place("processors", columns.processors.as_ref(), &mut at)?,
            requested_processors: place(
                "requested-processors",
                columns.requested_processors.as_ref(),
                &mut at,
            )?,
            requested_time: place("requested-time", columns.requested_time.as_ref(), &mut at)?,
            processor_time: place("processor-time", columns.processor_time.as_ref(), &mut at)?,
            used_memory: place("used-memory", columns.used_memory.as_ref(), &mut at)?,
            requested_memory: place(
                "requested-memory",
                columns.requested_memory.as_ref(),
                &mut at,
            )?,
            user: place("user", columns.user.as_ref(), &mut at)?,
            group: place("group", columns.group.as_ref(), &mut at)?,
            executable: place("executable", columns.executable.as_ref(), &mut at)?,
            queue: place("queue", columns.queue.as_ref(), &mut at)?,
            partition: place("partition", columns.partition.as_ref(), &mut at)?,
            status: match &columns.status {
                Some(status) => Some((at("status", &status.column)?, status.clone())),
                None => None,
            },
        })
    }
}

fn place<U: Copy + Default>(
    key: &str,
    column: Option<&Column<U>>,
    at: &mut impl FnMut(&str, &str) -> Result<usize, LogProblem>,
) -> Result<Option<Place<U>>, LogProblem> {
    let Some(column) = column else {
        return Ok(None);
    };
    Ok(Some(Place { at: at(key, column.name())?, unit: column.unit(), times: column.times() }))
}

/// The values of a row.
struct Row<'a> {
    rows: &'a Rows,
    missing: &'a [String],
}

impl<'a> Row<'a> {
    /// The value of a column, if there is one.
    fn known(&self, at: usize) -> Option<&'a [u8]> {
        const MISSING: [&[u8]; 9] =
            [b"", b"NULL", b"null", b"NA", b"N/A", b"NaN", b"nan", b"NaT", b"None"];
        let text = self.rows.value(at);
        let is_missing =
            MISSING.contains(&text) || self.missing.iter().any(|it| it.as_bytes() == text);
        (!is_missing).then_some(text)
    }

    fn wrong(&self, at: usize, expected: &'static str, text: &[u8]) -> LogProblem {
        LogProblem::field(&self.rows.names()[at], expected, text)
    }

    /// The number in a column, multiplied by its factor.
    fn number<U>(
        &self,
        place: Place<U>,
        expected: &'static str,
    ) -> Result<Option<f64>, LogProblem> {
        let Some(text) = self.known(place.at) else {
            return Ok(None);
        };
        let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
        match number.map(|number| number * place.times).filter(|number| number.is_finite()) {
            Some(number) => Ok(Some(number)),
            None => Err(self.wrong(place.at, expected, text)),
        }
    }

    /// A whole number of up to 53 bits.
    fn whole(&self, place: Option<Place<NoUnit>>) -> Result<Option<i64>, LogProblem> {
        const MAX: f64 = (1_u64 << 53) as f64;
        const EXPECTED: &str = "a whole number";
        let Some(place) = place else {
            return Ok(None);
        };
        let number = self.number(place, EXPECTED)?;
        let is_whole = |number: &f64| number.fract() == 0.0 && number.abs() <= MAX;
        match number {
            Some(number) if !is_whole(&number) => {
                Err(self.wrong(place.at, EXPECTED, self.rows.value(place.at)))
            }
            number => Ok(number.map(|number| number as i64)),
        }
    }

    fn processors(&self, place: Option<Place<NoUnit>>) -> Result<Option<i32>, LogProblem> {
        let Some(count) = self.whole(place)? else {
            return Ok(None);
        };
        let at = place.map_or(0, |place| place.at);
        let wrong =
            |_| self.wrong(at, "a number of processors of at most 2147483647", self.rows.value(at));
        i32::try_from(count).map(Some).map_err(wrong)
    }

    fn time(
        &self,
        place: Option<Place<TimeUnit>>,
        clock: &Clock,
        earliest: Option<Time>,
        notes: &mut Notes,
        line: u64,
    ) -> Result<Option<Time>, LogProblem> {
        /// Some 31,700 years, as for other logs.
        const SECONDS_MAX: f64 = 1e12;
        let Some(place) = place else {
            return Ok(None);
        };
        let Some(text) = self.known(place.at) else {
            return Ok(None);
        };
        if place.unit == TimeUnit::Seconds {
            let time = clock.time(text, earliest, notes, line);
            return time.map(Some).ok_or_else(|| self.wrong(place.at, A_TIME, text));
        }
        let number = self.number(place, "a number, because its column has a unit")?;
        let seconds = number.map(|number| number * place.unit.seconds());
        match seconds.filter(|seconds| (0.0..SECONDS_MAX).contains(seconds)) {
            Some(seconds) => Ok(Some(Time::from_micros((seconds * 1e6).round() as i64))),
            None => Err(self.wrong(place.at, "a time from 1970 on", text)),
        }
    }

    fn span(&self, place: Option<Place<SpanUnit>>) -> Result<Option<Span>, LogProblem> {
        const SECONDS_MAX: f64 = 1e12;
        const EXPECTED: &str = "a length of time: a number, or a text such as 1-02:03:04";
        let Some(place) = place else {
            return Ok(None);
        };
        let Some(text) = self.known(place.at) else {
            return Ok(None);
        };
        if text.contains(&b':') {
            let span = slurm::clock_span(text).filter(|_| place.times == 1.0);
            return span.map(Some).ok_or_else(|| self.wrong(place.at, EXPECTED, text));
        }
        let number = self.number(place, EXPECTED)?;
        let seconds = number.map(|number| number * place.unit.seconds());
        match seconds {
            Some(seconds) if seconds.abs() <= SECONDS_MAX => {
                Ok(Some(Span::from_micros((seconds * 1e6).round() as i64)))
            }
            _ => Err(self.wrong(place.at, EXPECTED, text)),
        }
    }

    fn memory(&self, place: Option<Place<MemoryUnit>>) -> Result<Option<i64>, LogProblem> {
        const EXPECTED: &str = "an amount of memory as a number";
        const KILOBYTES_MAX: f64 = 1e15;
        let Some(place) = place else {
            return Ok(None);
        };
        match self.number(place, EXPECTED)?.map(|it| it * place.unit.kilobytes()) {
            Some(amount) if !(0.0..=KILOBYTES_MAX).contains(&amount) => {
                Err(self.wrong(place.at, EXPECTED, self.rows.value(place.at)))
            }
            amount => Ok(amount.map(|amount| amount.ceil() as i64)),
        }
    }

    fn status(&self, status: Option<&(usize, Status)>, notes: &mut Notes, line: u64) -> i32 {
        let Some((at, words)) = status else {
            return -1;
        };
        let Some(text) = self.known(*at) else {
            return -1;
        };
        let is = |list: &[String]| list.iter().any(|word| word.as_bytes() == text);
        match () {
            () if is(&words.completed) => 1,
            () if is(&words.failed) => 0,
            () if is(&words.cancelled) => 5,
            () => {
                let fact =
                    format!("state {}, which the mapping does not name: unknown", printable(text));
                notes.add(NoteKind::Changed, fact, line);
                -1
            }
        }
    }

    /// The number in a column, or one that stands for the name there.
    fn label(
        &self,
        place: Option<Place<NoUnit>>,
        names: &mut Names,
        fact: Option<&'static str>,
        notes: &mut Notes,
        line: u64,
    ) -> Result<i32, LogProblem> {
        let Some(place) = place else {
            return Ok(-1);
        };
        let Some(text) = self.known(place.at) else {
            return Ok(-1);
        };
        let text = String::from_utf8_lossy(text);
        if let Ok(number) = text.parse::<i32>() {
            return Ok(number);
        }
        if let Some(fact) = fact {
            notes.add(NoteKind::Changed, fact, line);
        }
        names.number(&text).ok_or_else(|| {
            let name = &self.rows.names()[place.at];
            LogProblem::Whole(format!(
                "too many names in the column {name:?}; is it the right column?"
            ))
        })
    }
}

impl Records for Table {
    fn source(&self) -> &Source {
        self.rows.source()
    }

    fn header(&self) -> &SwfHeader {
        &self.header
    }

    fn next_job(&mut self) -> Result<Option<SwfRecord>, LogError> {
        while self.rows.next()? {
            match self.record() {
                Ok(record) => return Ok(Some(record)),
                Err(problem) => {
                    let error = self.rows.source().error(0, problem);
                    self.rows.source_mut().skip_or_fail(error)?;
                }
            }
        }
        Ok(None)
    }

    fn notes(&self) -> &Notes {
        &self.notes
    }

    fn has_names(&self) -> bool {
        self.places.queue.is_some() || self.places.partition.is_some()
    }

    fn names(&self) -> Vec<HeaderLine> {
        let queues = self.labels.queues.header_lines("Queue");
        [queues, self.labels.partitions.header_lines("Partition")].concat()
    }

    fn columns(&self) -> &[String] {
        self.kept.names()
    }

    fn further(&self) -> Vec<String> {
        let row = Row { rows: &self.rows, missing: &self.missing };
        let value =
            |&at: &usize| row.known(at).map(|text| String::from_utf8_lossy(text).into_owned());
        self.kept.places().iter().map(|at| value(at).unwrap_or_default()).collect()
    }
}
