//! Small multiples: charts of one kind side by side, with one legend.
//!
//! ```text
//! title
//! ■ one  ■ two  ■ three
//! label of the y axis
//!   local       external    global
//! 1 ┤           │           │
//! 0 ┼────────   ┼────────   ┼────────
//!    label of the x axis
//! ```
//! Panels with the same quantity share their y axis, so that heights can be compared. Labels or axes
//! that differ are drawn at each panel.

use crate::axis::{Axis, TICK_SIZE};
use crate::bars::BarChart;
use crate::boxes::BoxChart;
use crate::canvas::Size;
use crate::chart::Chart;
use crate::error::PlotError;
use crate::frame::{self, LABEL_SIZE, MARGIN, Panel};
use crate::legend::{self, Key};
use crate::lines::LineChart;
use crate::look::{LegendPlace, Look};
use crate::palette::INK;
use crate::scatter::ScatterChart;
use crate::scene::{Anchor, Scene};
use crate::type_face::{fitted, width, wrapped};

/// Charts side by side; the title of each is above its panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Panels {
    /// Title above the figure.
    pub title: String,
    /// The charts, all of one kind, with the same series.
    pub charts: PanelCharts,
    /// True if each panel has a y axis of its own, although all show the same quantity.
    pub own_scales: bool,
}

/// Charts of the panels.
#[derive(Clone, Debug, PartialEq)]
pub enum PanelCharts {
    /// Bars.
    Bars(Vec<BarChart>),
    /// Boxes.
    Boxes(Vec<BoxChart>),
    /// Lines.
    Lines(Vec<LineChart>),
    /// Points.
    Scatter(Vec<ScatterChart>),
}

impl PanelCharts {
    fn each(&self) -> Vec<&dyn Chart> {
        fn all<C: Chart>(charts: &[C]) -> Vec<&dyn Chart> {
            charts.iter().map(|chart| chart as &dyn Chart).collect()
        }
        match self {
            PanelCharts::Bars(charts) => all(charts),
            PanelCharts::Boxes(charts) => all(charts),
            PanelCharts::Lines(charts) => all(charts),
            PanelCharts::Scatter(charts) => all(charts),
        }
    }
}

/// Height of the panels' titles, pixels.
const NAME_SIZE: f64 = 28.0;
/// Distance between panels, pixels.
const GAP: f64 = 30.0;

/// Number of panels in a row that stay readable.
fn columns(panels: usize) -> usize {
    match panels {
        0 => 1,
        1..=3 => panels,
        4 => 2,
        _ => 3,
    }
}

impl Panels {
    /// A size in which every panel can be read.
    pub fn size(&self) -> Size {
        let panels = self.charts.each().len();
        let rows = panels.div_ceil(columns(panels)) as u32;
        Size { width: 1600, height: 300 + 500 * rows.clamp(1, 12) }
    }

    pub(crate) fn scene(&self, look: Look) -> Result<Scene, PlotError> {
        let charts = self.charts.each();
        let ranges: Vec<Result<(f64, f64), &str>> =
            charts.iter().map(|chart| chart.y_range()).collect();
        let known = || ranges.iter().filter_map(|range| range.ok());
        let Some(whole) = known().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) else {
            let reason = ranges.first().and_then(|range| range.err()).unwrap_or("it has no panel");
            return Err(PlotError::NoData { title: self.title.clone(), reason });
        };
        let same_label = charts.iter().all(|chart| chart.y_label() == charts[0].y_label());
        let shared = same_label && !self.own_scales;
        let axes: Vec<Axis> = charts
            .iter()
            .zip(&ranges)
            // A panel without data still gets an axis, because its place must be visible.
            .map(|(chart, range)| match shared {
                true => chart.y_axis(chart.y_label(), whole),
                false => chart.y_axis(chart.y_label(), range.unwrap_or((0.0, 1.0))),
            })
            .collect();
        let mut scene = Scene::new(look.size)?;
        let top = self.draw_head(&mut scene, &charts, same_label, look.legend);
        let grid =
            Grid::new(&scene, &charts, &axes, Share { axis: shared, label: same_label }, top);
        for (i, (chart, y)) in charts.iter().zip(axes).enumerate() {
            grid.draw(&mut scene, i, *chart, y);
        }
        grid.draw_x_label(&mut scene);
        Ok(scene)
    }

    /// Draws everything above the panels and returns its lower end.
    fn draw_head(
        &self,
        scene: &mut Scene,
        charts: &[&dyn Chart],
        same_label: bool,
        place: Option<LegendPlace>,
    ) -> f64 {
        let mut y = frame::draw_title(scene, &self.title).max(MARGIN) - 3.0;
        let mut legend: Vec<Key> = Vec::new();
        for entry in charts.iter().flat_map(|chart| chart.legend()) {
            // Panels usually have the same series, with one entry for all.
            if !legend.contains(&entry) {
                legend.push(entry);
            }
        }
        if !legend.is_empty() && place != Some(LegendPlace::None) {
            y = legend::draw_above(scene, charts[0].legend_label(), &legend, (y, usize::MAX));
        }
        if same_label {
            let wide = f64::from(scene.size.width) - 2.0 * MARGIN;
            let label = wrapped(charts[0].y_label(), LABEL_SIZE, wide, 2);
            frame::draw_label(scene, &label, y + 8.0);
            y += 8.0 + frame::label_height(label.len());
        }
        y
    }
}

