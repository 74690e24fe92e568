//! Runs that failed by themselves. A note beside the results records each, so that the summary
//! knows of it even if it ran on another machine.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use haggle_results::{ResultsError, read_text, sha256};
use serde::{Deserialize, Serialize};

use super::{HIDDEN, write_whole};
use crate::ExperimentError;
use crate::run::BUILD;
use haggle_scenario::Run;

/// A run without results that would fail again with the same input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// Number of the run.
    pub run: usize,
    /// Its folder inside the sweep's, if it had any.
    pub folder: String,
    /// Origin of the error.
    pub cause: Cause,
    /// Text of the error.
    pub message: String,
    /// SHA-256 of the scenario that was run.
    scenario_sha256: String,
    /// The build that ran it.
    build: String,
}

/// Origin of the error of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The scenario or a log.
    Input,
    /// A bug of haggle.
    Bug,
}

impl Failed {
    /// A failed run with this error.
    pub fn new(run: &Run<'_>, cause: Cause, message: String) -> Failed {
        Failed {
            run: run.number,
            folder: run.folder().display().to_string(),
            cause,
            message,
            scenario_sha256: sha256_of(run),
            build: BUILD.to_owned(),
        }
    }

    /// A failed run with this error; `None` for an error of the place of results, which all other
    /// runs would meet too.
    pub fn of(run: &Run<'_>, error: &ExperimentError) -> Option<Failed> {
        let cause = match error {
            // A full disk, for example, is no property of the run.
            ExperimentError::Results(error) if !error.is_read() => return None,
            ExperimentError::Violation(_)
            | ExperimentError::Disagreement(_)
            | ExperimentError::JobsMissing { .. } => Cause::Bug,
            _ => Cause::Input,
        };
        Some(Failed::new(run, cause, error.to_string()))
    }
}

/// SHA-256 of the scenario of this one run.
pub(super) fn sha256_of(run: &Run<'_>) -> String {
    sha256(run.scenario().to_toml().as_bytes())
}

/// The notes of a sweep's folder.
pub(super) struct Notes {
    folder: PathBuf,
}

impl Notes {
    pub(super) fn of(output: &Path) -> Notes {
        Notes { folder: output.join(HIDDEN).join("failed") }
    }

    /// Writes a note that a run failed.
    pub(super) fn add(&self, failed: &Failed) -> Result<(), ResultsError> {
        let made = fs::create_dir_all(&self.folder);
        made.map_err(|error| ResultsError::write(&self.folder, error))?;
        let text = serde_json::to_string_pretty(failed).expect("texts and numbers");
        write_whole(&self.path(failed.run), &format!("{text}\n"))
    }

    /// Removes the note that a run failed.
    pub(super) fn remove(&self, run: usize) -> Result<(), ResultsError> {
        let path = self.path(run);
        match fs::remove_file(&path) {
            // A run that did not fail before has no note.
            Err(error) if !is_absent(&error) => Err(ResultsError::write(&path, error)),
            _ => Ok(()),
        }
    }

    /// The note of a run, if it is of this scenario and build.
    pub(super) fn get(&self, run: &Run<'_>) -> Result<Option<Failed>, ResultsError> {
        let path = self.path(run.number);
        let text = match read_text(&path) {
            Err(ResultsError::Read { source, .. }) if is_absent(&source) => return Ok(None),
            text => text?,
        };
        let failed: Failed = serde_json::from_str(&text)
            .map_err(|error| ResultsError::Damaged { path, reason: error.to_string() })?;
        // Another build or scenario may not fail, so the run is tried again.
        Ok(Some(failed).filter(|it| it.build == BUILD && it.scenario_sha256 == sha256_of(run)))
    }

    fn path(&self, run: usize) -> PathBuf {
        self.folder.join(format!("{run}.json"))
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
