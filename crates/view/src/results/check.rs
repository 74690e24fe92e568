//! Checks of all tables: each that the run has written is there, and its rows have the values that its columns define.

use std::collections::BTreeSet;

use haggle_results::reader::Rows;
use haggle_results::{ResultsError, RunReader, Table};

use super::Data;

/// Tables with intervals, and the columns of their beginnings and ends.
const INTERVALS: [(Table, [&str; 2]); 3] = [
    (Table::Placements, ["starting_time", "finish_time"]),
    (Table::Attempts, ["starting_time", "finish_time"]),
    (Table::Outages, ["failure_time", "restoration_time"]),
];

/// Reads all tables, and notes their problems.
pub(super) fn all(data: &Data, run: &RunReader) {
    // Of a run without provenance, its absence is a problem already.
    let files = run.provenance().map(|it| it.tables).unwrap_or_default();
    let written = BTreeSet::from_iter(files.keys().filter_map(|it| it.split('.').next()));
    for table in Table::ALL {
        if data.has_stopped() {
            return;
        }
        if run.has(table) || written.contains(table.name()) {
            let read = run.check(table, &|| data.has_stopped());
            read.unwrap_or_else(|error| data.problem(&error.to_string()));
        }
    }
    for (table, columns) in INTERVALS.into_iter().filter(|it| run.has(it.0)) {
        // A table that cannot be read is a problem already.
        let count = reversed(data, run, table, columns).unwrap_or(0);
        if count > 0 {
            let name = table.name();
            data.problem(&format!("`{name}`: {count} rows end before they start, or never"));
        }
    }
}

/// Number of rows that end before they start, or of which a time is no finite number.
fn reversed(
    data: &Data,
    run: &RunReader,
    table: Table,
    [start, end]: [&'static str; 2],
) -> Result<usize, ResultsError> {
    let mut count = 0;
    run.in_batches(table, &[start, end], &Rows::all(), |batch| {
        let pairs = batch.real(start)?.iter().zip(batch.real(end)?);
        let is_wrong = |(start, end): &(&Option<f64>, &Option<f64>)| match (start, end) {
            (Some(start), Some(end)) => start > end || !start.is_finite() || !end.is_finite(),
            _ => false,
        };
        let is_needed = !data.has_stopped();
        count += pairs.filter(|it| is_needed && is_wrong(it)).count();
        Ok(())
    })?;
    Ok(count)
}
