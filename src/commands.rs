//! The verbs of the command, one file each: `Args` are the arguments, `run` carries them out.

use std::cell::Cell;
use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::command::own_rules;
use crate::experiment::ExperimentError;
use crate::experiment::sweep::SweepError;
use crate::scenario::file::SEED_MAX;
use crate::scenario::{Experiment, InvalidScenario, Logs, ReadError, Source};
use crate::slurm::SlurmError;
use clap::builder::RangedU64ValueParser;
use haggle_plots::PlotError;
use haggle_results::{ResultsError, RunReader, SweepFolder, Table};
use haggle_workflows::files::FileError;
use haggle_workflows::schedule::ProblemError;
use haggle_workflows::shapes::ShapeError;
use haggle_workloads::WorkloadError;
use haggle_workloads::failures::recorded::TraceError;
use haggle_workloads::lines;
use serde::Serialize;

pub(crate) use crate::experiment::readable as table;
use crate::report::say;
use crate::visible::visible;

pub(crate) mod branch;
pub(crate) mod calibrate;
pub(crate) mod cluster;
pub(crate) mod compare;
mod complete;
pub(crate) mod completions;
pub(crate) mod example;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod failures;
pub(crate) mod figure;
pub(crate) mod forecast;
pub(crate) mod help;
pub(crate) mod import;
pub(crate) mod jobs;
pub(crate) mod list;
#[cfg(feature = "live")]
pub(crate) mod live;
mod log_options;
pub(crate) mod new;
pub(crate) mod output;
pub(crate) mod plot;
pub(crate) mod replay;
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod show;
pub(crate) mod sweep;
pub(crate) mod validate;
pub(crate) mod verify;
#[cfg(feature = "view")]
pub(crate) mod view;
pub(crate) mod workflow;
pub(crate) mod workload;

/// The program and its version, for notes in files that it writes.
pub(crate) const PROGRAM: &str = concat!("haggle ", env!("CARGO_PKG_VERSION"));

