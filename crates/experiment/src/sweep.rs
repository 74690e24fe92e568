//! Many runs: side by side, each in its own folder, resumable, then summed up.
//!
//! ```text
//! Experiment ──> runs that are not there (past) ──> carry_out ──> folders, notes of those that fail (failed)
//!                                                                    │
//!                    runs.csv, aggregate.csv, failed.csv, figures <──┘ sum_up
//! ```

pub mod others;

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

/// Hidden folder of a sweep with notes for commands that continue it.
pub const HIDDEN: &str = ".sweep";

/// How a sweep is carried out; nothing here changes its results.
pub struct SweepConduct<'a> {
    /// The folder of all runs.
    pub output: &'a Path,
    /// Requirements on each run.
    pub wanted: Wanted,
    /// Runs in one pack; without it, each run has a folder of its own.
    pub pack: Option<usize>,
    /// Runs, or packs, that are carried out in parallel.
    pub workers: usize,
    /// Draws each run's own figures, or none.
    pub figures: Figures,
    /// Effect of a failed run on the others.
    pub on_failure: OnFailure,
    /// Raised to stop after no run is left half-written.
    pub stop: &'a AtomicBool,
    /// Called after each run that was carried out.
    pub on_run: &'a (dyn Fn() + Sync),
}

/// Requirements on each run; an existing run that meets them counts as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Extent of the results that are kept. A run with more counts too.
    pub keep: Keep,
    /// True if runs of other builds of this version count.
    pub any_build: bool,
}

/// Effect of a run that fails by itself on the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// The others continue, and the failure is noted.
    GoOn,
    /// No more runs begin, and the sweep ends with an error.
    Stop,
}

/// SHA-256 of a scenario with its sweep. By it, commands on different machines know that they work
/// on the same sweep.
pub fn identity(experiment: &Experiment) -> String {
    sha256(experiment.scenario.to_toml().as_bytes())
}

/// State of a sweep before it continues.
#[derive(Debug)]
pub struct Progress {
    /// All runs of the sweep.
    pub runs: usize,
    /// Runs whose results exist.
    pub done: usize,
}

/// Reason why a sweep did not end; its finished runs stay.
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
    /// An own rule has another version now.
    #[error("`{}` holds results of another version of the {kind} \"{rule}\" of one's own", folder.display())]
    OtherRule {
        /// The folder.
        folder: PathBuf,
        /// Kind of the rule.
        kind: String,
        /// Its name.
        rule: String,
    },
    /// The scenario names an own rule that is not registered.
    #[error(transparent)]
    NoRule(#[from] NoSuchRule),
    /// An input file of a run has changed.
    #[error("`{}` holds results of another `{input}`: that file has changed since", folder.display())]
    InputChanged {
        /// The folder.
        folder: PathBuf,
        /// The file, as the scenario names it.
        input: String,
    },
    /// Only the summary of a run exists.
    #[error("`{}` has no tables: only its summary was kept", folder.display())]
    NoTables {
        /// The folder.
        folder: PathBuf,
    },
    /// A table of a run differs from its digest.
    #[error("`{}` is damaged: {reason}", table.display())]
    Damaged {
        /// The file.
        table: PathBuf,
        /// The defect.
        reason: String,
    },
    /// A folder of the sweep does not hold a run.
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
    /// Some runs neither exist nor have failed.
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

/// Examines which runs of `experiment` are done in `output`. Relative paths start from `folder`.
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

/// Numbers of runs, each with its duration, s.
pub type Measured = Vec<(usize, f64)>;

/// The numbers of the missing runs, and the durations of a sample of the existing ones. Relative
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
    // Evenly over the sweep, because durations differ from point to point.
    let measured = done.iter().step_by(done.len() / MEASURED + 1);
    let there = SweepFolder::open(output)?;
    let seconds = measured.filter_map(|run| Some((run.number, took(&there, run)?)));
    Ok((missing, seconds.collect()))
}

/// Most runs of which the duration is read.
const MEASURED: usize = 200;

/// Duration of an existing run, s.
pub fn took(there: &SweepFolder, run: &Run<'_>) -> Option<f64> {
    let timing = there.run(run.number, &run.folder()).ok()??.timing();
    Some(timing.ok()?.wall_seconds)
}

/// Reason why a run failed, if it did.
///
/// # Errors
/// If the note of it is damaged.
pub fn failed_of(output: &Path, run: &Run<'_>) -> Result<Option<Failed>, ResultsError> {
    Notes::of(output).get(run)
}

/// Removes the runs in `output` that do not fit the experiment: of another scenario, seed, version,
/// build or input, or damaged. Returns their number. Relative paths start from `folder`.
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
                // Before the removal, which must not follow a link to another place.
                check_no_link(output, &run)?;
                if own.exists() {
                    let removed = fs::remove_dir_all(&own);
                    removed.map_err(|error| ResultsError::write(&own, error))?;
                } else if let Some((first, pack)) =
                    Pack::all_in(output)?.range(..=run.number).next_back()
                {
                    // One stale run removes its whole pack: its other runs are gone too and must
                    // not be counted again.
                    let next = Pack::all_in(output)?.range(first + 1..).next().map(|it| *it.0);
                    let mine = |run: &Run<'_>| {
                        run.number >= *first && next.is_none_or(|next| run.number < next)
                    };
                    // A damaged pack cannot be counted, so the numbers between it and the next one
                    // count.
                    let all = || experiment.runs().filter(mine).count();
                    cleared += Pack::open(pack).map_or_else(|_| all(), |pack| pack.count());
                    let removed = fs::remove_dir_all(pack);
                    removed.map_err(|error| ResultsError::write(pack, error))?;
                    // `past` still knows the removed pack.
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

/// Carries out the runs that are not done, then sums up all. Relative paths start from `folder`.
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

/// Writes the scenario into the sweep's folder, from which its results are read. It precedes the
/// runs if they are summed up later. Half-written files of killed commands are removed.
///
/// # Errors
/// If it cannot be written.
pub fn announce(experiment: &Experiment, output: &Path) -> Result<(), ResultsError> {
    fs::create_dir_all(output).map_err(|error| ResultsError::write(output, error))?;
    let notes = output.join(HIDDEN);
    // Files of running commands are locked, and stay.
    [output, &notes.join("failed"), &notes.join("slurm")].into_iter().for_each(clear_nameless);
    write_whole(&output.join("scenario.toml"), &experiment.scenario.to_toml())
}

/// Writes a file under another name first, so that the final name holds a whole file.
pub fn write_whole(path: &Path, text: &str) -> Result<(), ResultsError> {
    // The temporary file has a name of its own, so two commands, even on different machines, do not
    // share one.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = BufWriter::new(nameless(folder.unwrap_or(Path::new(".")))?);
    file.write_all(text.as_bytes()).map_err(|error| ResultsError::write(path, error))?;
    persist(file, path)
}
