//! What two runs have in common and what not: the scenarios' keys, the metrics, the jobs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use haggle_results::{JobRow, ResultsError, RunReader};
use serde::Serialize;

use super::figures::scenario_of;
use super::sweep::metrics;

/// Two runs side by side; of each pair, the first is that of run A.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Whether all tables that both runs have, and their summaries, are the same.
    pub identical: bool,
    /// Tables that both have, but with other contents.
    pub tables: Vec<String>,
    /// Tables that only one has.
    pub tables_of_one: Vec<String>,
    /// Files that both read by the same name, but with other contents.
    pub inputs: Vec<String>,
    /// Keys of the scenarios with different values.
    pub scenario: Vec<KeyDifference>,
    /// All metrics that one of them has.
    pub metrics: Vec<MetricPair>,
    /// What became of the jobs.
    pub jobs: JobDifferences,
}

/// A key of two scenarios.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeyDifference {
    /// The way to it, with names for the elements of lists that have some.
    pub key: String,
    /// Its value in A, as TOML; `None` = not there.
    pub a: Option<String>,
    /// Its value in B.
    pub b: Option<String>,
}

/// A metric of two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricPair {
    /// Its name.
    pub metric: String,
    /// Its value in A.
    pub a: Option<f64>,
    /// Its value in B.
    pub b: Option<f64>,
}

impl MetricPair {
    /// B - A.
    pub fn difference(&self) -> Option<f64> {
        Some(self.b? - self.a?)
    }

    /// (B - A) / A; none where A is 0.
    pub fn share(&self) -> Option<f64> {
        let a = self.a.filter(|&a| a != 0.0)?;
        Some(self.difference()? / a.abs())
    }
}

/// What became of the jobs of two runs, matched by workload and number in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JobDifferences {
    /// In A only.
    pub only_in_a: usize,
    /// In B only.
    pub only_in_b: usize,
    /// In both.
    pub in_both: usize,
    /// Started earlier in B.
    pub earlier: usize,
    /// Started later in B.
    pub later: usize,
    /// Started at the same instant.
    pub same: usize,
    /// Started in A only.
    pub started_only_in_a: usize,
    /// Started in B only.
    pub started_only_in_b: usize,
    /// Started in neither.
    pub started_in_neither: usize,
    /// Queued by another provider.
    pub other_provider: usize,
    /// How often which outcome became which other.
    pub outcomes: Vec<OutcomeChange>,
    /// Those whose starts differ, largest difference first.
    pub largest: Vec<JobPair>,
}

/// Jobs whose outcome is another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutcomeChange {
    /// Outcome in A.
    pub a: String,
    /// Outcome in B.
    pub b: String,
    /// How many jobs.
    pub jobs: usize,
}

/// A job that both runs started, at different times.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobPair {
    /// Its workload.
    pub workload: String,
    /// Its number in the workload.
    pub job_id: i64,
    /// Processors it needs.
    pub processors: i64,
    /// Start in A, s.
    pub start_a: f64,
    /// Start in B, s.
    pub start_b: f64,
    /// Provider in A.
    pub provider_a: Option<String>,
    /// Provider in B.
    pub provider_b: Option<String>,
}

impl JobPair {
    /// By how much later it started in B, s.
    pub fn later(&self) -> f64 {
        self.start_b - self.start_a
    }
}

/// Compares two runs and names the `most` jobs whose starts differ most.
///
/// # Errors
/// If the results of one cannot be read.
pub fn compare(a: &RunReader, b: &RunReader, most: usize) -> Result<Comparison, ResultsError> {
    let (from_a, from_b) = (a.provenance()?, b.provenance()?);
    let (tables_a, tables_b) = (&from_a.digest.tables, &from_b.digest.tables);
    let differs = |(name, digest): (&String, &String)| {
        tables_b.get(name).is_some_and(|other| other != digest).then(|| name.clone())
    };
    let tables: Vec<String> = tables_a.iter().filter_map(differs).collect();
    let names: BTreeSet<&String> = tables_a.keys().chain(tables_b.keys()).collect();
    let alone = |name: &&String| !tables_a.contains_key(*name) || !tables_b.contains_key(*name);
    let summaries = (a.summary()?, b.summary()?);
    let inputs = from_a.inputs.iter().filter(|input| {
        from_b.inputs.iter().any(|it| it.path == input.path && it.sha256 != input.sha256)
    });
    Ok(Comparison {
        identical: tables.is_empty() && summaries.0 == summaries.1,
        tables,
        tables_of_one: names.into_iter().filter(alone).cloned().collect(),
        inputs: inputs.map(|input| input.path.clone()).collect(),
        scenario: scenario_differences(a.folder(), b.folder())?,
        metrics: pairs(metrics(&summaries.0), metrics(&summaries.1)),
        jobs: job_differences(&a.jobs()?, &b.jobs()?, most),
    })
}

