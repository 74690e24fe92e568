//! A workload as a whole: its source, its steps, and the pipe that joins them.

use std::path::PathBuf;

use super::cleaning::{CleanJobs, SharedReport};
use super::error::WorkloadError;
use super::independent::{self, IndependentJobs};
use super::lublin::{self, LublinParameters};
use super::months::SyntheticMonth;
use super::rules::{Origin, Rules};
use super::steps::{Draws, Effect, Step, number_jobs};
use super::swf::SwfHeader;
use super::{JobStream, StreamItem};
use crate::logs::{self, OpenLog};
use haggle_model::job::Lot;
use haggle_model::{Job, Span};

/// A description of a workload; [`Workload::open`] starts the stream of its jobs.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Its name in the scenario; draws depend on it.
    pub name: String,
    /// Its index in the scenario's list, written into every job.
    pub index: u16,
    /// The run's master seed.
    pub seed: u64,
    /// Source of its jobs.
    pub source: Source,
    /// Steps applied to the jobs, in order.
    pub steps: Vec<Step>,
}

/// Source of jobs.
#[derive(Clone, Debug)]
pub enum Source {
    /// A log of jobs.
    Log {
        /// The file, plain or packed with gzip or zstd; `-` = standard input.
        path: PathBuf,
        /// The way in which it is read.
        options: Box<logs::Options>,
        /// Rules that turn its lines into jobs.
        rules: Rules,
    },
    /// The Lublin-Feitelson model.
    Lublin(Box<LublinParameters>),
    /// Jobs whose arrivals, run times and sizes are drawn independently.
    IndependentJobs(Box<IndependentJobs>),
    /// A synthetic month at one site.
    SyntheticMonth(Box<SyntheticMonth>),
    /// Given jobs, in order of submission.
    Jobs(Vec<Job>),
}

/// A workload whose jobs are being streamed.
pub struct OpenWorkload {
    /// The jobs, with dense ids from 0.
    pub jobs: JobStream,
    /// The log's header; empty for other sources.
    pub header: SwfHeader,
    /// Effects of the rules; complete once `jobs` has ended.
    pub report: SharedReport,
    /// The reports of all logs that are read, with the names of their workloads.
    pub logs: Vec<(String, SharedReport)>,
    /// Effects of its steps and of those of workloads merged into it.
    pub effects: Vec<WatchedStep>,
    /// The clocks of all logs that are read. `None` for a log without a start time, or whose
    /// submissions no longer correspond to instants.
    pub clocks: Vec<Option<WallClock>>,
}

/// The local clock of a log's machine.
#[derive(Clone, Debug)]
pub struct WallClock {
    /// Local time at the log's own time zero: seconds since 1970-01-01, without summer time.
    start: i64,
    /// Origin from which times are counted.
    origin: Origin,
    report: SharedReport,
    /// Shift of time zero by steps.
    moved: Span,
}

impl OpenWorkload {
    /// Local time of its logs at time zero; see [`WallClock::at_zero`].
    pub fn local_clock(&self) -> Option<i64> {
        local_clock(&self.clocks)
    }
}

impl WallClock {
    fn of(header: &SwfHeader, origin: Origin, report: &SharedReport) -> Option<WallClock> {
        let start = header.unix_start_time()?;
        // A clock without a time zone is taken as UTC.
        let start = start.checked_add(header.time_zone().unwrap_or(0))?;
        Some(WallClock { start, origin, report: report.clone(), moved: Span::ZERO })
    }

    /// The clock after some steps; `None` if they break its relation to submissions.
    pub fn behind(mut self, steps: &[Step]) -> Option<WallClock> {
        for step in steps {
            self.moved += step.moves()?;
        }
        Some(self)
    }

    /// Local time at time zero, seconds since 1970-01-01. It is valid after the first job was taken,
    /// because rules may make that job time zero.
    pub fn at_zero(&self) -> i64 {
        let shift = match self.origin {
            Origin::Log => 0,
            Origin::FirstJob => self.report.snapshot().shift_us,
        };
        let shift = shift.saturating_add(self.moved.as_micros());
        // Rounded down, also before the log's own time zero.
        self.start.saturating_add(shift.div_euclid(1_000_000))
    }
}

