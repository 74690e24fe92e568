//! A column in memory.

use haggle_results::reader::{CellValue, ColumnData};
use serde_json::{Value, json};

use crate::shown::shown;

/// Code of a missing text.
const NO_TEXT: u32 = u32::MAX;

/// Number that stands for a missing integer.
const NO_INTEGER: i64 = i64::MIN;

/// Values of a column, without the memory of an `Option` each.
#[derive(Clone, Debug)]
pub enum Column {
    /// Floats and seconds; missing is NaN.
    Real(Vec<f64>),
    /// Integers.
    Integer(Vec<i64>),
    /// Texts.
    Text {
        /// For each row, the place of its text.
        codes: Vec<u32>,
        /// The texts, each once.
        texts: Vec<Box<str>>,
    },
}

impl Column {
    /// A column without rows, of the type of these data.
    pub fn like(data: &ColumnData) -> Column {
        match data {
            ColumnData::Real(_) => Column::Real(Vec::new()),
            ColumnData::Integer(_) => Column::Integer(Vec::new()),
            ColumnData::Text(_) => Column::Text { codes: Vec::new(), texts: Vec::new() },
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Column::Real(values) => values.len(),
            Column::Integer(values) => values.len(),
            Column::Text { codes, .. } => codes.len(),
        }
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes in memory, about.
    pub fn bytes(&self) -> usize {
        match self {
            Column::Real(values) => values.capacity() * 8,
            Column::Integer(values) => values.capacity() * 8,
            Column::Text { codes, texts } => {
                codes.capacity() * 4 + texts.iter().map(|it| it.len() + 16).sum::<usize>()
            }
        }
    }

    /// A value.
    pub fn cell(&self, row: usize) -> CellValue<'_> {
        match self {
            Column::Real(values) => match values.get(row) {
                Some(value) if !value.is_nan() => CellValue::Real(*value),
                _ => CellValue::Missing,
            },
            Column::Integer(values) => match values.get(row) {
                Some(&value) if value != NO_INTEGER => CellValue::Integer(value),
                _ => CellValue::Missing,
            },
            Column::Text { codes, texts } => {
                let text = codes.get(row).and_then(|&code| texts.get(code as usize));
                text.map_or(CellValue::Missing, |text| CellValue::Text(text))
            }
        }
    }

    /// A float.
    pub fn real(&self, row: usize) -> Option<f64> {
        match self.cell(row) {
            CellValue::Real(value) => Some(value),
            _ => None,
        }
    }

    /// A number of a job or the like.
    pub fn number(&self, row: usize) -> Option<u32> {
        match self.cell(row) {
            CellValue::Integer(value) => u32::try_from(value).ok(),
            _ => None,
        }
    }

    /// A text.
    pub fn text(&self, row: usize) -> Option<&str> {
        match self.cell(row) {
            CellValue::Text(value) => Some(value),
            _ => None,
        }
    }

    /// Some of its rows; `None` = a missing value.
    pub(crate) fn of_rows(&self, rows: impl Iterator<Item = Option<u32>>) -> Column {
        fn of<T: Copy>(
            values: &[T],
            missing: T,
            rows: impl Iterator<Item = Option<u32>>,
        ) -> Vec<T> {
            let value = |row: u32| values.get(row as usize).copied();
            rows.map(|row| row.and_then(value).unwrap_or(missing)).collect()
        }
        match self {
            Column::Real(values) => Column::Real(of(values, f64::NAN, rows)),
            Column::Integer(values) => Column::Integer(of(values, NO_INTEGER, rows)),
            Column::Text { codes, texts } => {
                Column::Text { codes: of(codes, NO_TEXT, rows), texts: texts.clone() }
            }
        }
    }

    /// A value for the page.
    pub fn json(&self, row: usize) -> Value {
        json_of(self.cell(row))
    }

    /// Appends data of the same type; others are ignored.
    pub fn append(&mut self, data: &ColumnData) {
        match (self, data) {
            (Column::Real(values), ColumnData::Real(more)) => {
                values.extend(more.iter().map(|it| it.unwrap_or(f64::NAN)));
            }
            (Column::Integer(values), ColumnData::Integer(more)) => {
                values.extend(more.iter().map(|it| it.unwrap_or(NO_INTEGER)));
            }
            (Column::Text { codes, texts }, ColumnData::Text(more)) => {
                // Few texts repeat in each block. A list of many different ones has no lookup.
                let known = |text: &str, texts: &[Box<str>]| {
                    let recent = texts.len().saturating_sub(64);
                    let found = texts[recent..].iter().rposition(|it| **it == *text);
                    found.map(|at| recent + at)
                };
                let mut places = Vec::with_capacity(more.texts.len());
                for text in &more.texts {
                    let place = known(text, texts).unwrap_or_else(|| {
                        texts.push(text.as_str().into());
                        texts.len() - 1
                    });
                    places.push(u32::try_from(place).unwrap_or(NO_TEXT));
                }
                let code = |it: &Option<u32>| {
                    it.and_then(|it| places.get(it as usize).copied()).unwrap_or(NO_TEXT)
                };
                codes.extend(more.codes.iter().map(code));
            }
            _ => {}
        }
    }
}

/// A value for the page.
pub fn json_of(cell: CellValue<'_>) -> Value {
    match cell {
        CellValue::Missing => Value::Null,
        // Infinite values have no form in JSON.
        CellValue::Real(value) => json!(value),
        CellValue::Integer(value) => json!(value),
        CellValue::Text(text) => json!(shown(text)),
    }
}
