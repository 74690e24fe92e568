//! The unit in which a metric is drawn.

use haggle_plots::{Limits, YScale, time_unit};
use haggle_results::metrics::named::{Unit, title_and_unit};

use haggle_scenario::file::{AxisScale, Figure, FigureKind, Metric};
use haggle_scenario::quantity::{AxisEnd, AxisRange};

/// A metric in words.
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
    /// What a value is multiplied by.
    pub(super) factor: f64,
    /// The label of the axis.
    pub(super) label: String,
}

impl Scale {
    /// How the values of a figure lie on its y axis, and their unit. Lines of times have ticks as people say them
    /// on an axis of logarithms, and no unit then.
    pub(super) fn on_axis(self, figure: &Figure, metric: &Metric) -> (Scale, YScale) {
        if figure.y_scale != Some(AxisScale::Log) {
            return (self, YScale::Linear);
        }
        match title_and_unit(metric.name()) {
            (label, Unit::Seconds) if figure.kind == FigureKind::Lines => {
                (Scale { factor: 1.0, label }, YScale::LogTime)
            }
            _ => (self, YScale::Log),
        }
    }

    /// The unit that suits these values.
    pub(super) fn of(metric: &Metric, values: impl Iterator<Item = f64>) -> Scale {
        let (title, unit) = title_and_unit(metric.name());
        Scale::in_unit(title, unit, values)
    }

    /// The unit that suits these differences, under this title.
    pub(super) fn of_differences(
        metric: &Metric,
        title: String,
        values: impl Iterator<Item = f64>,
    ) -> Scale {
        let (_, unit) = title_and_unit(metric.name());
        let label = match unit {
            Unit::Share | Unit::Percent => Some(format!("{title}, percentage points")),
            Unit::Seconds | Unit::Number => None,
        };
        let scale = Scale::in_unit(title, unit, values);
        Scale { label: label.unwrap_or(scale.label), ..scale }
    }

    fn in_unit(title: String, unit: Unit, values: impl Iterator<Item = f64>) -> Scale {
        match unit {
            Unit::Seconds => {
                let (unit, seconds) = time_unit(values.map(f64::abs).fold(0.0, f64::max));
                Scale { factor: 1.0 / seconds, label: format!("{title}, {unit}") }
            }
            Unit::Share => Scale { factor: 100.0, label: format!("{title}, %") },
            Unit::Percent => Scale { factor: 1.0, label: format!("{title}, %") },
            Unit::Number => Scale { factor: 1.0, label: title },
        }
    }
}
