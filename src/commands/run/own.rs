//! The folder of a scenario's own, `runs/NAME`: what the last run of the same file left there is replaced
//! without `--force`, so that one may edit and run again.

use std::fs;
use std::path::{Path, PathBuf, absolute};

use crate::scenario::relative;
use haggle_results::{Existing, Table};

use crate::commands::{Error, output};

/// The note that `run` leaves in the folder: which scenario it is of.
const NOTE: &str = ".made-from";

/// The folder in which the results of a scenario are unless another one is named.
pub(super) struct OwnFolder {
    folder: PathBuf,
    /// Which scenario this is, as the note has it.
    made_from: String,
}

impl OwnFolder {
    /// That of the scenario of this name, made from `origin`: the path of a file, or how an example is called.
    pub(super) fn new(name: &str, origin: Result<&Path, &str>) -> OwnFolder {
        let folder = Path::new("runs").join(name);
        let made_from = match origin {
            Ok(file) => way(file, &folder),
            Err(example) => format!("--example {example}"),
        };
        OwnFolder { folder, made_from: made_from + "\n" }
    }

    pub(super) fn path(&self) -> &Path {
        &self.folder
    }

    /// What to do about results that are there. What somebody put beside them is not to be lost.
    pub(super) fn existing(&self) -> Result<Existing, Error> {
        let note = fs::read_to_string(self.folder.join(NOTE));
        if !note.is_ok_and(|note| note == self.made_from) {
            return Ok(Existing::Keep);
        }
        let entries = fs::read_dir(&self.folder);
        let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
        let strange = names.filter_map(|name| {
            let name = name.to_string_lossy().into_owned();
            (!is_of_a_run(&name)).then_some(name)
        });
        match strange.min() {
            None => Ok(Existing::Replace),
            Some(file) => Err(Error::Strange { folder: self.folder.clone(), file }),
        }
    }

    /// Notes in the results that are there now which scenario they are of.
    pub(super) fn note(&self) -> Result<(), Error> {
        let path = self.folder.join(NOTE);
        fs::write(&path, &self.made_from).map_err(|error| output::failed(&path, error))
    }
}

/// The way to a file from the folder of its results, so that both may be moved together.
fn way(file: &Path, folder: &Path) -> String {
    let whole = |path: &Path| absolute(path).unwrap_or_else(|_| path.to_owned());
    relative(&whole(file), &whole(folder)).to_string_lossy().into_owned()
}

/// Whether a run or its figures have files of this name.
fn is_of_a_run(name: &str) -> bool {
    match name.rsplit_once('.') {
        Some((stem, "parquet" | "csv")) => Table::ALL.iter().any(|table| table.name() == stem),
        Some((_, "png" | "svg" | "pdf")) => true,
        _ => [NOTE, "summary.json", "provenance.json", "timing.json", "scenario.toml"]
            .contains(&name),
    }
}
