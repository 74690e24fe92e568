//! Common and different results of two runs: the scenarios' keys, the metrics, the jobs and their
//! attempts. Jobs are compared one by one only if they are the same in both runs.

pub mod impact;
pub mod owners;
pub mod recorded;
pub mod sweep;
pub mod within;

mod attempts;
mod jobs;
mod same;
mod starts;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use haggle_results::{Input, OwnRule, Provenance, ResultsError, RunReader, Summary, Table};
use serde::{Deserialize, Serialize};

use haggle_results::metrics::named::of_run;
use haggle_scenario::Scenario;

use crate::run_metrics::groups;

pub use attempts::{AttemptDifferences, OutcomePair};
pub use impact::Impact;
pub use jobs::{JobDifferences, JobPair, OutcomeChange, WorkloadPair};
pub use same::{Request, RunTimes};
pub use starts::Starts;

/// Two runs side by side; of each pair, the first is that of run A.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// True if all tables that both runs have, and their summaries, are the same.
    pub identical: bool,
    /// Tables of A that were changed, cut or removed since the run.
    pub changed_a: Vec<String>,
    /// Tables of B that were changed, cut or removed since the run.
    pub changed_b: Vec<String>,
    /// The seeds.
    pub seeds: (u64, u64),
    /// Tables of both with different contents.
    pub tables: Vec<String>,
    /// Such tables that have the same rows in another order.
    pub reordered: Vec<String>,
    /// Tables that only one has.
    pub tables_of_one: Vec<String>,
    /// Input files of one name with different contents.
    pub inputs: Vec<String>,
    /// Keys of the scenarios with different values; `None` = a folder has lost its `scenario.toml`,
    /// and the scenarios are not the same.
    pub scenario: Option<Vec<KeyDifference>>,
    /// Metrics that at least one run has.
    pub metrics: Vec<MetricPair>,
    /// Fates of the jobs.
    pub jobs: JobDifferences,
    /// Effect of B on jobs that are the same and ended in both.
    pub impact: impact::Impact,
    /// How attempts ended.
    pub attempts: AttemptDifferences,
    /// Waiting times by owner, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owners: Option<owners::OwnedWaits>,
}

/// A key of two scenarios.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeyDifference {
    /// Path of the key, with the names of list elements that have one.
    pub key: String,
    /// Its value in A, as TOML; `None` = missing.
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

    /// (B - A) / A; `None` if A is 0.
    pub fn share(&self) -> Option<f64> {
        let a = self.a.filter(|&a| a != 0.0)?;
        Some(self.difference()? / a.abs())
    }
}

/// True if two summaries have the same results. Warnings are no results: a run alone and the same
/// run in a sweep may have different ones.
pub(super) fn say_the_same((a, b): &(Summary, Summary)) -> bool {
    let results = |summary: &Summary| Summary { warnings: Vec::new(), ..summary.clone() };
    results(a) == results(b)
}

/// Compares two runs and names the `most` jobs whose starts differ most.
///
/// # Errors
/// If the results of one cannot be read.
pub fn compare(a: &RunReader, b: &RunReader, most: usize) -> Result<Comparison, ResultsError> {
    let (side_a, side_b) = (Side::read(a)?, Side::read(b)?);
    let (tables_a, tables_b) = (&side_a.tables, &side_b.tables);
    let differs = |(name, digest): (&String, &String)| {
        tables_b.get(name).is_some_and(|other| other != digest).then(|| name.clone())
    };
    let tables: Vec<String> = tables_a.iter().filter_map(differs).collect();
    let reordered = reordered(a, b, &tables)?;
    let names: BTreeSet<&String> = tables_a.keys().chain(tables_b.keys()).collect();
    let alone = |name: &&String| !tables_a.contains_key(*name) || !tables_b.contains_key(*name);
    let summaries = (a.summary()?, b.summary()?);
    let inputs = side_a.inputs.iter().filter(|input| {
        side_b.inputs.iter().any(|it| it.path == input.path && it.sha256 != input.sha256)
    });
    // Changed tables are not the results of the runs, even if both were changed alike.
    let whole = side_a.changed.is_empty() && side_b.changed.is_empty();
    let jobs = (same::Job::all(a)?, same::Job::all(b)?);
    let pairs = same::pairs((a, &jobs.0), (b, &jobs.1))?;
    Ok(Comparison {
        identical: whole && tables.is_empty() && say_the_same(&summaries),
        seeds: (side_a.seed, side_b.seed),
        tables,
        reordered,
        tables_of_one: names.into_iter().filter(alone).cloned().collect(),
        inputs: inputs.map(|input| input.path.clone()).collect(),
        scenario: key_differences((a, &side_a), (b, &side_b))?,
        metrics: metric_pairs(of_run(&summaries.0), of_run(&summaries.1)),
        jobs: jobs::differences(&pairs, most),
        impact: impact::of_pairs(&pairs),
        attempts: attempts::differences(a, b, &pairs)?,
        owners: None,
        changed_a: side_a.changed,
        changed_b: side_b.changed,
    })
}

/// The tables that have the same rows in both runs.
fn reordered(a: &RunReader, b: &RunReader, tables: &[String]) -> Result<Vec<String>, ResultsError> {
    let mut found = Vec::new();
    for table in Table::ALL.into_iter().filter(|table| tables.iter().any(|it| it == table.name())) {
        // Of a run whose tables were not kept, only digests in order are known.
        let is_known = a.has(table) && b.has(table);
        if is_known && a.rows_in_any_order(table)? == b.rows_in_any_order(table)? {
            found.push(table.name().to_owned());
        }
    }
    Ok(found)
}

