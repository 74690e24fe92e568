//! Means with 95 % confidence intervals over an axis: the usual figure of a sweep.

use crate::axis::Axis;
use crate::canvas::Size;
use crate::error::PlotError;
use crate::frame::{self, Plan};
use crate::palette::series;
use crate::scene::{Colour, Scene};

/// Lines over an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct LineChart {
    /// Above the figure.
    pub title: String,
    /// Label of the x axis with its unit.
    pub x_label: String,
    /// Label of the y axis with its unit.
    pub y_label: String,
    /// What the x of points are.
    pub x_axis: LineAxis,
    /// A line for each.
    pub series: Vec<LineSeries>,
}

/// What the x of points are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineAxis {
    /// Numbers.
    Numbers,
    /// Times in seconds; the label gets the unit that suits them.
    Times,
    /// Places in this list.
    Names(Vec<String>),
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct LineSeries {
    /// Its name in the legend.
    pub name: String,
    /// Its points.
    pub points: Vec<SweepPoint>,
}

/// A mean at a place of the axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepPoint {
    /// Where.
    pub x: f64,
    /// The mean.
    pub mean: f64,
    /// Half of its 95 % confidence interval's width, if known.
    pub half_width: Option<f64>,
}

/// How far lines are drawn beside each other, pixels.
const DODGE: f64 = 5.0;

impl LineChart {
    pub(crate) fn scene(&self, size: Size) -> Result<Scene, PlotError> {
        let finite = |point: &&SweepPoint| point.x.is_finite() && point.mean.is_finite();
        let points = || self.series.iter().flat_map(|it| &it.points).filter(finite);
        if points().next().is_none() {
            return Err(PlotError::NoData {
                title: self.title.clone(),
                reason: "no point has a value",
            });
        }
        let low = points().map(|it| it.x).fold(f64::INFINITY, f64::min);
        let high = points().map(|it| it.x).fold(f64::NEG_INFINITY, f64::max);
        // A little room on both sides, so that no point lies on an axis.
        let edge = if high > low { (high - low) * 0.04 } else { 0.5 };
        let tops = points().map(|it| it.mean + it.half_width.unwrap_or(0.0));
        let bottoms = points().map(|it| it.mean - it.half_width.unwrap_or(0.0));
        let low_y = if points().all(|it| it.mean >= 0.0) {
            0.0 // an interval that reaches below 0 is cut there, as with bars
        } else {
            bottoms.fold(f64::INFINITY, f64::min)
        };
        let y = amounts_or_range(&self.y_label, low_y, tops.fold(f64::NEG_INFINITY, f64::max));
        let legend = self.series.iter().enumerate().map(|(i, it)| (it.name.clone(), series(i)));
        let plan = Plan {
            title: self.title.clone(),
            legend: if self.series.len() > 1 { legend.collect() } else { Vec::new() },
            panels: vec![(y, 1.0)],
        };
        let (left, right) = frame::room(&plan, size);
        let x = match &self.x_axis {
            LineAxis::Numbers => Axis::linear(&self.x_label, low - edge, high + edge, 8),
            LineAxis::Times => Axis::time(&self.x_label, low - edge, high + edge, right - left),
            LineAxis::Names(names) => Axis::names(&self.x_label, names, right - left),
        };
        let shift = if matches!(self.x_axis, LineAxis::Names(_)) { 0.5 } else { 0.0 };
        let (mut scene, panels) = frame::draw(plan, x, size)?;
        let panel = &panels[0];
        let dodge = if points().any(|it| it.half_width.is_some()) { DODGE } else { 0.0 };
        for (i, line) in self.series.iter().enumerate() {
            let mut points: Vec<&SweepPoint> = line.points.iter().filter(finite).collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            // Side by side, so that intervals of several lines do not hide each other.
            let aside = dodge * (i as f64 - (self.series.len() as f64 - 1.0) / 2.0);
            let place =
                |point: &&SweepPoint| (panel.x(point.x + shift) + aside, panel.y(point.mean));
            scene.line(points.iter().map(place).collect(), series(i), 3);
            for point in points {
                let at = place(&point);
                if let Some(half) = point.half_width {
                    let (top, bottom) = (panel.y(point.mean + half), panel.y(point.mean - half));
                    whisker(&mut scene, at.0, top, bottom, series(i));
                }
                scene.dot(at, 7.0, series(i));
            }
        }
        frame::close(&mut scene, &panels);
        Ok(scene)
    }
}

/// An axis from 0 for amounts; from below 0 where there are negative values.
pub(crate) fn amounts_or_range(label: &str, low: f64, high: f64) -> Axis {
    if low >= 0.0 {
        return Axis::amounts(label, high, 6);
    }
    let edge = (high.max(0.0) - low) * 0.05;
    Axis::linear(label, low - edge, high.max(0.0) + edge, 6)
}

/// A confidence interval.
pub(crate) fn whisker(scene: &mut Scene, x: f64, top: f64, bottom: f64, colour: Colour) {
    scene.line(vec![(x, top), (x, bottom)], colour, 2);
    for y in [top, bottom] {
        scene.line(vec![(x - 8.0, y), (x + 8.0, y)], colour, 2);
    }
}
