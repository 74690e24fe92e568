//! Runs of a path: a run, or all runs of a sweep.

use std::fs;
use std::path::{Path, PathBuf};

use haggle_results::pack::Pack;
use haggle_results::{ResultsError, RunReader};

/// Most views of a sweep.
pub const VIEWS_MAX: usize = 1_000;

/// Deepest folder of a run below its sweep: each axis is a folder.
const DEPTH_MAX: usize = 16;

/// The folders of the runs at a path: the path itself, or the runs of a sweep in the order of their
/// names, packed or not. Each has its name below the sweep. One run more than [`VIEWS_MAX`] shows that
/// there are too many.
///
/// # Errors
/// If the path cannot be read.
pub fn runs_of(path: &Path) -> Result<Vec<(PathBuf, String)>, ResultsError> {
    let run = RunReader::open(path)?;
    if run.is_packed() || path.join("provenance.json").exists() {
        return Ok(vec![(path.to_owned(), String::new())]);
    }
    let mut names = Vec::new();
    for pack in Pack::all_in(path)?.into_values() {
        names.extend(Pack::open(&pack)?.folders());
    }
    below(path, "", 0, &mut names);
    names.sort();
    names.dedup();
    if names.is_empty() {
        // A damaged run has tables without provenance.
        return Ok(vec![(path.to_owned(), String::new())]);
    }
    names.truncate(VIEWS_MAX + 1);
    Ok(names.into_iter().map(|name| (path.join(&name), name)).collect())
}

/// Adds the runs in folders below.
fn below(folder: &Path, name: &str, depth: usize, names: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    if depth > DEPTH_MAX || names.len() > VIEWS_MAX {
        return;
    }
    for entry in entries.flatten().filter(|it| it.file_type().is_ok_and(|it| it.is_dir())) {
        let part = entry.file_name().to_string_lossy().into_owned();
        // Folders of runs are named by an axis and its value.
        if !part.contains('=') {
            continue;
        }
        let slash = if name.is_empty() { "" } else { "/" };
        let name = format!("{name}{slash}{part}");
        match entry.path().join("provenance.json").exists() {
            true => names.push(name),
            false => below(&entry.path(), &name, depth + 1, names),
        }
    }
}
