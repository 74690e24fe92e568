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
        /// Vector graphics for screens.
        Svg = "svg",
        /// Vector graphics for papers.
        Pdf = "pdf",
    }
}

impl ImageFormat {
    /// The format of a file with this ending.
    ///
    /// # Errors
    /// If the ending belongs to no format.
    pub fn of(path: &Path) -> Result<ImageFormat, PlotError> {
        let ending = path.extension().unwrap_or_default();
        let found = ImageFormat::ALL.into_iter().find(|format| ending == format.name());
        found.ok_or_else(|| PlotError::UnknownEnding { path: path.to_owned() })
    }
}
