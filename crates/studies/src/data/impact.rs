//! Effects on jobs relative to another run. Each pair of runs is read once.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use haggle_results::{ResultsError, RunReader};

use super::unknown;
use haggle_experiment::compare::impact::{ALL, Impact, Impacts, impacts};

/// Prefix of the names of these values.
const PREFIX: &str = "impact.";

/// Effects that have been computed, by run and base run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Known(RefCell<BTreeMap<(PathBuf, PathBuf), Impacts>>);

/// The name of the effect, if the metric is one.
pub(super) fn name(metric: &str) -> Result<Option<&str>, String> {
    let Some(name) = metric.strip_prefix(PREFIX) else { return Ok(None) };
    match Impact::NAMES.contains(&name) {
        true => Ok(Some(name)),
        false => {
            Err(unknown(&format!("there is no \"{metric}\""), name, &Impact::NAMES).to_string())
        }
    }
}

impl Known {
    /// An effect on a group of jobs of the run in `folder` relative to the run in `base`; `None` if the
    /// group has no such job.
    pub(super) fn value(
        &self,
        folder: &Path,
        base: &Path,
        group: &str,
        name: &str,
    ) -> Result<Option<f64>, String> {
        let group = if matches!(group, "" | "global") { ALL } else { group };
        let key = (folder.to_owned(), base.to_owned());
        let mut known = self.0.borrow_mut();
        // `entry` could not report an error of reading.
        if !known.contains_key(&key) {
            let read = read(base, folder).map_err(|error| error.to_string())?;
            known.insert(key.clone(), read);
        }
        let groups = &known[&key];
        let names = Vec::from_iter(groups.keys().map(String::as_str));
        match groups.get(group) {
            Some(impact) => Ok(impact.value(name)),
            None => Err(unknown("there is no such group", group, &names).to_string()),
        }
    }
}

fn read(base: &Path, folder: &Path) -> Result<Impacts, ResultsError> {
    impacts(&RunReader::open(base)?, &RunReader::open(folder)?)
}