/// Common parts of all panels.
#[derive(Clone, Copy)]
struct Share {
    axis: bool,
    label: bool,
}

/// Positions of the panels.
struct Grid {
    share: Share,
    columns: usize,
    count: usize,
    /// Upper end of the first row.
    top: f64,
    /// Height of a row, with its titles and ticks.
    height: f64,
    /// Width of a panel.
    width: f64,
    /// Room for the ticks of y axes: at the left of all, and between panels.
    ticks: (f64, f64),
    /// Rows of tick labels below a panel.
    tick_rows: usize,
    /// The label of all x axes, unless they differ.
    x_label: Option<String>,
    label_at: (f64, f64),
}

impl Grid {
    fn new(scene: &Scene, charts: &[&dyn Chart], axes: &[Axis], share: Share, top: f64) -> Grid {
        let columns = columns(charts.len());
        let rows = charts.len().div_ceil(columns) as f64;
        let tick = |(_, text): &(f64, String)| width(text, TICK_SIZE);
        let first = axes.iter().flat_map(|axis| &axis.ticks).map(tick).fold(30.0, f64::max) + 14.0;
        let between = GAP + if share.axis { 0.0 } else { first };
        let wide = f64::from(scene.size.width) - MARGIN - first - MARGIN - 10.0;
        let width = (wide - between * (columns as f64 - 1.0)) / columns as f64;
        // The axis adds a unit to its label, which depends on the range.
        let below = Vec::from_iter(charts.iter().map(|chart| chart.x_axis(width)));
        let tick_rows = below.iter().map(|axis| axis.rows).max().unwrap_or(1);
        let labels = Vec::from_iter(below.into_iter().map(|axis| axis.label));
        let same_x = labels.iter().all(|label| *label == labels[0]);
        let label_room = LABEL_SIZE + 14.0;
        let below = MARGIN / 2.0 + if same_x { label_room } else { 0.0 };
        let bottom = f64::from(scene.size.height) - below;
        Grid {
            share,
            columns,
            count: charts.len(),
            top,
            height: (bottom - top) / rows,
            width,
            ticks: (first, between),
            tick_rows,
            x_label: labels.into_iter().next().filter(|_| same_x),
            label_at: (f64::from(scene.size.width) / 2.0, bottom + LABEL_SIZE / 2.0),
        }
    }

    /// Draws the panel with this number.
    fn draw(&self, scene: &mut Scene, number: usize, chart: &dyn Chart, y: Axis) {
        let (row, column) = (number / self.columns, number % self.columns);
        let left = MARGIN + self.ticks.0 + (self.width + self.ticks.1) * column as f64;
        let right = left + self.width;
        let row_top = self.top + self.height * row as f64;
        let mut top = row_top + 12.0 + NAME_SIZE / 2.0;
        // Titles begin at the axis, or at its ticks if panels have labels of their own.
        let text_left = if self.share.label { left } else { left - self.ticks.0 };
        let name = fitted(chart.title(), NAME_SIZE, right - text_left);
        scene.text((text_left, top), &name, NAME_SIZE, INK, Anchor::Start);
        top += NAME_SIZE / 2.0;
        if !self.share.label {
            top += 8.0 + LABEL_SIZE / 2.0;
            let label = fitted(chart.y_label(), LABEL_SIZE, right - text_left);
            scene.text((text_left, top), &label, LABEL_SIZE, INK, Anchor::Start);
            top += LABEL_SIZE / 2.0;
        }
        top += 18.0;
        let below = frame::ticks_height(self.tick_rows)
            + if self.x_label.is_some() { 8.0 } else { 20.0 + LABEL_SIZE };
        // In a figure that is too low for its rows, panels are flat instead of upside down.
        let bottom = (row_top + self.height - below).max(top + 20.0);
        let panel = Panel { left, right, top, bottom, x: chart.x_axis(right - left), y };
        frame::draw_lines(scene, &panel);
        if column == 0 || !self.share.axis {
            frame::draw_y_ticks(scene, &panel);
        }
        frame::draw_x_ticks(scene, &panel.x, (left, right, bottom));
        if self.x_label.is_none() {
            let label = fitted(&panel.x.label, LABEL_SIZE, right - left);
            let middle = bottom + frame::ticks_height(self.tick_rows) + 12.0 + LABEL_SIZE / 2.0;
            scene.text(((left + right) / 2.0, middle), &label, LABEL_SIZE, INK, Anchor::Middle);
        }
        chart.draw(scene, &panel);
        frame::close(scene, &[panel]);
    }

    fn draw_x_label(&self, scene: &mut Scene) {
        if let Some(label) = self.x_label.as_ref().filter(|_| self.count > 0) {
            scene.text(self.label_at, label, LABEL_SIZE, INK, Anchor::Middle);
        }
    }
}
