//! Start states: the jobs that run or wait at a provider or a grid when a run begins.
//!
//! ```text
//!  initial, initial-file ──▶ jobs as written ── law ──▶ jobs with run times ──▶ a workload of its own
//! ```
//!
//! Time zero is the beginning of the run. A job of a start state was submitted before, and a running one has started
//! before: the clock of the run begins at the first of these times.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use haggle_model::job::{JobOrigin, Lot};
use haggle_model::law::{LawError, Sampler};
use haggle_model::{Initial, Job, Span, Time};
use haggle_results::ResultsError;
use haggle_results::start_table::TextTable;
use haggle_scenario::file::{self, InitialJob, Provider};
use haggle_scenario::quantity::TimeSpan;
use haggle_scenario::{
    LogPathError, done_before_start, grid_initial_number, initial_name, initial_number, log_path,
    start_state_problems,
};

use super::grid::speeds_of_running;

/// Columns of a table of initial jobs.
pub const COLUMNS: [&str; 8] =
    ["number", "processors", "requested", "run", "submitted-ago", "started-ago", "key", "user"];

/// Reason why a start state cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StartStateError {
    /// The path of the table cannot be resolved.
    #[error("initial-file `{file}` cannot be found: {error}")]
    Path {
        /// The path as written.
        file: String,
        /// Why.
        #[source]
        error: LogPathError,
    },
    /// The table cannot be read.
    #[error(transparent)]
    Table(#[from] ResultsError),
    /// A column or a cell is wrong.
    #[error("{}: {place}: {message}", .path.display())]
    Cell {
        /// The table.
        path: PathBuf,
        /// The row or column.
        place: String,
        /// The problem, and the remedy.
        message: String,
    },
    /// The law of run times is impossible.
    #[error("provider \"{provider}\": law of initial run times: {error}")]
    Law {
        /// Name of the provider.
        provider: String,
        /// Why.
        #[source]
        error: LawError,
    },
    /// The law of run times of a grid is impossible.
    #[error("grid: law of initial run times: {0}")]
    LawOfGrid(#[source] LawError),
    /// A job of a grid is over.
    #[error(
        "grid: job {job} is over at time zero: `{resource}` has a speed of {mips:.3} MIPS under this seed; write a longer `run`, or remove the job"
    )]
    Over {
        /// Its number.
        job: i64,
        /// Its resource.
        resource: String,
        /// The speed for jobs of the grid.
        mips: f64,
    },
}

/// The jobs of a start state under a seed.
#[derive(Clone, Debug)]
pub struct StartState {
    /// The jobs, in order of submission.
    pub jobs: Vec<Job>,
    /// Number of running jobs whose law gives no time as long as they have run.
    pub beyond_law: usize,
}

/// Path of the table of a provider's start state, if it has one.
pub fn table_of(provider: &Provider, folder: &Path) -> Result<Option<PathBuf>, StartStateError> {
    let Some(file) = &provider.initial_file else { return Ok(None) };
    let path = log_path(file, folder);
    path.map(Some).map_err(|error| StartStateError::Path { file: file.clone(), error })
}

/// The jobs of a provider's start state as written in the scenario or in its table.
///
/// # Errors
/// If the table cannot be read, or has a job that cannot be there.
pub fn written(provider: &Provider, folder: &Path) -> Result<Vec<InitialJob>, StartStateError> {
    match table_of(provider, folder)? {
        None => Ok(provider.initial.clone().unwrap_or_default()),
        Some(path) => {
            let jobs = read(&path)?;
            // The list of a scenario was checked with the scenario.
            match start_state_problems(&jobs, provider).into_iter().next() {
                None => Ok(jobs),
                Some(it) => {
                    let place = format!("row {}", it.job + 1);
                    Err(StartStateError::Cell {
                        path,
                        place,
                        message: format!("{}: {}", it.message, it.help),
                    })
                }
            }
        }
    }
}

/// The start state of a provider, with run times drawn under `seed`.
///
/// # Errors
/// As [`written`], and if the law is impossible.
pub fn start_state(
    provider: &Provider,
    folder: &Path,
    seed: u64,
) -> Result<StartState, StartStateError> {
    let written = written(provider, folder)?;
    let law = RunTimes::of(provider)?;
    let name = initial_name(provider.name.as_str());
    let mut beyond_law = 0;
    let mut jobs = Vec::with_capacity(written.len());
    for (place, job) in written.iter().enumerate() {
        let number = initial_number(place, job);
        let age = job.started_ago.map(|it| it.0);
        let run = job.run.map(|it| it.0).unwrap_or_else(|| {
            let (run, is_beyond) = law.draw(job, Lot::new(&name, number), provider.speed, seed);
            beyond_law += usize::from(is_beyond);
            run
        });
        let submitted = job.submitted_ago.map(|it| it.0).or(age).unwrap_or(Span::ZERO);
        jobs.push(Job {
            requested_time: job.requested.map(|it| it.0),
            number,
            initial: Some(age.map_or(Initial::Waiting, |age| Initial::Running(Time::ZERO - age))),
            key: job.key.unwrap_or(0),
            origin: JobOrigin { user: job.user.unwrap_or(-1), ..JobOrigin::UNKNOWN },
            ..Job::new(0, Time::ZERO - submitted, job.processors, run)
        });
    }
    // Stable: jobs of one submission keep the order of the list.
    jobs.sort_by_key(|job| job.submit);
    Ok(StartState { jobs, beyond_law })
}