/// A step of a workload, with its effect so far.
#[derive(Clone, Debug)]
pub struct WatchedStep {
    /// Name of the workload.
    pub workload: String,
    /// Its number among the workload's steps, from 1.
    pub place: usize,
    /// The word used in scenarios.
    pub word: String,
    /// Its effect.
    pub effect: Effect,
}

impl WatchedStep {
    /// The steps of `workload` with their effects.
    pub fn all(workload: &str, steps: &[Step], effects: Vec<Effect>) -> Vec<WatchedStep> {
        let watched = |((place, step), effect): ((usize, &Step), Effect)| WatchedStep {
            workload: workload.to_owned(),
            place,
            word: step.name().replace('_', "-"),
            effect,
        };
        (1..).zip(steps).zip(effects).map(watched).collect()
    }
}

impl Workload {
    /// A workload without steps.
    pub fn new(name: impl Into<String>, source: Source) -> Workload {
        Workload { name: name.into(), index: 0, seed: 0, source, steps: Vec::new() }
    }

    /// Checks the description, opens the source and builds the pipe.
    pub fn open(&self) -> Result<OpenWorkload, WorkloadError> {
        let report = SharedReport::default();
        let (jobs, header, origin) = match &self.source {
            Source::Log { path, options, rules } => {
                let log = logs::open(path, options, rules.malformed)?;
                let header = log.header().clone();
                let (rules, report) = (rules.clone(), report.clone());
                let origin = rules.origin;
                let jobs: JobStream = match log {
                    OpenLog::Swf(reader) => Box::new(CleanJobs::new(reader, rules, report)),
                    OpenLog::Other(reader) => Box::new(CleanJobs::new(reader, rules, report)),
                };
                (jobs, header, origin)
            }
            Source::Lublin(parameters) => {
                let jobs = lublin::generate(parameters, self.seed, &self.name)?;
                (jobs, SwfHeader::default(), Origin::Log)
            }
            Source::IndependentJobs(parameters) => {
                let jobs = independent::generate(parameters, self.seed, &self.name)?;
                (jobs, SwfHeader::default(), Origin::Log)
            }
            Source::SyntheticMonth(month) => {
                let jobs = month.generate(&self.name)?;
                (Box::new(jobs.into_iter().map(Ok)) as JobStream, SwfHeader::default(), Origin::Log)
            }
            Source::Jobs(jobs) => {
                // The rules that sort a log do not apply to given jobs, but steps rely on the order.
                self.check_order(jobs)?;
                let jobs: JobStream = Box::new(jobs.clone().into_iter().map(Ok));
                (jobs, SwfHeader::default(), Origin::Log)
            }
        };
        let draws = Draws::new(self.seed, self.name.as_str());
        let (jobs, effects) = Step::apply_all(&self.steps, jobs, &draws)?;
        // Behind the steps: these drop jobs, and some number them anew.
        let jobs = number_jobs(labelled(jobs, self.index, self.name.clone()));
        let effects = WatchedStep::all(&self.name, &self.steps, effects);
        let is_log = matches!(self.source, Source::Log { .. });
        let logs = is_log.then(|| (self.name.clone(), report.clone())).into_iter().collect();
        let clock = || WallClock::of(&header, origin, &report)?.behind(&self.steps);
        let clocks = is_log.then(clock).into_iter().collect();
        Ok(OpenWorkload { jobs, header, report, logs, effects, clocks })
    }

    fn check_order(&self, jobs: &[Job]) -> Result<(), WorkloadError> {
        let late = jobs.windows(2).find(|pair| pair[1].submit < pair[0].submit);
        match late {
            None => Ok(()),
            Some(pair) => Err(WorkloadError::JobsOutOfOrder {
                workload: self.name.clone(),
                number: pair[1].number,
            }),
        }
    }
}

