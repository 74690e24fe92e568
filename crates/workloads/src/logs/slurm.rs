//! The accounting of Slurm: the record of a job, in whichever form it was written, as 18 fields.

mod demand;
pub(super) mod json;
pub(super) mod sacct;
mod state;
mod units;
pub mod values;

use super::error::LogProblem;
use super::names::{Names, Numbered};
use super::notes::{NoteKind, Notes};
use super::{LoggedDemand, Options};
use crate::swf::{HeaderLine, SwfRecord, UNKNOWN_SPAN};
use demand::Asked;
use haggle_model::{Demand, Span, Time};

pub(super) use state::State;

/// A job as Slurm accounts for it; `None` = unknown.
#[derive(Default)]
pub(super) struct SlurmJob<'a> {
    pub(super) number: i64,
    pub(super) submit: Option<Time>,
    pub(super) start: Option<Time>,
    pub(super) end: Option<Time>,
    /// Time for which it ran, without the time for which it was suspended.
    pub(super) elapsed: Option<Span>,
    pub(super) suspended: Option<Span>,
    pub(super) limit: Limit,
    pub(super) state: State,
    pub(super) allocated: Option<i64>,
    pub(super) requested: Option<i64>,
    pub(super) nodes: Option<i64>,
    /// Fewest nodes that its user asked for.
    pub(super) least_nodes: Option<i64>,
    pub(super) gpus: Option<i64>,
    /// Memory of the whole job that it got.
    pub(super) allocated_memory: Option<Memory>,
    pub(super) memory: Option<Memory>,
    /// Time of all of its processors.
    pub(super) processor_time: Option<Span>,
    pub(super) user: Label<'a>,
    pub(super) group: Label<'a>,
    pub(super) quality: Label<'a>,
    pub(super) partition: Label<'a>,
}

/// The time limit of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Limit {
    #[default]
    Unknown,
    /// The job has no limit.
    Unlimited,
    /// The limit of the partition, which the record does not contain.
    OfPartition,
    Of(Span),
}

/// Requested memory of a processor, a node or the whole job, in KB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    Processor(i64),
    Node(i64),
    Job(i64),
}

/// A user, group, partition or another thing that has a number or a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Label<'a> {
    #[default]
    Unknown,
    Number(i64),
    Name(&'a str),
}

/// Facts beyond one record of a log: the numbers of its names, and the record before.
pub(super) struct Accounting {
    users: Names,
    groups: Names,
    qualities: Names,
    partitions: Names,
    previous: Option<i64>,
    /// Resources of the last job beside processors; `None` if they are not read.
    asked: Option<Asked>,
    demands: Vec<LoggedDemand>,
}

impl Accounting {
    pub(super) fn new(options: &Options) -> Accounting {
        let Numbered { users, groups, queues, partitions } = &options.names;
        Accounting {
            users: Names::of(users),
            groups: Names::of(groups),
            qualities: Names::of(queues),
            partitions: Names::of(partitions),
            previous: None,
            asked: (!options.demands.is_empty()).then(Asked::default),
            demands: options.demands.clone(),
        }
    }

    /// The demand of the last job, if it runs on so many processors.
    pub(super) fn demand(&self, processors: u32, notes: &mut Notes, line: u64) -> Option<Demand> {
        self.asked?.demand(processors, notes, line)
    }

    /// The 18 fields of a job.
    pub(super) fn record(
        &mut self,
        job: &SlurmJob<'_>,
        notes: &mut Notes,
        line: u64,
    ) -> Result<SwfRecord, LogProblem> {
        let mut note = |kind, fact| notes.add(kind, fact, line);
        if self.previous.replace(job.number) == Some(job.number) {
            let fact = "one more run of the job above, which was requeued: a job of its own";
            note(NoteKind::Changed, fact);
        }
        if let Some(asked) = &mut self.asked {
            *asked = Asked::of(job, &self.demands);
        }
        let submit = job.submit.unwrap_or(Time::ZERO + UNKNOWN_SPAN);
        let processors = job.allocated.or(job.requested).filter(|&count| count > 0);
        let memory = job.memory.and_then(|memory| memory.of_processor(processors, job.nodes));
        let mut record = SwfRecord {
            allocated_processors: count(job.allocated)?,
            requested_processors: count(job.requested)?,
            requested_memory: memory.unwrap_or(-1),
            requested_time: requested_time(job.limit, &mut note),
            status: job.state.status(&mut note),
            ..SwfRecord::unknown(job.number, submit)
        };
        if let (Some(time), Some(processors)) = (job.processor_time, processors) {
            record.average_cpu_time = Span::from_micros(time.as_micros() / processors);
        }
        if job.started() {
            record.wait = job.wait(&mut note);
            record.run_time = job.run_time(&mut note);
        }
        record.user = number(&mut self.users, job.user, "user", notes, line)?;
        record.group = number(&mut self.groups, job.group, "group", notes, line)?;
        record.queue = number(&mut self.qualities, job.quality, "quality of service", notes, line)?;
        record.partition = number(&mut self.partitions, job.partition, "partition", notes, line)?;
        Ok(record)
    }

