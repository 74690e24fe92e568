//! Bars: means with their spreads for categories, and counts of bins.

use crate::axis::{Axis, Limits, YScale};
use crate::canvas::Size;
use crate::chart::{Chart, amounts_or_range, around_zero, end, range, whisker, zero_line};
use crate::error::PlotError;
use crate::frame::{self, Panel, Plan};
use crate::legend::Key;
use crate::palette::{BLUE, INK, WHITE, series};
use crate::scene::{Anchor, Scene};
use crate::type_face::width;

/// Groups of bars.
#[derive(Clone, Debug, PartialEq)]
pub struct BarChart {
    /// Above the figure.
    pub title: String,
    /// Label of the x axis.
    pub x_label: String,
    /// Label of the y axis with its unit.
    pub y_label: String,
    /// What the entries of the legend are values of; empty if that is plain.
    pub legend_label: String,
    /// The groups, from left to right.
    pub categories: Vec<String>,
    /// Whether values are differences: of both signs, around a line at 0.
    pub differences: bool,
    /// How values lie on the y axis. By their logarithms, bars begin at the lower edge, and what is not above 0
    /// has none.
    pub y_scale: YScale,
    /// Where the y axis ends, if that was chosen.
    pub y_limits: Limits,
    /// A bar in each group for each.
    pub series: Vec<BarSeries>,
}

/// A bar in each group.
#[derive(Clone, Debug, PartialEq)]
pub struct BarSeries {
    /// Its name in the legend.
    pub name: String,
    /// For each category the mean and how far its whisker reaches to each side, if known.
    pub values: Vec<Option<(f64, Option<f64>)>>,
}

/// Counts of bins.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Above the figure.
    pub title: String,
    /// Label of the x axis with its unit.
    pub x_label: String,
    /// Label of the y axis, such as `jobs`.
    pub y_label: String,
    /// Each bin's name and count, from left to right.
    pub bins: Vec<(String, u64)>,
}

impl BarChart {
    /// Means and spreads of all bars that are drawn.
    fn values(&self) -> impl Iterator<Item = (f64, Option<f64>)> + Clone {
        let all = self.series.iter().flat_map(|it| it.values.iter().take(self.categories.len()));
        all.flatten().copied().filter(|(mean, _)| mean.is_finite())
    }

    /// The bars of all series in a group side by side: where the first begins and how wide
    /// each is, as shares of the group's place.
    fn layout(&self, panel: &Panel) -> (f64, f64) {
        // Few bars do not become planks.
        const WIDEST: f64 = 160.0;
        let place = (panel.right - panel.left) / self.categories.len().max(1) as f64;
        let wide = (0.8 / self.series.len().max(1) as f64).min(WIDEST / place);
        ((1.0 - wide * self.series.len() as f64) / 2.0, wide)
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
        if self.y_scale != YScale::Linear {
            let positive = self.values().map(|(mean, _)| mean).filter(|&mean| mean > 0.0);
            let low = positive.fold(f64::INFINITY, f64::min);
            let tops = self.values().map(|(mean, half)| mean + half.unwrap_or(0.0));
            let high = tops.fold(f64::NEG_INFINITY, f64::max);
            return if low <= high { Ok((low, high)) } else { Err("no bar has a value above 0") };
        }
        // Without an interval there is a number above the bar, which needs some room.
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
        // The shortest bar is to be seen, too, and begins at a power of ten.
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
        let names =
            self.series.iter().enumerate().map(|(i, it)| Key::from((it.name.clone(), series(i))));
        if self.series.len() > 1 { names.collect() } else { Vec::new() }
    }

    fn draw(&self, scene: &mut Scene, panel: &Panel) {
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
                scene.rectangle([start, a.min(b), end - 2.0, a.max(b)], series(i));
                if let Some(half) = half {
                    let (top, bottom) = (panel.y(mean + half), panel.y(mean - half));
                    let middle = (start + end) / 2.0 - 1.0;
                    // Of a dark bar, too.
                    scene.line(vec![(middle, top - 3.0), (middle, bottom + 3.0)], WHITE, 6);
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

/// Writes a value above its bar, so that small ones beside large ones can be read too.
fn write_value(scene: &mut Scene, [start, end]: [f64; 2], top: f64, value: f64) {
    const SIZE: f64 = 23.0;
    let text = match value.abs() {
        0.0 => "0".to_owned(),
        large if large >= 1000.0 => format!("{value:.0}"),
        middle if middle >= 100.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    };
    let middle = (start + end) / 2.0 - 1.0;
    if value >= 0.0 && width(&text, SIZE) + 6.0 <= end - start {
        scene.text((middle, top - SIZE * 0.7), &text, SIZE, INK, Anchor::Middle);
    }
}

impl Histogram {
    pub(crate) fn scene(&self, size: Size) -> Result<Scene, PlotError> {
        let most = self.bins.iter().map(|(_, count)| *count).max().unwrap_or(0);
        if most == 0 {
            return Err(PlotError::NoData {
                title: self.title.clone(),
                reason: "every bin is empty",
            });
        }
        let plan = Plan {
            title: self.title.clone(),
            legend_label: String::new(),
            legend: Vec::new(),
            panels: vec![(Axis::amounts(&self.y_label, most as f64, 6), 1.0)],
        };
        let names: Vec<String> = self.bins.iter().map(|(name, _)| name.clone()).collect();
        let (left, right) = frame::room(&plan, size);
        let x = Axis::names(&self.x_label, &names, right - left);
        let (mut scene, panels) = frame::draw(plan, x, size)?;
        let panel = &panels[0];
        for (i, (_, count)) in self.bins.iter().enumerate().filter(|(_, (_, count))| *count > 0) {
            let (start, end) = (panel.x(i as f64), panel.x(i as f64 + 1.0));
            // Even a single job among thousands is to be seen.
            let top = panel.y(*count as f64).min(panel.bottom - 2.0);
            let seam = if end - start > 6.0 { 1.0 } else { 0.0 };
            scene.rectangle([start + seam, top, end - seam, panel.bottom], BLUE);
        }
        frame::close(&mut scene, &panels);
        Ok(scene)
    }
}
