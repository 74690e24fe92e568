//! Checks of all tables: each that the run has written is there, and its rows have the values that its columns define.
//! Nothing else needs the scenario, so it is looked for here, too.

use std::collections::{BTreeMap, BTreeSet};

use haggle_results::reader::TableData;
use haggle_results::{RunReader, Table};

use super::Data;

/// Reads all tables, and notes their problems.
pub(super) fn all(data: &Data, run: &RunReader) {
    match run.scenario() {
        Ok(Some(_)) => {}
        Ok(None) => data.problem("`scenario.toml` is missing, so the run cannot be repeated"),
        Err(error) => data.problem(&error.to_string()),
    }
    // Of a run without provenance, its absence is a problem already.
    let files = run.provenance().map(|it| it.tables).unwrap_or_default();
    let written = BTreeSet::from_iter(files.keys().filter_map(|it| it.split('.').next()));
    for table in Table::ALL {
        if data.has_stopped() {
            return;
        }
        if run.has(table) || written.contains(table.name()) {
            let mut odd = Odd::default();
            let look = &mut |batch: &TableData| {
                odd.look(table, batch);
                Ok(())
            };
            let read = run.check(table, &|| data.has_stopped(), look);
            read.unwrap_or_else(|error| data.problem(&error.to_string()));
            odd.tell(table, data);
        }
    }
}

/// Values that no run has.
#[derive(Default)]
struct Odd {
    /// By the columns of an interval: the number of rows in which it ends before it begins.
    reversed: BTreeMap<&'static [&'static str; 2], usize>,
    /// By column: the number of rows with an impossible number, and the first such number.
    impossible: BTreeMap<&'static str, (usize, String)>,
}

impl Odd {
    fn look(&mut self, table: Table, batch: &TableData) {
        for (columns, _) in batch.reversed(table) {
            *self.reversed.entry(columns).or_default() += 1;
        }
        for it in batch.impossible(table) {
            self.impossible.entry(it.column).or_insert((0, it.value)).0 += 1;
        }
    }

    fn tell(self, table: Table, data: &Data) {
        let name = table.name();
        for ([begin, end], count) in self.reversed {
            data.problem(&format!("`{name}`: {count} rows have their `{end}` before `{begin}`"));
        }
        for (column, (count, value)) in self.impossible {
            let text = format!("{count} rows have a number in `{column}` that no run has: {value}");
            data.problem(&format!("`{name}`: {text}"));
        }
    }
}
