//! Empirical distribution functions: the share of jobs with at most this waiting time (or slowdown).

mod read;

use crate::axis::{Axis, Limits, YScale};
use crate::error::PlotError;
use crate::frame::{self, Plan};
use crate::legend::{Key, Mark};
use crate::look::Look;
use crate::palette::series;
use crate::scene::Scene;
use crate::strokes;

pub use read::{agreements, compare, distribution};
pub(crate) use read::{asked, compared};

/// Quantity of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Waiting time in seconds.
    WaitingTime,
    /// Bounded slowdown, at least 1.
    BoundedSlowdown,
    /// Seconds from the first try of a job until all of its parts were agreed on, if they were.
    TimeToAgreement,
}

impl Quantity {
    /// Name of its values in figures.
    pub const fn title(self) -> &'static str {
        match self {
            Quantity::WaitingTime => "waiting times",
            Quantity::BoundedSlowdown => "bounded slowdowns",
            Quantity::TimeToAgreement => "times to agreement",
        }
    }
}

/// Empirical distribution functions of some sets of values.
#[derive(Clone, Debug, PartialEq)]
pub struct DistributionFigure {
    /// Title above the figure.
    pub title: String,
    /// Quantity of the distribution.
    pub quantity: Quantity,
    /// True if curves show the share above a value, 1 - F, on a logarithmic axis, on which tails can be read.
    pub complement: bool,
    /// Ends of the x axis, if they were chosen, in seconds or slowdowns.
    pub x_limits: Limits,
    /// Ends of the y axis, if they were chosen, in percent.
    pub y_limits: Limits,
    /// The sets of values, with a curve for each.
    pub samples: Vec<Sample>,
}

/// A set of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Its name in the legend.
    pub name: String,
    /// The values, in any order.
    pub values: Vec<f64>,
    /// Number of jobs without a value. They count in shares.
    pub without: usize,
}

impl Sample {
    /// A set with one value for each of its jobs.
    pub fn new(name: String, values: Vec<f64>) -> Sample {
        Sample { name, values, without: 0 }
    }
}

impl DistributionFigure {
    /// Distribution functions over all values.
    pub fn new(title: &str, quantity: Quantity, samples: Vec<Sample>) -> DistributionFigure {
        DistributionFigure {
            title: title.to_owned(),
            quantity,
            complement: false,
            x_limits: Limits::NONE,
            y_limits: Limits::NONE,
            samples,
        }
    }

    pub(crate) fn scene(&self, look: Look) -> Result<Scene, PlotError> {
        let samples: Vec<(&str, Vec<f64>)> = self.samples.iter().map(sorted).collect();
        let highest = samples.iter().filter_map(|(_, values)| values.last());
        let Some(highest) = highest.copied().reduce(f64::max) else {
            let reason = match self.quantity {
                Quantity::WaitingTime | Quantity::BoundedSlowdown => "no job started",
                Quantity::TimeToAgreement => "no parts of a job were agreed on",
            };
            return Err(PlotError::NoData { title: self.title.clone(), reason });
        };
        // Room at the end, so that the curve does not end on the edge.
        let highest = highest * 1.2;
        // Agreements over a fast network take milliseconds, and zero time without latency.
        let lowest = || {
            let above =
                |(_, values): &(&str, Vec<f64>)| values.iter().copied().find(|&it| it > 0.0);
            samples.iter().filter_map(above).reduce(f64::min).unwrap_or(1.0) / 1.2
        };
        let (axis, scale) = match self.quantity {
            Quantity::WaitingTime => {
                let label = match self.x_limits.low {
                    None => "waiting time (left edge: 1 s or less)",
                    Some(_) => "waiting time",
                };
                (Axis::log_time(label, 1.0, highest.max(60.0)), YScale::LogTime)
            }
            Quantity::BoundedSlowdown => {
                (Axis::log("bounded slowdown", 1.0, highest.max(10.0)), YScale::Log)
            }
            Quantity::TimeToAgreement => {
                let label = "time from the first try to the agreement";
                (Axis::log_time(label, lowest(), highest), YScale::LogTime)
            }
        };
        let x = axis.limited(scale, self.x_limits);
        let legend = samples
            .iter()
            .enumerate()
            .map(|(i, (name, _))| Key::new(name, Mark::Dash(i), series(i)));
        let plan = Plan {
            title: self.title.clone(),
            legend: if samples.len() > 1 { legend.collect() } else { Vec::new() },
            panels: vec![(self.y_axis(&samples), 1.0)],
            ..Plan::default()
        };
        let (mut scene, panels) = frame::draw(plan, x, look)?;
        let panel = &panels[0];
        for (i, (_, values)) in samples.iter().enumerate().filter(|(_, (_, it))| !it.is_empty()) {
            let all = values.len() + self.samples[i].without;
            let mut line: Vec<(f64, f64)> = Vec::new();
            // One value a pixel is enough for any number of jobs.
            let mut x = panel.left;
            while x <= panel.right {
                // The last pixel counts all values, so that rounding does not lose the largest one.
                let is_last = x + 1.0 > panel.right && self.x_limits.high.is_none();
                let at_most = if is_last { f64::INFINITY } else { panel.value_at(x) };
                let count = values.partition_point(|&value| value <= at_most);
                let count = if self.complement { all - count } else { count };
                let y = panel.open_y(100.0 * count as f64 / all as f64);
                // The curve has steps: it keeps its height up to the pixel at which the share changes.
                if let Some(&(_, before)) = line.last()
                    && before != y
                {
                    line.push((x, before));
                }
                line.push((x, y));
                // Zero has no logarithm: the curve ends where no job is left.
                if self.complement && count == 0 {
                    break;
                }
                x += 1.0;
            }
            for piece in panel.within(line) {
                strokes::line(&mut scene, i, piece, series(i));
            }
        }
        frame::close(&mut scene, &panels);
        Ok(scene)
    }
}

impl DistributionFigure {
    /// The axis of shares.
    fn y_axis(&self, samples: &[(&str, Vec<f64>)]) -> Axis {
        if !self.complement {
            let axis = Axis::amounts("share of jobs, %", 100.0, 5);
            return axis.limited(YScale::Linear, self.y_limits);
        }
        let label = match self.quantity {
            Quantity::WaitingTime => "share of jobs that waited longer, %",
            Quantity::BoundedSlowdown => "share of jobs that were slowed down more, %",
            Quantity::TimeToAgreement => "share of jobs agreed on later or never, %",
        };
        // The axis reaches below the share of a single job in the largest sample.
        let without = self.samples.iter().map(|sample| sample.without);
        let all = samples.iter().zip(without).map(|((_, values), without)| values.len() + without);
        let most = all.max().unwrap_or(1);
        let axis = Axis::log(label, (100.0 / most as f64 / 1.3).min(10.0), 100.0);
        axis.limited(YScale::Log, self.y_limits)
    }
}

fn sorted(sample: &Sample) -> (&str, Vec<f64>) {
    let mut values: Vec<f64> = sample.values.iter().copied().filter(|it| it.is_finite()).collect();
    values.sort_unstable_by(f64::total_cmp);
    (&sample.name, values)
}