/// Local time of several logs at time zero, if all of them agree; see [`WallClock::at_zero`].
pub fn local_clock(clocks: &[Option<WallClock>]) -> Option<i64> {
    let (first, others) = clocks.split_first()?;
    let zero = first.as_ref()?.at_zero();
    // Clocks that disagree give no common time of day.
    let agrees = |it: &Option<WallClock>| it.as_ref().is_some_and(|it| it.at_zero() == zero);
    others.iter().all(agrees).then_some(zero)
}

fn labelled(jobs: JobStream, workload: u16, name: String) -> JobStream {
    Box::new(jobs.map(move |job: StreamItem| {
        let mut job = job?;
        job.workload = workload;
        job.lot = Lot::new(&name, job.number);
        Ok(job)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::{ScaleGaps, Window};
    use haggle_model::{JobId, Span, Time};

    fn job(number: i64, submit: i64) -> Job {
        Job { number, ..Job::new(99, Time::from_secs(submit), 1, Span::from_secs(60)) }
    }

    #[test]
    fn jobs_are_labelled_and_numbered_after_all_steps() {
        let mut workload = Workload::new("a", Source::Jobs(vec![job(1, 0), job(2, 1), job(3, 2)]));
        workload.index = 4;
        workload.steps = vec![Step::Window(super::super::steps::Window {
            from: Time::from_secs(1),
            ..Default::default()
        })];
        let open = workload.open().expect("a good workload");
        let found: Vec<_> = open
            .jobs
            .map(|job| job.expect("no errors here"))
            .map(|job| (job.id, job.number, job.workload))
            .collect();
        assert_eq!(found, [(JobId(0), 2, 4), (JobId(1), 3, 4)]);
    }

    /// A log that began at 9 h on day 3 of a clock that is 2 h ahead, cut at its hour 5.
    #[test]
    fn the_clock_of_a_log_moves_with_its_window() {
        let header = |start: Option<i64>| {
            let mut header = SwfHeader::default();
            start.into_iter().for_each(|start| header.push("UnixStartTime", start));
            header.push("TimeZone", 7_200);
            header
        };
        let report = SharedReport::default();
        let clock = |start, origin| WallClock::of(&header(start), origin, &report);
        let start = 3 * 86_400 + 9 * 3_600;
        let began = clock(Some(start), Origin::Log);
        assert_eq!(local_clock(std::slice::from_ref(&began)), Some(start + 7_200));
        let cut = Step::Window(Window { from: Time::from_secs(5 * 3_600), ..Window::default() });
        let first = Step::First(9);
        let at = |steps: &[Step]| began.clone()?.behind(steps).map(|clock| clock.at_zero());
        assert_eq!(at(&[first, cut.clone()]), Some(start + 7 * 3_600));
        assert_eq!(at(&[Step::ScaleGaps(ScaleGaps { factor: 0.5 })]), None);
        assert_eq!(local_clock(&[clock(None, Origin::Log)]), None);
        // Logs of other dates have no common clock.
        let other = clock(Some(start + 1), Origin::Log);
        assert_eq!(local_clock(&[began.clone(), other]), None);
        assert_eq!(local_clock(&[began, None]), None);
        assert_eq!(local_clock(&[]), None);
    }

    #[test]
    fn jobs_at_hand_must_be_in_order() {
        let workload = Workload::new("a", Source::Jobs(vec![job(1, 5), job(2, 1)]));
        assert_eq!(
            workload.open().map(|_| ()).expect_err("out of order").to_string(),
            "workload \"a\": job 2 is submitted before the job ahead of it"
        );
    }

    #[test]
    fn a_model_flows_like_a_log() {
        let parameters = LublinParameters { jobs: 7, ..LublinParameters::default() };
        let open = Workload::new("a", Source::Lublin(Box::new(parameters)))
            .open()
            .expect("good parameters");
        let ids: Vec<u32> = open.jobs.map(|job| job.expect("no errors here").id.0).collect();
        assert_eq!(ids, [0, 1, 2, 3, 4, 5, 6]);
    }
}
