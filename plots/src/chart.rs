//! Common parts of charts. A chart draws its data into a panel, alone in a figure or beside others.

use crate::axis::Axis;
use crate::error::PlotError;
use crate::frame::{self, Panel, Plan};
use crate::legend::Key;
use crate::look::Look;
use crate::palette::INK;
use crate::scene::{Colour, Scene};

/// Data that one panel shows.
pub(crate) trait Chart {
    /// Title above the figure, or above the panel.
    fn title(&self) -> &str;
    /// Label of the y axis.
    fn y_label(&self) -> &str;
    /// The lowest and highest value of the y axis, or the reason why there is nothing to draw.
    fn y_range(&self) -> Result<(f64, f64), &'static str>;
    /// The y axis for this range, which several charts may share.
    fn y_axis(&self, label: &str, range: (f64, f64)) -> Axis;
    /// The x axis in `room` pixels.
    fn x_axis(&self, room: f64) -> Axis;
    /// Common label of the entries of the legend; empty if it is obvious.
    fn legend_label(&self) -> &str {
        ""
    }
    /// The meaning of the colours; empty if there is only one.
    fn legend(&self) -> Vec<Key>;
    /// Draws the data.
    fn draw(&self, scene: &mut Scene, panel: &Panel);
}

/// A figure of one chart.
pub(crate) fn alone(chart: &impl Chart, look: Look) -> Result<Scene, PlotError> {
    let range = chart
        .y_range()
        .map_err(|reason| PlotError::NoData { title: chart.title().to_owned(), reason })?;
    let plan = Plan {
        title: chart.title().to_owned(),
        legend_label: chart.legend_label().to_owned(),
        legend: chart.legend(),
        panels: vec![(chart.y_axis(chart.y_label(), range), 1.0)],
        ..Plan::default()
    };
    let (left, right) = frame::room(&plan, look);
    let x = chart.x_axis(right - left);
    let (mut scene, panels) = frame::draw(plan, x, look)?;
    for panel in &panels {
        chart.draw(&mut scene, panel);
    }
    frame::close(&mut scene, &panels);
    Ok(scene)
}

/// The range of values with their spreads. Amounts start at 0, where intervals are cut.
pub(crate) fn range(values: &mut dyn Iterator<Item = (f64, f64, f64)>) -> Option<(f64, f64)> {
    let (mut lowest, mut reach) = (0.0, None);
    for (mean, bottom, top) in values {
        let (low, high) = reach.unwrap_or((bottom, top));
        // Only means count: an interval that reaches below 0 does not make amounts negative.
        lowest = f64::min(lowest, mean);
        reach = Some((f64::min(low, bottom), f64::max(high, top)));
    }
    reach.map(|(low, high)| (if lowest < 0.0 { low } else { 0.0 }, high))
}

/// The range of differences with their spreads, and 0.
pub(crate) fn around_zero(values: &mut dyn Iterator<Item = (f64, f64, f64)>) -> Option<(f64, f64)> {
    let reach = values.map(|(_, bottom, top)| (bottom, top));
    let (low, high) = reach.reduce(|all, it| (all.0.min(it.0), all.1.max(it.1)))?;
    Some((low.min(0.0), high.max(0.0)))
}

/// The line of zero difference.
pub(crate) fn zero_line(scene: &mut Scene, panel: &Panel) {
    let y = panel.y(0.0);
    scene.line(vec![(panel.left, y), (panel.right, y)], INK, 2);
}

/// The value at which intervals are cut: 100 if the label has the unit percent and all means are at
/// most 100, otherwise none.
pub(crate) fn end(label: &str, mut means: impl Iterator<Item = f64>) -> f64 {
    let parts = label.contains(", %") && means.all(|mean| mean <= 100.0);
    if parts { 100.0 } else { f64::INFINITY }
}

/// An axis from 0 for amounts, or from below 0 if there are negative values.
pub(crate) fn amounts_or_range(label: &str, (low, high): (f64, f64)) -> Axis {
    if low >= 0.0 {
        return Axis::amounts(label, high, 6);
    }
    // Amounts are read from 0, so the axis has it even if all of them are below.
    let edge = (high.max(0.0) - low) * 0.05;
    Axis::linear(label, low - edge, high.max(0.0) + edge, 6)
}

/// The spread of a value as a vertical whisker. It has no cap where the axis ends before it.
pub(crate) fn whisker(
    scene: &mut Scene,
    panel: &Panel,
    x: f64,
    (low, high): (f64, f64),
    colour: Colour,
) {
    // Beyond the end of the axis, the whisker would be a dot on its edge.
    if panel.y(low) == panel.y(high) && !panel.y.shows(low) {
        return;
    }
    scene.line(vec![(x, panel.y(high)), (x, panel.y(low))], colour, 2);
    for value in [high, low].into_iter().filter(|&it| panel.y.shows(it)) {
        let y = panel.y(value);
        scene.line(vec![(x - 8.0, y), (x + 8.0, y)], colour, 2);
    }
}
