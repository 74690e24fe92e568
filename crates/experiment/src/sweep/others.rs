//! Runs in the folder of a sweep that the sweep does not have: those of values that an axis has lost, or of seeds
//! beyond the last one. Readers of all tables of the folder would read them as well.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use haggle_results::pack::Pack;
use haggle_results::{ResultsError, RunReader, is_file_of_run};
use haggle_scenario::Experiment;

use super::SweepError;

/// Results in the folder of a sweep that are not part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Others {
    /// Folders of runs and packs that hold only files of haggle, relative to the sweep's folder.
    pub own: Vec<PathBuf>,
    /// Folders of runs that also hold other files, each with the first name of these. They are never removed.
    pub mixed: Vec<(PathBuf, String)>,
}

/// Finds the runs and packs in `output` that `experiment` does not have. Symbolic links are not followed.
///
/// # Errors
/// If a folder cannot be read.
pub fn others(experiment: &Experiment, output: &Path) -> Result<Others, SweepError> {
    let mut runs = 0;
    let mut known = BTreeSet::new();
    for run in experiment.runs() {
        known.insert(run.folder());
        runs += 1;
    }
    let mut found = Others::default();
    for (first, path) in Pack::all_in(output)? {
        // A damaged pack that has runs of this sweep stops it, with an error of its own.
        let is_beyond =
            first >= runs || Pack::open(&path).is_ok_and(|pack| pack.last() >= Some(runs));
        if is_beyond && !path.is_symlink() && path.join("pack.json").exists() {
            sort_in(output, PathBuf::from(path.file_name().unwrap_or_default()), &mut found)?;
        }
    }
    if output.is_dir() {
        search(output, Path::new(""), &known, &mut found)?;
    }
    Ok(found)
}

/// Removes these folders of `output`, and the folders of values that are empty then.
///
/// # Errors
/// If one cannot be removed.
pub fn remove(own: &[PathBuf], output: &Path) -> Result<(), SweepError> {
    for folder in own {
        let path = output.join(folder);
        fs::remove_dir_all(&path).map_err(|error| ResultsError::write(&path, error))?;
        let values = folder.ancestors().skip(1).filter(|it| *it != Path::new(""));
        for value in values {
            // It has the runs of other values.
            if fs::remove_dir(output.join(value)).is_err() {
                break;
            }
        }
    }
    Ok(())
}

/// Searches the folders of values, `NAME=VALUE`, for folders of seeds.
fn search(
    output: &Path,
    below: &Path,
    known: &BTreeSet<PathBuf>,
    found: &mut Others,
) -> Result<(), SweepError> {
    for name in folders_in(&output.join(below))? {
        let text = name.to_string_lossy();
        let folder = below.join(&name);
        if text.starts_with("seed=") {
            // A folder without a run belongs to somebody else, and is never named for removal.
            if !known.contains(&folder) && is_run(&output.join(&folder)) {
                sort_in(output, folder, found)?;
            }
        } else if text.contains('=') && !text.starts_with('.') && !Pack::is_name_of_one(&folder) {
            search(output, &folder, known, found)?;
        }
    }
    Ok(())
}

/// Names of the folders in a folder, sorted. Links to folders are not among them.
fn folders_in(folder: &Path) -> Result<BTreeSet<OsString>, ResultsError> {
    let trouble = |error| ResultsError::read(folder, error);
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder).map_err(trouble)? {
        let entry = entry.map_err(trouble)?;
        if entry.file_type().map_err(trouble)?.is_dir() {
            names.insert(entry.file_name());
        }
    }
    Ok(names)
}

/// True if haggle wrote a run into this folder.
fn is_run(folder: &Path) -> bool {
    RunReader::open(folder).is_ok_and(|run| run.provenance_of_any_format().is_ok())
}

/// Notes a folder, with the first file in it that haggle does not write.
fn sort_in(output: &Path, folder: PathBuf, found: &mut Others) -> Result<(), ResultsError> {
    let path = output.join(&folder);
    let trouble = |error| ResultsError::read(&path, error);
    let mut foreign = None::<String>;
    for entry in fs::read_dir(&path).map_err(trouble)? {
        let entry = entry.map_err(trouble)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_ours = is_file_of_run(&name) && entry.file_type().map_err(trouble)?.is_file();
        // The first by name, because the order of a folder's entries is not fixed.
        if !is_ours && foreign.as_ref().is_none_or(|other| name < *other) {
            foreign = Some(name);
        }
    }
    match foreign {
        Some(name) => found.mixed.push((folder, name)),
        None => found.own.push(folder),
    }
    Ok(())
}
