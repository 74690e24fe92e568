//! The unit in which a metric is drawn.

use haggle_plots::time_unit;
use haggle_results::metrics::named::{Unit, title_and_unit};

use haggle_scenario::file::Metric;

/// A metric in words.
pub(super) fn title(metric: &Metric) -> String {
    title_and_unit(metric.name()).0
}

/// The unit in which values are drawn.
pub(super) struct Scale {
    /// What a value is multiplied by.
    pub(super) factor: f64,
    /// The label of the axis.
    pub(super) label: String,
}

impl Scale {
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
