//! Means with their spreads over an axis: the usual figure of a sweep.

use crate::axis::{Axis, Limits, YScale};
use crate::chart::{Chart, amounts_or_range, around_zero, end, range, whisker, zero_line};
use crate::frame::Panel;
use crate::legend::{Key, Mark};
use crate::palette::series;
use crate::scene::{Colour, Scene};
use crate::strokes;

/// Lines over an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct LineChart {
    /// Title above the figure.
    pub title: String,
    /// Label of the x axis with its unit.
    pub x_label: String,
    /// Label of the y axis with its unit.
    pub y_label: String,
    /// Common label of the entries of the legend; empty if it is obvious.
    pub legend_label: String,
    /// Kind of the values on the x axis.
    pub x_axis: LineAxis,
    /// True if the x axis is logarithmic, for numbers or times that are all above 0.
    pub x_log: bool,
    /// Scale of the y axis.
    pub y_scale: YScale,
    /// Ends of the y axis, if they were chosen.
    pub y_limits: Limits,
    /// True if values are differences: of both signs, around a line at 0.
    pub differences: bool,
    /// True if points over names are joined. The names have an order and are evenly spaced then;
    /// otherwise there is nothing between them.
    pub joins_names: bool,
    /// True if spreads are pale bands along the lines instead of whiskers at the points.
    pub band: bool,
    /// The lines.
    pub series: Vec<LineSeries>,
}

/// Kind of the values on the x axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineAxis {
    /// Numbers.
    Numbers,
    /// Times in seconds; the label gets a suitable unit.
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
    /// Position on the x axis.
    pub x: f64,
    /// The mean.
    pub mean: f64,
    /// Half length of its whisker, or half width of the band, if known.
    pub half_width: Option<f64>,
}

/// Distance between the points of several lines over one name, pixels.
const DODGE: f64 = 5.0;

/// Maximum number of points with marks. More marks would hide the line.
const DOTTED: usize = 40;

impl LineChart {
    fn has_names(&self) -> bool {
        matches!(self.x_axis, LineAxis::Names(_))
    }

    /// True if no line joins the points.
    fn has_points_alone(&self) -> bool {
        self.has_names() && !self.joins_names
    }

    fn points(&self) -> impl Iterator<Item = &SweepPoint> + Clone {
        self.series.iter().flat_map(|it| &it.points).filter(|it| finite(it))
    }
}

fn finite(point: &SweepPoint) -> bool {
    point.x.is_finite() && point.mean.is_finite()
}

impl Chart for LineChart {
    fn title(&self) -> &str {
        &self.title
    }

    fn y_label(&self) -> &str {
        &self.y_label
    }

