//! Applies the rules to a log, line by line, and counts their effects.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::error::WorkloadError;
use super::logs::{FirstLines, LogReader, Note, keep_line};
use super::rules::{
    Cancelled, MissingRequest, MissingRunTime, MissingSubmit, Origin, OverRequest,
    PartialExecution, ProcessorsFrom, Rules, SubmitOrder, TooWide, ZeroRunTime,
};
use super::spill::{Merged, Spill};
use super::swf::SwfRecord;
use haggle_model::job::{HiddenRunTime, JobOrigin, Logged, Lot};
use haggle_model::{Job, JobId, JobShape, Span, Time};

/// Effects of the rules on a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CleaningReport {
    /// Job lines read, malformed ones included.
    pub lines: u64,
    /// Jobs passed on.
    pub jobs: u64,
    /// Time subtracted from every submission, microseconds.
    pub shift_us: i64,
    /// Effect of each rule, in the order of [`Rules`]; rules that never applied are left out.
    pub counts: Vec<CleaningCount>,
    /// Jobs passed on that name a preceding job (field 17), which only the step `dependencies` reads.
    pub dependent: u64,
    /// Lines with more than eighteen columns, whose additional columns are not used.
    pub wider: u64,
    /// Values that the reader of the log dropped, changed or guessed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// Problems of the first few malformed lines.
    pub malformed: Vec<String>,
    /// True if the log was read to its end, so that the counts are complete.
    pub complete: bool,
}

/// Number of jobs to which one rule applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CleaningCount {
    /// The situation and the treatment: `ran over the request: cut to it`.
    pub rule: String,
    /// Jobs to which it applied.
    pub jobs: u64,
    /// Lines of the first of them, from 1.
    #[serde(skip)]
    pub lines: Vec<u64>,
}

impl CleaningReport {
    /// Jobs that ran longer than requested in the log, but no longer do.
    pub(super) fn no_longer_over_request(&self) -> u64 {
        // `Keep` leaves the overrun in the job, so its count is no change.
        let changed = [OverRequest::Cut, OverRequest::RaiseRequest].map(words);
        let befell = |it: &&CleaningCount| changed.contains(&it.rule.as_str());
        self.counts.iter().filter(befell).map(|it| it.jobs).sum()
    }
}

/// Description of the rule for jobs that ran longer than requested.
const fn words(overrun: OverRequest) -> &'static str {
    match overrun {
        OverRequest::Cut => "ran over the request: cut to it",
        OverRequest::Keep => "ran over the request: kept",
        OverRequest::RaiseRequest => "ran over the request: request raised",
    }
}

/// The report as a table of lines, counts first; `{:#}` also has the first lines of each count.
impl fmt::Display for CleaningReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>9}  job lines read", self.lines)?;
        for note in &self.notes {
            writeln!(f, "{note}")?;
        }
        for CleaningCount { rule, jobs, lines } in &self.counts {
            write!(f, "{jobs:>9}  {rule}")?;
            if f.alternate() {
                write!(f, "{}", FirstLines { lines, count: *jobs })?;
            }
            writeln!(f)?;
        }
        for line in &self.malformed {
            writeln!(f, "{:>9}  {line}", "")?;
        }
        write!(f, "{:>9}  jobs kept", self.jobs)?;
        if self.dependent > 0 {
            let of =
                "of them after a preceding job (fields 17 and 18), for the step `dependencies`";
            write!(f, "\n{:>9}  {of}", self.dependent)?;
        }
        if self.wider > 0 {
            let of = "of the lines with more than 18 columns: those behind the 18th are not read";
            write!(f, "\n{:>9}  {of}", self.wider)?;
        }
        Ok(())
    }
}

/// The report of a stream that may still be running.
#[derive(Clone, Debug, Default)]
pub struct SharedReport(Arc<Mutex<CleaningReport>>);

