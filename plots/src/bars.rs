//! Bars: means with 95 % confidence intervals for categories, and counts of bins.

use crate::axis::Axis;
use crate::canvas::Size;
use crate::error::PlotError;
use crate::frame::{self, Plan};
use crate::lines::{amounts_or_range, whisker};
use crate::palette::{BLUE, INK, series};
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
    /// The groups, from left to right.
    pub categories: Vec<String>,
    /// A bar in each group for each.
    pub series: Vec<BarSeries>,
}

/// A bar in each group.
#[derive(Clone, Debug, PartialEq)]
pub struct BarSeries {
    /// Its name in the legend.
    pub name: String,
    /// For each category the mean and half of its 95 % confidence interval's width, if known.
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
    pub(crate) fn scene(&self, size: Size) -> Result<Scene, PlotError> {
        let values = || {
            let all =
                self.series.iter().flat_map(|it| it.values.iter().take(self.categories.len()));
            all.flatten().filter(|(mean, _)| mean.is_finite())
        };
        if values().next().is_none() {
            return Err(PlotError::NoData {
                title: self.title.clone(),
                reason: "no category has a value",
            });
        }
        // Without an interval there is a number above the bar, which needs some room.
        let tops = values().map(|(mean, half)| half.map_or(mean * 1.06, |half| mean + half));
        let bottoms = values().map(|(mean, half)| (mean - half.unwrap_or(0.0)).min(*mean));
        let low = if values().all(|(mean, _)| *mean >= 0.0) {
            0.0 // an interval that reaches below 0 is cut there
        } else {
            bottoms.fold(f64::INFINITY, f64::min)
        };
        let y = amounts_or_range(&self.y_label, low, tops.fold(f64::NEG_INFINITY, f64::max));
        let legend = self.series.iter().enumerate().map(|(i, it)| (it.name.clone(), series(i)));
        let plan = Plan {
            title: self.title.clone(),
            legend: if self.series.len() > 1 { legend.collect() } else { Vec::new() },
            panels: vec![(y, 1.0)],
        };
        let (left, right) = frame::room(&plan, size);
        let x = Axis::names(&self.x_label, &self.categories, right - left);
        let (mut scene, panels) = frame::draw(plan, x, size)?;
        let panel = &panels[0];
        // Few bars do not become planks.
        const WIDEST: f64 = 160.0;
        let place = (right - left) / self.categories.len().max(1) as f64;
        let wide = (0.8 / self.series.len() as f64).min(WIDEST / place);
        let margin = (1.0 - wide * self.series.len() as f64) / 2.0;
        for (i, bars) in self.series.iter().enumerate() {
            let values = bars.values.iter().take(self.categories.len()).enumerate();
            for (category, &value) in values {
                let Some((mean, half)) = value.filter(|(mean, _)| mean.is_finite()) else {
                    continue;
                };
                let from = category as f64 + margin + wide * i as f64;
                let (start, end) = (panel.x(from), panel.x(from + wide));
                let (a, b) = (panel.y(mean), panel.y(0.0));
                scene.rectangle([start, a.min(b), end - 2.0, a.max(b)], series(i));
                if let Some(half) = half {
                    let (top, bottom) = (panel.y(mean + half), panel.y(mean - half));
                    whisker(&mut scene, (start + end) / 2.0 - 1.0, top, bottom, INK);
                } else {
                    write_value(&mut scene, [start, end], a, mean);
                }
            }
        }
        frame::close(&mut scene, &panels);
        Ok(scene)
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
