//! Errors of drawing a figure.

use std::path::PathBuf;

use haggle_results::ResultsError;

/// Reason why a figure could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// There is nothing to draw.
    #[error("\"{title}\" cannot be drawn: {reason}")]
    NoData {
        /// The figure's title.
        title: String,
        /// The missing data.
        reason: &'static str,
    },
    /// The run has no such job.
    #[error("the run has no job {0}")]
    NoJob(String),
    /// No run has a value of the requested quantity.
    #[error("{0}")]
    NoValues(String),
    /// The figure does not support the request.
    #[error("{0}")]
    Unsuitable(String),
    /// The file's name has no ending of a known format.
    #[error("`{path}` is no name of a figure: it must end in .png, .svg or .pdf", path = path.display())]
    UnknownEnding {
        /// The requested path.
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
        /// Error of the system.
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
    /// True if this run lacks the data. Another run of the same scenario may have them.
    pub fn is_absence(&self) -> bool {
        matches!(self, PlotError::NoData { .. } | PlotError::NoJob(_) | PlotError::NoValues(_))
    }
}
