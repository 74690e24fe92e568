//! How a figure looks, whatever it shows.

use crate::canvas::Size;

haggle_model::words! {
    /// Where the legend of a figure stands.
    pub enum LegendPlace {
        /// Beside the plot.
        Beside = "beside",
        /// Above the plot, in lines.
        Above = "above",
        /// Nowhere: there is no legend.
        None = "none",
    }
}

/// The size of a figure, and where its legend stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Width and height.
    pub size: Size,
    /// Where the legend stands; without it, above the plot where it would take much of its width.
    pub legend: Option<LegendPlace>,
}

impl From<Size> for Look {
    fn from(size: Size) -> Look {
        Look { size, legend: None }
    }
}
