//! Figures that a command draws into a file of the user's choice.

use std::io::Write;
use std::path::Path;

use haggle_plots::{Figure, ImageFormat, Size};

use super::Error;
use super::output::{self, Output, failed};

/// Checks that a figure can be drawn into `path`, before any input is read.
pub(crate) fn check(path: &Path, force: bool) -> Result<(), Error> {
    ImageFormat::of(path)?;
    output::check_free(path, force)
}

/// Draws into `path`. The file is complete or does not exist.
pub(crate) fn draw(figure: &Figure, size: Size, path: &Path, force: bool) -> Result<(), Error> {
    // Drawn before the file is opened, so that a figure without data leaves none.
    let bytes = figure.bytes(ImageFormat::of(path)?, size)?;
    let mut out = Output::create(path, force)?;
    out.write_all(&bytes).map_err(|error| failed(path, error))?;
    out.finish()
}