    /// Lines of a header with the names behind the numbers. Names of users are left out, so that a
    /// converted log does not name persons.
    pub(super) fn names(&self) -> Vec<HeaderLine> {
        let queues = self.qualities.header_lines("Queue");
        [queues, self.partitions.header_lines("Partition")].concat()
    }
}

impl SlurmJob<'_> {
    /// True if the job has run. A job that was cancelled while it waited has its end as its start in
    /// some versions, and no processors.
    fn started(&self) -> bool {
        let ran = |span: Option<Span>| span.is_some_and(|span| span > Span::ZERO);
        let waited = self.state == State::Cancelled
            && !ran(self.elapsed)
            && self.allocated.unwrap_or(0) <= 0;
        self.start.is_some() && !waited && self.state != State::Waits
    }

    fn wait(&self, note: &mut impl FnMut(NoteKind, &'static str)) -> Span {
        let (Some(submit), Some(start)) = (self.submit, self.start) else {
            return UNKNOWN_SPAN;
        };
        if start < submit {
            let fact = "start before the submission: waiting time unknown";
            note(NoteKind::Changed, fact);
            return UNKNOWN_SPAN;
        }
        start - submit
    }

    fn run_time(&self, note: &mut impl FnMut(NoteKind, &'static str)) -> Span {
        // The time of a job that still runs grows, and its end is not known.
        if self.state == State::Runs {
            note(NoteKind::Changed, "job that had not ended: run time unknown");
            return UNKNOWN_SPAN;
        }
        let suspended = self.suspended.unwrap_or(Span::ZERO);
        if suspended > Span::ZERO {
            let fact = "job that was suspended: its run time is without that time";
            note(NoteKind::Changed, fact);
        }
        let between = || Some(self.end? - self.start? - suspended);
        match self.elapsed.or_else(between) {
            Some(span) if span >= Span::ZERO => span,
            Some(_) => {
                note(NoteKind::Changed, "end before the start: run time unknown");
                UNKNOWN_SPAN
            }
            None => UNKNOWN_SPAN,
        }
    }
}

impl Memory {
    /// KB for each processor.
    fn of_processor(self, processors: Option<i64>, nodes: Option<i64>) -> Option<i64> {
        let amount = match self {
            Memory::Processor(amount) => amount,
            Memory::Node(amount) => amount.checked_mul(nodes?)? / processors?,
            Memory::Job(amount) => amount / processors?,
        };
        // Zero requests all memory of the nodes, whose size is unknown.
        (amount > 0).then_some(amount)
    }
}

/// A length of time such as `1-02:03:04`.
pub(super) fn clock_span(text: &[u8]) -> Option<Span> {
    units::span(text)
}

fn requested_time(limit: Limit, note: &mut impl FnMut(NoteKind, &'static str)) -> Span {
    match limit {
        Limit::Of(span) => span,
        Limit::Unknown => UNKNOWN_SPAN,
        Limit::Unlimited => {
            note(NoteKind::Changed, "time limit UNLIMITED: requested time unknown");
            UNKNOWN_SPAN
        }
        Limit::OfPartition => {
            note(NoteKind::Changed, "time limit Partition_Limit: requested time unknown");
            UNKNOWN_SPAN
        }
    }
}

fn count(count: Option<i64>) -> Result<i32, LogProblem> {
    let Some(count) = count else {
        return Ok(-1);
    };
    i32::try_from(count).map_err(|_| {
        LogProblem::Record(format!("{count} processors; expected at most {}", i32::MAX))
    })
}

fn number(
    names: &mut Names,
    label: Label<'_>,
    what: &'static str,
    notes: &mut Notes,
    line: u64,
) -> Result<i32, LogProblem> {
    match label {
        Label::Unknown => Ok(-1),
        Label::Number(number) => Ok(i32::try_from(number).unwrap_or_else(|_| {
            notes.add(
                NoteKind::Changed,
                format!("number of a {what} that is too large: unknown"),
                line,
            );
            -1
        })),
        Label::Name(name) => {
            if matches!(what, "user" | "group") {
                let fact = format!("name of a {what}: a number, in the order of appearance");
                notes.add(NoteKind::Changed, fact, line);
            }
            let too_many = || {
                LogProblem::Whole(format!(
                    "too many names of the kind \"{what}\"; is it the right column?"
                ))
            };
            names.number(name).ok_or_else(too_many)
        }
    }
}
