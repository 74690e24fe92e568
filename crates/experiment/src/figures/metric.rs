//! The unit in which a metric is drawn.

use haggle_plots::{Limits, YScale, time_unit};
use haggle_results::metrics::named::{Unit, title_and_unit};

use haggle_scenario::file::{AxisScale, Figure, FigureKind, Metric};
use haggle_scenario::quantity::{AxisEnd, AxisRange};

/// Title of a metric.
pub(super) fn title(metric: &Metric) -> String {
    title_and_unit(metric.name()).0
}

/// The ends of an axis, whose times are multiplied by `factor`.
pub(super) fn limits(range: Option<AxisRange>, factor: f64) -> Limits {
    let end = |end: AxisEnd| match end {
        AxisEnd::Seconds(seconds) => seconds * factor,
        end => end.value(),
    };
    range.map_or(Limits::NONE, |it| Limits { low: it.low.map(end), high: it.high.map(end) })
}

/// The unit in which values are drawn.
pub(super) struct Scale {
    /// Factor applied to a value.
    pub(super) factor: f64,
    /// Title of the metric.
    pub(super) title: String,
    /// The unit; empty if there is none.
    unit: &'static str,
}

impl Scale {
    /// The unit that suits these values, unless the figure chooses another.
    pub(super) fn of(figure: &Figure, metric: &Metric, values: impl Iterator<Item = f64>) -> Scale {
        Scale::named(figure, metric, title(metric), values)
    }

    /// The same under this title, unless the figure has a label.
    pub(super) fn named(
        figure: &Figure,
        metric: &Metric,
        title: String,
        values: impl Iterator<Item = f64>,
    ) -> Scale {
        let title = figure.label.clone().unwrap_or(title);
        if let Some(factor) = figure.scale {
            // The unit of a factor of one's own is in the label of the figure, if anywhere.
            return Scale { factor, title, unit: "" };
        }
        match title_and_unit(metric.name()).1 {
            Unit::Seconds => {
                // The largest value decides; differences may be below zero.
                let (unit, seconds) = time_unit(values.map(f64::abs).fold(0.0, f64::max));
                Scale { factor: 1.0 / seconds, title, unit }
            }
            Unit::Share => Scale { factor: 100.0, title, unit: "%" },
            Unit::Percent => Scale { factor: 1.0, title, unit: "%" },
            Unit::Number => Scale { factor: 1.0, title, unit: "" },
        }
    }

    /// The same of differences: those of shares are in percentage points.
    pub(super) fn of_differences(self) -> Scale {
        Scale { unit: if self.unit == "%" { "percentage points" } else { self.unit }, ..self }
    }

    /// Scale of a figure's y axis, and the unit of its values. Lines of times on a logarithmic axis
    /// have ticks with units of their own, and then no unit in the label.
    pub(super) fn on_axis(self, figure: &Figure, metric: &Metric) -> (Scale, YScale) {
        if figure.y_scale != Some(AxisScale::Log) {
            return (self, YScale::Linear);
        }
        let is_time = title_and_unit(metric.name()).1 == Unit::Seconds && figure.scale.is_none();
        match is_time && figure.kind == FigureKind::Lines {
            // The axis itself reads seconds and writes units at its ticks.
            true => (Scale { factor: 1.0, unit: "", ..self }, YScale::LogTime),
            false => (self, YScale::Log),
        }
    }

    /// The label of the axis; `note` describes the shown values.
    pub(super) fn label(&self, note: &str) -> String {
        let Scale { title, unit, .. } = self;
        let unit = if unit.is_empty() { String::new() } else { format!(", {unit}") };
        let note = if note.is_empty() { String::new() } else { format!(" ({note})") };
        format!("{title}{unit}{note}")
    }
}
