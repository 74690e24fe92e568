//! The table of jobs: filter, order, pages.

mod column;
mod filter;
mod order;

use std::sync::Arc;

use haggle_results::Table;
use haggle_results::columns::Column as Definition;
use serde::Serialize;
use serde_json::Value;

use crate::Refusal;

pub use column::{Column, json_of};
use filter::Filter;

/// Largest number of rows in an answer.
const ROWS_MAX: usize = 1_000;

/// A table of jobs by columns.
pub trait JobTable: Send + Sync {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// A column.
    ///
    /// # Errors
    /// If it cannot be read.
    fn column(&self, name: &'static str) -> Result<Arc<Column>, Refusal>;

    /// Some rows of all columns that [`columns`] gives.
    ///
    /// # Errors
    /// If they cannot be read.
    fn page(&self, rows: &[u32]) -> Result<Vec<Vec<Value>>, Refusal> {
        let columns = columns().iter().map(|it| self.column(it.name));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let row = |&row: &u32| columns.iter().map(|it| it.json(row as usize)).collect();
        Ok(rows.iter().map(row).collect())
    }

    /// The rows of a filter and order that were kept; `None` = not kept.
    fn kept(&self, _key: &str) -> Option<Arc<Vec<u32>>> {
        None
    }

    /// Keeps the rows of a filter and order.
    fn keep(&self, _key: String, _rows: &Arc<Vec<u32>>) {}
}

/// The columns of the table.
pub fn columns() -> &'static [Definition] {
    Table::Jobs.columns()
}

/// Request of rows.
#[derive(Clone, Debug, Default)]
pub struct JobsQuery {
    /// Condition or text; empty = all.
    pub filter: String,
    /// Column, with `-` for the largest first.
    pub sort: Option<String>,
    /// First row of the page.
    pub first: usize,
    /// Rows of the page.
    pub count: usize,
}

/// Rows of the table.
#[derive(Clone, Debug, Serialize)]
pub struct JobsAnswer {
    /// Number of all rows.
    pub total: usize,
    /// Number of rows that match.
    pub matching: usize,
    /// Columns.
    pub columns: Vec<ColumnEntry>,
    /// Rows of the page.
    pub rows: Vec<Vec<Value>>,
    /// Mistake in the filter.
    pub error: Option<String>,
}

/// A column of the answer.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnEntry {
    /// Name.
    pub name: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// Meaning.
    pub meaning: &'static str,
    /// `float`, `integer` or `text`.
    pub r#type: &'static str,
}

/// Rows of a request.
pub(crate) fn answer(table: &dyn JobTable, query: &JobsQuery) -> Result<JobsAnswer, Refusal> {
    let sort =
        query.sort.as_deref().filter(|it| !it.is_empty()).map(order::Sort::read).transpose()?;
    let entry = |it: &Definition| ColumnEntry {
        name: it.name,
        unit: it.unit,
        meaning: it.formula,
        r#type: it.kind.type_name(),
    };
    let mut answer = JobsAnswer {
        total: table.rows(),
        matching: 0,
        columns: columns().iter().map(entry).collect(),
        rows: Vec::new(),
        error: None,
    };
    let filter = match Filter::read(&query.filter) {
        Ok(filter) => filter,
        Err(mistake) => {
            answer.error = Some(mistake);
            return Ok(answer);
        }
    };
    let key = format!("{}\0{}", query.sort.as_deref().unwrap_or_default(), query.filter);
    let rows = match table.kept(&key) {
        Some(rows) => rows,
        None => {
            let mut rows = match filter.rows(table)? {
                Ok(rows) => rows,
                Err(mistake) => {
                    answer.error = Some(mistake);
                    return Ok(answer);
                }
            };
            if let Some(sort) = sort {
                sort.apply(&*table.column(sort.column)?, &mut rows);
            }
            let rows = Arc::new(rows);
            table.keep(key, &rows);
            rows
        }
    };
    answer.matching = rows.len();
    let first = query.first.min(rows.len());
    let last = first.saturating_add(query.count.min(ROWS_MAX)).min(rows.len());
    answer.rows = table.page(&rows[first..last])?;
    Ok(answer)
}

/// Mean waiting time of some jobs, s; their numbers are in order.
pub(crate) fn mean_waiting_time(
    table: &dyn JobTable,
    jobs: &[u32],
) -> Result<Option<f64>, Refusal> {
    let (numbers, waiting) = (table.column("job")?, table.column("waiting_time")?);
    let (mut sum, mut count) = (0.0, 0_u32);
    for row in 0..table.rows() {
        if numbers.number(row).is_some_and(|it| jobs.binary_search(&it).is_ok())
            && let Some(time) = waiting.real(row)
        {
            sum += time;
            count += 1;
        }
    }
    Ok((count > 0).then(|| sum / f64::from(count)))
}