/// The metrics of groups of jobs that one of two runs has.
///
/// # Errors
/// If the results cannot be read.
pub fn metrics_of_groups(a: &RunReader, b: &RunReader) -> Result<Vec<MetricPair>, ResultsError> {
    let of = |run: &RunReader| groups(run, &run.summary()?);
    Ok(metric_pairs(of(a)?, of(b)?))
}

/// A run as its own files describe it.
struct Side {
    /// The digest of its scenario.
    scenario: String,
    seed: u64,
    inputs: Vec<Input>,
    own_rules: Vec<OwnRule>,
    /// The digests of its tables as they are now.
    tables: BTreeMap<String, String>,
    changed: Vec<String>,
}

impl Side {
    fn read(run: &RunReader) -> Result<Side, ResultsError> {
        let provenance = run.provenance()?;
        let kept = !provenance.has_summary_only();
        let written = provenance.digest.tables;
        // Tables that were not kept are represented by the digests in the provenance.
        let tables = if kept { run.digest()?.tables } else { written.clone() };
        let is_not = |(name, digest): (&String, &String)| {
            (tables.get(name) != Some(digest)).then(|| name.clone())
        };
        let changed = written.iter().filter_map(is_not).collect();
        let Provenance { scenario_sha256: scenario, seed, inputs, own_rules, .. } = provenance;
        Ok(Side { scenario, seed, inputs, own_rules, tables, changed })
    }
}

fn metric_pairs(a: Vec<(String, f64)>, b: Vec<(String, f64)>) -> Vec<MetricPair> {
    let value = |all: &[(String, f64)], name: &str| {
        all.iter().find(|(other, _)| other == name).map(|(_, value)| *value)
    };
    // In the order of A, and metrics that only B has at the end.
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

fn differences(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> Vec<KeyDifference> {
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let difference = |key: &String| {
        let (a, b) = (a.get(key).cloned(), b.get(key).cloned());
        (a != b).then(|| KeyDifference { key: key.clone(), a, b })
    };
    names.into_iter().filter_map(difference).collect()
}

/// The keys in which two runs differ; `None` if that is unknown.
fn key_differences(
    (a, side_a): (&RunReader, &Side),
    (b, side_b): (&RunReader, &Side),
) -> Result<Option<Vec<KeyDifference>>, ResultsError> {
    let keys = keys(a, side_a)?.zip(keys(b, side_b)?);
    let is_same = side_a.scenario == side_b.scenario && side_a.own_rules == side_b.own_rules;
    // Without the files, equal digests still show that there is no difference.
    Ok(keys.map(|(a, b)| differences(&a, &b)).or_else(|| is_same.then(Vec::new)))
}

/// Every key of a run's scenario with its value as TOML, and the versions of own rules; `None` if
/// the folder has lost the scenario.
fn keys(run: &RunReader, side: &Side) -> Result<Option<BTreeMap<String, String>>, ResultsError> {
    let Some(mut scenario) = scenario_of(run)? else { return Ok(None) };
    let folder = run.folder();
    // Paths are relative to the folders of results. Relocated to one folder, the same file has one
    // name.
    let relocated = scenario.relocate(folder, Path::new("."));
    relocated.map_err(|error| ResultsError::read(folder, error))?;
    let mut keys = BTreeMap::new();
    if let Ok(table) = scenario.to_toml().parse() {
        flatten(String::new(), &toml::Value::Table(table), &mut keys);
    }
    for OwnRule { kind, name, version } in &side.own_rules {
        keys.insert(format!("version of the {kind} \"{name}\" of one's own"), version.to_string());
    }
    Ok(Some(keys))
}

/// The scenario of a run, if its folder still has it.
fn scenario_of(run: &RunReader) -> Result<Option<Scenario>, ResultsError> {
    let Some(text) = run.scenario()? else { return Ok(None) };
    // Read through a table, as everywhere else: a second way would compile the deserialiser of
    // every type again.
    let table = toml::from_str::<toml::Table>(&text);
    let scenario = table.and_then(|it| Scenario::deserialize(toml::Value::Table(it)));
    scenario.map(Some).map_err(|error| ResultsError::Damaged {
        path: run.folder().join("scenario.toml"),
        reason: error.message().to_owned(),
    })
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
        // Lists of tables have a key for each member; other lists are compared as a whole.
        toml::Value::Array(items) if items.iter().any(toml::Value::is_table) => {
            for (index, item) in items.iter().enumerate() {
                let name = item.get("name").and_then(toml::Value::as_str);
                // A member is found by its name in both scenarios, even at another place.
                let name = name.map_or_else(|| index.to_string(), str::to_owned);
                flatten(below(&name), item, keys);
            }
        }
        value => drop(keys.insert(path, value.to_string())),
    }
}

/// Per group of samples: true if all samples are constant. Then its replications are copies of one
/// run, and their differences have no confidence interval.
fn copies<'s, K: Ord>(
    samples: impl Iterator<Item = (K, &'s (Vec<f64>, Vec<f64>))>,
) -> BTreeMap<K, bool> {
    let is_constant = |values: &[f64]| values.windows(2).all(|pair| pair[0] == pair[1]);
    let mut copies = BTreeMap::new();
    for (group, (a, b)) in samples {
        *copies.entry(group).or_insert(true) &= is_constant(a) && is_constant(b);
    }
    copies
}

/// The index of an element in a list; a new one is appended. The search begins at the end, since
/// the runs of a point follow each other.
fn place<T: PartialEq>(all: &mut Vec<T>, one: T) -> usize {
    all.iter().rposition(|it| *it == one).unwrap_or_else(|| {
        all.push(one);
        all.len() - 1
    })
}
