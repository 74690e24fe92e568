//! Many runs: side by side, each in its own folder, resumable, then summed up.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{fs, process};

use haggle_model::JobClass;
use haggle_results::metrics::named::of_run;
use haggle_results::sweep::{SweepRow, SweepRun, aggregate, to_csv};
use haggle_results::{Existing, Input, ResultsError, RunReader, Summary, sha256};
use haggle_runtime::Driver;

use super::compare::impact::{ALL, Impact, Impacts, impacts};
use super::figures::{SweepData, draw_sweep, file_name, of_groups};
use super::run::{BUILD, Conduct, Destination, ExperimentError, Figures, Unwatched, run};
use super::threads::on_threads;
use crate::scenario::{Experiment, References, Run, log_path};

/// How a sweep is carried out; nothing here changes its results.
pub struct SweepConduct<'a> {
    /// The folder of all runs.
    pub output: &'a Path,
    /// Whether runs of other builds of this version count as done.
    pub any_build: bool,
    /// Runs side by side.
    pub workers: usize,
    /// Whether each run's own figures are drawn.
    pub figures: Figures,
    /// Raised to stop after no run is left half-written.
    pub stop: &'a AtomicBool,
    /// Called after each run that was carried out.
    pub on_run: &'a (dyn Fn() + Sync),
}

/// What is there before a sweep goes on.
#[derive(Debug)]
pub struct Progress {
    /// All runs of the sweep.
    pub runs: usize,
    /// Those whose results are there.
    pub done: usize,
}

