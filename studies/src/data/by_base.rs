//! Means over the bags that ran on one provider, or on several, in *another* run of the same
//! workload: a policy that changes where bags run changes which ones those are.

use std::collections::BTreeSet;
use std::path::Path;

use haggle_results::columns::Table;
use haggle_results::reader::TableData;
use haggle_results::{ResultsError, RunReader};

/// Columns whose means are asked for, by their keys in `summary.json`.
const COLUMNS: [(&str, &str); 3] = [
    ("turnaround_time.mean", "turnaround_time"),
    ("waiting_time.mean", "waiting_time"),
    ("bounded_slowdown.mean", "bounded_slowdown"),
];

/// The column of `jobs` whose mean this is.
pub(super) fn column(metric: &str) -> Result<&'static str, String> {
    let found = COLUMNS.iter().find(|(key, _)| *key == metric);
    let known = COLUMNS.map(|(key, _)| key).join(", ");
    let none = || format!("\"{metric}\" is no mean over jobs: there is {known}");
    found.map(|&(_, column)| column).ok_or_else(none)
}

/// Whether the bags of a group run on several providers.
pub(super) fn several(group: &str) -> Result<bool, String> {
    match group {
        "single-provider" => Ok(false),
        "multi-provider" => Ok(true),
        _ => Err(format!(
            "jobs are not told apart by \"{group}\" in another run: there is single-provider, \
             multi-provider"
        )),
    }
}

/// The mean of a column of the run in `folder` over the bags that ran on one provider, or on
/// `several`, in the run in `base`; `None` if there are none.
pub(super) fn mean(
    folder: &Path,
    base: &Path,
    column: &str,
    several: bool,
) -> Result<Option<f64>, ResultsError> {
    let table = jobs(base, &["workload_name", "job_id", "shape", "providers_used"])?;
    let (shapes, providers) = (table.text("shape")?, table.integer("providers_used")?);
    let mut members = BTreeSet::new();
    for (row, key) in keys(&table)?.into_iter().enumerate() {
        let ran_on = providers[row].unwrap_or(0);
        if shapes.at(row) == Some("bag") && ran_on > 0 && (ran_on > 1) == several {
            members.insert(key);
        }
    }
    let table = jobs(folder, &["workload_name", "job_id", column])?;
    let values = table.real(column)?;
    let of_members = keys(&table)?.into_iter().zip(values).filter(|(key, _)| members.contains(key));
    let values: Vec<f64> = of_members.filter_map(|(_, value)| *value).collect();
    Ok(haggle_results::stats::mean(&values))
}

fn jobs(folder: &Path, columns: &[&str]) -> Result<TableData, ResultsError> {
    RunReader::open(folder)?.columns(Table::Jobs, columns)
}

/// What a job is called in every run of its workload, row by row.
fn keys(table: &TableData) -> Result<Vec<(String, Option<i64>)>, ResultsError> {
    let (workloads, ids) = (table.text("workload_name")?, table.integer("job_id")?);
    let name = |row| workloads.at(row).unwrap_or_default().to_owned();
    Ok(ids.iter().enumerate().map(|(row, id)| (name(row), *id)).collect())
}
