//! Many runs: side by side, each in its own folder, resumable, then summed up.
//!
//! ```text
//! Experiment ──> runs that are not there (past) ──> carry_out ──> folders, notes of those that fail (failed)
//!                                                                    │
//!                    runs.csv, aggregate.csv, failed.csv, figures <──┘ sum_up
//! ```

mod carry;
mod failed;
mod packed;
mod past;
mod runs_csv;
mod sum_up;

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use haggle_results::pack::Pack;
use haggle_results::{ResultsError, SweepFolder, sha256};
use haggle_scheduling::own::NoSuchRule;

use super::figures::file_name;
use super::run::{BUILD, ExperimentError, Figures, Keep};
use haggle_scenario::{Experiment, Run};

use failed::Notes;
use past::{Past, check_no_link};
use sum_up::{clear_nameless, nameless, persist};

pub use carry::{Carried, carry_out};
pub use failed::{Cause, Failed};
pub use sum_up::{POINTS_KEPT, Swept, USUAL, sum_up};

/// What a sweep's folder has besides results: notes for whoever goes on with it.
pub const HIDDEN: &str = ".sweep";

/// How a sweep is carried out; nothing here changes its results.
pub struct SweepConduct<'a> {
    /// The folder of all runs.
    pub output: &'a Path,
    /// What is wanted of each run.
    pub wanted: Wanted,
    /// How many runs are packed together; without it, each has a folder of its own.
    pub pack: Option<usize>,
    /// Runs side by side, or packs.
    pub workers: usize,
    /// Whether each run's own figures are drawn.
    pub figures: Figures,
    /// What becomes of the other runs when one fails.
    pub on_failure: OnFailure,
    /// Raised to stop after no run is left half-written.
    pub stop: &'a AtomicBool,
    /// Called after each run that was carried out.
    pub on_run: &'a (dyn Fn() + Sync),
}

/// What is wanted of each run; one that is there and has it counts as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// What is kept. A run that has more counts as well.
    pub keep: Keep,
    /// Whether runs of other builds of this version count.
    pub any_build: bool,
}

/// What becomes of the other runs when one fails for a reason of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// They are carried out, and it is noted.
    GoOn,
    /// No more are begun, and it is an error.
    Stop,
}

/// SHA-256 of a scenario with its sweep, by which those know that they mean the same who work on different
/// machines.
pub fn identity(experiment: &Experiment) -> String {
    sha256(experiment.scenario.to_toml().as_bytes())
}

/// What is there before a sweep goes on.
#[derive(Debug)]
pub struct Progress {
    /// All runs of the sweep.
    pub runs: usize,
    /// Those whose results are there.
    pub done: usize,
}

