//! One sweep: effect of one value of an axis on the runs, against the other values.

use std::path::Path;

use haggle_results::stats::{Estimate, mean};
use haggle_results::sweep::{PairedRow, SweepRun, against};
use haggle_results::{ResultsError, SweepFolder};
use serde::Serialize;

use super::place;
use crate::run_metrics::RunMetrics;
use haggle_scenario::{Experiment, Setting};

/// A metric of a variant beside that of the base. Both have common random numbers, so runs are
/// compared seed by seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgainstRow {
    /// The value on the axis that is compared.
    pub variant: String,
    /// (axis, value) of all other axes with several values.
    pub point: Vec<(String, String)>,
    /// The metric.
    pub metric: String,
    /// Mean of the base over the seeds that both have.
    pub base: f64,
    /// Mean of this variant over these seeds.
    pub mean: f64,
    /// This variant - the base, seed by seed.
    pub difference: Estimate,
    /// Seeds with a lower value than that of the base.
    pub lower: usize,
    /// Seeds with a higher value.
    pub higher: usize,
}

/// Reason why no comparison with a value of an axis is possible.
#[derive(Debug, thiserror::Error)]
pub enum AgainstError {
    /// The sweep has no such axis.
    #[error("the sweep has no axis \"{axis}\": it has {}", known.join(", "))]
    NoAxis {
        /// Its text in the request.
        axis: String,
        /// Known axes.
        known: Vec<String>,
    },
    /// The axis has no such value.
    #[error("the axis \"{axis}\" has no value \"{value}\": it has {}", known.join(", "))]
    NoValue {
        /// The axis.
        axis: String,
        /// Its text in the request.
        value: String,
        /// Known values.
        known: Vec<String>,
    },
    /// Results cannot be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
}

/// Compares every other value of `axis` with `value`, at each point of the other axes. Missing runs
/// are left out.
///
/// # Errors
/// If there is no such axis or value, or results cannot be read.
pub fn compare_within(
    experiment: &Experiment,
    folder: &Path,
    axis: &str,
    value: &str,
) -> Result<Vec<AgainstRow>, AgainstError> {
    let base_at = place_of(experiment, axis, value)?;
    let (mut runs, mut seeds) = (Vec::new(), Vec::new());
    let there = SweepFolder::open(folder)?;
    let of_runs = RunMetrics::new(experiment, &there);
    for run in experiment.runs() {
        if let Some(reader) = there.run(run.number, &run.folder())? {
            let metrics = of_runs.all(&run, &reader, &reader.summary()?)?;
            let point = run.variant.settings.iter().map(Setting::text).collect();
            runs.push(SweepRun { point, metrics });
            seeds.push(run.seed);
        }
    }
    let settings = experiment.variants.first().map_or(&[][..], |it| &it.settings);
    // An axis with one value distinguishes no points.
    let varies = |it: &Setting| it.axis != axis && values(experiment, &it.axis).len() > 1;
    let told: Vec<(usize, &str)> = settings
        .iter()
        .enumerate()
        .filter(|(_, it)| varies(it))
        .map(|(place, it)| (place, it.axis.as_str()))
        .collect();
    let row = |PairedRow { point, metric, base, values, difference }: PairedRow| {
        let pairs = || base.iter().zip(&values);
        Some(AgainstRow {
            variant: point[base_at].clone(),
            point: told.iter().map(|&(at, axis)| (axis.to_owned(), point[at].clone())).collect(),
            metric,
            base: mean(&base)?,
            mean: mean(&values)?,
            difference,
            lower: pairs().filter(|(base, mine)| mine < base).count(),
            higher: pairs().filter(|(base, mine)| mine > base).count(),
        })
    };
    let rows = against(&runs, &seeds, &[(base_at, value.to_owned())]);
    let mut rows: Vec<AgainstRow> = rows.into_iter().filter_map(row).collect();
    // Rows of one metric are adjacent, in the order of the sweep.
    let (mut metrics, mut points) = (Vec::new(), Vec::new());
    let order = values(experiment, axis);
    rows.sort_by_cached_key(|row| {
        let variant = order.iter().position(|it| *it == row.variant);
        // Cached keys are computed in the order of the rows, so places follow their first appearance.
        let metric = place(&mut metrics, row.metric.clone());
        (metric, place(&mut points, row.point.clone()), variant)
    });
    Ok(rows)
}

/// Index in the settings of the axis, if it has this value.
fn place_of(experiment: &Experiment, axis: &str, value: &str) -> Result<usize, AgainstError> {
    let settings = experiment.variants.first().map_or(&[][..], |it| &it.settings);
    let Some(at) = settings.iter().position(|setting| setting.axis == axis) else {
        let known = settings.iter().map(|setting| setting.axis.clone()).collect();
        return Err(AgainstError::NoAxis { axis: axis.to_owned(), known });
    };
    let known = values(experiment, axis);
    if !known.iter().any(|it| it == value) {
        let (axis, value) = (axis.to_owned(), value.to_owned());
        return Err(AgainstError::NoValue { axis, value, known });
    }
    Ok(at)
}

/// The values of an axis, in their order.
fn values(experiment: &Experiment, axis: &str) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for setting in experiment.variants.iter().flat_map(|variant| &variant.settings) {
        if setting.axis == axis {
            place(&mut values, setting.text());
        }
    }
    values
}
