//! Many runs: side by side, each in its own folder, resumable, then summed up.
//!
//! ```text
//! Experiment ──> runs that are not there (past) ──> carry_out ──> folders, notes of those that fail (failed)
//!                                                                    │
//!                    runs.csv, aggregate.csv, failed.csv, figures <──┘ sum_up
//! ```

mod failed;
mod packed;
mod past;
mod runs_csv;
mod sum_up;

use std::any::Any;
use std::fs;
use std::io::{BufWriter, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use haggle_results::pack::Pack;
use haggle_results::{Existing, ResultsError, SweepFolder, sha256};
use haggle_runtime::Driver;

use super::figures::file_name;
use super::run::{BUILD, Conduct, Destination, ExperimentError, Figures, Keep, Unwatched, run};
use super::threads::on_threads;
use crate::scenario::{Experiment, Run};

use failed::Notes;
use past::Past;
use sum_up::{nameless, persist};

pub use failed::{Cause, Failed};
pub use sum_up::{POINTS_KEPT, Swept, sum_up};

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
    #[error("`{}` is damaged: it is missing, or its size is another one than the run wrote", table.display())]
    Damaged {
        /// The table.
        table: PathBuf,
    },
    /// A folder of the sweep holds something else than a run.
    #[error("`{}` is in the way: it does not hold a run (no provenance.json in it)", folder.display())]
    NotARun {
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
    Results(#[from] ResultsError),
    /// A figure over the axes cannot be drawn.
    #[error(transparent)]
    Figure(ExperimentError),
    /// Stopped on request.
    #[error("interrupted")]
    Interrupted,
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
                | SweepError::InputChanged { .. }
                | SweepError::NoTables { .. }
                | SweepError::Damaged { .. },
            ) => {
                let own = output.join(run.folder());
                let packs = Pack::all_in(output)?;
                let pack = packs.range(..=run.number).next_back().map(|(_, pack)| pack.clone());
                let stale = Some(own).filter(|own| own.exists()).or(pack).unwrap_or_default();
                let removed = fs::remove_dir_all(&stale);
                removed.map_err(|error| ResultsError::write(&stale, error))?;
                // Of a pack all runs are gone, and it is not to be found any more.
                past = Past::new(folder, output, wanted)?;
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
    carry_out(experiment, folder, conduct, &|_| true)?;
    let mut swept = sum_up(experiment, conduct.output)?;
    if conduct.figures == Figures::Skip {
        let of_runs = experiment.variants.first().map_or(&[][..], |it| &it.scenario.figures);
        let left_out = of_runs.iter().map(|figure| {
            let name = file_name(figure);
            format!("{name} shows one run: add --figures, or draw it from a run's folder")
        });
        swept.figures_left_out.extend(left_out);
    }
    Ok(swept)
}

/// Carries out the runs that are not done and whose number is `mine`; what is to be summed up later.
/// A run that somebody else is carrying out is left to them. Gives those that failed.
///
/// # Errors
/// See [`SweepError`].
pub fn carry_out(
    experiment: &Experiment,
    folder: &Path,
    conduct: &SweepConduct<'_>,
    mine: &dyn Fn(usize) -> bool,
) -> Result<Vec<Failed>, SweepError> {
    let mut past = Past::new(folder, conduct.output, conduct.wanted)?;
    let mut todo: Vec<Unit<'_>> = Vec::new();
    let mut runs = experiment.runs().peekable();
    while let Some(run) = runs.next() {
        let first = run.number;
        let mut unit = vec![run];
        let together = |run: &Run<'_>| conduct.pack.is_some_and(|most| run.number < first + most);
        while let Some(run) = runs.next_if(together) {
            unit.push(run);
        }
        let mut missing = false;
        for run in unit.iter().filter(|run| mine(run.number)) {
            missing |= !past.has(run)?;
        }
        if missing {
            if conduct.pack.is_some() {
                // A pack is made as a whole, but for runs that have folders of their own.
                unit.retain(|run| !own_place(run, conduct).exists());
            }
            todo.push(Unit { pack: conduct.pack.map(|_| first), runs: unit });
        }
    }
    let all = Mutex::new(Vec::new());
    side_by_side(conduct.workers.min(todo.len()), &todo, |unit| {
        let failed = match (unit.pack, unit.runs.as_slice()) {
            (Some(first), runs) => packed::carry_out(first, runs, folder, conduct)?,
            (None, runs) => {
                let runs =
                    runs.iter().map(|run| one(run, folder, &own_place(run, conduct), conduct));
                runs.filter_map(|ended| ended.map(Ended::failed).transpose())
                    .collect::<Result<Vec<_>, _>>()?
            }
        };
        all.lock().unwrap_or_else(PoisonError::into_inner).extend(failed);
        Ok::<(), SweepError>(())
    })?;
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.sort_by_key(|failed| failed.run);
    Ok(all)
}

/// What one thread does in one go.
struct Unit<'e> {
    /// The number of the first run of the pack that it makes.
    pack: Option<usize>,
    runs: Vec<Run<'e>>,
}

/// The folder of a run that has one of its own.
fn own_place(run: &Run<'_>, conduct: &SweepConduct<'_>) -> PathBuf {
    conduct.output.join(run.folder())
}

/// How a run ended while others go on.
enum Ended {
    /// It has results.
    Done,
    /// It failed, which is noted.
    Failed(Failed),
    /// Somebody else is carrying it out, or has done so meanwhile.
    Elsewhere,
}

impl Ended {
    fn failed(self) -> Option<Failed> {
        if let Ended::Failed(failed) = self { Some(failed) } else { None }
    }
}

/// Writes the scenario into the sweep's folder, by which its results are read: before the runs, where
/// they are not summed up at once.
///
/// # Errors
/// If it cannot be written.
pub fn announce(experiment: &Experiment, output: &Path) -> Result<(), ResultsError> {
    fs::create_dir_all(output).map_err(|error| ResultsError::write(output, error))?;
    write_whole(&output.join("scenario.toml"), &experiment.scenario.to_toml())
}

/// Does `work` for each of `all` on so many threads, or as many as the system gives: this one does
/// its part. After an error nothing new is begun; of several, the first one's in the list
/// is returned.
fn side_by_side<T: Sync, E: Send>(
    threads: usize,
    all: &[T],
    work: impl Fn(&T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(None::<(usize, E)>));
    let failed = || failed.lock().unwrap_or_else(PoisonError::into_inner);
    let worker = || {
        while failed().is_none() {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = all.get(place) else { break };
            if let Err(error) = work(one) {
                let mut first = failed();
                if first.as_ref().is_none_or(|&(other, _)| place < other) {
                    *first = Some((place, error));
                }
            }
        }
    };
    on_threads(threads, worker);
    let first = failed().take();
    first.map_or(Ok(()), |(_, error)| Err(error))
}

/// Carries out a run, whose results go to `place`.
fn one(
    one: &Run<'_>,
    folder: &Path,
    place: &Path,
    conduct: &SweepConduct<'_>,
) -> Result<Ended, SweepError> {
    if conduct.stop.load(Ordering::Relaxed) {
        return Err(SweepError::Interrupted);
    }
    let destination = Destination {
        folder: place.to_owned(),
        end: Some(own_place(one, conduct)),
        existing: Existing::Keep,
        keep: conduct.wanted.keep,
        figures: conduct.figures,
    };
    let how = Conduct {
        driver: Driver::Sequential,
        stop: conduct.stop,
        watch: &Unwatched,
        check: false,
        warnings: &one.variant.warnings,
    };
    // Whatever is wrong with one run, and be it ours, is no reason to lose the others.
    let ended =
        catch_unwind(AssertUnwindSafe(|| run(&one.scenario(), folder, Some(&destination), &how)));
    let notes = Notes::of(conduct.output);
    let (failed, error) = match ended {
        Ok(Ok(_)) => {
            notes.remove(one.number)?;
            (conduct.on_run)();
            return Ok(Ended::Done);
        }
        Ok(Err(ExperimentError::Run(haggle_runtime::RunError::Interrupted))) => {
            return Err(SweepError::Interrupted);
        }
        Ok(Err(ExperimentError::Results(
            ResultsError::InUse { .. } | ResultsError::FolderExists { .. },
        ))) => return Ok(Ended::Elsewhere),
        Ok(Err(error)) => (Failed::of(one, &error), Some(error)),
        Err(panic) if conduct.on_failure == OnFailure::Stop => std::panic::resume_unwind(panic),
        Err(panic) => (Some(Failed::new(one, Cause::Bug, said(&*panic))), None),
    };
    match (failed, error) {
        (Some(failed), _) if conduct.on_failure == OnFailure::GoOn => {
            notes.add(&failed)?;
            (conduct.on_run)();
            Ok(Ended::Failed(failed))
        }
        (_, Some(error)) => Err(SweepError::Run {
            number: one.number,
            folder: one.folder().display().to_string(),
            error: Box::new(error),
        }),
        (_, None) => unreachable!("a panic is a failure of its own"),
    }
}

/// What a panic said.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("it ended by a mistake of ours: {}", text.unwrap_or_default())
}

