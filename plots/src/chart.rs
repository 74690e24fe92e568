//! What charts have in common: each draws its data into a panel, alone in a figure or
//! beside others.

use crate::axis::Axis;
use crate::canvas::Size;
use crate::error::PlotError;
use crate::frame::{self, Panel, Plan};
use crate::legend::Key;
use crate::scene::{Colour, Scene};

/// Data that one panel shows.
pub(crate) trait Chart {
    /// Above the figure, or above the panel.
    fn title(&self) -> &str;
    /// Label of the y axis.
    fn y_label(&self) -> &str;
    /// The lowest and highest value of the y axis, or why there is nothing to draw.
    fn y_range(&self) -> Result<(f64, f64), &'static str>;
    /// The y axis for this range, which may be that of several charts.
    fn y_axis(&self, label: &str, range: (f64, f64)) -> Axis;
    /// The x axis in so many pixels.
    fn x_axis(&self, room: f64) -> Axis;
    /// What the entries of the legend are values of; empty if that is plain.
    fn legend_label(&self) -> &str {
        ""
    }
    /// What the colours mean; empty where there is nothing to tell apart.
    fn legend(&self) -> Vec<Key>;
    /// Draws the data.
    fn draw(&self, scene: &mut Scene, panel: &Panel);
}

/// A figure of one chart.
pub(crate) fn alone(chart: &impl Chart, size: Size) -> Result<Scene, PlotError> {
    let range = chart
        .y_range()
        .map_err(|reason| PlotError::NoData { title: chart.title().to_owned(), reason })?;
    let plan = Plan {
        title: chart.title().to_owned(),
        legend_label: chart.legend_label().to_owned(),
        legend: chart.legend(),
        panels: vec![(chart.y_axis(chart.y_label(), range), 1.0)],
    };
    let (left, right) = frame::room(&plan, size);
    let x = chart.x_axis(right - left);
    let (mut scene, panels) = frame::draw(plan, x, size)?;
    for panel in &panels {
        chart.draw(&mut scene, panel);
    }
    frame::close(&mut scene, &panels);
    Ok(scene)
}

/// The range of values with their spreads. Amounts start at 0: what of an interval reaches below
/// is cut there.
pub(crate) fn range(values: impl Iterator<Item = (f64, f64, f64)> + Clone) -> Option<(f64, f64)> {
    values.clone().next()?;
    let high = values.clone().map(|(.., top)| top).fold(f64::NEG_INFINITY, f64::max);
    let low = match values.clone().all(|(mean, ..)| mean >= 0.0) {
        true => 0.0,
        false => values.map(|(_, bottom, _)| bottom).fold(f64::INFINITY, f64::min),
    };
    Some((low, high))
}

/// Where intervals are cut: at 100 if all means are parts of a whole, whose label has the unit percent.
pub(crate) fn end(label: &str, mut means: impl Iterator<Item = f64>) -> f64 {
    let parts = label.contains(", %") && means.all(|mean| mean <= 100.0);
    if parts { 100.0 } else { f64::INFINITY }
}

/// An axis from 0 for amounts; from below 0 where there are negative values.
pub(crate) fn amounts_or_range(label: &str, (low, high): (f64, f64)) -> Axis {
    if low >= 0.0 {
        return Axis::amounts(label, high, 6);
    }
    let edge = (high.max(0.0) - low) * 0.05;
    Axis::linear(label, low - edge, high.max(0.0) + edge, 6)
}

/// The spread of a value, upright.
pub(crate) fn whisker(scene: &mut Scene, x: f64, top: f64, bottom: f64, colour: Colour) {
    scene.line(vec![(x, top), (x, bottom)], colour, 2);
    for y in [top, bottom] {
        scene.line(vec![(x - 8.0, y), (x + 8.0, y)], colour, 2);
    }
}
