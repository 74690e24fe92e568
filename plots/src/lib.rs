//! Draws results as PNG, SVG or PDF. This crate runs no simulation.
//!
//! ```text
//! RunReader ──> load ──> Figure ──> Scene (a list of shapes) ──> canvas ──> PNG, SVG
//!                                                           └──> pdf ─────> PDF
//! ```
//!
//! A figure is plain data. Drawing it gives a list of shapes, which tests can examine. Only [`canvas`]
//! uses the plotting library. Figures have the same pixels on every machine, because the font is part
//! of the program.

pub mod ask;
pub mod attempts;
pub mod bars;
pub mod boxes;
pub mod canvas;
pub mod distribution;
pub mod format;
pub mod gantt;
pub mod graph;
pub mod grouping;
pub mod job_timeline;
pub mod kind;
pub mod lines;
pub mod load;
pub mod look;
pub mod panels;
pub mod resource_timeline;
pub mod scatter;
pub mod scene;
pub mod sequence;
pub mod timeline;
pub mod usage_shares;
pub mod workflow_timeline;

mod axis;
mod chart;
mod dates;
mod error;
mod frame;
mod legend;
mod owners;
mod palette;
mod pattern;
mod pdf;
mod strokes;
mod type_face;

use std::fs;
use std::path::Path;

pub use ask::{Ask, JobName};
pub use attempts::{AttemptBar, CheckpointMark, Outage};
pub use axis::{Limits, YScale, time_unit};
pub use bars::{BarChart, BarSeries, Histogram};
pub use boxes::{BoxChart, BoxSeries, BoxStyle};
pub use canvas::Size;
pub use distribution::{DistributionFigure, Quantity, Sample};
pub use error::PlotError;
pub use format::ImageFormat;
pub use gantt::{BarLabels, Gantt, GanttBar, GanttLoss, GanttNode, GanttOutage, GanttProvider};
pub use graph::{GraphTask, TaskGraph};
pub use grouping::Grouping;
pub use job_timeline::{JobAttempt, JobTimeline};
pub use kind::{FigureKind, Shown};
pub use lines::{LineAxis, LineChart, LineSeries, SweepPoint};
pub use look::{LegendPlace, Look};
pub use panels::{PanelCharts, Panels};
pub use resource_timeline::{ResourceLanes, ResourceTimeline};
pub use scatter::{ScatterChart, ScatterPoint};
pub use scene::Scene;
pub use sequence::{Sequence, SequenceMessage};
pub use timeline::{Held, Shows, Timeline, TimelinePart};
pub use usage_shares::{UsageLine, UsagePart, UsageShares};
pub use workflow_timeline::{TaskAttempt, TaskInput, WorkflowPlace, WorkflowTimeline};

/// Something to draw.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// Jobs on processors over time, a panel for each provider.
    Gantt(Gantt),
    /// Busy processors or waiting jobs over time.
    Timeline(Timeline),
    /// Shares of usage over time against target shares.
    UsageShares(UsageShares),
    /// The slots of resources of a grid over time.
    ResourceTimeline(ResourceTimeline),
    /// A job of a grid across its attempts.
    JobTimeline(JobTimeline),
    /// A workflow over time, with lanes for each provider or resource that ran its tasks.
    WorkflowTimeline(WorkflowTimeline),
    /// Messages between actors about one job.
    Sequence(Sequence),
    /// Empirical distribution functions.
    Distribution(DistributionFigure),
    /// Means with their spreads over an axis of a sweep.
    Lines(LineChart),
    /// Means with their spreads for categories.
    Bars(BarChart),
    /// Distributions of values, for categories.
    Boxes(BoxChart),
    /// One metric against another.
    Scatter(ScatterChart),
    /// Charts beside each other.
    Panels(Panels),
    /// Counts of bins.
    Histogram(Histogram),
    /// Tasks of a workflow by levels.
    TaskGraph(TaskGraph),
}

impl Figure {
    /// The figure as a list of shapes.
    ///
    /// # Errors
    /// If there is nothing to draw.
    pub fn scene(&self, look: impl Into<Look>) -> Result<Scene, PlotError> {
        let look = look.into();
        match self {
            Figure::Gantt(figure) => figure.scene(look),
            Figure::Timeline(figure) => figure.scene(look),
            Figure::UsageShares(figure) => figure.scene(look),
            Figure::ResourceTimeline(figure) => figure.scene(look),
            Figure::JobTimeline(figure) => figure.scene(look),
            Figure::WorkflowTimeline(figure) => figure.scene(look),
            Figure::Sequence(figure) => figure.scene(look),
            Figure::Distribution(figure) => figure.scene(look),
            Figure::Lines(figure) => chart::alone(figure, look),
            Figure::Bars(figure) => chart::alone(figure, look),
            Figure::Boxes(figure) => chart::alone(figure, look),
            Figure::Scatter(figure) => chart::alone(figure, look),
            Figure::Panels(figure) => figure.scene(look),
            Figure::Histogram(figure) => figure.scene(look),
            Figure::TaskGraph(figure) => figure.scene(look),
        }
    }

    /// The default size of this figure.
    pub fn size(&self) -> Size {
        match self {
            Figure::Gantt(figure) => figure.size(),
            Figure::Timeline(figure) => figure.size(),
            Figure::UsageShares(figure) => figure.size(),
            Figure::ResourceTimeline(figure) => figure.size(),
            Figure::Panels(figure) => figure.size(),
            _ => Size::default(),
        }
    }

    /// The figure as the bytes of a PNG file.
    ///
    /// # Errors
    /// If there is nothing to draw.
    pub fn png(&self, look: impl Into<Look>) -> Result<Vec<u8>, PlotError> {
        canvas::png(&self.scene(look)?)
    }

    /// The figure as the text of an SVG file.
    ///
    /// # Errors
    /// If there is nothing to draw.
    pub fn svg(&self, look: impl Into<Look>) -> Result<String, PlotError> {
        canvas::svg(&self.scene(look)?)
    }

    /// The figure as the bytes of a PDF file of one page.
    ///
    /// # Errors
    /// If there is nothing to draw.
    pub fn pdf(&self, look: impl Into<Look>) -> Result<Vec<u8>, PlotError> {
        pdf::pdf(&self.scene(look)?)
    }

    /// The figure as the bytes of a file in this format.
    ///
    /// # Errors
    /// If there is nothing to draw.
    pub fn bytes(&self, format: ImageFormat, look: impl Into<Look>) -> Result<Vec<u8>, PlotError> {
        match format {
            ImageFormat::Png => self.png(look),
            ImageFormat::Svg => self.svg(look).map(String::into_bytes),
            ImageFormat::Pdf => self.pdf(look),
        }
    }

    /// Draws the figure into `path`, whose ending determines the format.
    ///
    /// # Errors
    /// If there is nothing to draw, the ending is unknown, or the file cannot be written.
    pub fn draw(&self, path: &Path, look: impl Into<Look>) -> Result<(), PlotError> {
        let bytes = self.bytes(ImageFormat::of(path)?, look)?;
        // The file is renamed when it is complete, so that the final name never has a part of a figure.
        let mut partial = path.as_os_str().to_owned();
        // Behind the ending, because another format may be drawn under the same name at the same time.
        partial.push(".partial");
        fs::write(&partial, bytes)
            .and_then(|()| fs::rename(&partial, path))
            .map_err(|source| PlotError::Write { path: path.to_owned(), source })
    }
}
