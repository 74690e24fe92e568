//! The JSON of `sacct --json`, of all versions of its parser.
//!
//! The shape of a value decides how it is read, not the version. A number may be an object with `set`, `infinite`
//! and `number`, and a state may be a list.

use std::borrow::Cow;
use std::io::BufRead;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::Options;
use super::super::error::{LogError, LogProblem};
use super::super::json::{self, Json, Number, Part};
use super::super::members::{Members, OtherMembers};
use super::super::notes::{NoteKind, Notes};
use super::super::reader::Records;
use super::super::source::Source;
use super::{Accounting, Label, Limit, Memory, SlurmJob, State};
use crate::swf::{HeaderLine, Malformed, SwfHeader, SwfRecord};
use haggle_model::{Demand, Span, Time};

const WANTED: &[&str] = &["jobs"];

/// Members of a job of which a record uses all, or a part that the manual names.
const USED: [&str; 14] = [
    "job_id",
    "array",
    "het",
    "time",
    "state",
    "required",
    "tres",
    "allocation_nodes",
    "association",
    "user",
    "group",
    "qos",
    "partition",
    "steps",
];

/// Reads records one by one.
pub(in super::super) struct SacctJson {
    json: Json<Box<dyn BufRead + Send>>,
    header: SwfHeader,
    others: OtherMembers,
    /// Values of the last job in the columns that are kept.
    further: Vec<String>,
    accounting: Accounting,
    notes: Notes,
}

impl SacctJson {
    pub(in super::super) fn new(
        input: Box<dyn BufRead + Send>,
        log: Arc<str>,
        options: &Options,
        malformed: Malformed,
    ) -> SacctJson {
        SacctJson {
            json: Json::new(input, log, malformed, WANTED),
            header: options.header(),
            others: OtherMembers::new(&USED, options.keep.clone()),
            further: Vec::new(),
            accounting: Accounting::new(options),
            notes: Notes::default(),
        }
    }

    fn record(&mut self) -> Result<SwfRecord, LogError> {
        let line = self.json.source.line;
        let members: Members<'_> = serde_json::from_slice(&self.json.value)
            .map_err(|error| self.json.value_error(&error))?;
        let fail = |problem| self.json.error(problem);
        let job = JobMembers::of(&members).map_err(fail)?;
        let number = job.number().map_err(fail)?;
        self.others.find(&members).map_err(fail)?;
        job.note(&mut self.notes, line);
        let job = job.accounted(number, &mut self.notes, line).map_err(fail)?;
        let record = self.accounting.record(&job, &mut self.notes, line).map_err(fail)?;
        self.further = self.others.values(&members, &mut self.notes, line);
        Ok(record)
    }
}

/// The members of a job that a record needs.
struct JobMembers<'a> {
    number: Option<Number>,
    array: Group,
    het: Group,
    time: Times,
    state: Option<Words<'a>>,
    required: Required<'a>,
    tres: Tres<'a>,
    nodes: Option<Number>,
    user: Option<Cow<'a, str>>,
    group: Option<Cow<'a, str>>,
    account: Option<Cow<'a, str>>,
    quality: Option<Cow<'a, str>>,
    partition: Option<Cow<'a, str>>,
    has_steps: bool,
}

/// An array, or a heterogeneous job.
#[derive(Default, Deserialize)]
struct Group {
    #[serde(default)]
    job_id: Number,
}

#[derive(Default, Deserialize)]
struct Times {
    #[serde(default)]
    submission: Number,
    #[serde(default)]
    start: Number,
    #[serde(default)]
    end: Number,
    #[serde(default)]
    elapsed: Number,
    #[serde(default)]
    suspended: Number,
    /// In minutes, unlike all others.
    #[serde(default)]
    limit: Number,
    #[serde(default)]
    total: Seconds,
}

#[derive(Default, Deserialize)]
struct Seconds {
    #[serde(default)]
    seconds: Number,
    #[serde(default)]
    microseconds: Number,
}

#[derive(Deserialize)]
struct CurrentState<'a> {
    #[serde(borrow)]
    current: Words<'a>,
}

/// A word, or a list of words.
#[derive(Deserialize)]
#[serde(untagged)]
enum Words<'a> {
    One(#[serde(borrow)] Cow<'a, str>),
    List(#[serde(borrow)] Vec<Cow<'a, str>>),
}

#[derive(Default, Deserialize)]
struct Required<'a> {
    #[serde(default, rename = "CPUs")]
    processors: Number,
    /// Of older versions, with a bit that means memory of a processor. The bits below it need more than the 53 bits
    /// of other numbers.
    #[serde(default, borrow)]
    memory: Option<&'a RawValue>,
    #[serde(default)]
    memory_per_cpu: Number,
    #[serde(default)]
    memory_per_node: Number,
}