/// The start state of a grid, with run times drawn under `seed`. A running job has the work, and the requested time,
/// that are left at time zero.
///
/// # Errors
/// If the law is impossible, or a running job is over at time zero.
pub fn start_state_of_grid(grid: &file::Grid, seed: u64) -> Result<StartState, StartStateError> {
    let law = grid.initial_run.as_ref().map(|law| law.to_model().sampler());
    let law = law.transpose().map_err(StartStateError::LawOfGrid)?;
    let written = grid.initial.as_deref().unwrap_or_default();
    let speeds = speeds_of_running(seed, grid);
    let name = initial_name(grid.name.as_str());
    let mut beyond_law = 0;
    let mut jobs = Vec::with_capacity(written.len());
    for (place, job) in written.iter().enumerate() {
        let number = grid_initial_number(place, job);
        let resource = job.resource.as_ref().map_or("", |it| it.as_str());
        let mips = speeds.get(resource).copied().unwrap_or(1.0);
        let done = done_before_start(written, job, mips);
        let requested = job.requested.map(|it| it.0);
        let run = job.run.map(|it| it.0).unwrap_or_else(|| {
            // The checks refuse a job without a law.
            let Some(law) = &law else { return requested.unwrap_or(Span::TICK) };
            let mut stream = Lot::new(&name, number).stream(seed, "initial run time");
            let least = done + Span::TICK;
            let drawn = match job.started_ago {
                None => Some(law.sample(&mut stream)),
                Some(_) => law.sample_above(done.as_secs_f64(), &mut stream),
            };
            beyond_law += usize::from(drawn.is_none());
            // A time above all of the law is that of the request.
            let run = drawn.map_or(requested.unwrap_or(done), Span::from_secs_f64);
            run.max(least)
        });
        if job.started_ago.is_some() && run <= done {
            return Err(StartStateError::Over { job: number, resource: resource.to_owned(), mips });
        }
        let age = job.started_ago.map(|it| it.0);
        let submitted = job.submitted_ago.map(|it| it.0).or(age).unwrap_or(Span::ZERO);
        jobs.push(Job {
            requested_time: requested.map(|it| (it - done).max(Span::TICK)),
            number,
            initial: Some(age.map_or(Initial::Waiting, |age| Initial::Running(Time::ZERO - age))),
            origin: JobOrigin { user: job.user.unwrap_or(-1), ..JobOrigin::UNKNOWN },
            ..Job::new(0, Time::ZERO - submitted, 1, run - done)
        });
    }
    jobs.sort_by_key(|job| job.submit);
    Ok(StartState { jobs, beyond_law })
}

/// Laws of the run times of a provider's initial jobs.
enum RunTimes {
    /// Every job has a run time.
    Known,
    /// A law of the run time, s.
    Run(Sampler),
    /// Laws of the used part of the requested time, each with the least requested time.
    Use(BTreeMap<Span, Sampler>),
}

impl RunTimes {
    fn of(provider: &Provider) -> Result<RunTimes, StartStateError> {
        let failed = |error| StartStateError::Law { provider: provider.name.to_string(), error };
        if let Some(law) = &provider.initial_run {
            return Ok(RunTimes::Run(law.to_model().sampler().map_err(failed)?));
        }
        let Some(laws) = &provider.initial_use else { return Ok(RunTimes::Known) };
        let laws = laws.iter().map(|it| Ok((it.requested_from.0, it.law.to_model().sampler()?)));
        Ok(RunTimes::Use(laws.collect::<Result<_, _>>().map_err(failed)?))
    }

    /// The law of a job, and the unit of its values, s.
    fn law(&self, job: &InitialJob) -> Option<(&Sampler, f64)> {
        match self {
            RunTimes::Known => None,
            RunTimes::Run(law) => Some((law, 1.0)),
            RunTimes::Use(laws) => {
                let requested = job.requested?.0;
                let law = laws.range(..=requested).next_back()?.1;
                Some((law, requested.as_secs_f64()))
            }
        }
    }

