//! The table of jobs of a run. Columns are read when they are first needed; the last ones stay.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use haggle_results::reader::{Rows, TableData};
use haggle_results::{ResultsError, Table as Tables};
use serde_json::Value;

use super::{Data, lock};
use crate::Refusal;
use crate::jobs::{Column, JobTable, columns, json_of};

/// Most bytes of columns in memory, unless a single one is larger.
const BYTES_MAX: usize = 64 << 20;

/// Most orders of rows in memory, and most rows of all of them.
const ORDERS_MAX: usize = 16;
const ORDERED_MAX: usize = 8 << 20;

/// Columns and orders in memory, the last used one first.
#[derive(Default)]
pub(super) struct Cache {
    columns: Mutex<Vec<(&'static str, Arc<Column>)>>,
    orders: Mutex<Vec<(String, Arc<Vec<u32>>)>>,
}

/// The table.
pub(super) struct Table {
    data: Arc<Data>,
    rows: usize,
}

impl Table {
    /// # Errors
    /// If the numbers of the jobs cannot be read.
    pub(super) fn open(data: Arc<Data>) -> Result<Table, Refusal> {
        let rows = column(&data, "job")?.len();
        Ok(Table { data, rows })
    }
}

/// A column, from memory or from its table.
pub(super) fn column(data: &Data, name: &'static str) -> Result<Arc<Column>, Refusal> {
    let cache = &data.jobs.columns;
    let found = |all: &mut Vec<(&'static str, Arc<Column>)>| {
        let at = all.iter().position(|it| it.0 == name)?;
        let found = all.remove(at);
        all.insert(0, found);
        Some(Arc::clone(&all[0].1))
    };
    if let Some(found) = found(&mut lock(cache)) {
        return Ok(found);
    }
    // Without the lock: another request may need a column that is there.
    let new = Arc::new(read(data, name)?);
    let mut all = lock(cache);
    if let Some(found) = found(&mut all) {
        return Ok(found);
    }
    all.insert(0, (name, Arc::clone(&new)));
    let mut bytes = 0;
    let kept = all.iter().take_while(|it| {
        bytes += it.1.bytes();
        bytes <= BYTES_MAX
    });
    let kept = kept.count().max(1);
    all.truncate(kept);
    Ok(new)
}

/// Reads a column.
fn read(data: &Data, name: &'static str) -> Result<Column, Refusal> {
    let run = data.run()?;
    let mut column: Option<Column> = None;
    let read = run.in_batches(Tables::Jobs, &[name], &Rows::all(), |batch| {
        let data = batch.data(name)?;
        column.get_or_insert_with(|| Column::like(data)).append(data);
        Ok(())
    });
    read.map_err(|error| Data::refusal(&error))?;
    Ok(column.unwrap_or(Column::Integer(Vec::new())))
}

impl JobTable for Table {
    fn rows(&self) -> usize {
        self.rows
    }

    fn column(&self, name: &'static str) -> Result<Arc<Column>, Refusal> {
        column(&self.data, name)
    }

    fn page(&self, rows: &[u32]) -> Result<Vec<Vec<Value>>, Refusal> {
        page(&self.data, rows)
    }

    fn kept(&self, key: &str) -> Option<Arc<Vec<u32>>> {
        let mut orders = lock(&self.data.jobs.orders);
        let at = orders.iter().position(|it| it.0 == key)?;
        let found = orders.remove(at);
        orders.insert(0, found);
        Some(Arc::clone(&orders[0].1))
    }

    fn keep(&self, key: String, rows: &Arc<Vec<u32>>) {
        let mut orders = lock(&self.data.jobs.orders);
        orders.insert(0, (key, Arc::clone(rows)));
        let mut all = 0;
        let kept = orders.iter().take(ORDERS_MAX).take_while(|it| {
            all += it.1.len();
            all <= ORDERED_MAX
        });
        let kept = kept.count();
        orders.truncate(kept);
    }
}

/// Some rows with all columns.
pub(super) fn page(data: &Data, rows: &[u32]) -> Result<Vec<Vec<Value>>, Refusal> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let jobs = column(data, "job")?;
    let numbers = Vec::from_iter(rows.iter().map(|&row| jobs.number(row as usize)));
    let asked = Rows::of("job", numbers.iter().flatten().map(|&it| i64::from(it)));
    let whole = readable(data, &asked)?;
    let places = places(&whole).map_err(|error| Data::refusal(&error))?;
    let row = |number: &Option<u32>| {
        let at = number.and_then(|it| places.get(&i64::from(it)).copied());
        let cell = |name| at.map_or(Value::Null, |at| json_of(whole.cell(at, name)));
        columns().iter().map(|it| cell(it.name)).collect()
    };
    Ok(numbers.iter().map(row).collect())
}

/// Some rows with all columns that can be read. A column that a damaged table lacks is left out.
fn readable(data: &Data, asked: &Rows) -> Result<TableData, Refusal> {
    let run = data.run()?;
    let mut names = Vec::from_iter(columns().iter().map(|it| it.name));
    if let Ok(whole) = run.columns_of(Tables::Jobs, &names, asked) {
        return Ok(whole);
    }
    names.retain(|name| run.columns_of(Tables::Jobs, &[name], asked).is_ok());
    run.columns_of(Tables::Jobs, &names, asked).map_err(|error| Data::refusal(&error))
}

/// Places of jobs in some rows.
fn places(rows: &TableData) -> Result<HashMap<i64, usize>, ResultsError> {
    let numbers = rows.integer("job")?.iter().enumerate();
    Ok(numbers.filter_map(|(at, job)| Some(((*job)?, at))).collect())
}
