//! Figures of differences: each run of a sweep against the run with its seed at another value of an
//! axis.

use std::collections::BTreeSet;

use haggle_plots::PlotError;
use haggle_results::sweep::{PairedRow, SweepRow, against};

use super::super::metric;
use super::{SweepData, distinct, setting};
use haggle_scenario::file::{Figure, Metric};

/// Base of a comparison: axes with their values.
pub(super) type Base = Vec<(usize, String)>;

/// The base that a figure names, if any.
pub(super) fn base(figure: &Figure, sweep: &SweepData) -> Result<Option<Base>, PlotError> {
    let Some(against) = &figure.against else { return Ok(None) };
    let mut base = Base::new();
    for (axis, value) in against {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let Some(at) = sweep.axis(axis) else {
            let known = sweep.axes.join(", ");
            let reason = format!("the sweep has no axis \"{axis}\": it has {known}");
            return Err(PlotError::Unsuitable(reason));
        };
        let known = distinct(sweep.runs.iter().map(|run| run.point[at].as_str()));
        if !known.contains(&value) {
            let known = known.join(", ");
            let reason = format!("the axis \"{axis}\" has no value \"{value}\": it has {known}");
            return Err(PlotError::Unsuitable(reason));
        }
        base.push((at, value));
    }
    Ok(Some(base))
}

/// Difference of each other point from the base, in the form of means.
pub(super) fn differences(sweep: &SweepData, base: &Base) -> Vec<SweepRow> {
    let row = |PairedRow { point, metric, base, values, difference }: PairedRow| SweepRow {
        point,
        metric,
        estimate: difference,
        values: values.iter().zip(&base).map(|(mine, base)| mine - base).collect(),
    };
    against(&sweep.runs, &sweep.seeds, base).into_iter().map(row).collect()
}

/// Title of the differences; with the variant if there is only one.
pub(super) fn of_difference(
    metric: &Metric,
    sweep: &SweepData,
    base: &Base,
    rows: &[SweepRow],
) -> String {
    let named = |point: &dyn Fn(usize) -> String| {
        let names = base.iter().map(|(axis, _)| setting(&sweep.axes[*axis], &point(*axis)));
        names.collect::<Vec<_>>().join(", ")
    };
    let variants: BTreeSet<String> =
        rows.iter().map(|row| named(&|axis| row.point[axis].clone())).collect();
    let value = |axis: usize| base.iter().find(|it| it.0 == axis).map(|it| it.1.clone());
    let to = named(&|axis| value(axis).unwrap_or_default());
    let title = metric::title(metric);
    match (variants.len(), variants.first()) {
        (1, Some(variant)) => format!("difference of {title} of {variant} to {to}"),
        _ => format!("difference of {title} to {to}"),
    }
}
