//! Filters of jobs: a condition over the columns, or a text.

use std::sync::Arc;

use haggle_results::reader::CellValue;
use haggle_script::{Condition, Value};

use super::{Column, JobTable, columns};
use crate::Refusal;

/// Columns in which a text is searched.
const NAMES: [&str; 5] = ["workload_name", "provider", "class", "shape", "outcome"];

/// Columns in which a number is searched.
const NUMBERS: [&str; 2] = ["job", "job_id"];

/// A filter.
pub(super) enum Filter {
    All,
    Text(String),
    Condition(Box<Condition>),
}

impl Filter {
    /// Reads a filter.
    ///
    /// # Errors
    /// The mistake in words.
    pub(super) fn read(text: &str) -> Result<Filter, String> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(Filter::All);
        }
        if is_word(text) {
            return Ok(Filter::Text(text.to_lowercase()));
        }
        let names = Vec::from_iter(columns().iter().map(|it| it.name));
        match Condition::read(text, &names) {
            Ok(condition) => Ok(Filter::Condition(Box::new(condition))),
            Err(mistake) => Err(mistake.message),
        }
    }

    /// The rows for which it holds, in the order of the table, or its mistake in words.
    pub(super) fn rows(&self, table: &dyn JobTable) -> Result<Result<Vec<u32>, String>, Refusal> {
        let all = 0..u32::try_from(table.rows()).unwrap_or(u32::MAX);
        match self {
            Filter::All => Ok(Ok(all.collect())),
            Filter::Text(text) => with_text(table, text).map(Ok),
            Filter::Condition(condition) => {
                let names = condition.columns();
                let columns = names.iter().map(|name| table.column(name));
                let columns = columns.collect::<Result<Vec<Arc<Column>>, _>>()?;
                let mut rows = Vec::new();
                for row in all {
                    let value = |name: &'static str| {
                        let place = names.iter().position(|it| *it == name);
                        place.map_or(Value::Missing, |at| value(columns[at].cell(row as usize)))
                    };
                    match condition.holds(value) {
                        Ok(true) => rows.push(row),
                        Ok(false) => {}
                        Err(mistake) => return Ok(Err(mistake.message)),
                    }
                }
                Ok(Ok(rows))
            }
        }
    }
}

/// True if a text is one word or number, which is searched and not evaluated.
fn is_word(text: &str) -> bool {
    text.chars().all(|it| it.is_alphanumeric() || matches!(it, '_' | '-' | '.'))
}

fn value(cell: CellValue<'_>) -> Value<'_> {
    match cell {
        CellValue::Missing => Value::Missing,
        CellValue::Real(number) => Value::Real(number),
        CellValue::Integer(number) => Value::Integer(number),
        CellValue::Text(text) => Value::Text(text),
    }
}

/// Rows with a text in a name or number.
fn with_text(table: &dyn JobTable, text: &str) -> Result<Vec<u32>, Refusal> {
    let mut found = vec![false; table.rows()];
    for name in NAMES {
        if let Column::Text { codes, texts } = &*table.column(name)? {
            // Each text is examined once, not in every row.
            let has = Vec::from_iter(texts.iter().map(|it| it.to_lowercase().contains(text)));
            for (found, &code) in found.iter_mut().zip(codes) {
                *found |= has.get(code as usize).copied().unwrap_or(false);
            }
        }
    }
    if text.chars().all(|it| it.is_ascii_digit()) {
        for name in NUMBERS {
            let column = table.column(name)?;
            for (row, found) in found.iter_mut().enumerate().filter(|(_, found)| !**found) {
                *found = match column.cell(row) {
                    CellValue::Integer(number) => number.to_string().contains(text),
                    _ => false,
                };
            }
        }
    }
    let rows = found.iter().enumerate().filter(|(_, found)| **found);
    Ok(rows.filter_map(|(row, _)| u32::try_from(row).ok()).collect())
}
