//! Means over the jobs, or the workflows, that are selected by *another* run of the same workload as
//! well. A policy that changes places of bags changes which bags run on one provider. A slower policy
//! completes fewer workflows. Such means compare the same jobs in both runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use haggle_results::columns::Table;
use haggle_results::reader::TableData;
use haggle_results::{ResultsError, RunReader};

/// A mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mean {
    /// A column of `jobs`, over the bags that ran on one provider, or on several, in the other run.
    Bags { column: &'static str, several: bool },
    /// A column of `workflows`, over the workflows that are complete in both runs.
    Workflows { column: &'static str },
}

/// Columns of `jobs` that have means, by their keys in `summary.json`.
const OF_JOBS: [(&str, &str); 3] = [
    ("turnaround_time.mean", "turnaround_time"),
    ("waiting_time.mean", "waiting_time"),
    ("bounded_slowdown.mean", "bounded_slowdown"),
];

/// Columns of `workflows` that have means.
const OF_WORKFLOWS: [(&str, &str); 2] = [
    ("grid.workflows.makespan", "makespan"),
    ("grid.workflows.turnaround_time", "turnaround_time"),
];

impl Mean {
    /// The mean of this name over this group.
    pub(super) fn of(metric: &str, group: &str) -> Result<Mean, String> {
        let column = |columns: &[(&str, &'static str)], of: &str| {
            let found = columns.iter().find(|(key, _)| *key == metric);
            let known = columns.iter().map(|(key, _)| *key).collect::<Vec<_>>().join(", ");
            let none = || format!("\"{metric}\" is no mean over {of}: there is {known}");
            found.map(|&(_, column)| column).ok_or_else(none)
        };
        match group {
            "single-provider" | "multi-provider" => {
                let several = group == "multi-provider";
                Ok(Mean::Bags { column: column(&OF_JOBS, "jobs")?, several })
            }
            "done-in-both" => Ok(Mean::Workflows { column: column(&OF_WORKFLOWS, "workflows")? }),
            _ => Err(format!(
                "nothing is told apart by \"{group}\" in another run: there is single-provider, \
                 multi-provider, done-in-both"
            )),
        }
    }

    /// The mean for the run in `folder`, with the selection by the run in `base`; `None` if it is empty.
    pub(super) fn value(self, folder: &Path, base: &Path) -> Result<Option<f64>, ResultsError> {
        match self {
            Mean::Bags { column, several } => bags(folder, base, column, several),
            Mean::Workflows { column } => workflows(folder, base, column),
        }
    }
}

fn bags(
    folder: &Path,
    base: &Path,
    column: &str,
    several: bool,
) -> Result<Option<f64>, ResultsError> {
    let table = jobs(base, &["workload_name", "job_id", "shape", "providers_used"])?;
    let (shapes, providers) = (table.text("shape")?, table.integer("providers_used")?);
    let mut members = BTreeSet::new();
    for (row, key) in keys(&table, "job_id")?.into_iter().enumerate() {
        let ran_on = providers[row].unwrap_or(0);
        // A bag that never ran belongs to neither group.
        if shapes.at(row) == Some("bag") && ran_on > 0 && (ran_on > 1) == several {
            members.insert(key);
        }
    }
    let table = jobs(folder, &["workload_name", "job_id", column])?;
    let values = keys(&table, "job_id")?.into_iter().zip(table.real(column)?);
    let of_members = values.filter(|(key, _)| members.contains(key));
    let values: Vec<f64> = of_members.filter_map(|(_, value)| *value).collect();
    Ok(haggle_results::stats::mean(&values))
}

fn workflows(folder: &Path, base: &Path, column: &str) -> Result<Option<f64>, ResultsError> {
    // An incomplete workflow has no value.
    let done = |folder: &Path| -> Result<BTreeMap<Key, f64>, ResultsError> {
        let names = ["workload_name", "workflow", column];
        let table = RunReader::open(folder)?.columns(Table::Workflows, &names)?;
        let values = keys(&table, "workflow")?.into_iter().zip(table.real(column)?);
        Ok(values.filter_map(|(key, value)| Some((key, (*value)?))).collect())
    };
    let others = done(base)?;
    let both = done(folder)?.into_iter().filter(|(key, _)| others.contains_key(key));
    let values: Vec<f64> = both.map(|(_, value)| value).collect();
    Ok(haggle_results::stats::mean(&values))
}

fn jobs(folder: &Path, columns: &[&str]) -> Result<TableData, ResultsError> {
    RunReader::open(folder)?.columns(Table::Jobs, columns)
}

/// A key that identifies a job or a workflow in every run of its workload.
type Key = (String, Option<i64>);

/// The keys of all rows.
fn keys(table: &TableData, number: &str) -> Result<Vec<Key>, ResultsError> {
    let (workloads, ids) = (table.text("workload_name")?, table.integer(number)?);
    let name = |row| workloads.at(row).unwrap_or_default().to_owned();
    Ok(ids.iter().enumerate().map(|(row, id)| (name(row), *id)).collect())
}