fn pairs(a: Vec<(String, f64)>, b: Vec<(String, f64)>) -> Vec<MetricPair> {
    let value = |all: &[(String, f64)], name: &str| {
        all.iter().find(|(other, _)| other == name).map(|(_, value)| *value)
    };
    let only_b = b.iter().filter(|(name, _)| value(&a, name).is_none());
    a.iter()
        .chain(only_b)
        .map(|(name, _)| MetricPair {
            metric: name.clone(),
            a: value(&a, name),
            b: value(&b, name),
        })
        .collect()
}

fn scenario_differences(a: &Path, b: &Path) -> Result<Vec<KeyDifference>, ResultsError> {
    let (a, b) = (keys(a)?, keys(b)?);
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let difference = |key: &String| {
        let (a, b) = (a.get(key).cloned(), b.get(key).cloned());
        (a != b).then(|| KeyDifference { key: key.clone(), a, b })
    };
    Ok(names.into_iter().filter_map(difference).collect())
}

/// Every key of a run's scenario with its value as TOML.
fn keys(folder: &Path) -> Result<BTreeMap<String, String>, ResultsError> {
    let mut scenario = scenario_of(folder)?;
    // Paths start from the results' folders; seen from one place, the same file has one name.
    let relocated = scenario.relocate(folder, Path::new("."));
    relocated.map_err(|error| ResultsError::read(folder, error))?;
    let mut keys = BTreeMap::new();
    if let Ok(value) = toml::Value::try_from(&scenario) {
        flatten(String::new(), &value, &mut keys);
    }
    Ok(keys)
}

fn flatten(path: String, value: &toml::Value, keys: &mut BTreeMap<String, String>) {
    let below = |key: &str| match path.is_empty() {
        true => key.to_owned(),
        false => format!("{path}.{key}"),
    };
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                flatten(below(key), value, keys);
            }
        }
        toml::Value::Array(items) if items.iter().any(toml::Value::is_table) => {
            for (index, item) in items.iter().enumerate() {
                let name = item.get("name").and_then(toml::Value::as_str);
                let name = name.map_or_else(|| index.to_string(), str::to_owned);
                flatten(below(&name), item, keys);
            }
        }
        value => drop(keys.insert(path, value.to_string())),
    }
}

fn job_differences(a: &[JobRow], b: &[JobRow], most: usize) -> JobDifferences {
    let key = |job: &JobRow| (job.workload.clone(), job.job_id);
    let in_a: BTreeMap<_, &JobRow> = a.iter().map(|job| (key(job), job)).collect();
    let in_b: BTreeMap<_, &JobRow> = b.iter().map(|job| (key(job), job)).collect();
    let mut differences = JobDifferences {
        only_in_b: in_b.keys().filter(|key| !in_a.contains_key(*key)).count(),
        ..JobDifferences::default()
    };
    let mut outcomes: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut moved: Vec<(&JobRow, &JobRow, f64)> = Vec::new();
    for (key, a) in &in_a {
        let Some(b) = in_b.get(key) else {
            differences.only_in_a += 1;
            continue;
        };
        differences.in_both += 1;
        differences.other_provider += usize::from(a.provider != b.provider);
        if a.outcome != b.outcome {
            *outcomes.entry((&a.outcome, &b.outcome)).or_default() += 1;
        }
        match (a.start, b.start) {
            (Some(start_a), Some(start_b)) => {
                let later = start_b - start_a;
                differences.earlier += usize::from(later < 0.0);
                differences.later += usize::from(later > 0.0);
                differences.same += usize::from(later == 0.0);
                if later != 0.0 {
                    moved.push((a, b, later.abs()));
                }
            }
            (Some(_), None) => differences.started_only_in_a += 1,
            (None, Some(_)) => differences.started_only_in_b += 1,
            (None, None) => differences.started_in_neither += 1,
        }
    }
    // Stable, so that jobs of one difference stay in order of workload and number.
    moved.sort_by(|left, right| right.2.total_cmp(&left.2));
    let pair = |&(a, b, _): &(&JobRow, &JobRow, f64)| JobPair {
        workload: a.workload.clone(),
        job_id: a.job_id,
        processors: a.processors,
        start_a: a.start.unwrap_or_default(),
        start_b: b.start.unwrap_or_default(),
        provider_a: a.provider.clone(),
        provider_b: b.provider.clone(),
    };
    differences.largest = moved.iter().take(most).map(pair).collect();
    let change = |((a, b), jobs): ((&str, &str), usize)| OutcomeChange {
        a: a.to_owned(),
        b: b.to_owned(),
        jobs,
    };
    differences.outcomes = outcomes.into_iter().map(change).collect();
    differences
}
