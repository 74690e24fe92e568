//! One sweep: what one value of an axis makes of the runs, against the other values.

use std::collections::BTreeMap;
use std::path::Path;

use haggle_results::stats::{Estimate, paired_difference};
use haggle_results::{ResultsError, SweepFolder};
use serde::Serialize;

use super::{copies, place};
use crate::scenario::{Experiment, Run, Setting};
use haggle_results::metrics::named::of_run;

/// A metric of a variant beside that of the variant it is held against. Both have common random
/// numbers, so runs are compared seed by seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgainstRow {
    /// The value on the axis that is compared.
    pub variant: String,
    /// (axis, value) of all other axes that have several values; both variants are there.
    pub point: Vec<(String, String)>,
    /// The metric.
    pub metric: String,
    /// Mean of the variant that is held against, over the seeds that both have.
    pub base: f64,
    /// Mean of this variant over these seeds.
    pub mean: f64,
    /// This variant - the base, seed by seed.
    pub difference: Estimate,
    /// With how many seeds the value is lower than the base's.
    pub lower: usize,
    /// With how many seeds it is higher.
    pub higher: usize,
}

/// Why nothing can be held against a value of an axis.
#[derive(Debug, thiserror::Error)]
pub enum AgainstError {
    /// The sweep has no such axis.
    #[error("the sweep has no axis \"{axis}\": it has {}", known.join(", "))]
    NoAxis {
        /// As it was typed.
        axis: String,
        /// The axes there are.
        known: Vec<String>,
    },
    /// The axis has no such value.
    #[error("the axis \"{axis}\" has no value \"{value}\": it has {}", known.join(", "))]
    NoValue {
        /// The axis.
        axis: String,
        /// As it was typed.
        value: String,
        /// The values there are.
        known: Vec<String>,
    },
    /// Results cannot be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
}

/// The values of a base and of a variant, seed by seed, by the places of metric, point and variant.
type Samples = BTreeMap<[usize; 3], (Vec<f64>, Vec<f64>)>;

/// Holds every other value of `axis` against `value`, at each point of the other axes; runs that
/// are not there are left out.
///
/// # Errors
/// If there is no such axis or value, or results cannot be read.
pub fn compare_within(
    experiment: &Experiment,
    folder: &Path,
    axis: &str,
    value: &str,
) -> Result<Vec<AgainstRow>, AgainstError> {
    let runs: Vec<Run<'_>> = experiment.runs().collect();
    let base_at = place_of(experiment, axis, value)?;
    let settings = experiment.variants.first().map_or(&[][..], |it| &it.settings);
    let varies = |it: &Setting| it.axis != axis && values(experiment, &it.axis).len() > 1;
    let told: Vec<bool> = settings.iter().map(varies).collect();
    let others = |run: &Run<'_>| -> Vec<(String, String)> {
        let settings = run.variant.settings.iter().zip(&told).filter(|it| *it.1);
        settings.map(|(it, _)| (it.axis.clone(), it.text())).collect()
    };
    let order = values(experiment, axis);
    let there = SweepFolder::open(folder)?;
    let read = |run: &Run<'_>| -> Result<Option<Vec<(String, f64)>>, ResultsError> {
        let found = there.run(run.number, &run.folder())?;
        found.map(|run| Ok(of_run(&run.summary()?))).transpose()
    };
    let mut bases = BTreeMap::new();
    for run in runs.iter().filter(|run| run.variant.settings[base_at].text() == value) {
        if let Some(metrics) = read(run)? {
            bases.insert((others(run), run.seed), metrics);
        }
    }
    let (mut points, mut names) = (Vec::new(), Vec::<String>::new());
    let mut samples = Samples::new();
    for run in runs.iter().filter(|run| run.variant.settings[base_at].text() != value) {
        let point = others(run);
        let Some(base) = bases.get(&(point.clone(), run.seed)) else { continue };
        let base: BTreeMap<&str, f64> =
            base.iter().map(|(name, it)| (name.as_str(), *it)).collect();
        let point_at = place(&mut points, point);
        let text = run.variant.settings[base_at].text();
        let variant_at = order.iter().position(|it| *it == text).unwrap_or(order.len());
        for (metric, mine) in read(run)?.into_iter().flatten() {
            let Some(&theirs) = base.get(metric.as_str()) else { continue };
            let key = [place(&mut names, metric), point_at, variant_at];
            let (bases, values) = samples.entry(key).or_default();
            bases.push(theirs);
            values.push(mine);
        }
    }
    let copies = copies(samples.iter().map(|(&[_, point, variant], it)| ([point, variant], it)));
    let row = |([metric, point, variant], (bases, values)): ([usize; 3], (Vec<f64>, Vec<f64>))| {
        let pairs = || bases.iter().zip(&values);
        let mut difference = paired_difference(&values, &bases)?;
        if copies[&[point, variant]] {
            difference.half_width = None;
        }
        Some(AgainstRow {
            variant: order.get(variant)?.clone(),
            point: points[point].clone(),
            metric: names[metric].clone(),
            base: Estimate::of(&bases)?.mean,
            mean: Estimate::of(&values)?.mean,
            difference,
            lower: pairs().filter(|(base, mine)| mine < base).count(),
            higher: pairs().filter(|(base, mine)| mine > base).count(),
        })
    };
    Ok(samples.into_iter().filter_map(row).collect())
}

/// At which place of the settings an axis is that has this value.
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