#[derive(Default, Deserialize)]
struct Tres<'a> {
    #[serde(default, borrow)]
    allocated: Vec<Resource<'a>>,
    #[serde(default, borrow)]
    requested: Vec<Resource<'a>>,
}

#[derive(Deserialize)]
struct Resource<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default, borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(default)]
    count: Number,
}

#[derive(Default, Deserialize)]
struct Association<'a> {
    #[serde(default, borrow)]
    account: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    user: Option<Cow<'a, str>>,
}

impl<'a> JobMembers<'a> {
    fn of(members: &Members<'a>) -> Result<JobMembers<'a>, LogProblem> {
        let text = |key| members.read::<Option<Cow<'a, str>>>(key).map(Option::flatten);
        let association: Association<'a> =
            members.read::<Option<_>>("association")?.flatten().unwrap_or_default();
        let state: Option<CurrentState<'a>> = members.read::<Option<_>>("state")?.flatten();
        let steps: Option<Vec<&RawValue>> = members.read::<Option<_>>("steps")?.flatten();
        Ok(JobMembers {
            number: members.read("job_id")?,
            array: members.read::<Option<_>>("array")?.flatten().unwrap_or_default(),
            het: members.read::<Option<_>>("het")?.flatten().unwrap_or_default(),
            time: members.read::<Option<_>>("time")?.flatten().unwrap_or_default(),
            state: state.map(|state| state.current),
            required: members.read::<Option<_>>("required")?.flatten().unwrap_or_default(),
            tres: members.read::<Option<_>>("tres")?.flatten().unwrap_or_default(),
            nodes: members.read("allocation_nodes")?,
            user: text("user")?.or(association.user),
            group: text("group")?,
            account: text("account")?.or(association.account),
            quality: text("qos")?,
            partition: text("partition")?,
            has_steps: steps.is_some_and(|steps| !steps.is_empty()),
        })
    }

    fn number(&self) -> Result<i64, LogProblem> {
        let number = self.number.and_then(Number::whole).filter(|&number| number > 0);
        number.ok_or_else(|| LogProblem::Record("job_id: expected the number of a job".to_owned()))
    }

    /// Notes the parts of the job that a record cannot have.
    fn note(&self, notes: &mut Notes, line: u64) {
        let is_group = |group: &Group| group.job_id.whole().is_some_and(|number| number > 0);
        if is_group(&self.array) {
            notes.add(NoteKind::Changed, "task of an array: a job of its own", line);
        }
        if is_group(&self.het) {
            let fact = "part of a heterogeneous job: a job of its own";
            notes.add(NoteKind::Changed, fact, line);
        }
        if self.has_steps {
            notes.add(NoteKind::Dropped, "steps of a job", line);
        }
    }

    fn accounted(
        &self,
        number: i64,
        notes: &mut Notes,
        line: u64,
    ) -> Result<SlurmJob<'_>, LogProblem> {
        let time = &self.time;
        let state = self.state()?;
        let processors = |list: &[Resource<'_>]| resource(list, "cpu");
        let total = span("time.total", time.total.seconds)?;
        let part = span("time.total", time.total.microseconds)?;
        let micros = part.map_or(0, |part| part.as_micros() / 1_000_000);
        Ok(SlurmJob {
            number,
            submit: instant("time.submission", time.submission)?,
            start: instant("time.start", time.start)?,
            end: instant("time.end", time.end)?,
            elapsed: span("time.elapsed", time.elapsed)?,
            suspended: span("time.suspended", time.suspended)?,
            limit: limit(time.limit)?,
            state,
            allocated: processors(&self.tres.allocated),
            requested: positive(self.required.processors)
                .or_else(|| processors(&self.tres.requested)),
            nodes: resource(&self.tres.allocated, "node").or_else(|| positive(self.nodes?)),
            least_nodes: resource(&self.tres.requested, "node"),
            gpus: gpus(if self.tres.allocated.is_empty() {
                &self.tres.requested
            } else {
                &self.tres.allocated
            }),
            allocated_memory: allocated_memory(&self.tres.allocated),
            memory: self.memory(notes, line),
            processor_time: total.map(|total| total + Span::from_micros(micros)),
            user: label(self.user.as_deref()),
            group: label(self.group.as_deref().or(self.account.as_deref())),
            quality: label(self.quality.as_deref()),
            partition: label(self.partition.as_deref()),
        })
    }

    fn state(&self) -> Result<State, LogProblem> {
        // A list has the state first, and then its flags.
        let word = match &self.state {
            None => return Ok(State::Unknown),
            Some(Words::One(word)) => word,
            Some(Words::List(words)) => match words.first() {
                None => return Ok(State::Unknown),
                Some(word) => word,
            },
        };
        State::read(word.as_bytes())
            .ok_or_else(|| LogProblem::field("state.current", "a state of a job", word.as_bytes()))
    }

    fn memory(&self, notes: &mut Notes, line: u64) -> Option<Memory> {
        /// The bit of older versions.
        const OF_PROCESSOR: i128 = 1 << 63;
        let kilobytes = |megabytes: f64| (megabytes * 1024.0) as i64;
        let known = |number: Number| number.known().filter(|number| (1.0..1e12).contains(number));
        if let Some(amount) = known(self.required.memory_per_cpu) {
            return Some(Memory::Processor(kilobytes(amount)));
        }
        if let Some(amount) = known(self.required.memory_per_node) {
            return Some(Memory::Node(kilobytes(amount)));
        }
        let amount: i128 = self.required.memory?.get().parse().ok()?;
        // Some versions write the number with a sign.
        let amount = if amount < 0 { amount + 2 * OF_PROCESSOR } else { amount };
        let of_node =
            known(Number::Of(amount as f64)).map(|amount| Memory::Node(kilobytes(amount)));
        if amount < OF_PROCESSOR {
            return of_node;
        }
        let fact =
            "requested memory with a flag of Slurm in its number: read as that of a processor";
        notes.add(NoteKind::Changed, fact, line);
        let amount = known(Number::Of((amount - OF_PROCESSOR) as f64));
        amount.map(|amount| Memory::Processor(kilobytes(amount)))
    }
}

fn resource(list: &[Resource<'_>], kind: &str) -> Option<i64> {
    list.iter().find(|it| it.kind == kind).and_then(|it| positive(it.count))
}

/// Memory that a job got. Slurm counts it in MiB.
fn allocated_memory(list: &[Resource<'_>]) -> Option<Memory> {
    let amount = resource(list, "mem")?.checked_mul(1_024)?;
    Some(Memory::Job(amount))
}

/// Accelerators: those of all types together, or else the sum of the types.
fn gpus(list: &[Resource<'_>]) -> Option<i64> {
    let named = |wanted: fn(&str) -> bool| {
        let is =
            move |it: &&Resource<'_>| it.kind == "gres" && it.name.as_deref().is_some_and(wanted);
        let counts = list.iter().filter(is).filter_map(|it| positive(it.count));
        counts.reduce(i64::saturating_add)
    };
    named(|name| name == "gpu").or_else(|| named(|name| name.starts_with("gpu:")))
}

fn positive(number: Number) -> Option<i64> {
    number.whole().filter(|&number| number > 0)
}

fn label(name: Option<&str>) -> Label<'_> {
    name.filter(|name| !name.is_empty()).map_or(Label::Unknown, Label::Name)
}

/// An instant; 0 stands for one that has not come.
fn instant(member: &str, number: Number) -> Result<Option<Time>, LogProblem> {
    let span = span(member, number)?;
    Ok(span.filter(|span| *span > Span::ZERO).map(|span| Time::ZERO + span))
}

fn span(member: &str, number: Number) -> Result<Option<Span>, LogProblem> {
    number.known().map(|seconds| json::span(member, seconds)).transpose()
}

/// A limit in minutes.
fn limit(number: Number) -> Result<Limit, LogProblem> {
    /// Slurm's numbers for "without a limit" and "not set".
    const INFINITE: f64 = u32::MAX as f64;
    const NOT_SET: f64 = (u32::MAX - 1) as f64;
    match number {
        Number::Infinite => Ok(Limit::Unlimited),
        Number::Of(INFINITE) => Ok(Limit::Unlimited),
        Number::Unknown | Number::Of(NOT_SET) => Ok(Limit::Unknown),
        Number::Of(minutes) => {
            let limit = span("time.limit", Number::Of(minutes * 60.0))?;
            Ok(limit.filter(|limit| *limit > Span::ZERO).map_or(Limit::Unknown, Limit::Of))
        }
    }
}

impl Records for SacctJson {
    fn source(&self) -> &Source {
        &self.json.source
    }

    fn header(&self) -> &SwfHeader {
        &self.header
    }

    fn next_job(&mut self) -> Result<Option<SwfRecord>, LogError> {
        while let Some((_, part)) = self.json.next()? {
            if part != Part::Element {
                let problem = "jobs: expected a list of jobs".to_owned();
                return Err(self.json.error(LogProblem::Whole(problem)));
            }
            match self.record() {
                Ok(record) => return Ok(Some(record)),
                Err(error) => self.json.source.skip_or_fail(error)?,
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
        self.others.names()
    }

    fn demand(&mut self, processors: u32) -> Option<Demand> {
        self.accounting.demand(processors, &mut self.notes, self.json.source.line)
    }

    fn further(&self) -> Vec<String> {
        self.further.clone()
    }
}
