//! Reasons why a dump cannot be imported.

use std::io;
use std::path::PathBuf;

use haggle_workloads::WorkloadError;

/// Reason why a dump cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file of the dump cannot be read.
    #[error("{}: {error}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file of the dump is not what its name says.
    #[error("{}: {problem}", file.display())]
    Unfit {
        /// The file.
        file: PathBuf,
        /// Description of the problem.
        problem: String,
    },
    /// A value in a file of the dump cannot be read.
    #[error("{}, line {line}: {name} is `{found}`; expected {expected}", file.display())]
    Value {
        /// The file.
        file: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// Name of the value.
        name: String,
        /// Its text.
        found: String,
        /// Description of the expected text.
        expected: &'static str,
    },
    /// The jobs of the dump cannot be read.
    #[error(transparent)]
    Jobs(#[from] WorkloadError),
}