/// Reason why a verb could not be carried out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("{0}")]
    InvalidScenario(Box<InvalidScenario>),
    #[error("there is no run {number}: the scenario has {runs}, numbered from 0")]
    NoSuchRun { number: usize, runs: usize },
    #[error("the scenario is a sweep of {runs} runs")]
    SweepIsNoRun { runs: usize },
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    #[error(transparent)]
    Sweep(#[from] SweepError),
    #[error(transparent)]
    Slurm(#[from] SlurmError),
    #[error("{message}")]
    Unfit { message: String, hint: String },
    /// A study that cannot be reproduced by its files.
    #[error("{message}")]
    Catalogue { message: String, hint: String },
    #[error("`{}` holds no results: there is no provenance.json in it", .0.display())]
    NoResults(PathBuf),
    #[error("{} does not contain the number of processors of its machine", named(log))]
    NoMachineSize { log: PathBuf },
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    #[error(transparent)]
    Record(#[from] TraceError),
    #[error("no job to write to `{}`: the window is empty", .0.display())]
    NoJobLeft(PathBuf),
    #[error(transparent)]
    Workflow(#[from] FileError),
    #[error(transparent)]
    Shape(#[from] ShapeError),
    #[error(transparent)]
    Problem(#[from] ProblemError),
    #[error(transparent)]
    Plot(#[from] PlotError),
    #[error("`{}` exists already", .0.display())]
    Exists(PathBuf),
    #[error("`{}` stays as it is: its file `{file}` does not belong to a run", folder.display())]
    Strange { folder: PathBuf, file: String },
    #[error("cannot write `{}`: {error}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    #[cfg(feature = "live")]
    #[error(transparent)]
    Keys(#[from] haggle_live::keys::KeyError),
    #[cfg(feature = "live")]
    #[error(transparent)]
    Live(#[from] live::LiveError),
    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
}

impl From<InvalidScenario> for Error {
    fn from(error: InvalidScenario) -> Error {
        Error::InvalidScenario(Box::new(error))
    }
}

/// Name of a log in messages.
fn named(log: &Path) -> String {
    if log == Path::new("-") {
        // The header of standard input can be read only once.
        "a log from standard input".to_owned()
    } else {
        format!("`{}`", log.display())
    }
}

impl From<ResultsError> for Error {
    fn from(error: ResultsError) -> Error {
        Error::Experiment(error.into())
    }
}

/// True if a log can be read only once.
pub(crate) fn is_pipe(log: &Path) -> bool {
    fs::metadata(log).is_ok_and(|found| found.file_type().is_fifo())
}

/// Notes that the command waits, if a log is a pipe without a writer.
pub(crate) fn say_waiting(log: &Path) {
    if is_pipe(log) {
        say(&format!("waiting for a writer of the pipe `{}`\n", log.display()));
    }
}

/// Most bytes of a scenario: without a bound, a wrong file would fill the memory.
const SCENARIO_BYTES_MAX: u64 = 256 << 20;

/// The scenario at `path`, or from standard input for `-`. In that case its relative paths start
/// from the working directory.
pub(crate) fn read_scenario(path: &Path) -> Result<Source, ReadError> {
    let from_input = Cell::new(path == Path::new("-"));
    let called = if from_input.get() { Path::new("stdin.toml") } else { path };
    // Only the first scenario comes from standard input; the scenarios that it extends are files.
    let read = |file: &Path| read_text(if from_input.take() { path } else { file });
    Source::read_with(called, &read)
}

fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    // One byte more than allowed shows that the file is too long, without reading the rest.
    lines::open_raw(path)?.take(SCENARIO_BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > SCENARIO_BYTES_MAX {
        return Err(io::Error::other(format!("it has more than {} MiB", SCENARIO_BYTES_MAX >> 20)));
    }
    Ok(text)
}

/// True if a path is a folder of results, or of a run in a pack.
pub(crate) fn is_results(path: &Path) -> bool {
    // A damaged pack is a pack too.
    let is_packed = || !matches!(RunReader::open(path), Err(ResultsError::Read { .. }));
    path.is_dir() || !path.exists() && is_packed()
}

/// Opens the folder of a run.
pub(crate) fn open_run(folder: &Path) -> Result<RunReader, Error> {
    let run = RunReader::open(folder)?;
    // A run in a pack is complete, for only complete runs are packed.
    if run.is_packed() || run.folder().join("provenance.json").exists() {
        return Ok(run);
    }
    // An example of a valid name helps more than the command that lists all.
    if let Some(one) = run_below(folder) {
        return Err(Error::Unfit {
            message: format!("`{}` is the folder of a sweep", folder.display()),
            hint: format!("name the folder of one of its runs, such as {}", one.display()),
        });
    }
    if has_results(folder) {
        return Err(Error::Unfit {
            message: format!(
                "`{}` is the folder of a run without its provenance.json",
                folder.display()
            ),
            hint: "carry out its scenario.toml again: `haggle run`".to_owned(),
        });
    }
    if plot::is_sweep(folder) {
        return Err(Error::Unfit {
            message: format!("`{}` is the folder of a sweep", folder.display()),
            hint: format!(
                "name the folder of one of its runs: `haggle show --runs {}` lists them",
                folder.join("scenario.toml").display()
            ),
        });
    }
    Err(Error::NoResults(folder.to_owned()))
}

/// True if a folder has the summary or a table of a run.
fn has_results(folder: &Path) -> bool {
    let has_table =
        || RunReader::open(folder).is_ok_and(|run| Table::ALL.into_iter().any(|it| run.has(it)));
    folder.join("summary.json").exists() || has_table()
}

/// A run of a sweep's folder.
struct RunBelow {
    /// Its number in the sweep.
    number: usize,
    /// Its folder, relative to that of the sweep.
    folder: PathBuf,
    /// True if it has this folder, or is in a pack.
    is_there: bool,
}

/// The runs of a sweep's folder by its scenario, in the order of their numbers.
fn runs_below(folder: &Path) -> Result<Vec<RunBelow>, Error> {
    let scenario = Source::read(&folder.join("scenario.toml"))?;
    let experiment = Experiment::read_with(scenario, Logs::Ignore, own_rules())?;
    let there = SweepFolder::open(folder)?;
    let below = experiment.runs().map(|run| RunBelow {
        is_there: matches!(there.run(run.number, &run.folder()), Ok(Some(_))),
        number: run.number,
        folder: run.folder(),
    });
    Ok(below.collect())
}

/// The first run of a sweep that has a folder of its own or is packed.
fn run_below(folder: &Path) -> Option<PathBuf> {
    // The lowest number, so that the hint is the same each time.
    let first = runs_below(folder).ok()?.into_iter().find(|run| run.is_there)?;
    Some(folder.join(first.folder))
}

/// Prints data to standard output.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    // Flushed here, because an error at the end of the process would go unnoticed.
    out.write_all(visible(text).as_bytes()).and_then(|()| out.flush()).map_err(Error::Output)
}

/// Reads a seed within the bounds of scenarios.
pub(crate) fn seeds() -> RangedU64ValueParser {
    clap::value_parser!(u64).range(0..=SEED_MAX)
}

/// Reads a factor: a finite number above 0.
pub(crate) fn positive(text: &str) -> Result<f64, &'static str> {
    let number = text.parse().ok().filter(|&number: &f64| number.is_finite() && number > 0.0);
    number.ok_or("expected a number above 0")
}

/// Prints data as JSON. The text is streamed, since that of a large grid would fill the memory.
pub(crate) fn print_json(data: &impl Serialize) -> Result<(), Error> {
    let mut out = BufWriter::new(io::stdout().lock());
    let written = serde_json::to_writer_pretty(&mut out, data).map_err(io::Error::from);
    let written = written.and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush());
    written.map_err(Error::Output)
}