    fn y_range(&self) -> Result<(f64, f64), &'static str> {
        let end = match self.differences {
            true => f64::INFINITY,
            false => end(&self.y_label, self.points().map(|it| it.mean)),
        };
        let reach = |it: &SweepPoint| {
            let half = it.half_width.unwrap_or(0.0);
            (it.mean, it.mean - half, (it.mean + half).min(end))
        };
        if self.y_scale == YScale::Linear {
            let range = if self.differences { around_zero } else { range };
            return range(&mut self.points().map(reach)).ok_or("no point has a value");
        }
        let positive = || self.points().map(|it| it.mean).filter(|&mean| mean > 0.0);
        let low = positive().fold(f64::INFINITY, f64::min);
        let high = self.points().map(|it| reach(it).2).fold(f64::NEG_INFINITY, f64::max);
        // Without a positive value, `low` is infinite.
        if low <= high { Ok((low, high)) } else { Err("no point has a value above 0") }
    }

    fn y_axis(&self, label: &str, range: (f64, f64)) -> Axis {
        // Room at both ends, so that no curve lies on an edge.
        let (low, high) = (range.0 / 1.3, range.1 * 1.3);
        let axis = match self.y_scale {
            YScale::Linear => amounts_or_range(label, range),
            YScale::Log => Axis::log(label, low, high),
            YScale::LogTime => Axis::log_time(label, low, high),
        };
        axis.limited(self.y_scale, self.y_limits)
    }

    fn x_axis(&self, room: f64) -> Axis {
        let low = self.points().map(|it| it.x).fold(f64::INFINITY, f64::min);
        let high = self.points().map(|it| it.x).fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        // Room at both ends, so that no point lies on an axis.
        let edge = if high > low { (high - low) * 0.04 } else { 0.5 };
        let most = ((room / 110.0) as usize).clamp(3, 8);
        let log = (self.x_log && low > 0.0).then(|| (high / low).powf(0.04).max(1.1));
        match (&self.x_axis, log) {
            (LineAxis::Numbers, Some(edge)) => Axis::log(&self.x_label, low / edge, high * edge),
            (LineAxis::Times, Some(edge)) => Axis::log_time(&self.x_label, low / edge, high * edge),
            (LineAxis::Numbers, None) => Axis::linear(&self.x_label, low - edge, high + edge, most),
            (LineAxis::Times, None) => Axis::time(&self.x_label, low - edge, high + edge, room),
            (LineAxis::Names(names), _) => Axis::names(&self.x_label, names, room),
        }
    }

    fn legend_label(&self) -> &str {
        &self.legend_label
    }

    fn legend(&self) -> Vec<Key> {
        let mark = if self.has_points_alone() { Mark::Point } else { Mark::Line };
        let key = |(i, it): (usize, &LineSeries)| Key::new(&it.name, mark(i), series(i));
        let names = self.series.iter().enumerate().map(key);
        if self.series.len() > 1 { names.collect() } else { Vec::new() }
    }

    fn draw(&self, scene: &mut Scene, panel: &Panel) {
        let (names, alone) = (self.has_names(), self.has_points_alone());
        // Names lie in the middle of their places.
        let shift = if names { 0.5 } else { 0.0 };
        if self.differences {
            zero_line(scene, panel);
        }
        let whiskers = (!self.band || alone) && self.points().any(|it| it.half_width.is_some());
        let lines: Vec<Vec<&SweepPoint>> = self.series.iter().map(sorted).collect();
        if self.band && !alone {
            // Bands are drawn below all lines, so that they hide none.
            for (i, points) in lines.iter().enumerate() {
                draw_band(scene, panel, shift, points, series(i));
            }
        }
        for (i, points) in lines.iter().enumerate() {
            // Over a name, points are side by side, so that intervals of several lines do not hide each
            // other. Over a number, a shifted point would show another number.
            let middle = (self.series.len() as f64 - 1.0) / 2.0;
            let aside = if whiskers && names { DODGE * (i as f64 - middle) } else { 0.0 };
            let place =
                |point: &&SweepPoint| (panel.x(point.x + shift) + aside, panel.open_y(point.mean));
            if !alone {
                for piece in panel.within(points.iter().map(place).collect()) {
                    strokes::line(scene, i, piece, series(i));
                }
            }
            for point in points {
                let at = place(point);
                if let Some(half) = point.half_width.filter(|_| whiskers) {
                    let ends = (point.mean - half, point.mean + half);
                    whisker(scene, panel, at.0, ends, series(i));
                }
                if (alone || points.len() <= DOTTED) && panel.y.shows(point.mean) {
                    strokes::mark(scene, i, at, series(i));
                }
            }
        }
    }
}

/// A line's points from left to right.
fn sorted(line: &LineSeries) -> Vec<&SweepPoint> {
    let mut points: Vec<&SweepPoint> = line.points.iter().filter(|it| finite(it)).collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    points
}

/// The spread around a line as a pale band.
fn draw_band(scene: &mut Scene, panel: &Panel, shift: f64, points: &[&SweepPoint], colour: Colour) {
    let edge = |sign: f64| {
        move |point: &&SweepPoint| {
            let half = sign * point.half_width.unwrap_or(0.0);
            (panel.x(point.x + shift), panel.y(point.mean + half))
        }
    };
    let upper = points.iter().map(edge(1.0));
    let corners: Vec<(f64, f64)> = upper.chain(points.iter().rev().map(edge(-1.0))).collect();
    if points.len() > 1 {
        scene.area(corners, colour, 0.18);
    }
}