/// A finished sweep.
#[derive(Debug)]
pub struct Swept {
    /// One row a run.
    pub runs_csv: PathBuf,
    /// One row a point and metric, with confidence intervals.
    pub aggregate_csv: PathBuf,
    /// The axes.
    pub axes: Vec<String>,
    /// What is in `aggregate_csv`.
    pub rows: Vec<SweepRow>,
    /// The figures drawn over the axes.
    pub figures: Vec<PathBuf>,
    /// Why others were not drawn: no run has data for them, or they show one run each.
    pub figures_left_out: Vec<String>,
    /// What the runs showed to have no effect, and in how many of them.
    pub warnings: Vec<String>,
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
    any_build: bool,
) -> Result<Progress, SweepError> {
    let mut past = Past::new(folder, output, any_build);
    let mut progress = Progress { runs: 0, done: 0 };
    for run in experiment.runs() {
        progress.runs += 1;
        progress.done += usize::from(past.has(&run)?);
    }
    Ok(progress)
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
    any_build: bool,
) -> Result<usize, SweepError> {
    let mut past = Past::new(folder, output, any_build);
    let mut cleared = 0;
    for run in experiment.runs() {
        match past.has(&run) {
            Ok(_) => {}
            Err(
                SweepError::Foreign { .. }
                | SweepError::OtherBuild { .. }
                | SweepError::InputChanged { .. }
                | SweepError::Damaged { .. },
            ) => {
                let stale = output.join(run.folder());
                let removed = fs::remove_dir_all(&stale);
                removed.map_err(|error| ResultsError::write(&stale, error))?;
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
    let &SweepConduct { output, any_build, .. } = conduct;
    let mut past = Past::new(folder, output, any_build);
    let mut todo = Vec::new();
    for run in experiment.runs() {
        if !past.has(&run)? {
            todo.push(run);
        }
    }
    side_by_side(conduct.workers.min(todo.len()), &todo, |run| carry_out(run, folder, conduct))?;
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

fn carry_out(one: &Run<'_>, folder: &Path, conduct: &SweepConduct<'_>) -> Result<(), SweepError> {
    if conduct.stop.load(Ordering::Relaxed) {
        return Err(SweepError::Interrupted);
    }
    let destination = Destination {
        folder: conduct.output.join(one.folder()),
        existing: Existing::Keep,
        figures: conduct.figures,
    };
    let how = Conduct {
        driver: Driver::Sequential,
        stop: conduct.stop,
        watch: &Unwatched,
        check: false,
        warnings: &one.variant.warnings,
    };
    match run(&one.scenario(), folder, Some(&destination), &how) {
        Ok(_) => {
            (conduct.on_run)();
            Ok(())
        }
        Err(ExperimentError::Run(haggle_runtime::RunError::Interrupted)) => {
            Err(SweepError::Interrupted)
        }
        Err(error) => Err(SweepError::Run {
            number: one.number,
            folder: one.folder().display().to_string(),
            error: Box::new(error),
        }),
    }
}

/// What was done before.
struct Past<'a> {
    /// Where the scenario's relative paths start.
    folder: &'a Path,
    output: &'a Path,
    any_build: bool,
    /// Files that runs have read, as they are now.
    inputs: BTreeMap<PathBuf, Input>,
}

impl<'a> Past<'a> {
    fn new(folder: &'a Path, output: &'a Path, any_build: bool) -> Past<'a> {
        Past { folder, output, any_build, inputs: BTreeMap::new() }
    }

    /// Whether the results of a run are there. A folder gets its final name only when everything is
    /// in it, so one that is there was whole; a full disk or a copy that was stopped may have cut it
    /// since, and sizes show that at no cost.
    fn has(&mut self, run: &Run<'_>) -> Result<bool, SweepError> {
        let folder = self.output.join(run.folder());
        if !folder.exists() {
            return Ok(false);
        }
        if !folder.join("provenance.json").exists() {
            return Err(SweepError::NotARun { folder });
        }
        let found = RunReader::open(&folder)?.provenance()?;
        let mine = found.seed == run.seed
            && found.version == env!("CARGO_PKG_VERSION")
            && found.scenario_sha256 == sha256(run.scenario().to_toml().as_bytes());
        if !mine {
            return Err(SweepError::Foreign { folder });
        }
        if found.build != BUILD && !self.any_build {
            return Err(SweepError::OtherBuild { folder, build: found.build });
        }
        for input in found.inputs {
            if self.has_changed(&input)? {
                return Err(SweepError::InputChanged { folder, input: input.path });
            }
        }
        for (name, bytes) in found.tables {
            let table = folder.join(name);
            if !fs::metadata(&table).is_ok_and(|file| file.len() == bytes) {
                return Err(SweepError::Damaged { table });
            }
        }
        Ok(true)
    }

    fn has_changed(&mut self, then: &Input) -> Result<bool, SweepError> {
        let path = log_path(&then.path, self.folder);
        let path = path.unwrap_or_else(|_| PathBuf::from(&then.path));
        // A look at the size is cheap, and logs are read once for all runs.
        let size = fs::metadata(&path).map_err(|error| ResultsError::read(&path, error))?.len();
        if size != then.bytes {
            return Ok(true);
        }
        if !self.inputs.contains_key(&path) {
            self.inputs.insert(path.clone(), Input::of_file(&path, &then.path)?);
        }
        Ok(self.inputs[&path].sha256 != then.sha256)
    }
}

fn sum_up(experiment: &Experiment, output: &Path) -> Result<Swept, SweepError> {
    let mut runs = Vec::new();
    let mut table = Vec::new();
    let mut warnings = Merged::default();
    let references = References::of(experiment);
    for run in experiment.runs() {
        let reader = RunReader::open(&output.join(run.folder()))?;
        let summary = reader.summary()?;
        warnings.add(&run, &summary, reader.provenance()?.digest.overall);
        let point: Vec<String> = run.variant.settings.iter().map(|it| it.text()).collect();
        let mut metrics = of_run(&summary);
        if let Some(reference) = references.as_ref().and_then(|it| it.folder(&run)) {
            let base = RunReader::open(&output.join(reference))?;
            impact(&impacts(&base, &reader)?, &mut metrics);
        }
        table.push((run.number, run.seed, point.clone(), metrics.clone()));
        metrics.extend(of_groups(&summary, &run.variant.scenario, GROUPS_MOST));
        runs.push(SweepRun { point, metrics });
    }
    let axes: Vec<String> = experiment
        .variants
        .first()
        .map(|variant| variant.settings.iter().map(|it| it.axis.clone()).collect())
        .unwrap_or_default();
    let mut swept = Swept {
        runs_csv: output.join("runs.csv"),
        aggregate_csv: output.join("aggregate.csv"),
        rows: aggregate(&runs),
        axes,
        figures: Vec::new(),
        figures_left_out: Vec::new(),
        warnings: warnings.texts(),
    };
    write_whole(&output.join("scenario.toml"), &experiment.scenario.to_toml())?;
    write_whole(&swept.runs_csv, &runs_csv(&swept.axes, &table))?;
    write_whole(&swept.aggregate_csv, &to_csv(&swept.axes, &swept.rows))?;
    if !experiment.figures.is_empty() {
        let data = SweepData::read(experiment, output)?;
        for figure in &experiment.figures {
            let path = output.join(file_name(figure));
            match draw_sweep(figure, &data, &path) {
                Ok(()) => swept.figures.push(path),
                Err(ExperimentError::Figure { error, .. }) if error.is_absence() => {
                    swept.figures_left_out.push(error.to_string());
                }
                Err(error) => return Err(SweepError::Figure(error)),
            }
        }
    }
    Ok(swept)
}

/// What the runs of a sweep showed to have no effect.
#[derive(Default)]
struct Merged {
    runs: usize,
    /// Each text with the number of runs that have it.
    texts: Vec<(String, usize)>,
    /// Each variant, the digest of its first run, and the runs that have it too.
    points: Vec<(String, String, usize)>,
}

impl Merged {
    fn add(&mut self, run: &Run<'_>, summary: &Summary, digest: String) {
        self.runs += 1;
        let known = &run.variant.warnings;
        for text in summary.warnings.iter().filter(|text| !known.contains(text)) {
            match self.texts.iter_mut().find(|(other, _)| other == text) {
                Some((_, runs)) => *runs += 1,
                None => self.texts.push((text.clone(), 1)),
            }
        }
        let label = &run.variant.label;
        match self.points.last_mut().filter(|(other, ..)| other == label) {
            Some((_, first, runs)) if *first == digest => *runs += 1,
            Some((_, first, _)) => first.clear(),
            None => self.points.push((label.clone(), digest, 1)),
        }
    }

    fn texts(self) -> Vec<String> {
        let all = self.runs;
        let text = |(text, runs): (String, usize)| match all {
            1 => text,
            _ => format!("{text} (in {runs} of {all} runs)"),
        };
        let equal = self.points.iter().filter(|(_, first, runs)| !first.is_empty() && *runs > 1);
        let equal = match (equal.count(), self.points.len()) {
            (0, _) => None,
            (equal, all) => Some(format!(
                "the replications are copies of one run at {equal} of {all} points: the seed \
                 changes nothing there, so no confidence interval is given; the workload steps \
                 `random-window`, `resample` and `shake` make others of a log"
            )),
        };
        self.texts.into_iter().map(text).chain(equal).collect()
    }
}

/// How many providers, users, classes or workloads have rows in `aggregate.csv`: those of a thousand
/// providers would be most of a sweep's memory.
const GROUPS_MOST: usize = 64;

/// What became of jobs relative to the run that is the reference: of all, and where there are two classes,
/// of each.
fn impact(impacts: &Impacts, metrics: &mut Vec<(String, f64)>) {
    let classes = [JobClass::Local, JobClass::External].map(JobClass::name);
    let both = classes.iter().all(|class| impacts.contains_key(*class));
    let groups = [ALL].into_iter().chain(classes.into_iter().filter(|_| both));
    for group in groups {
        let Some(impact) = impacts.get(group) else { continue };
        let place = if group == ALL { String::new() } else { format!("{group}.") };
        let values = Impact::NAMES.into_iter().filter_map(|name| Some((name, impact.value(name)?)));
        metrics.extend(values.map(|(name, value)| (format!("impact.{place}{name}"), value)));
    }
}

/// Number, seed, point and metrics of a run.
type RunRow = (usize, u64, Vec<String>, Vec<(String, f64)>);

fn runs_csv(axes: &[String], runs: &[RunRow]) -> String {
    // A metric that one run lacks leaves its cell empty.
    let mut names: Vec<&str> = Vec::new();
    for (.., metrics) in runs {
        for (name, _) in metrics {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    let fixed = ["run", "seed"].map(str::to_owned);
    let header = fixed.into_iter().chain(axes.iter().cloned());
    let header: Vec<String> = header.chain(names.iter().map(|&name| name.to_owned())).collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&header).expect("writing to memory cannot fail");
    for (number, seed, point, metrics) in runs {
        let cell = |name: &&str| {
            let value = metrics.iter().find(|(other, _)| other == name);
            value.map_or_else(String::new, |(_, value)| format!("{value:?}"))
        };
        let row = [number.to_string(), seed.to_string()].into_iter().chain(point.iter().cloned());
        writer
            .write_record(row.chain(names.iter().map(cell)))
            .expect("every row has a cell for each column");
    }
    let bytes = writer.into_inner().expect("flushing to memory cannot fail");
    String::from_utf8(bytes).expect("made of strings")
}

/// Writes a file under another name first, so that the final name holds a whole file.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<(), ResultsError> {
    // Two commands at once do not write into each other's file.
    let partial = path.with_extension(format!("{}.partial", process::id()));
    fs::write(&partial, text)
        .and_then(|()| fs::rename(&partial, path))
        .map_err(|error| ResultsError::write(path, error))
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
