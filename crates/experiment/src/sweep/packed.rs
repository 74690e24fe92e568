//! Runs that are added to a pack as they end, one after the other.

use std::path::Path;

use haggle_results::{PackWriter, ResultsError};

use super::carry::{Ended, one};
use super::{Failed, SweepConduct, SweepError};
use crate::leftovers::Scratch;
use crate::run::Sharing;
use haggle_scenario::{Run, Setting};

/// Makes the pack of the runs from number `first` on. An existing pack is replaced when the new one
/// is complete. Returns the runs that failed.
pub(super) fn carry_out(
    first: usize,
    runs: &[Run<'_>],
    folder: &Path,
    conduct: &SweepConduct<'_>,
) -> Result<Vec<Failed>, SweepError> {
    let axes = runs.first().map_or(&[][..], |run| &run.variant.settings);
    let axes = axes.iter().map(Setting::column).collect();
    let mut pack = match PackWriter::create(conduct.output, first, axes) {
        Ok(pack) => pack,
        // Another command makes the same pack.
        Err(ResultsError::InUse { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    // The own files of a run are many and short-lived, so they stay on the local disk.
    let scratch = Scratch::create();
    let scratch = scratch.map_err(|error| ResultsError::write(&std::env::temp_dir(), error))?;
    let place = scratch.path().join("run");
    let mut all = Vec::new();
    for run in runs {
        match one(run, folder, &place, conduct, Sharing::Nothing)? {
            Ended::Done(_) => {
                let point: Vec<String> = run.variant.settings.iter().map(Setting::text).collect();
                pack.add(&place, run.number, (&point, run.variant.folder()), run.seed)?;
            }
            Ended::Failed(failed) => all.push(failed),
            Ended::Elsewhere => {}
        }
    }
    // Also if runs failed: the others have their results.
    pack.publish()?;
    Ok(all)
}
