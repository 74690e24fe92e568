//! Checks of all tables: each that the run has written is there, and its rows have the values that its columns define.

use std::collections::{BTreeMap, BTreeSet};

use haggle_results::columns::Kind;
use haggle_results::reader::TableData;
use haggle_results::{RunReader, Table};

use super::Data;
use crate::clock::drawn;

/// Columns of a table with intervals: their beginnings and ends.
fn interval(table: Table) -> Option<[&'static str; 2]> {
    match table {
        Table::Placements | Table::Attempts | Table::Maintenance => {
            Some(["starting_time", "finish_time"])
        }
        Table::Outages => Some(["failure_time", "restoration_time"]),
        Table::Crashes => Some(["crash_time", "restart_time"]),
        _ => None,
    }
}

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
            let mut odd = Odd::default();
            let look = &mut |batch: &TableData| odd.look(table, batch);
            let read = run.check(table, &|| data.has_stopped(), look);
            read.unwrap_or_else(|error| data.problem(&error.to_string()));
            odd.tell(table, data);
        }
    }
}

/// Values that no run has.
#[derive(Default)]
struct Odd {
    /// Rows that end before they start, or of which a time cannot be drawn.
    reversed: usize,
    /// Values by column that are no finite numbers.
    endless: BTreeMap<&'static str, usize>,
}

impl Odd {
    fn look(&mut self, table: Table, batch: &TableData) {
        let interval = interval(table);
        let names = interval.unwrap_or_default();
        if let Some((starts, ends)) =
            interval.and_then(|[start, end]| batch.real(start).ok().zip(batch.real(end).ok()))
        {
            let is_odd = |(start, end): &(&Option<f64>, &Option<f64>)| {
                let [start, end] = [start, end].map(|it| it.map(drawn));
                start == Some(None) || end == Some(None) || end.is_some_and(|end| start > Some(end))
            };
            self.reversed += starts.iter().zip(ends).filter(is_odd).count();
        }
        let real =
            table.columns().iter().filter(|it| matches!(it.kind, Kind::Real | Kind::Seconds));
        for column in real.filter(|it| !names.contains(&it.name)) {
            let values = batch.real(column.name).unwrap_or_default().iter().flatten();
            match values.filter(|it| !it.is_finite()).count() {
                0 => {}
                count => *self.endless.entry(column.name).or_default() += count,
            }
        }
    }

    fn tell(self, table: Table, data: &Data) {
        let name = table.name();
        if self.reversed > 0 {
            let count = self.reversed;
            data.problem(&format!("`{name}`: {count} rows end before they start, or never"));
        }
        for (column, count) in self.endless {
            data.problem(&format!("`{name}`: {count} rows have no finite number in `{column}`"));
        }
    }
}