/// Why a sweep did not reach its end; the runs that are done stay.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// A run failed.
    #[error("run {number} ({folder}): {error}")]
    Run {
        /// Its number.
        number: usize,
        /// Its folder inside the sweep's.
        folder: String,
        /// Why.
        #[source]
        error: Box<ExperimentError>,
    },
    /// A folder of the sweep holds the results of something else.
    #[error("`{}` holds results of another scenario, seed or version", folder.display())]
    Foreign {
        /// The folder.
        folder: PathBuf,
    },
    /// A folder of the sweep holds the results of another build.
    #[error(
        "`{}` holds results of another build of haggle {} ({build}, this one is {})",
        folder.display(), env!("CARGO_PKG_VERSION"), BUILD
    )]
    OtherBuild {
        /// The folder.
        folder: PathBuf,
        /// That build.
        build: String,
    },
    /// A rule of one's own has another version now.
    #[error("`{}` holds results of another version of the {kind} \"{rule}\" of one's own", folder.display())]
    OtherRule {
        /// The folder.
        folder: PathBuf,
        /// What the rule is for.
        kind: String,
        /// Its name.
        rule: String,
    },
    /// The scenario names a rule of one's own that is not among those it came with.
    #[error(transparent)]
    NoRule(#[from] NoSuchRule),
    /// A file that a run read is another one now.
    #[error("`{}` holds results of another `{input}`: that file has changed since", folder.display())]
    InputChanged {
        /// The folder.
        folder: PathBuf,
        /// The file, as the scenario names it.
        input: String,
    },
    /// Of a run only the summary is there.
    #[error("`{}` has no tables: only its summary was kept", folder.display())]
    NoTables {
        /// The folder.
        folder: PathBuf,
    },
    /// A table of a run is not as it was written.
    #[error("`{}` is damaged: {reason}", table.display())]
    Damaged {
        /// The file.
        table: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A folder of the sweep holds something else than a run.
    #[error("`{}` is in the way: it does not hold a run (no provenance.json in it)", folder.display())]
    NotARun {
        /// The folder.
        folder: PathBuf,
    },
    /// A folder of the sweep is a link to another place.
    #[error("`{}` is a symbolic link: files behind it are neither written nor \
             removed", folder.display())]
    Link {
        /// The folder.
        folder: PathBuf,
    },
    /// Runs are not there that have not failed either.
    #[error("{missing} of {runs} runs are not there yet")]
    Missing {
        /// How many.
        missing: usize,
        /// Of how many.
        runs: usize,
    },
    /// Results cannot be read or written.
    #[error(transparent)]
    Results(ResultsError),
    /// A figure over the axes cannot be drawn.
    #[error(transparent)]
    Figure(Box<ExperimentError>),
    /// Stopped on request.
    #[error("interrupted")]
    Interrupted,
}

impl From<ResultsError> for SweepError {
    fn from(error: ResultsError) -> SweepError {
        match error {
            ResultsError::Damaged { path, reason } => SweepError::Damaged { table: path, reason },
            error => SweepError::Results(error),
        }
    }
}

/// Looks which runs of `experiment` are done already in `output`. Relative paths start from
/// `folder`.
///
/// # Errors
/// If a folder holds something else.
pub fn look(
    experiment: &Experiment,
    folder: &Path,
    output: &Path,
    wanted: Wanted,
) -> Result<Progress, SweepError> {
    let mut past = Past::new(folder, output, wanted)?;
    let mut progress = Progress { runs: 0, done: 0 };
    for run in experiment.runs() {
        progress.runs += 1;
        progress.done += usize::from(past.has(&run)?);
    }
    Ok(progress)
}

/// Runs by their numbers, each with what it took, s.
pub type Measured = Vec<(usize, f64)>;

/// The numbers of the runs that are not there, and what some of those that are there took. Relative
/// paths start from `folder`.
///
/// # Errors
/// If a folder holds something else.
pub fn missing(
    experiment: &Experiment,
    folder: &Path,
    output: &Path,
    wanted: Wanted,
) -> Result<(Vec<usize>, Measured), SweepError> {
    let mut past = Past::new(folder, output, wanted)?;
    let (mut missing, mut done) = (Vec::new(), Vec::new());
    for run in experiment.runs() {
        if past.has(&run)? {
            done.push(run);
        } else {
            missing.push(run.number);
        }
    }
    let measured = done.iter().step_by(done.len() / MEASURED + 1);
    let there = SweepFolder::open(output)?;
    let seconds = measured.filter_map(|run| Some((run.number, took(&there, run)?)));
    Ok((missing, seconds.collect()))
}

/// Runs of which it is looked up how long they took.
const MEASURED: usize = 200;

/// What a run that is there took, s.
pub fn took(there: &SweepFolder, run: &Run<'_>) -> Option<f64> {
    let timing = there.run(run.number, &run.folder()).ok()??.timing();
    Some(timing.ok()?.wall_seconds)
}

/// Why a run failed, if it did.
///
/// # Errors
/// If the note of it is damaged.
pub fn failed_of(output: &Path, run: &Run<'_>) -> Result<Option<Failed>, ResultsError> {
    Notes::of(output).get(run)
}

/// Removes the runs in `output` that are not what would be run now: of another scenario, seed, version,
/// build or input, or damaged. Gives how many these were. Relative paths start from `folder`.
///
/// # Errors
/// If a folder holds something else than a run, or cannot be removed.
pub fn clear_stale(
    experiment: &Experiment,
    folder: &Path,
    output: &Path,
    wanted: Wanted,
) -> Result<usize, SweepError> {
    let mut past = Past::new(folder, output, wanted)?;
    let mut cleared = 0;
    for run in experiment.runs() {
        match past.has(&run) {
            Ok(_) => {}
            Err(
                SweepError::Foreign { .. }
                | SweepError::OtherBuild { .. }
                | SweepError::OtherRule { .. }
                | SweepError::InputChanged { .. }
                | SweepError::NoTables { .. }
                | SweepError::Damaged { .. },
            ) => {
                let own = output.join(run.folder());
                check_no_link(output, &run)?;
                if own.exists() {
                    let removed = fs::remove_dir_all(&own);
                    removed.map_err(|error| ResultsError::write(&own, error))?;
                } else if let Some((first, pack)) =
                    Pack::all_in(output)?.range(..=run.number).next_back()
                {
                    // All of its runs are gone, and are not to be found any more.
                    let next = Pack::all_in(output)?.range(first + 1..).next().map(|it| *it.0);
                    let mine = |run: &Run<'_>| {
                        run.number >= *first && next.is_none_or(|next| run.number < next)
                    };
                    // One that is damaged does not say how many it had.
                    let all = || experiment.runs().filter(mine).count();
                    cleared += Pack::open(pack).map_or_else(|_| all(), |pack| pack.count());
                    let removed = fs::remove_dir_all(pack);
                    removed.map_err(|error| ResultsError::write(pack, error))?;
                    past = Past::new(folder, output, wanted)?;
                    continue;
                }
                cleared += 1;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(cleared)
}

/// Carries out the runs that are not done and sums all up. Relative paths start
/// from `folder`.
///
/// # Errors
/// See [`SweepError`].
pub fn sweep(
    experiment: &Experiment,
    folder: &Path,
    conduct: &SweepConduct<'_>,
) -> Result<Swept, SweepError> {
    let carried = carry_out(experiment, folder, conduct, &|_| true)?;
    let mut swept = sum_up(experiment, conduct.output)?;
    swept.figures_left_out.extend(carried.figures_left_out);
    if conduct.figures == Figures::Skip {
        let of_runs = experiment.variants.first().map_or(&[][..], |it| &it.scenario.figures);
        swept.figures_of_runs = of_runs.iter().map(file_name).collect();
    }
    Ok(swept)
}

/// Writes the scenario into the sweep's folder, by which its results are read: before the runs, where
/// they are not summed up at once. Half-written files of commands that were killed are removed.
///
/// # Errors
/// If it cannot be written.
pub fn announce(experiment: &Experiment, output: &Path) -> Result<(), ResultsError> {
    fs::create_dir_all(output).map_err(|error| ResultsError::write(output, error))?;
    let notes = output.join(HIDDEN);
    [output, &notes.join("failed"), &notes.join("slurm")].into_iter().for_each(clear_nameless);
    write_whole(&output.join("scenario.toml"), &experiment.scenario.to_toml())
}

/// Writes a file under another name first, so that the final name holds a whole file.
pub fn write_whole(path: &Path, text: &str) -> Result<(), ResultsError> {
    // Two commands at once do not write into each other's file, on whatever machines they are.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = BufWriter::new(nameless(folder.unwrap_or(Path::new(".")))?);
    file.write_all(text.as_bytes()).map_err(|error| ResultsError::write(path, error))?;
    persist(file, path)
}
