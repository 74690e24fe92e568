//! The folder of a scenario, `runs/NAME`. A new run of the same file replaces the results there
//! without `--force`, so that a user can edit and run again.

use std::fs;
use std::path::{Path, PathBuf, absolute};

use crate::scenario::relative;
use haggle_results::{Existing, is_file_of_run};

use crate::commands::{Error, output};

/// The note that `run` leaves in the folder; it names the scenario.
const NOTE: &str = ".made-from";

/// The folder for the results of a scenario unless another one is named.
pub(super) struct OwnFolder {
    folder: PathBuf,
    /// Origin of the scenario, in the form of the note.
    made_from: String,
}

impl OwnFolder {
    /// The folder of the scenario with this name; `origin` is the path of its file, or the name of
    /// an example.
    pub(super) fn new(name: &str, origin: Result<&Path, &str>) -> OwnFolder {
        let folder = Path::new("runs").join(name);
        let made_from = match origin {
            Ok(file) => way(file, &folder),
            Err(example) => format!("--example {example}"),
        };
        OwnFolder { folder, made_from: made_from + "\n" }
    }

    /// The folder of a scenario with this origin.
    pub(super) fn made(folder: &Path, made_from: String) -> OwnFolder {
        OwnFolder { folder: folder.to_owned(), made_from }
    }

    /// Origin of the scenario.
    pub(super) fn made_from(&self) -> &str {
        &self.made_from
    }

    pub(super) fn path(&self) -> &Path {
        &self.folder
    }

    /// Action if results exist. Files that users put beside them must not be lost.
    pub(super) fn existing(&self) -> Result<Existing, Error> {
        let note = fs::read_to_string(self.folder.join(NOTE));
        if !note.is_ok_and(|note| note == self.made_from) {
            return Ok(Existing::Keep);
        }
        let entries = fs::read_dir(&self.folder);
        let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
        let strange = names.filter_map(|name| {
            let name = name.to_string_lossy().into_owned();
            (name != NOTE && !is_file_of_run(&name)).then_some(name)
        });
        match strange.min() {
            None => Ok(Existing::Replace),
            Some(file) => Err(Error::Strange { folder: self.folder.clone(), file }),
        }
    }

    /// Notes the origin of the scenario beside its results.
    pub(super) fn note(&self) -> Result<(), Error> {
        let path = self.folder.join(NOTE);
        fs::write(&path, &self.made_from).map_err(|error| output::failed(&path, error))
    }
}

/// Path of a file relative to the folder of its results, so that both can be moved together.
fn way(file: &Path, folder: &Path) -> String {
    let whole = |path: &Path| absolute(path).unwrap_or_else(|_| path.to_owned());
    relative(&whole(file), &whole(folder)).to_string_lossy().into_owned()
}
