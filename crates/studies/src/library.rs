//! Places of studies: inside the program, or in a folder on disk.

use std::path::{Path, PathBuf};
use std::{fs, io};

use include_dir::{Dir, include_dir};

use haggle_scenario::{ReadError, Source};

static EMBEDDED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../scenarios");

/// The folder of all studies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Library {
    /// The folder that is part of the program.
    Embedded,
    /// A folder on disk.
    Folder(PathBuf),
}

impl Library {
    /// The names of all studies in order. A study is a folder with figures.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn studies(&self) -> Result<Vec<String>, ReadError> {
        let mut names: Vec<String> = match self {
            Library::Embedded => EMBEDDED.dirs().filter_map(|dir| name_of(dir.path())).collect(),
            Library::Folder(folder) => {
                let failed = |error| ReadError { path: folder.clone(), error };
                let entries: Result<Vec<_>, io::Error> =
                    fs::read_dir(folder).map_err(failed)?.collect();
                let entries = entries.map_err(failed)?;
                entries.iter().filter_map(|entry| name_of(&entry.path())).collect()
            }
        };
        // Other files and folders may lie beside studies.
        names.retain(|name| self.has(name, "figures.toml"));
        names.sort();
        Ok(names)
    }

    /// True if a study has this file.
    pub fn has(&self, study: &str, file: &str) -> bool {
        match self {
            Library::Embedded => EMBEDDED.get_file(Path::new(study).join(file)).is_some(),
            Library::Folder(folder) => folder.join(study).join(file).is_file(),
        }
    }

    /// A file of a study.
    ///
    /// # Errors
    /// If it is missing or not a text.
    pub fn read(&self, study: &str, file: &str) -> Result<Source, ReadError> {
        let inside = Path::new(study).join(file);
        match self {
            Library::Folder(folder) => Source::read(&folder.join(inside)),
            Library::Embedded => {
                let root = Path::new("scenarios");
                Source::read_with(&root.join(inside), &|path| {
                    let file =
                        path.strip_prefix(root).ok().and_then(|path| EMBEDDED.get_file(path));
                    let text = file.and_then(|file| file.contents_utf8());
                    text.map(str::to_owned).ok_or_else(|| io::ErrorKind::NotFound.into())
                })
            }
        }
    }
}

fn name_of(path: &Path) -> Option<String> {
    path.file_name().map(|name| name.to_string_lossy().into_owned())
}