    /// A run time on a reference processor, and whether the job has run for longer than its law permits. Such a job
    /// runs to the end of its request, or ends at once if that is over.
    fn draw(&self, job: &InitialJob, lot: Lot, speed: f64, seed: u64) -> (Span, bool) {
        let requested = job.requested.map(|it| it.0);
        // The checks refuse a job without a law.
        let Some((law, unit)) = self.law(job) else {
            return (requested.unwrap_or(Span::TICK), true);
        };
        let mut stream = lot.stream(seed, "initial run time");
        let Some(age) = job.started_ago else {
            let drawn = Span::from_secs_f64(law.sample(&mut stream) * unit);
            return (drawn.max(Span::TICK), false);
        };
        // The work that is done, as time of a reference processor.
        let done = age.0.scaled(speed);
        let least = done + Span::TICK;
        match law.sample_above(done.as_secs_f64() / unit, &mut stream) {
            Some(drawn) => (Span::from_secs_f64(drawn * unit).max(least), false),
            None => (requested.unwrap_or(done).max(least), true),
        }
    }
}

fn read(path: &Path) -> Result<Vec<InitialJob>, StartStateError> {
    let table = TextTable::read(path)?;
    let wrong = |place: String, message: String| StartStateError::Cell {
        path: path.to_owned(),
        place,
        message,
    };
    for (place, name) in table.columns.iter().enumerate() {
        if !COLUMNS.contains(&name.as_str()) {
            let known = COLUMNS.join(", ");
            return Err(wrong(
                format!("column {}", place + 1),
                format!("unknown column `{}`; the columns are {known}", shown(name)),
            ));
        }
        if table.columns[..place].contains(name) {
            return Err(wrong(
                format!("column {}", place + 1),
                format!("a second column `{name}`; keep one"),
            ));
        }
    }
    if !table.columns.iter().any(|it| it == "processors") {
        return Err(wrong(
            "columns".to_owned(),
            "the column `processors` is missing; add it".to_owned(),
        ));
    }
    let mut jobs = Vec::with_capacity(table.rows.len());
    for (number, cells) in (1..).zip(&table.rows) {
        let job = Row { columns: &table.columns, cells }.job();
        jobs.push(job.map_err(|message| wrong(format!("row {number}"), message))?);
    }
    Ok(jobs)
}

/// A row of a table of initial jobs.
struct Row<'a> {
    columns: &'a [String],
    cells: &'a [String],
}

impl Row<'_> {
    fn job(&self) -> Result<InitialJob, String> {
        let processors = self.number::<u32>("processors")?;
        let processors =
            processors.ok_or_else(|| "`processors` is empty; write a number".to_owned())?;
        let job = InitialJob {
            number: self.number("number")?,
            processors,
            requested: self.time("requested")?,
            run: self.time("run")?,
            submitted_ago: self.time("submitted-ago")?,
            started_ago: self.time("started-ago")?,
            key: self.number("key")?,
            user: self.number("user")?,
        };
        if job.processors == 0 || job.number.is_some_and(|it| it < 1) {
            return Err("`processors` and `number` are at least 1".to_owned());
        }
        if job.requested == Some(TimeSpan::ZERO) {
            return Err(
                "`requested` is 0; leave the cell empty for a job without a limit".to_owned()
            );
        }
        Ok(job)
    }

    fn cell(&self, name: &str) -> Option<&str> {
        let place = self.columns.iter().position(|it| it == name)?;
        Some(self.cells.get(place)?.as_str()).filter(|it| !it.is_empty())
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, String> {
        let Some(text) = self.cell(name) else { return Ok(None) };
        let number = text.parse().map(Some);
        number.map_err(|_| {
            format!("`{name}` is `{}`; write a whole number in its range", shown(text))
        })
    }

    /// A time with a unit, or a number of seconds.
    fn time(&self, name: &str) -> Result<Option<TimeSpan>, String> {
        let Some(text) = self.cell(name) else { return Ok(None) };
        let seconds = text.parse::<f64>().ok().filter(|it| it.is_finite() && *it >= 0.0);
        let time = seconds.map(|it| TimeSpan(Span::from_secs_f64(it)));
        let time = time.or_else(|| text.parse().ok());
        // As long as a scenario permits.
        let time = time.filter(|it| it.0 <= Span::from_secs(100 * 366 * 86_400));
        time.map(Some).ok_or_else(|| {
            format!(
                "`{name}` is `{}`; write seconds, or a time such as 2h, of at most a century",
                shown(text)
            )
        })
    }
}

/// A text of a table, without control characters and not too long.
fn shown(text: &str) -> String {
    text.chars().take(60).map(|it| if it.is_control() { '?' } else { it }).collect()
}
