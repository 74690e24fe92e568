//! Two sweeps, run by run: paired by variant and seed.

use std::collections::BTreeMap;
use std::path::Path;

use haggle_results::metrics::named::of_run;
use haggle_results::stats::{Estimate, paired_difference};
use haggle_results::{ResultsError, SweepFolder};
use serde::Serialize;

use super::{Side, copies, place, say_the_same};
use crate::run_metrics::groups;
use haggle_scenario::Experiment;

/// Two sweeps side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepComparison {
    /// True if both have the same runs, and these the same tables and summaries.
    pub identical: bool,
    /// Runs that both have, by their folder in the sweep.
    pub runs: Vec<RunPair>,
    /// Folders of runs that only A has.
    pub only_in_a: Vec<String>,
    /// Folders of runs that only B has.
    pub only_in_b: Vec<String>,
    /// Metrics of each variant, over the seeds that both have.
    pub metrics: Vec<VariantMetric>,
}

/// A run that both sweeps have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunPair {
    /// Its folder in the sweep.
    pub folder: String,
    /// True if its tables and its summary are the same.
    pub identical: bool,
    /// Tables of A, and of B, that were changed since they were written.
    pub changed: (Vec<String>, Vec<String>),
}

/// A metric of a variant in two sweeps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VariantMetric {
    /// The variant.
    pub variant: String,
    /// The metric.
    pub metric: String,
    /// Its mean in A over the seeds that both have.
    pub a: f64,
    /// Its mean in B.
    pub b: f64,
    /// B - A, seed by seed.
    pub difference: Estimate,
}

/// The values of a metric of a variant in A and in B, seed by seed, by the places of variant and metric.
type Samples = BTreeMap<(usize, usize), (Vec<f64>, Vec<f64>)>;

/// Compares two sweeps.
///
/// # Errors
/// If the results of one cannot be read.
pub fn compare_sweeps(
    a: (&Experiment, &Path),
    b: (&Experiment, &Path),
) -> Result<SweepComparison, ResultsError> {
    let (in_a, in_b) = (runs(a)?, runs(b)?);
    let only = |these: &Runs, those: &Runs| -> Vec<String> {
        let alone = these.numbers.iter().filter(|it| !those.places.contains_key(&it.0));
        alone.map(|((_, folder), _)| folder.clone()).collect()
    };
    let mut comparison = SweepComparison {
        identical: false,
        runs: Vec::new(),
        only_in_a: only(&in_a, &in_b),
        only_in_b: only(&in_b, &in_a),
        metrics: Vec::new(),
    };
    let mut variants: Vec<String> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut samples = Samples::new();
    for ((variant, folder), number) in &in_a.numbers {
        let Some(&other) = in_b.places.get(&(variant.clone(), folder.clone())) else { continue };
        let path = Path::new(folder);
        let runs = (in_a.there.run(*number, path)?, in_b.there.run(other, path)?);
        // A run may have been removed since it was listed.
        let (Some(run_a), Some(run_b)) = runs else { continue };
        let runs = (run_a, run_b);
        let sides = (Side::read(&runs.0)?, Side::read(&runs.1)?);
        let summaries = (runs.0.summary()?, runs.1.summary()?);
        comparison.runs.push(RunPair {
            folder: folder.clone(),
            identical: sides.0.tables == sides.1.tables && say_the_same(&summaries),
            changed: (sides.0.changed, sides.1.changed),
        });
        let variant_at = place(&mut variants, variant.clone());
        let of_groups = (groups(&runs.0, &summaries.0)?, groups(&runs.1, &summaries.1)?);
        let of_b: BTreeMap<String, f64> =
            of_run(&summaries.1).into_iter().chain(of_groups.1).collect();
        for (metric, value) in of_run(&summaries.0).into_iter().chain(of_groups.0) {
            // Only values of both runs can be paired.
            let Some(&other) = of_b.get(&metric) else { continue };
            let (a, b) = samples.entry((variant_at, place(&mut names, metric))).or_default();
            a.push(value);
            b.push(other);
        }
    }
    let copies = copies(samples.iter().map(|(&(variant, _), it)| (variant, it)));
    let row = |((variant, metric), (a, b)): ((usize, usize), (Vec<f64>, Vec<f64>))| {
        let mut difference = paired_difference(&b, &a)?;
        // Replications that are copies of one run have no confidence interval.
        if copies[&variant] {
            difference.half_width = None;
        }
        let (a, b) = (Estimate::of(&a)?.mean, Estimate::of(&b)?.mean);
        let (variant, metric) = (variants[variant].clone(), names[metric].clone());
        Some(VariantMetric { variant, metric, a, b, difference })
    };
    comparison.metrics = samples.into_iter().filter_map(row).collect();
    let whole =
        |run: &RunPair| run.identical && run.changed.0.is_empty() && run.changed.1.is_empty();
    comparison.identical = comparison.runs.iter().all(whole)
        && comparison.only_in_a.is_empty()
        && comparison.only_in_b.is_empty();
    Ok(comparison)
}

/// The runs of a sweep that are there.
struct Runs {
    there: SweepFolder,
    /// Variant and folder of each, and its number, in order.
    numbers: Vec<((String, String), usize)>,
    /// Index of these.
    places: BTreeMap<(String, String), usize>,
}

fn runs((experiment, folder): (&Experiment, &Path)) -> Result<Runs, ResultsError> {
    let there = SweepFolder::open(folder)?;
    let mut numbers = Vec::new();
    for run in experiment.runs() {
        let name = run.folder();
        if there.run(run.number, &name)?.is_some() {
            numbers.push(((run.variant.label.clone(), name.display().to_string()), run.number));
        }
    }
    let places = numbers.iter().cloned().collect();
    Ok(Runs { there, numbers, places })
}
