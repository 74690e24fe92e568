//! Empirical distribution functions: the share of jobs that waited (or were slowed down) at most so much.

use crate::axis::Axis;
use crate::canvas::Size;
use crate::error::PlotError;
use crate::frame::{self, Plan};
use crate::legend::{Key, Mark};
use crate::palette::series;
use crate::scene::Scene;
use crate::strokes;

/// What is distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Seconds.
    WaitingTime,
    /// Bounded slowdown, at least 1.
    BoundedSlowdown,
    /// Seconds from the first try of a job until all of its parts were agreed on.
    TimeToAgreement,
}

/// Empirical distribution functions of some sets of values.
#[derive(Clone, Debug, PartialEq)]
pub struct DistributionFigure {
    /// Above the figure.
    pub title: String,
    /// What is distributed.
    pub quantity: Quantity,
    /// A curve for each.
    pub samples: Vec<Sample>,
}

/// A set of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Its name in the legend.
    pub name: String,
    /// The values, in any order.
    pub values: Vec<f64>,
}

impl DistributionFigure {
    pub(crate) fn scene(&self, size: Size) -> Result<Scene, PlotError> {
        let samples: Vec<(&str, Vec<f64>)> = self.samples.iter().map(sorted).collect();
        let highest = samples.iter().filter_map(|(_, values)| values.last());
        let Some(highest) = highest.copied().reduce(f64::max) else {
            let reason = match self.quantity {
                Quantity::WaitingTime | Quantity::BoundedSlowdown => "no job started",
                Quantity::TimeToAgreement => "no parts of a job were agreed on",
            };
            return Err(PlotError::NoData { title: self.title.clone(), reason });
        };
        // A little room, so that the curve does not end on the edge.
        let highest = highest * 1.2;
        // Agreements over a fast network take milliseconds, and none at all without latency.
        let lowest = || {
            let above =
                |(_, values): &(&str, Vec<f64>)| values.iter().copied().find(|&it| it > 0.0);
            samples.iter().filter_map(above).reduce(f64::min).unwrap_or(1.0) / 1.2
        };
        let x = match self.quantity {
            Quantity::WaitingTime => {
                Axis::log_time("waiting time (left edge: 1 s or less)", 1.0, highest.max(60.0))
            }
            Quantity::BoundedSlowdown => Axis::log("bounded slowdown", 1.0, highest.max(10.0)),
            Quantity::TimeToAgreement => {
                Axis::log_time("time from the first try to the agreement", lowest(), highest)
            }
        };
        let legend = samples
            .iter()
            .enumerate()
            .map(|(i, (name, _))| Key::new(name, Mark::Dash(i), series(i)));
        let plan = Plan {
            title: self.title.clone(),
            legend_label: String::new(),
            legend: if samples.len() > 1 { legend.collect() } else { Vec::new() },
            panels: vec![(Axis::amounts("share of jobs, %", 100.0, 5), 1.0)],
        };
        let (mut scene, panels) = frame::draw(plan, x, size)?;
        let panel = &panels[0];
        for (i, (_, values)) in samples.iter().enumerate().filter(|(_, (_, it))| !it.is_empty()) {
            let mut line: Vec<(f64, f64)> = Vec::new();
            // One look for each pixel: no more can be seen, however many jobs there are.
            let mut x = panel.left;
            while x <= panel.right {
                // The last pixel stands for all there is: rounding must not cost the largest value.
                let at_most = if x + 1.0 > panel.right { f64::INFINITY } else { panel.value_at(x) };
                let count = values.partition_point(|&value| value <= at_most);
                let y = panel.y(100.0 * count as f64 / values.len() as f64);
                if let Some(&(_, before)) = line.last()
                    && before != y
                {
                    line.push((x, before));
                }
                line.push((x, y));
                x += 1.0;
            }
            strokes::line(&mut scene, i, line, series(i));
        }
        frame::close(&mut scene, &panels);
        Ok(scene)
    }
}

fn sorted(sample: &Sample) -> (&str, Vec<f64>) {
    let mut values: Vec<f64> = sample.values.iter().copied().filter(|it| it.is_finite()).collect();
    values.sort_unstable_by(f64::total_cmp);
    (&sample.name, values)
}
