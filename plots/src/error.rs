//! Why a figure could not be drawn.

use std::path::PathBuf;

use haggle_results::ResultsError;

/// Why a figure could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// There is nothing to draw.
    #[error("\"{title}\" cannot be drawn: {reason}")]
    NoData {
        /// The figure's title.
        title: String,
        /// What is missing.
        reason: &'static str,
    },
    /// The run has no such job.
    #[error("the run has no job {0}")]
    NoJob(String),
    /// No run has a value of what is to be drawn.
    #[error("{0}")]
    NoValues(String),
    /// The figure cannot show what it is asked for.
    #[error("{0}")]
    Unsuitable(String),
    /// The file's name does not say how to draw.
    #[error("`{path}` is no name of a figure: it must end in .png, .svg or .pdf", path = path.display())]
    UnknownEnding {
        /// The path that was asked for.
        path: PathBuf,
    },
    /// The canvas is too small or too large.
    #[error(
        "a figure of {width} x {height} pixels cannot be drawn: use 400 x 300 to 10000 x 10000"
    )]
    BadSize {
        /// Pixels.
        width: u32,
        /// Pixels.
        height: u32,
    },
    /// The file cannot be written.
    #[error("cannot write `{path}`: {source}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The plotting library failed.
    #[error("drawing failed: {0}")]
    Drawing(String),
    /// The results cannot be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
}

impl PlotError {
    /// True if the run lacks what would be drawn: another run of the same scenario may have it.
    pub fn is_absence(&self) -> bool {
        matches!(self, PlotError::NoData { .. } | PlotError::NoJob(_) | PlotError::NoValues(_))
    }
}
