//! Bars: means with their spreads for categories, and counts of bins.

use crate::axis::{Axis, Limits, YScale};
use crate::chart::{Chart, amounts_or_range, around_zero, end, range, whisker, zero_line};
use crate::error::PlotError;
use crate::frame::{self, Panel, Plan};
use crate::legend::{Key, Mark};
use crate::look::Look;
use crate::palette::{BLUE, INK, WHITE, series};
use crate::pattern;
use crate::scene::{Anchor, Scene};
use crate::type_face::width;

/// Groups of bars.
#[derive(Clone, Debug, PartialEq)]
pub struct BarChart {
    /// Title above the figure.
    pub title: String,
    /// Label of the x axis.
    pub x_label: String,
    /// Label of the y axis with its unit.
    pub y_label: String,
    /// Common label of the entries of the legend; empty if it is obvious.
    pub legend_label: String,
    /// The groups, from left to right.
    pub categories: Vec<String>,
    /// True if values are differences: of both signs, around a line at 0.
    pub differences: bool,
    /// Scale of the y axis. On a logarithmic axis, bars begin at the lower edge, and values that are
    /// not above 0 have no bar.
    pub y_scale: YScale,
    /// Ends of the y axis, if they were chosen.
    pub y_limits: Limits,
    /// True if the bars of a group are stacked because they are parts of a whole.
    pub stacked: bool,
    /// The series; each has a bar in every group.
    pub series: Vec<BarSeries>,
}

/// A bar in each group.
#[derive(Clone, Debug, PartialEq)]
pub struct BarSeries {
    /// Its name in the legend.
    pub name: String,
    /// For each category, the mean and the half length of its whisker, if known.
    pub values: Vec<Option<(f64, Option<f64>)>>,
}

/// Counts of bins.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Title above the figure.
    pub title: String,
    /// Label of the x axis with its unit.
    pub x_label: String,
    /// Label of the y axis, such as `jobs`.
    pub y_label: String,
    /// Each bin's name and count, from left to right.
    pub bins: Vec<(String, u64)>,
}

impl BarChart {
    /// Means and spreads of all bars.
    fn values(&self) -> impl Iterator<Item = (f64, Option<f64>)> + Clone {
        let all = self.series.iter().flat_map(|it| it.values.iter().take(self.categories.len()));
        all.flatten().copied().filter(|(mean, _)| mean.is_finite())
    }

    /// The bars of all series in a group, side by side or stacked: start of the first one and width of
    /// each, as shares of the group's place.
    fn layout(&self, panel: &Panel) -> (f64, f64) {
        // A limit for the width of few bars.
        const WIDEST: f64 = 160.0;
        let place = (panel.right - panel.left) / self.categories.len().max(1) as f64;
        let beside = if self.stacked { 1 } else { self.series.len().max(1) } as f64;
        let wide = (0.8 / beside).min(WIDEST / place);
        ((1.0 - wide * beside) / 2.0, wide)
    }

    /// The ends of the stack of each category, below 0 and above.
    fn stacks(&self) -> impl Iterator<Item = (f64, f64)> {
        let values = |category: usize| {
            let all =
                self.series.iter().filter_map(move |it| (*it.values.get(category)?)?.0.into());
            all.filter(|value: &f64| value.is_finite())
        };
        (0..self.categories.len()).filter(move |&it| values(it).next().is_some()).map(move |it| {
            values(it).fold((0.0, 0.0), |(low, high), value| match value < 0.0 {
                true => (low + value, high),
                false => (low, high + value),
            })
        })
    }

    /// Draws the stacks, each with its sum above.
    fn draw_stacks(&self, scene: &mut Scene, panel: &Panel) {
        let (margin, wide) = self.layout(panel);
        for category in 0..self.categories.len() {
            let from = category as f64 + margin;
            let (start, end) = (panel.x(from), panel.x(from + wide));
            let (mut low, mut high) = (0.0, 0.0);
            for (i, bars) in self.series.iter().enumerate() {
                let value = bars.values.get(category).copied().flatten().map(|it| it.0);
                let Some(value) = value.filter(|it| it.is_finite()) else { continue };
                let end_of = if value < 0.0 { &mut low } else { &mut high };
                let base = *end_of;
                *end_of += value;
                let (a, b) = (panel.y(base), panel.y(*end_of));
                pattern::fill(scene, [start, a.min(b), end - 2.0, a.max(b)], i, series(i));
                // A white line separates neighbours of similar colours.
                scene.line(vec![(start, b), (end - 2.0, b)], WHITE, 1);
            }
            // With parts of both signs, the height of the stack is not its sum.
            if low == 0.0 && high > 0.0 {
                write_value(scene, [start, end], panel.y(high), high);
            }
        }
    }
}

impl Chart for BarChart {
    fn title(&self) -> &str {
        &self.title
    }

    fn y_label(&self) -> &str {
        &self.y_label
    }

