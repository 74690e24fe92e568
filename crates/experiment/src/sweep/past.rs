//! Existing runs of a sweep, and the test that they fit the experiment.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use haggle_results::provenance::FORMAT;
use haggle_results::{Input, ResultsError, SweepFolder};

use super::failed::sha256_of;
use super::{SweepError, Wanted};
use crate::run::{BUILD, Keep, own_rules};
use haggle_scenario::{Run, log_path};

/// State of the sweep before.
pub(super) struct Past<'a> {
    /// Folder from which relative paths of the scenario start.
    folder: &'a Path,
    output: &'a Path,
    there: SweepFolder,
    wanted: Wanted,
    /// Input files of runs, as they are now.
    inputs: BTreeMap<PathBuf, Input>,
}

impl<'a> Past<'a> {
    pub(super) fn new(
        folder: &'a Path,
        output: &'a Path,
        wanted: Wanted,
    ) -> Result<Past<'a>, ResultsError> {
        let there = SweepFolder::open(output)?;
        Ok(Past { folder, output, there, wanted, inputs: BTreeMap::new() })
    }

    /// True if the results of a run exist. A folder, or a pack, gets its final name only when it is
    /// complete. A full disk or an interrupted copy may have cut it since; the sizes show that at
    /// no cost.
    pub(super) fn has(&mut self, run: &Run<'_>) -> Result<bool, SweepError> {
        let folder = self.output.join(run.folder());
        let Some(reader) = self.there.run(run.number, &run.folder())? else {
            // The run will be written there.
            check_no_link(self.output, run)?;
            return Ok(false);
        };
        if !reader.is_packed() && !folder.join("provenance.json").exists() {
            return Err(SweepError::NotARun { folder });
        }
        let found = reader.provenance_of_any_format()?;
        let mine = found.seed == run.seed
            && found.version == env!("CARGO_PKG_VERSION")
            && found.scenario_sha256 == sha256_of(run);
        if !mine {
            return Err(SweepError::Foreign { folder });
        }
        // Results of another format could not be summed up.
        let is_read = self.wanted.any_build && found.format == FORMAT;
        if found.build != BUILD && !is_read {
            return Err(SweepError::OtherBuild { folder, build: found.build });
        }
        let rules = own_rules(&run.variant.scenario)?;
        if found.own_rules != rules {
            let other = rules.into_iter().find(|rule| !found.own_rules.contains(rule));
            // The scenario may use a rule less than the run did.
            let other = other.or_else(|| found.own_rules.into_iter().next());
            return Err(match other {
                Some(rule) => SweepError::OtherRule { folder, kind: rule.kind, rule: rule.name },
                None => SweepError::Foreign { folder },
            });
        }
        let summary_only = found.has_summary_only();
        for input in found.inputs {
            if self.has_changed(&input)? {
                return Err(SweepError::InputChanged { folder, input: input.path });
            }
        }
        if self.wanted.keep == Keep::Tables && summary_only {
            return Err(SweepError::NoTables { folder });
        }
        // A pack stores the sizes of its own tables.
        for (name, bytes) in found.tables.into_iter().filter(|_| !reader.is_packed()) {
            let table = folder.join(name);
            if !fs::metadata(&table).is_ok_and(|file| file.len() == bytes) {
                let reason = "it is missing, or its size is another one than the run wrote";
                return Err(SweepError::Damaged { table, reason: reason.to_owned() });
            }
        }
        Ok(true)
    }

    fn has_changed(&mut self, then: &Input) -> Result<bool, SweepError> {
        let path = log_path(&then.path, self.folder);
        let path = path.unwrap_or_else(|_| PathBuf::from(&then.path));
        // The size is compared first, since it costs little. Logs are read once for all runs.
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

/// Refuses a run that would be written, or removed, through a symbolic link among the folders of
/// its sweep: the target may belong to other users. Existing results may be read through links.
pub(super) fn check_no_link(output: &Path, run: &Run<'_>) -> Result<(), SweepError> {
    let mut folder = output.to_owned();
    for part in run.folder().components() {
        folder.push(part);
        if folder.is_symlink() {
            return Err(SweepError::Link { folder });
        }
    }
    Ok(())
}
