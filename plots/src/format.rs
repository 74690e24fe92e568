//! The formats of pictures.

use std::path::Path;

use crate::error::PlotError;

/// In which format a figure is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Pixels.
    Png,
    /// Shapes and texts, for pages on screens.
    Svg,
    /// Shapes, for papers.
    Pdf,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 3] = [Format::Png, Format::Svg, Format::Pdf];

    /// How names of such files end.
    pub const fn ending(self) -> &'static str {
        match self {
            Format::Png => "png",
            Format::Svg => "svg",
            Format::Pdf => "pdf",
        }
    }

    /// The format of a file of this name.
    ///
    /// # Errors
    /// If its ending is that of none.
    pub fn of(path: &Path) -> Result<Format, PlotError> {
        let ending = path.extension().unwrap_or_default();
        let found = Format::ALL.into_iter().find(|format| ending == format.ending());
        found.ok_or_else(|| PlotError::UnknownEnding { path: path.to_owned() })
    }
}