impl SharedReport {
    /// The report; complete once the stream has ended.
    pub fn snapshot(&self) -> CleaningReport {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, CleaningReport> {
        // A report is replaced as a whole, so a panic elsewhere cannot leave half of one.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The jobs of a log under the rules: with the log's own numbers, times from the chosen origin, and dense ids from 0.
///
/// It is an iterator over the jobs; [`CleanJobs::next_entry`] also has their values in further columns.
pub struct CleanJobs<L: LogReader> {
    reader: L,
    rules: Rules,
    machine_size: Option<u32>,
    tally: Tally,
    /// Submission of the previous record, before the shift.
    previous: Time,
    /// Time subtracted from submissions; known once the first job is.
    shift: Option<Span>,
    sorted: Option<Merged<Entry, Time>>,
    finished: bool,
    /// The values in further columns are read.
    keeps_further: bool,
    report: SharedReport,
}

/// A job of a log under the rules, with the values that the log has in further columns.
#[derive(Serialize, Deserialize)]
pub struct Entry {
    /// The job.
    pub job: Job,
    /// Its values in [`LogReader::columns`]; empty unless they are kept.
    pub further: Vec<String>,
}

impl<L: LogReader> CleanJobs<L> {
    fn publish(&self, complete: bool) {
        let skipped = self.reader.skipped();
        let malformed = (skipped.count > 0).then(|| CleaningCount {
            rule: "malformed line: skipped".to_owned(),
            jobs: skipped.count,
            // The problems of the first lines name them.
            lines: Vec::new(),
        });
        let met = SITUATIONS.into_iter().filter_map(|situation| {
            let Met { jobs, lines } = &self.tally.met[situation as usize];
            let rule = describe(situation, &self.rules).to_owned();
            (*jobs > 0).then(|| CleaningCount { rule, jobs: *jobs, lines: lines.clone() })
        });
        *self.report.lock() = CleaningReport {
            // The reader skips malformed lines itself, so they never reach the tally.
            lines: self.tally.lines + skipped.count,
            jobs: self.tally.jobs,
            dependent: self.tally.dependent,
            wider: if self.keeps_further { 0 } else { self.reader.wider() },
            notes: self.reader.notes().by_kind(),
            shift_us: self.shift.unwrap_or(Span::ZERO).as_micros(),
            counts: malformed.into_iter().chain(met).collect(),
            malformed: skipped.first.clone(),
            complete,
        };
    }

    /// Applies `rules` to the records of `reader`; `report` is written when the stream ends.
    pub fn new(reader: L, rules: Rules, report: SharedReport) -> CleanJobs<L> {
        let machine_size = rules.machine_size.or_else(|| reader.header().machine_size());
        CleanJobs {
            reader,
            machine_size,
            tally: Tally::default(),
            // Earlier than any submission, so that the first job is never out of order.
            previous: Time::from_micros(i64::MIN),
            shift: match rules.origin {
                Origin::FirstJob => None,
                Origin::Log => Some(Span::ZERO),
            },
            rules,
            sorted: None,
            finished: false,
            keeps_further: false,
            report,
        }
    }

    /// The same stream, which also keeps the values in further columns.
    pub fn keeping_further(mut self) -> CleanJobs<L> {
        self.keeps_further = true;
        self
    }

    /// The reader of the log.
    pub fn reader(&self) -> &L {
        &self.reader
    }

    /// The next job with its values in further columns; ends after the first error.
    pub fn next_entry(&mut self) -> Option<Result<Entry, WorkloadError>> {
        if self.finished {
            return None;
        }
        match self.next_kept() {
            Ok(Some(entry)) => Some(Ok(entry)),
            Ok(None) => {
                self.finished = true;
                self.publish(true);
                self.check_not_empty().err().map(Err)
            }
            Err(error) => {
                self.finished = true;
                self.publish(false);
                Some(Err(error))
            }
        }
    }

    fn next_kept(&mut self) -> Result<Option<Entry>, WorkloadError> {
        let next = match self.rules.order {
            SubmitOrder::Require => self.next_in_log()?,
            SubmitOrder::Sort => self.next_sorted()?,
        };
        let Some(mut entry) = next else {
            return Ok(None);
        };
        let job = &mut entry.job;
        // The first job that the rules keep becomes time zero; dropped ones above it do not count.
        let shift = match self.shift {
            Some(shift) => shift,
            None => {
                let shift = job.submit - Time::ZERO;
                self.shift = Some(shift);
                // Readers of the first job may already query time zero.
                self.publish(false);
                shift
            }
        };
        job.submit = job.submit - shift;
        job.id = JobId(u32::try_from(self.tally.jobs).map_err(|_| WorkloadError::TooManyJobs)?);
        self.tally.jobs += 1;
        // Field 17 is -1 in lines without a preceding job.
        self.tally.dependent += u64::from(job.origin.logged().preceding_job > 0);
        Ok(Some(entry))
    }

    fn next_in_log(&mut self) -> Result<Option<Entry>, WorkloadError> {
        // The limit counts dropped jobs too, but no malformed lines, which the reader skips itself.
        while self.rules.lines.is_none_or(|lines| self.tally.lines < lines) {
            let Some(record) = self.reader.next_record()? else {
                break;
            };
            self.tally.lines += 1;
            self.tally.line = self.reader.line();
            let Some(mut job) = self.clean(&record) else {
                continue;
            };
            job.demand = self.reader.demand(job.processors).map(Box::new);
            if job.submit < self.previous {
                if self.rules.order == SubmitOrder::Require {
                    return Err(WorkloadError::OutOfOrder {
                        log: Arc::clone(self.reader.log()),
                        line: self.reader.line(),
                        number: job.number,
                        submit: job.submit,
                        previous: self.previous,
                    });
                }
                self.tally.note(Situation::OutOfOrder);
            }
            // Also after a later time: a single line far in the future then counts once as out of order, not
            // once for every job below it.
            self.previous = job.submit;
            let further = if self.keeps_further { self.reader.further() } else { Vec::new() };
            return Ok(Some(Entry { job, further }));
        }
        Ok(None)
    }

    fn next_sorted(&mut self) -> Result<Option<Entry>, WorkloadError> {
        if self.sorted.is_none() {
            // Sorts are stable: jobs of one instant keep the order of the log.
            let mut entries =
                Spill::new(|part: &mut Vec<Entry>| part.sort_by_key(|it| it.job.submit));
            while let Some(entry) = self.next_in_log()? {
                entries.push(entry).map_err(WorkloadError::Temporary)?;
            }
            let sorted = entries.finish().and_then(|parts| parts.merged(|entry| entry.job.submit));
            self.sorted = Some(sorted.map_err(WorkloadError::Temporary)?);
        }
        let next = self.sorted.as_mut().map_or(Ok(None), Merged::next);
        next.map_err(WorkloadError::Temporary)
    }

    /// The job that a record describes, or `None` if a rule drops it.
    fn clean(&mut self, record: &SwfRecord) -> Option<Job> {
        let rules = &self.rules;
        let tally = &mut self.tally;
        // The first rule that drops a job ends its examination, so a job counts as dropped only once.
        let submit = submit_time(record, rules, self.previous, tally)?;
        // Status 2 to 4 marks the parts of a restarted job, which a line of status 0 or 1 sums up. With both,
        // its work would count twice.
        if matches!(record.status, 2..=4) {
            tally.note(Situation::PartialExecution);
            if rules.partial == PartialExecution::Drop {
                return None;
            }
        }
        // A job that was cancelled while it ran has used processors, so it is not dropped.
        if record.status == 5 && record.run_time <= Span::ZERO {
            tally.note(Situation::Cancelled);
            if rules.cancelled == Cancelled::Drop {
                return None;
            }
        }
        let processors = processors(record, rules, self.machine_size, tally)?;
        // The run time may stand in for a missing request, so it is determined before.
        let run_time = run_time(record, rules, tally)?;
        let requested_time = requested_time(record, run_time, rules, tally)?;
        let (run_time, requested_time) = within_request(run_time, requested_time, rules, tally);
        Some(Job {
            // Set when the job is passed on: numbers must be dense and in the order of submission.
            id: JobId(0),
            workload: 0,
            number: record.number,
            lot: Lot::default(),
            submit,
            shape: JobShape::Rigid,
            processors,
            requested_time,
            run_time: HiddenRunTime::new(run_time),
            ready: None,
            deadline: None,
            reservation: None,
            phases: None,
            iterative: None,
            task: None,
            following: None,
            demand: None,
            initial: None,
            key: 0,
            origin: origin(record),
        })
    }

    /// A log without jobs is a mistake in the log or the rules, so it is an error.
    fn check_not_empty(&self) -> Result<(), WorkloadError> {
        let log = || Arc::clone(self.reader.log());
        if self.tally.jobs > 0 {
            return Ok(());
        }
        let lines = self.tally.lines + self.reader.skipped().count;
        // Without a line the file is the mistake; with lines, the rules are.
        Err(match lines {
            0 => WorkloadError::NoJobs { log: log() },
            lines => WorkloadError::NothingKept { log: log(), lines },
        })
    }
}

impl<L: LogReader> Iterator for CleanJobs<L> {
    type Item = Result<Job, WorkloadError>;

    fn next(&mut self) -> Option<Result<Job, WorkloadError>> {
        Some(self.next_entry()?.map(|entry| entry.job))
    }
}

/// A stream that ends early, for example in a window, still publishes its counts.
impl<L: LogReader> Drop for CleanJobs<L> {
    fn drop(&mut self) {
        if !self.finished {
            self.publish(false);
        }
    }
}

#[derive(Default)]
struct Tally {
    lines: u64,
    jobs: u64,
    dependent: u64,
    /// Number of the line that is examined.
    line: u64,
    met: [Met; SITUATIONS.len()],
}

/// The jobs in a situation.
#[derive(Default)]
struct Met {
    jobs: u64,
    /// Lines of the first of them.
    lines: Vec<u64>,
}

impl Tally {
    fn note(&mut self, situation: Situation) {
        let met = &mut self.met[situation as usize];
        met.jobs += 1;
        keep_line(&mut met.lines, self.line);
    }
}

#[derive(Clone, Copy)]
enum Situation {
    MissingSubmit,
    PartialExecution,
    Cancelled,
    OtherProcessorsField,
    NoProcessors,
    TooWide,
    MissingRunTime,
    ZeroRunTime,
    MissingRequest,
    Overrun,
    OutOfOrder,
}

/// In the order in which the report lists them.
const SITUATIONS: [Situation; 11] = [
    Situation::MissingSubmit,
    Situation::PartialExecution,
    Situation::Cancelled,
    Situation::OtherProcessorsField,
    Situation::NoProcessors,
    Situation::TooWide,
    Situation::MissingRunTime,
    Situation::ZeroRunTime,
    Situation::MissingRequest,
    Situation::Overrun,
    Situation::OutOfOrder,
];

fn describe(situation: Situation, rules: &Rules) -> &'static str {
    match situation {
        Situation::MissingSubmit => match rules.missing_submit {
            MissingSubmit::Drop => "submit time unknown: dropped",
            MissingSubmit::AsPrevious => "submit time unknown: that of the job above",
        },
        Situation::PartialExecution => match rules.partial {
            PartialExecution::Drop => "part of a restarted job: dropped",
            PartialExecution::Keep => "part of a restarted job: kept",
        },
        Situation::Cancelled => match rules.cancelled {
            Cancelled::Drop => "cancelled before it started: dropped",
            Cancelled::Keep => "cancelled before it started: kept",
        },
        Situation::OtherProcessorsField => match rules.processors {
            ProcessorsFrom::RequestedThenAllocated => "processors not requested: allocated taken",
            // Settings with a single field never take another one, so their text is never shown.
            _ => "processors not allocated: requested taken",
        },
        Situation::NoProcessors => "processors unknown: dropped",
        Situation::TooWide => match rules.too_wide {
            TooWide::Keep => "wider than the machine: kept",
            TooWide::Drop => "wider than the machine: dropped",
            TooWide::Clamp => "wider than the machine: given all of it",
        },
        Situation::MissingRunTime => match rules.missing_run_time {
            MissingRunTime::Drop => "run time unknown: dropped",
            MissingRunTime::OneSecond => "run time unknown: taken as 1 s",
            MissingRunTime::Zero => "run time unknown: taken as 0 s",
        },
        Situation::ZeroRunTime => match rules.zero_run_time {
            ZeroRunTime::OneSecond => "run time 0: taken as 1 s",
            ZeroRunTime::Drop => "run time 0: dropped",
            ZeroRunTime::Keep => "run time 0: kept",
        },
        Situation::MissingRequest => match rules.missing_request {
            MissingRequest::UseRunTime => "requested time unknown: run time taken",
            MissingRequest::Drop => "requested time unknown: dropped",
            MissingRequest::NoLimit => "requested time unknown: no limit",
        },
        Situation::Overrun => words(rules.overrun),
        Situation::OutOfOrder => "submitted before the job above: sorted",
    }
}

fn submit_time(
    record: &SwfRecord,
    rules: &Rules,
    previous: Time,
    tally: &mut Tally,
) -> Option<Time> {
    // Logs write -1 for an unknown time.
    if record.submit >= Time::ZERO {
        return Some(record.submit);
    }
    tally.note(Situation::MissingSubmit);
    match rules.missing_submit {
        MissingSubmit::Drop => None,
        // Above the first job, the previous time is the smallest of all.
        MissingSubmit::AsPrevious => Some(previous.max(Time::ZERO)),
    }
}

fn processors(
    record: &SwfRecord,
    rules: &Rules,
    machine_size: Option<u32>,
    tally: &mut Tally,
) -> Option<u32> {
    // Logs write -1 for an unknown number, and 0 processors cannot run a job.
    let known = |field: i32| u32::try_from(field).ok().filter(|&count| count > 0);
    let requested = known(record.requested_processors);
    let allocated = known(record.allocated_processors);
    let (first, second) = match rules.processors {
        ProcessorsFrom::RequestedThenAllocated => (requested, allocated),
        ProcessorsFrom::AllocatedThenRequested => (allocated, requested),
        ProcessorsFrom::Requested => (requested, None),
        ProcessorsFrom::Allocated => (allocated, None),
    };
    let Some(count) = first.or(second) else {
        tally.note(Situation::NoProcessors);
        return None;
    };
    if first.is_none() {
        tally.note(Situation::OtherProcessorsField);
    }
    let Some(size) = machine_size.filter(|&size| count > size) else {
        return Some(count);
    };
    tally.note(Situation::TooWide);
    match rules.too_wide {
        TooWide::Keep => Some(count),
        TooWide::Drop => None,
        TooWide::Clamp => Some(size),
    }
}

fn run_time(record: &SwfRecord, rules: &Rules, tally: &mut Tally) -> Option<Span> {
    const ONE_SECOND: Span = Span::from_secs(1);
    if record.run_time > Span::ZERO {
        return Some(record.run_time);
    }
    if record.run_time == Span::ZERO {
        tally.note(Situation::ZeroRunTime);
        return match rules.zero_run_time {
            ZeroRunTime::OneSecond => Some(ONE_SECOND),
            ZeroRunTime::Drop => None,
            ZeroRunTime::Keep => Some(Span::ZERO),
        };
    }
    tally.note(Situation::MissingRunTime);
    match rules.missing_run_time {
        MissingRunTime::Drop => None,
        MissingRunTime::OneSecond => Some(ONE_SECOND),
        MissingRunTime::Zero => Some(Span::ZERO),
    }
}

/// `None` drops the job, `Some(None)` leaves it without a limit.
fn requested_time(
    record: &SwfRecord,
    run_time: Span,
    rules: &Rules,
    tally: &mut Tally,
) -> Option<Option<Span>> {
    // A limit of 0 s would end the job at once, so 0 counts as unknown, like -1.
    if record.requested_time > Span::ZERO {
        return Some(Some(record.requested_time));
    }
    tally.note(Situation::MissingRequest);
    match rules.missing_request {
        MissingRequest::UseRunTime => Some(Some(run_time)),
        MissingRequest::Drop => None,
        MissingRequest::NoLimit => Some(None),
    }
}

fn within_request(
    run_time: Span,
    requested: Option<Span>,
    rules: &Rules,
    tally: &mut Tally,
) -> (Span, Option<Span>) {
    let Some(limit) = requested.filter(|&limit| run_time > limit) else {
        return (run_time, requested);
    };
    tally.note(Situation::Overrun);
    match rules.overrun {
        OverRequest::Cut => (limit, requested),
        OverRequest::Keep => (run_time, requested),
        OverRequest::RaiseRequest => (run_time, Some(run_time)),
    }
}

fn origin(record: &SwfRecord) -> JobOrigin {
    JobOrigin {
        user: record.user,
        group: record.group,
        executable: record.executable,
        queue: record.queue,
        partition: record.partition,
        logged: Some(Box::new(Logged {
            wait: record.wait,
            run_time: HiddenRunTime::new(record.run_time),
            allocated_processors: record.allocated_processors,
            average_cpu_time: record.average_cpu_time,
            status: record.status,
            requested_memory: record.requested_memory,
            used_memory: record.used_memory,
            preceding_job: record.preceding_job,
            think_time: record.think_time,
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::super::swf::{Malformed, SwfReader};
    use super::*;

    const HEADER: &str = "; MaxProcs: 8\n";

    /// A line in which only a few fields are known.
    struct Line(SwfRecord);

    fn line(number: i64, submit: i64) -> Line {
        Line(SwfRecord {
            run_time: Span::from_secs(60),
            allocated_processors: 2,
            requested_processors: 4,
            requested_time: Span::from_secs(100),
            status: 1,
            ..SwfRecord::unknown(number, Time::from_secs(submit))
        })
    }

    impl Line {
        fn with(mut self, change: impl Fn(&mut SwfRecord)) -> Line {
            change(&mut self.0);
            self
        }
    }

    fn clean(rules: Rules, lines: &[Line]) -> (Result<Vec<Job>, String>, CleaningReport) {
        let mut log = HEADER.as_bytes().to_vec();
        for line in lines {
            super::super::swf::write_record(&mut log, &line.0).expect("memory takes it");
        }
        clean_text(rules, &log)
    }

    fn clean_text(rules: Rules, log: &[u8]) -> (Result<Vec<Job>, String>, CleaningReport) {
        let report = SharedReport::default();
        let reader = SwfReader::new(log, "a.swf", rules.malformed).expect("a readable header");
        let jobs: Result<Vec<Job>, WorkloadError> =
            CleanJobs::new(reader, rules, report.clone()).collect();
        (jobs.map_err(|error| error.to_string()), report.snapshot())
    }

    /// The effect of `rules` on one odd line after a good one: run time, processors and request of the
    /// job, or `None` if it is dropped; and the report.
    fn check(
        rules: Rules,
        change: impl Fn(&mut SwfRecord),
        expected: Option<(i64, u32, Option<i64>)>,
        rule: &str,
    ) {
        let (jobs, report) = clean(rules, &[line(1, 0), line(2, 5).with(change)]);
        let jobs = jobs.expect("the first line is good");
        let found = jobs.iter().find(|job| job.number == 2).map(|job| {
            let seconds = |span: Span| span.as_micros() / 1_000_000;
            let run_time = seconds(job.run_time.reveal_to_machine());
            (run_time, job.processors, job.requested_time.map(seconds))
        });
        assert_eq!(found, expected, "{rule}");
        let counts: Vec<_> = report.counts.iter().map(|c| (c.rule.as_str(), c.jobs)).collect();
        assert_eq!(counts, [(rule, 1)]);
        assert!(report.complete);
        assert_eq!((report.lines, report.jobs), (2, jobs.len() as u64));
    }

    #[test]
    fn an_unknown_submit_time() {
        let unknown = |record: &mut SwfRecord| record.submit = Time::from_secs(-1);
        let rule = "submit time unknown: dropped";
        check(Rules::default(), unknown, None, rule);
        let rules = Rules { missing_submit: MissingSubmit::AsPrevious, ..Rules::default() };
        let rule = "submit time unknown: that of the job above";
        check(rules, unknown, Some((60, 4, Some(100))), rule);
    }

    #[test]
    fn a_part_of_a_restarted_job() {
        let part = |record: &mut SwfRecord| record.status = 3;
        check(Rules::default(), part, None, "part of a restarted job: dropped");
        let rules = Rules { partial: PartialExecution::Keep, ..Rules::default() };
        let rule = "part of a restarted job: kept";
        check(rules, part, Some((60, 4, Some(100))), rule);
    }

    #[test]
    fn a_job_cancelled_before_it_started() {
        let cancelled = |record: &mut SwfRecord| {
            record.status = 5;
            record.run_time = Span::ZERO;
        };
        let rule = "cancelled before it started: dropped";
        check(Rules::default(), cancelled, None, rule);
        let rules = Rules { cancelled: Cancelled::Keep, ..Rules::default() };
        let (jobs, report) = clean(rules, &[line(1, 0).with(cancelled)]);
        assert_eq!(jobs.map(|jobs| jobs.len()), Ok(1));
        assert_eq!(report.counts.len(), 2, "{report}");
        // Cancelled while it ran: an ordinary job.
        let (jobs, report) = clean(Rules::default(), &[line(1, 0).with(|r| r.status = 5)]);
        assert_eq!((jobs.map(|jobs| jobs.len()), report.counts.len()), (Ok(1), 0));
    }

    #[test]
    fn processors_come_from_the_preferred_field() {
        let found = |processors| {
            let rules = Rules { processors, ..Rules::default() };
            clean(rules, &[line(1, 0)]).0.expect("a good line")[0].processors
        };
        assert_eq!(found(ProcessorsFrom::RequestedThenAllocated), 4);
        assert_eq!(found(ProcessorsFrom::AllocatedThenRequested), 2);
        assert_eq!(found(ProcessorsFrom::Requested), 4);
        assert_eq!(found(ProcessorsFrom::Allocated), 2);
    }

    #[test]
    fn a_missing_processors_field() {
        let not_requested = |record: &mut SwfRecord| record.requested_processors = -1;
        let not_allocated = |record: &mut SwfRecord| record.allocated_processors = 0;
        let from = |processors| Rules { processors, ..Rules::default() };
        let rule = "processors not requested: allocated taken";
        check(Rules::default(), not_requested, Some((60, 2, Some(100))), rule);
        let rule = "processors not allocated: requested taken";
        let rules = from(ProcessorsFrom::AllocatedThenRequested);
        check(rules, not_allocated, Some((60, 4, Some(100))), rule);
        let rule = "processors unknown: dropped";
        check(from(ProcessorsFrom::Requested), not_requested, None, rule);
        check(from(ProcessorsFrom::Allocated), not_allocated, None, rule);
        let neither = |record: &mut SwfRecord| {
            not_requested(record);
            not_allocated(record);
        };
        check(Rules::default(), neither, None, rule);
    }

    #[test]
    fn a_job_wider_than_the_machine() {
        let wide = |record: &mut SwfRecord| record.requested_processors = 9;
        let rules = |too_wide| Rules { too_wide, ..Rules::default() };
        let whole = |processors| Some((60, processors, Some(100)));
        check(rules(TooWide::Keep), wide, whole(9), "wider than the machine: kept");
        check(rules(TooWide::Drop), wide, None, "wider than the machine: dropped");
        let rule = "wider than the machine: given all of it";
        check(rules(TooWide::Clamp), wide, whole(8), rule);
        let stated = Rules { machine_size: Some(9), ..rules(TooWide::Drop) };
        let (jobs, report) = clean(stated, &[line(1, 0).with(wide)]);
        assert_eq!((jobs.map(|jobs| jobs.len()), report.counts.len()), (Ok(1), 0));
    }

    #[test]
    fn an_unknown_run_time() {
        let unknown = |record: &mut SwfRecord| record.run_time = Span::from_secs(-1);
        let rules = |missing_run_time| Rules { missing_run_time, ..Rules::default() };
        check(rules(MissingRunTime::Drop), unknown, None, "run time unknown: dropped");
        let rule = "run time unknown: taken as 1 s";
        check(rules(MissingRunTime::OneSecond), unknown, Some((1, 4, Some(100))), rule);
        let rule = "run time unknown: taken as 0 s";
        check(rules(MissingRunTime::Zero), unknown, Some((0, 4, Some(100))), rule);
    }

    #[test]
    fn a_run_time_of_zero() {
        let zero = |record: &mut SwfRecord| record.run_time = Span::ZERO;
        let rules = |zero_run_time| Rules { zero_run_time, ..Rules::default() };
        let rule = "run time 0: taken as 1 s";
        check(rules(ZeroRunTime::OneSecond), zero, Some((1, 4, Some(100))), rule);
        check(rules(ZeroRunTime::Drop), zero, None, "run time 0: dropped");
        check(rules(ZeroRunTime::Keep), zero, Some((0, 4, Some(100))), "run time 0: kept");
    }

    #[test]
    fn a_missing_request() {
        let missing = |record: &mut SwfRecord| record.requested_time = Span::from_secs(-1);
        let rules = |missing_request| Rules { missing_request, ..Rules::default() };
        let rule = "requested time unknown: run time taken";
        check(rules(MissingRequest::UseRunTime), missing, Some((60, 4, Some(60))), rule);
        let rule = "requested time unknown: dropped";
        check(rules(MissingRequest::Drop), missing, None, rule);
        let rule = "requested time unknown: no limit";
        check(rules(MissingRequest::NoLimit), missing, Some((60, 4, None)), rule);
    }

    #[test]
    fn a_run_over_the_request() {
        let over = |record: &mut SwfRecord| record.run_time = Span::from_secs(130);
        let rules = |overrun| Rules { overrun, ..Rules::default() };
        let rule = "ran over the request: cut to it";
        check(rules(OverRequest::Cut), over, Some((100, 4, Some(100))), rule);
        let rule = "ran over the request: kept";
        check(rules(OverRequest::Keep), over, Some((130, 4, Some(100))), rule);
        let rule = "ran over the request: request raised";
        check(rules(OverRequest::RaiseRequest), over, Some((130, 4, Some(130))), rule);
    }

    #[test]
    fn a_log_out_of_order_is_refused_or_sorted() {
        let lines = || [line(1, 10), line(2, 5), line(3, 5), line(4, 20)];
        assert_eq!(
            clean(Rules::default(), &lines()).0,
            Err("a.swf:3: job 2 was submitted at 5 s, before the job above it (10 s); \
                 set the order rule to sort"
                .to_owned())
        );
        let rules = Rules { order: SubmitOrder::Sort, ..Rules::default() };
        let (jobs, report) = clean(rules, &lines());
        let jobs = jobs.expect("sorted");
        let found: Vec<_> = jobs.iter().map(|j| (j.id.0, j.number, j.submit)).collect();
        let at = Time::from_secs;
        assert_eq!(found, [(0, 2, at(0)), (1, 3, at(0)), (2, 1, at(5)), (3, 4, at(15))]);
        assert_eq!(report.counts[0].rule, "submitted before the job above: sorted");
    }

    #[test]
    fn time_zero_is_the_first_job_kept_or_the_logs_own() {
        let lines = || [line(1, 10).with(|r| r.run_time = Span::from_secs(-1)), line(2, 15)];
        let (jobs, report) = clean(Rules::default(), &lines());
        assert_eq!(jobs.expect("one job")[0].submit, Time::ZERO);
        assert_eq!(report.shift_us, 15_000_000);
        let rules = Rules { origin: Origin::Log, ..Rules::default() };
        let (jobs, report) = clean(rules, &lines());
        assert_eq!(jobs.expect("one job")[0].submit, Time::from_secs(15));
        assert_eq!(report.shift_us, 0);
    }

    /// A job follows another if field 17 names it. A think time alone, such as 0, does not count.
    #[test]
    fn jobs_that_follow_another_are_counted() {
        let lines = [
            line(1, 0).with(|record| record.think_time = Span::ZERO),
            line(2, 0).with(|record| record.preceding_job = 1),
        ];
        assert_eq!(clean(Rules::default(), &lines).1.dependent, 1);
    }

    #[test]
    fn all_fields_of_a_line_go_with_its_job() {
        let log = b"7 0 3 10 1 8.5 100 2 20 200 5 1 2 3 4 5 6 1.5\n";
        let reader = SwfReader::new(&log[..], "a", Malformed::Refuse).expect("readable");
        let record = reader.map(|record| record.expect("a good line")).next().expect("a line");
        let jobs = clean_text(Rules::default(), log).0.expect("a job");
        assert_eq!(SwfRecord::from_job(&jobs[0]), record);
    }

    #[test]
    fn only_the_first_lines_are_read() {
        let rules = Rules { lines: Some(2), ..Rules::default() };
        let (jobs, report) = clean(rules, &[line(1, 0), line(2, 1), line(3, 2)]);
        assert_eq!((jobs.map(|jobs| jobs.len()), report.lines), (Ok(2), 2));
    }

    #[test]
    fn malformed_lines_are_refused_or_skipped_and_shown() {
        let log = b"1 2 3\n1 0 -1 60 2 -1 -1 2 90 -1 1 3 4 5 6 7 -1 -1\n";
        let refused = clean_text(Rules::default(), log).0;
        assert_eq!(refused, Err("a.swf:1: expected 18 fields, found 3".to_owned()));
        let rules = Rules { malformed: Malformed::Skip, ..Rules::default() };
        let (jobs, report) = clean_text(rules, log);
        assert_eq!(jobs.map(|jobs| jobs.len()), Ok(1));
        let expected = "        2  job lines read\n        \
                        1  malformed line: skipped\n           \
                        a.swf:1: expected 18 fields, found 3\n        \
                        1  jobs kept";
        assert_eq!(report.to_string(), expected);
    }

    #[test]
    fn a_log_without_jobs_is_an_error_of_its_own() {
        let error = |log: &[u8]| clean_text(Rules::default(), log).0.expect_err("no jobs");
        assert_eq!(error(b""), "a.swf: log holds no jobs");
        assert_eq!(error(b"; Version: 2\n\n"), "a.swf: log holds no jobs");
        assert_eq!(
            error(b"1 0 -1 -1 2 -1 -1 2 90 -1 1 3 4 5 6 7 -1 -1\n"),
            "a.swf: log holds no jobs that can be used: the rules dropped all 1 lines"
        );
    }

    #[test]
    fn a_stream_that_is_cut_short_still_leaves_its_counts() {
        let log = b"1 0 -1 0 2 -1 -1 2 90 -1 1 3 4 5 6 7 -1 -1\n1 2 3";
        let report = SharedReport::default();
        let reader = SwfReader::new(&log[..], "a", Malformed::Refuse).expect("readable");
        let mut jobs = CleanJobs::new(reader, Rules::default(), report.clone());
        assert!(jobs.next().is_some_and(|job| job.is_ok()));
        drop(jobs);
        let report = report.snapshot();
        assert_eq!((report.jobs, report.counts.len(), report.complete), (1, 1, false));
    }
}
