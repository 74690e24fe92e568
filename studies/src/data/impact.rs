//! What became of jobs relative to another run: each pair of runs is read once.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use haggle_results::{ResultsError, RunReader};

use super::unknown;
use haggle_experiment::compare::impact::{ALL, Impact, Impacts, impacts};

/// What stands before the names of these values.
const PREFIX: &str = "impact.";

/// Pairs of runs that have been read: the run, and its base.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Known(RefCell<BTreeMap<(PathBuf, PathBuf), Impacts>>);

/// The name of a value, if the metric is one of these.
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
    /// A value of a group of jobs of the run in `folder` relative to that in `base`; `None` if there is
    /// no job to take it from.
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
