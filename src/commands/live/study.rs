//! Live runs of studies.

use std::fs;
use std::time::Duration;

use haggle_live::run::Ended;
use haggle_results::Existing;
use haggle_runtime::Driver;

use super::super::Error;
use super::LiveError;
use super::folder::{LiveFolder, Wanted, beside};
use super::results::results_of;
use crate::experiment::run::Unwatched;
use crate::experiment::{Conduct, Destination, Figures, Keep};
use crate::studies::live::LiveRun;

/// Time until a run begins. All live runs of a study make their nodes at the same time.
const BEGINS: Duration = Duration::from_secs(5);

/// Carries out a live run of a study and writes its results. Its journals stay beside them.
pub(crate) fn run_for_study(run: &LiveRun<'_>) -> Result<(), String> {
    carry_out(run).map_err(|error| error.to_string())
}

fn carry_out(run: &LiveRun<'_>) -> Result<(), Error> {
    let journals = beside(&run.results);
    // Without results, it was stopped, and time has passed since: its latencies are no measurement.
    if LiveFolder::is_there(&journals) {
        fs::remove_dir_all(&journals)
            .map_err(|error| LiveError::Write { path: journals.clone(), error })?;
    }
    let wanted = Wanted {
        scenario: run.scenario.clone(),
        scenario_folder: run.folder,
        results: Some(&run.results),
        scale: run.scale,
        shared: Vec::new(),
    };
    let folder = LiveFolder::make(journals, wanted, Some(BEGINS))?;
    let (plan, _) = folder.plan()?;
    let Some(pace) = folder.pace() else { return Ok(()) };
    let ended = haggle_live::run::run(&plan, pace, run.stop, |_, _| ()).map_err(LiveError::from)?;
    // The caller sees that it was stopped.
    if ended == Ended::Stopped {
        return Ok(());
    }
    let destination = Destination {
        folder: run.results.clone(),
        end: None,
        keep: Keep::Tables,
        existing: Existing::Keep,
        figures: Figures::Skip,
    };
    let conduct = Conduct {
        driver: Driver::Sequential,
        stop: run.stop,
        watch: &Unwatched,
        check: false,
        warnings: run.warnings,
    };
    results_of(&folder, &destination, &conduct)?;
    Ok(())
}
