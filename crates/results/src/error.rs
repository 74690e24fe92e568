//! Errors of folders of results. Every message names the path and a remedy.

use std::io;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;

/// Reason why results could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The output folder exists already.
    #[error(
        "`{path}` exists already and stays as it is: name another folder, or replace it with \
         --force",
        path = path.display()
    )]
    FolderExists {
        /// The requested folder.
        path: PathBuf,
    },
    /// `--force` was given for a folder that holds something other than a run.
    #[error(
        "`{path}` does not hold a run (no {marker} in it), so --force will not replace it: name another folder",
        path = path.display(),
        marker = crate::folder::MARKER
    )]
    NotARun {
        /// The requested folder.
        path: PathBuf,
    },
    /// Another run is writing into the folder.
    #[error(
        "another run is writing `{path}` now: wait until it has ended, or name another folder",
        path = path.display()
    )]
    InUse {
        /// The requested folder.
        path: PathBuf,
    },
    /// The output folder is a link that leads to nothing.
    #[error("`{path}` is a link to a missing file: remove it, or name another \
             folder", path = path.display())]
    DeadLink {
        /// The requested folder.
        path: PathBuf,
    },
    /// The path has no last part that could name a folder.
    #[error("`{path}` cannot name a folder of results: write a path that ends in a name", path = path.display())]
    NoName {
        /// The requested path.
        path: PathBuf,
    },
    /// The disk is full.
    #[error(
        "no space left while writing `{path}`: free some, or write less (no messages, one format)",
        path = path.display()
    )]
    DiskFull {
        /// The file that was being written.
        path: PathBuf,
    },
    /// A file may not grow any more.
    #[error(
        "`{path}` has reached the limit of file sizes (`ulimit -f`): raise it, or write less (no \
         messages, one format)",
        path = path.display()
    )]
    FileTooLarge {
        /// The file that was being written.
        path: PathBuf,
    },
    /// Any other trouble while writing.
    #[error("cannot write `{path}`: {source}", path = path.display())]
    Write {
        /// The file or folder that was being written.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// A file cannot be read.
    #[error("cannot read `{path}`: {source}", path = path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// A folder of results lacks a table.
    #[error("`{folder}` has neither {table}.parquet nor {table}.csv", folder = folder.display())]
    MissingTable {
        /// The folder of the run.
        folder: PathBuf,
        /// The requested table.
        table: &'static str,
    },
    /// A table lacks a column.
    #[error("`{path}` has no column `{column}`", path = path.display())]
    MissingColumn {
        /// The file.
        path: PathBuf,
        /// The requested column.
        column: String,
    },
    /// A column holds values of another type than expected.
    #[error("`{path}`, column `{column}`: expected {expected}, found {found}", path = path.display())]
    WrongType {
        /// The file.
        path: PathBuf,
        /// The requested column.
        column: String,
        /// Expected type.
        expected: &'static str,
        /// Type that was found.
        found: String,
    },
    /// A run is in a form that this program does not read.
    #[error(
        "`{folder}` was written by another version of haggle ({version}, build {build}), in a \
         format that this version cannot read: run its scenario.toml again",
        folder = folder.display()
    )]
    OtherFormat {
        /// The folder of the run.
        folder: PathBuf,
        /// The version that wrote it.
        version: String,
        /// Its build.
        build: String,
    },
    /// The process has opened as many files as it may.
    #[error(
        "`{path}` cannot be opened: as many files are open as the limit allows (`ulimit -n`); raise it, or carry out \
         fewer runs at once (`--jobs 1`)",
        path = path.display()
    )]
    TooManyOpenFiles {
        /// The file that was to be opened.
        path: PathBuf,
    },
    /// The content of a file does not fit its name.
    #[error("`{path}` is damaged: {reason}", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The defect.
        reason: String,
    },
}

impl ResultsError {
    /// True if an input cannot be read or is not as expected. If false, the error is about the place
    /// for results.
    pub fn is_read(&self) -> bool {
        match self {
            ResultsError::FolderExists { .. }
            | ResultsError::NotARun { .. }
            | ResultsError::InUse { .. }
            | ResultsError::DeadLink { .. }
            | ResultsError::NoName { .. }
            | ResultsError::DiskFull { .. }
            | ResultsError::FileTooLarge { .. }
            | ResultsError::TooManyOpenFiles { .. }
            | ResultsError::Write { .. } => false,
            ResultsError::Read { .. }
            | ResultsError::MissingTable { .. }
            | ResultsError::MissingColumn { .. }
            | ResultsError::WrongType { .. }
            | ResultsError::OtherFormat { .. }
            | ResultsError::Damaged { .. } => true,
        }
    }

    /// A failure to write `path`.
    pub fn write(path: &Path, source: io::Error) -> ResultsError {
        let path = path.to_owned();
        if is_limit_of_open_files(&source) {
            return ResultsError::TooManyOpenFiles { path };
        }
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                ResultsError::DiskFull { path }
            }
            io::ErrorKind::FileTooLarge => ResultsError::FileTooLarge { path },
            _ => ResultsError::Write { path, source },
        }
    }

    /// A failure to read `path`.
    pub fn read(path: &Path, source: io::Error) -> ResultsError {
        let path = path.to_owned();
        match is_limit_of_open_files(&source) {
            true => ResultsError::TooManyOpenFiles { path },
            false => ResultsError::Read { path, source },
        }
    }

    pub(crate) fn damaged(path: &Path, reason: impl ToString) -> ResultsError {
        ResultsError::Damaged { path: path.to_owned(), reason: reason.to_string() }
    }

    /// The Parquet library wraps errors of the system; this function unwraps them.
    pub(crate) fn write_parquet(path: &Path, error: ParquetError) -> ResultsError {
        let source = match error {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(io) => *io,
                Err(other) => io::Error::other(other.to_string()),
            },
            other => io::Error::other(other.to_string()),
        };
        ResultsError::write(path, source)
    }
}

/// True if the process or the machine has reached its limit of open files. The standard library
/// has no kind of error for it.
fn is_limit_of_open_files(error: &io::Error) -> bool {
    const EMFILE: i32 = 24;
    const ENFILE: i32 = 23;
    cfg!(unix) && matches!(error.raw_os_error(), Some(EMFILE | ENFILE))
}