/// Writes a file under another name first, so that the final name holds a whole file.
pub fn write_whole(path: &Path, text: &str) -> Result<(), ResultsError> {
    // Two commands at once do not write into each other's file, on whatever machines they are.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = BufWriter::new(nameless(folder.unwrap_or(Path::new(".")))?);
    file.write_all(text.as_bytes()).map_err(|error| ResultsError::write(path, error))?;
    persist(file, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_done_once_on_any_number_of_threads() {
        let all: Vec<AtomicUsize> = (0..100).map(AtomicUsize::new).collect();
        for threads in [0, 1, 2, 7] {
            let done = side_by_side(threads, &all, |it| {
                it.fetch_add(1_000, Ordering::Relaxed);
                Ok::<(), ()>(())
            });
            assert_eq!(done, Ok(()));
        }
        let times = all.iter().map(|it| it.load(Ordering::Relaxed));
        assert!(times.enumerate().all(|(place, times)| times == place + 4_000));
    }

    #[test]
    fn the_first_error_counts_and_ends_it() {
        let begun = AtomicUsize::new(0);
        let all: Vec<usize> = (0..1_000).collect();
        let error = side_by_side(2, &all, |&it| {
            begun.fetch_add(1, Ordering::Relaxed);
            if it < 2 { Err(it) } else { Ok(()) }
        });
        assert!(matches!(error, Err(0 | 1)), "{error:?}");
        assert!(begun.load(Ordering::Relaxed) < 1_000);
    }
}
