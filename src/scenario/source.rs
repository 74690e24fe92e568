//! The text of a scenario and where it came from.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

/// The text of a scenario and the path it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The path as it was given; paths inside the scenario start from its folder.
    pub path: PathBuf,
    /// The text, shared with the problems that point into it.
    pub text: Arc<str>,
}

/// Why a scenario file could not even be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read `{}`: {error}", path.display())]
pub struct ReadError {
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    #[source]
    pub error: io::Error,
}

impl Source {
    /// A text that stands for the file at `path`.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<Arc<str>>) -> Source {
        Source { path: path.into(), text: text.into() }
    }

    /// Reads the file at `path`.
    pub fn read(path: &Path) -> Result<Source, ReadError> {
        match fs::read_to_string(path) {
            Ok(text) => Ok(Source::new(path, text)),
            Err(error) => Err(ReadError { path: path.to_owned(), error }),
        }
    }

    /// The folder from which the scenario's relative paths start.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// The file's name without its ending: what the scenario is called unless it says otherwise.
    pub fn stem(&self) -> String {
        self.path
            .file_stem()
            .map_or_else(|| "scenario".into(), |stem| stem.to_string_lossy().into())
    }
}