    fn y_range(&self) -> Result<(f64, f64), &'static str> {
        if self.stacked {
            let reach = self.stacks().map(|(low, high)| (high, low, high * 1.06));
            return around_zero(&mut reach.into_iter()).ok_or("no category has a value");
        }
        if self.y_scale != YScale::Linear {
            let positive = self.values().map(|(mean, _)| mean).filter(|&mean| mean > 0.0);
            let low = positive.fold(f64::INFINITY, f64::min);
            let tops = self.values().map(|(mean, half)| mean + half.unwrap_or(0.0));
            let high = tops.fold(f64::NEG_INFINITY, f64::max);
            return if low <= high { Ok((low, high)) } else { Err("no bar has a value above 0") };
        }
        // A bar without an interval has its value written above, which needs some room.
        let end = match self.differences {
            true => f64::INFINITY,
            false => end(&self.y_label, self.values().map(|(mean, _)| mean)),
        };
        let reach = |(mean, half): (f64, Option<f64>)| {
            let bottom = (mean - half.unwrap_or(0.0)).min(mean);
            (mean, bottom, half.map_or(mean * 1.06, |half| (mean + half).min(end)))
        };
        let range = if self.differences { around_zero } else { range };
        range(&mut self.values().map(reach)).ok_or("no category has a value")
    }

    fn y_axis(&self, label: &str, range: (f64, f64)) -> Axis {
        // The shortest bar is visible, too, because the axis begins at a power of ten below it.
        let low = 10_f64.powf((range.0 / 1.3).log10().floor());
        let axis = match self.y_scale {
            YScale::Linear => amounts_or_range(label, range),
            YScale::Log => Axis::log(label, low, range.1 * 1.5),
            YScale::LogTime => Axis::log_time(label, low, range.1 * 1.5),
        };
        axis.limited(self.y_scale, self.y_limits)
    }

    fn x_axis(&self, room: f64) -> Axis {
        Axis::names(&self.x_label, &self.categories, room)
    }

    fn legend_label(&self) -> &str {
        &self.legend_label
    }

    fn legend(&self) -> Vec<Key> {
        let key = |(i, it): (usize, &BarSeries)| Key::new(&it.name, Mark::Patterned(i), series(i));
        let names = self.series.iter().enumerate().map(key);
        if self.series.len() > 1 { names.collect() } else { Vec::new() }
    }

    fn draw(&self, scene: &mut Scene, panel: &Panel) {
        if self.stacked {
            return self.draw_stacks(scene, panel);
        }
        let (margin, wide) = self.layout(panel);
        for (i, bars) in self.series.iter().enumerate() {
            let values = bars.values.iter().take(self.categories.len()).enumerate();
            for (category, &value) in values {
                let Some((mean, half)) = value.filter(|(mean, _)| mean.is_finite()) else {
                    continue;
                };
                let from = category as f64 + margin + wide * i as f64;
                let (start, end) = (panel.x(from), panel.x(from + wide));
                let base = if self.y_scale == YScale::Linear { panel.y(0.0) } else { panel.bottom };
                let (a, b) = (panel.y(mean), base);
                let edges = [start, a.min(b), end - 2.0, a.max(b)];
                pattern::fill(scene, edges, i, series(i));
                if let Some(half) = half {
                    let middle = (start + end) / 2.0 - 1.0;
                    halo(scene, edges, middle, [panel.y(mean + half), panel.y(mean - half)]);
                    whisker(scene, panel, middle, (mean - half, mean + half), INK);
                } else {
                    write_value(scene, [start, end], a, mean);
                }
            }
        }
        if self.differences {
            zero_line(scene, panel);
        }
    }
}

/// Lightens a bar around its whisker, which is visible on a dark bar then.
fn halo(scene: &mut Scene, [_, top, _, bottom]: [f64; 4], x: f64, whisker: [f64; 2]) {
    let [from, to] = whisker.map(|y| y.clamp(top, bottom));
    if to > from {
        scene.line(vec![(x, from), (x, to)], WHITE, 6);
    }
    for y in whisker.into_iter().filter(|y| (top..bottom - 1.0).contains(y)) {
        let cap = [x - 10.0, (y - 3.0).max(top), x + 10.0, (y + 3.0).min(bottom)];
        scene.rectangle(cap, WHITE);
    }
}

/// Writes a value above its bar, so that small bars beside large ones can be read, too.
fn write_value(scene: &mut Scene, [start, end]: [f64; 2], top: f64, value: f64) {
    const SIZE: f64 = 23.0;
    let text = match value.abs() {
        0.0 => "0".to_owned(),
        large if large >= 1000.0 => format!("{value:.0}"),
        middle if middle >= 100.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    };
    let middle = (start + end) / 2.0 - 1.0;
    let long = width(&text, SIZE);
    if value >= 0.0 && long + 6.0 <= end - start {
        // A white ground hides the lines of the grid.
        let (wide, y) = (long / 2.0 + 2.0, top - SIZE * 0.7);
        scene.rectangle([middle - wide, y - SIZE * 0.4, middle + wide, y + SIZE * 0.4], WHITE);
        scene.text((middle, top - SIZE * 0.7), &text, SIZE, INK, Anchor::Middle);
    }
}

impl Histogram {
    pub(crate) fn scene(&self, look: Look) -> Result<Scene, PlotError> {
        let most = self.bins.iter().map(|(_, count)| *count).max().unwrap_or(0);
        if most == 0 {
            return Err(PlotError::NoData {
                title: self.title.clone(),
                reason: "every bin is empty",
            });
        }
        let plan = Plan {
            title: self.title.clone(),
            legend: Vec::new(),
            panels: vec![(Axis::amounts(&self.y_label, most as f64, 6), 1.0)],
            ..Plan::default()
        };
        let names: Vec<String> = self.bins.iter().map(|(name, _)| name.clone()).collect();
        let (left, right) = frame::room(&plan, look);
        let x = Axis::names(&self.x_label, &names, right - left);
        let (mut scene, panels) = frame::draw(plan, x, look)?;
        let panel = &panels[0];
        for (i, (_, count)) in self.bins.iter().enumerate().filter(|(_, (_, count))| *count > 0) {
            let (start, end) = (panel.x(i as f64), panel.x(i as f64 + 1.0));
            // A single job among thousands is still visible.
            let top = panel.y(*count as f64).min(panel.bottom - 2.0);
            let seam = if end - start > 6.0 { 1.0 } else { 0.0 };
            scene.rectangle([start + seam, top, end - seam, panel.bottom], BLUE);
        }
        frame::close(&mut scene, &panels);
        Ok(scene)
    }
}
