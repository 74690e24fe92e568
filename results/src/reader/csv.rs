//! Columns out of a CSV file.

use std::path::Path;

use super::{ColumnData, TextBuilder};
use crate::ResultsError;
use crate::columns::Kind;
use crate::regular;

pub(super) fn read(
    path: &Path,
    wanted: &[(&'static str, Kind)],
) -> Result<Vec<ColumnData>, ResultsError> {
    let damaged = |error: csv::Error| ResultsError::damaged(path, error);
    let mut reader = csv::Reader::from_reader(regular::open(path)?);
    let header = reader.headers().map_err(damaged)?.clone();
    let places = wanted
        .iter()
        .map(|(name, _)| {
            header.iter().position(|column| column == *name).ok_or_else(|| {
                ResultsError::MissingColumn { path: path.to_owned(), column: (*name).to_owned() }
            })
        })
        .collect::<Result<Vec<usize>, _>>()?;

    let mut columns: Vec<ColumnData> =
        wanted.iter().map(|&(_, kind)| ColumnData::new(kind)).collect();
    let mut texts: Vec<TextBuilder> = wanted.iter().map(|_| TextBuilder::default()).collect();
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(damaged)? {
        for (i, &place) in places.iter().enumerate() {
            let cell = record.get(place).unwrap_or("");
            let wrong = |expected| ResultsError::WrongType {
                path: path.to_owned(),
                column: wanted[i].0.to_owned(),
                expected,
                found: format!(
                    "`{cell}` in line {}",
                    record.position().map_or(0, csv::Position::line)
                ),
            };
            match &mut columns[i] {
                ColumnData::Real(values) => {
                    values.push(parsed(cell).ok_or_else(|| wrong("a number"))?);
                }
                ColumnData::Integer(values) => {
                    values.push(parsed(cell).ok_or_else(|| wrong("an integer"))?);
                }
                ColumnData::Text(_) => texts[i].push(Some(cell)),
            }
        }
    }
    for (column, text) in columns.iter_mut().zip(texts) {
        if let ColumnData::Text(values) = column {
            *values = text.column;
        }
    }
    Ok(columns)
}

/// The value of a cell, `Some(None)` if it is empty, `None` if it is something else.
fn parsed<T: std::str::FromStr>(cell: &str) -> Option<Option<T>> {
    if cell.is_empty() {
        return Some(None);
    }
    cell.parse().ok().map(Some)
}
