//! Size and legend of a figure, for all kinds.

use crate::canvas::Size;

haggle_model::words! {
    /// Place of a figure's legend.
    pub enum LegendPlace {
        /// Beside the plot.
        Beside = "beside",
        /// Above the plot, in lines.
        Above = "above",
        /// No legend.
        None = "none",
    }
}

/// The size of a figure, and the place of its legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Width and height.
    pub size: Size,
    /// Place of the legend; by default, above the plot if it would take much of its width.
    pub legend: Option<LegendPlace>,
}

impl From<Size> for Look {
    fn from(size: Size) -> Look {
        Look { size, legend: None }
    }
}
