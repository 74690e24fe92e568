//! Obtains the data of a figure: completed runs are read, the others are carried out.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::thread::available_parallelism;

use haggle_results::ResultsError;

use super::catalogue::{Origin, Study};
use super::data::Data;
use super::library::Library;
use super::live::{self, LiveRuns, RunLive};
use super::quick::{Cuts, cut};
use super::study::{Compute, Effort};
use haggle_experiment::sweep::{
    OnFailure, Progress, SweepConduct, SweepError, Wanted, look, sweep,
};
use haggle_experiment::{Figures, Keep};
use haggle_scenario::{Experiment, InvalidScenario, Logs, ReadError, Rules};

/// Sources from which data are obtained.
#[derive(Clone, Copy)]
pub struct Stock<'a, 's> {
    /// Library with the scenarios of sweeps.
    pub library: &'s Library,
    /// The studies by code.
    pub studies: &'s [&'a dyn Compute],
    /// External rules that scenarios can name.
    pub own: &'s Rules,
    /// Carries out live runs; `None` = it cannot be done here.
    pub live: Option<&'a RunLive>,
}

/// Data to be obtained.
pub struct Task<'a> {
    name: String,
    work: Work<'a>,
}

enum Work<'a> {
    Sweep {
        experiment: Box<Experiment>,
        folder: PathBuf,
        output: PathBuf,
        wanted: Wanted,
        progress: Progress,
        cuts: Cuts,
        live: Option<LiveRuns<'a>>,
    },
    Study(&'a dyn Compute, Effort),
}

/// Reason why there are no data.
#[derive(Debug, thiserror::Error)]
pub enum ObtainError {
    /// A scenario cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A scenario has mistakes, or its logs are missing.
    #[error("{0}")]
    Invalid(Box<InvalidScenario>),
    /// A run failed.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// Results cannot be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A quick reproduction would have no runs.
    #[error("`[quick]` of study \"{study}\" leaves no value of axis \"{axis}\" in `{file}`")]
    NothingLeft {
        /// The study.
        study: String,
        /// The scenario file.
        file: String,
        /// The axis.
        axis: String,
    },
    /// Live runs cannot be carried out, or one failed.
    #[error(transparent)]
    Live(#[from] live::LiveError),
    /// A study by code failed.
    #[error("study \"{study}\": {problem}")]
    Study {
        /// Its name.
        study: String,
        /// The reason, and a remedy.
        problem: String,
    },
}

impl<'a> Task<'a> {
    /// A task for data of `study`. Its runs are written below `output`. With `any_build`, runs of other
    /// builds count as done.
    ///
    /// # Errors
    /// If the data cannot be obtained.
    pub fn new(
        stock: Stock<'a, '_>,
        study: &Study,
        origin: &Origin,
        output: &Path,
        quick: bool,
        any_build: bool,
    ) -> Result<Task<'a>, ObtainError> {
        let Stock { library, studies, own, live } = stock;
        let name = origin.name().to_owned();
        match origin {
            Origin::Study(_) => {
                let effort = if quick { Effort::Quick } else { Effort::Full };
                let known = studies.iter().find(|known| known.name() == name);
                let known = known.ok_or_else(|| ObtainError::Study {
                    study: name.clone(),
                    problem: "there is no such study".to_owned(),
                })?;
                Ok(Task { name, work: Work::Study(*known, effort) })
            }
            Origin::Sweep(file) => {
                let source = library.read(&study.name, file)?;
                let folder = source.folder().to_owned();
                let mut experiment = Experiment::read_with(source, Logs::MustExist, own)
                    .map_err(|error| ObtainError::Invalid(Box::new(error)))?;
                // The catalogue decides here which figures are drawn, not the scenario.
                experiment.figures.clear();
                let mut cuts = Cuts::default();
                if quick {
                    cuts = cut(&mut experiment, &study.quick).map_err(|axis| {
                        let (study, file) = (study.name.clone(), file.clone());
                        ObtainError::NothingLeft { study, file, axis }
                    })?;
                }
                let live = LiveRuns::of(study, file, &experiment, quick, live)?;
                let output = output.join(&study.name).join(&name);
                let wanted = Wanted { keep: Keep::Tables, any_build };
                // Completed runs are counted now, so that a list of runs can be shown before any of them
                // starts.
                let progress = look(&experiment, &folder, &output, wanted)?;
                let experiment = Box::new(experiment);
                let work = Work::Sweep { experiment, folder, output, wanted, progress, cuts, live };
                Ok(Task { name, work })
            }
        }
    }

    /// Name of the data.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of all runs and of completed runs; `None` for a study by code.
    pub fn progress(&self) -> Option<&Progress> {
        match &self.work {
            Work::Sweep { progress, .. } => Some(progress),
            Work::Study(..) => None,
        }
    }

    /// True if some of its runs are live.
    pub fn is_live(&self) -> bool {
        matches!(self.work, Work::Sweep { live: Some(_), .. })
    }

    /// The sweep to be carried out, the folder from which its relative paths start, the folder of its
    /// results, and the wanted results. `None` for a study by code, and for a sweep with live runs: other commands would
    /// simulate them.
    pub fn sweep(&self) -> Option<(&Experiment, &Path, &Path, Wanted)> {
        match &self.work {
            Work::Sweep { experiment, folder, output, wanted, live: None, .. } => {
                Some((experiment, folder, output, *wanted))
            }
            Work::Sweep { .. } | Work::Study(..) => None,
        }
    }

    /// Carries out missing runs and reads all data. At most so many `workers` carry out runs at the same time; without a
    /// number, one for each processor. Live runs mostly wait, so without a number all of them run at once.
    ///
    /// # Errors
    /// See [`ObtainError`]. Completed runs are kept.
    pub fn carry_out(
        &self,
        workers: Option<NonZeroUsize>,
        stop: &AtomicBool,
        on_run: &(dyn Fn() + Sync),
    ) -> Result<Data, ObtainError> {
        match &self.work {
            Work::Study(study, effort) => study
                .compute(*effort)
                .map_err(|problem| ObtainError::Study { study: self.name.clone(), problem }),
            Work::Sweep { experiment, folder, output, wanted, cuts, live, .. } => {
                let (wanted, figures) = (*wanted, Figures::Skip);
                if let Some(live) = live {
                    // Before all others, which would take processors from them.
                    live.carry_out(experiment, folder, output, (wanted, workers), (stop, on_run))?;
                }
                let cores = || available_parallelism().map_or(1, NonZeroUsize::get);
                let workers = workers.map_or_else(cores, NonZeroUsize::get);
                let on_failure = OnFailure::Stop;
                let conduct = SweepConduct {
                    output,
                    wanted,
                    pack: None,
                    workers,
                    figures,
                    on_failure,
                    stop,
                    on_run,
                };
                sweep(experiment, folder, &conduct)?;
                let mut data = Data::of_sweep(&self.name, experiment, output)?;
                data.cuts = cuts.clone();
                Ok(data)
            }
        }
    }
}
