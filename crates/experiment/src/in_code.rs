//! Runs in few words, for code without a progress bar, signals and options.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use haggle_results::{Existing, RunReader, Summary};
use haggle_runtime::Driver;
use haggle_scenario::Run;

use crate::run::{Conduct, Destination, ExperimentError, Figures, Keep, Unwatched, run};

/// Never raised.
static STOP: AtomicBool = AtomicBool::new(false);

impl Conduct<'_> {
    /// The fastest driver, without reports of progress, to the end.
    pub fn plain() -> Conduct<'static> {
        Conduct {
            driver: Driver::Sequential,
            stop: &STOP,
            watch: &Unwatched,
            check: false,
            warnings: &[],
        }
    }
}

/// Carries out a run in memory. Relative paths start from the current folder.
///
/// # Errors
/// See [`ExperimentError`].
pub fn summarise(what: &Run<'_>) -> Result<Summary, ExperimentError> {
    Ok(run(&what.scenario(), Path::new(""), None, &Conduct::plain())?.summary)
}

/// Carries out a run and leaves its tables and figures in a folder, as `haggle run` does. The
/// folder must not exist. Relative paths start from the current folder.
///
/// # Errors
/// See [`ExperimentError`]; no folder of this name is left then.
pub fn write(what: &Run<'_>, folder: &Path) -> Result<RunReader, ExperimentError> {
    let destination = Destination {
        folder: folder.to_owned(),
        end: None,
        existing: Existing::Keep,
        keep: Keep::Tables,
        figures: Figures::Draw,
    };
    run(&what.scenario(), Path::new(""), Some(&destination), &Conduct::plain())?;
    Ok(RunReader::open(folder)?)
}
