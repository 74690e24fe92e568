//! The formats of pictures.

use std::path::Path;

use crate::error::PlotError;

haggle_model::words! {
    /// Image format of a figure.
    #[derive(Default)]
    pub enum ImageFormat {
        /// Pixels.
        #[default]
        Png = "png",
        /// Lines that stay sharp at any size, for pages on screens.
        Svg = "svg",
        /// The same, for papers.
        Pdf = "pdf",
    }
}

impl ImageFormat {
    /// The format of a file, whose name ends in its word.
    ///
    /// # Errors
    /// If its ending is that of none.
    pub fn of(path: &Path) -> Result<ImageFormat, PlotError> {
        let ending = path.extension().unwrap_or_default();
        let found = ImageFormat::ALL.into_iter().find(|format| ending == format.name());
        found.ok_or_else(|| PlotError::UnknownEnding { path: path.to_owned() })
    }
}
