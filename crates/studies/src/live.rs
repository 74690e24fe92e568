//! Live runs of a sweep: the program carries them out, and their results are read like those of simulations.
//!
//! The results of a live run depend on the machine and differ from run to run.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use haggle_experiment::sweep::{SweepError, Wanted, missing};
use haggle_experiment::threads::on_threads;
use haggle_scenario::{Experiment, Run, Scenario};

use super::catalogue::{Live, Study};
use super::data::same;

/// A live run that is to be carried out.
pub struct LiveRun<'a> {
    /// Its scenario.
    pub scenario: Scenario,
    /// Folder from which relative paths of the scenario start.
    pub folder: &'a Path,
    /// Folder of its results.
    pub results: PathBuf,
    /// Seconds of the run in a second of real time.
    pub scale: f64,
    /// Settings without effect.
    pub warnings: &'a [String],
    /// Raised to stop it.
    pub stop: &'a AtomicBool,
}

/// Carries out a live run and writes its results. An error is in words.
pub type RunLive = dyn Fn(&LiveRun<'_>) -> Result<(), String> + Sync;

/// Reason why there are no live runs.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// This program has no live runs.
    #[error("study \"{study}\" has live runs, which this program cannot carry out")]
    Unable {
        /// The study.
        study: String,
    },
    /// No run of the sweep is live.
    #[error("`[[live]]` of study \"{study}\" has no run of `{sweep}`: no run has {at}")]
    None {
        /// The study.
        study: String,
        /// File of the sweep.
        sweep: String,
        /// The values of axes.
        at: String,
    },
    /// A run failed.
    #[error("live run {folder}: {problem}")]
    Failed {
        /// Its folder in the sweep.
        folder: String,
        /// The reason.
        problem: String,
    },
    /// Existing results are others, or the runs were stopped.
    #[error(transparent)]
    Sweep(#[from] SweepError),
}

/// The live runs of a sweep.
pub(super) struct LiveRuns<'a> {
    study: String,
    entries: Vec<(Live, f64)>,
    run: Option<&'a RunLive>,
}

impl<'a> LiveRuns<'a> {
    /// The live runs of the sweep of a file; `None` without any.
    ///
    /// # Errors
    /// If an entry is about no run.
    pub(super) fn of(
        study: &Study,
        sweep: &str,
        experiment: &Experiment,
        quick: bool,
        run: Option<&'a RunLive>,
    ) -> Result<Option<LiveRuns<'a>>, LiveError> {
        let of_sweep = study.live.iter().filter(|it| it.sweep == sweep);
        let scale = |it: &Live| it.scale.quick.filter(|_| quick).unwrap_or(it.scale.full);
        let entries = Vec::from_iter(of_sweep.map(|it| (it.clone(), scale(it))));
        if entries.is_empty() {
            return Ok(None);
        }
        let name = study.name.clone();
        for (entry, _) in &entries {
            if !experiment.runs().any(|run| is_of(entry, &run)) {
                let at = entry.at.iter().map(|(axis, value)| format!("{axis} = {value}"));
                let at = at.collect::<Vec<_>>().join(", ");
                return Err(LiveError::None { study: name, sweep: sweep.to_owned(), at });
            }
        }
        Ok(Some(LiveRuns { study: name, entries, run }))
    }

    /// Carries out those that are not done.
    ///
    /// # Errors
    /// If this program has no live runs, one fails, or existing results are others. No run begins after an error.
    pub(super) fn carry_out(
        &self,
        experiment: &Experiment,
        folder: &Path,
        output: &Path,
        (wanted, workers): (Wanted, Option<NonZeroUsize>),
        (stop, on_run): (&AtomicBool, &(dyn Fn() + Sync)),
    ) -> Result<(), LiveError> {
        let (missing, _) = missing(experiment, folder, output, wanted)?;
        let scale = |run: &Run<'_>| {
            self.entries.iter().find(|(entry, _)| is_of(entry, run)).map(|(_, scale)| *scale)
        };
        let todo = experiment.runs().filter(|run| missing.contains(&run.number));
        let todo = VecDeque::from_iter(todo.filter_map(|run| Some((scale(&run)?, run))));
        if todo.is_empty() {
            return Ok(());
        }
        let run_live = self.run.ok_or_else(|| LiveError::Unable { study: self.study.clone() })?;
        let workers = workers.map_or(todo.len(), |it| it.get().min(todo.len()));
        let (todo, failed) = (Mutex::new(todo), Mutex::new(None));
        on_threads(workers, || {
            loop {
                let next = todo.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                let Some((scale, run)) = next else { return };
                let live = LiveRun {
                    scenario: run.scenario(),
                    folder,
                    results: output.join(run.folder()),
                    scale,
                    warnings: &run.variant.warnings,
                    stop,
                };
                let done = match stop.load(Ordering::Relaxed) {
                    true => Err(String::new()),
                    false => run_live(&live),
                };
                match done {
                    Ok(()) => on_run(),
                    Err(problem) => {
                        todo.lock().unwrap_or_else(PoisonError::into_inner).clear();
                        let folder = run.folder().display().to_string();
                        let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                        failed.get_or_insert(LiveError::Failed { folder, problem });
                    }
                }
            }
        });
        if stop.load(Ordering::Relaxed) {
            return Err(SweepError::Interrupted.into());
        }
        let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.map_or(Ok(()), Err)
    }
}

/// True if a run is one of these.
fn is_of(entry: &Live, run: &Run<'_>) -> bool {
    entry.at.iter().all(|(axis, value)| {
        let settings = &run.variant.settings;
        settings.iter().any(|it| it.axis == *axis && same(&it.text(), value))
    })
}
