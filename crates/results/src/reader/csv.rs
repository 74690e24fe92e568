//! Reads rows from a CSV file.

use std::path::Path;

use super::batch::{Batch, ColumnBuilder, rows_at_once};
use super::pick::Rows;
use super::{ColumnData, Take};
use crate::ResultsError;
use crate::columns::Kind;
use crate::regular;

/// Puts some columns of the selected rows into `batch`. `take` gets it each time that it has some
/// thousand rows; the last rows stay in it.
pub(super) fn each(
    path: &Path,
    wanted: &[(&'static str, Kind)],
    (rows, keys): (&Rows, &[(&'static str, Kind)]),
    batch: &mut Batch,
    take: &mut Take<'_>,
) -> Result<(), ResultsError> {
    let damaged = |error: csv::Error| ResultsError::damaged(path, error);
    let mut reader = csv::Reader::from_reader(regular::open(path)?);
    let header = reader.headers().map_err(damaged)?.clone();
    let places = |columns: &[(&'static str, Kind)]| {
        let place = |(name, _): &(&'static str, Kind)| {
            header.iter().position(|column| column == *name).ok_or_else(|| {
                ResultsError::MissingColumn { path: path.to_owned(), column: (*name).to_owned() }
            })
        };
        columns.iter().map(place).collect::<Result<Vec<usize>, _>>()
    };
    let (places, key_places) = (places(wanted)?, places(keys)?);
    let mut key = Batch::new(keys.iter().map(|it| it.1));
    let mut record = csv::StringRecord::new();
    let at_once = rows_at_once(wanted.len());
    while reader.read_record(&mut record).map_err(damaged)? {
        // The conditions come first, so that the fields of other records are not parsed.
        if !keys.is_empty() {
            push(path, &record, (keys, &key_places), key.columns())?;
            let values = key.take();
            let column = |name| at(keys, &values, name);
            if rows.found(1, &column) == [false] {
                continue;
            }
        }
        push(path, &record, (wanted, &places), batch.columns())?;
        // `take` may leave the rows in the batch, so their number may be any multiple.
        if batch.rows().is_multiple_of(at_once) {
            take(batch)?;
        }
    }
    Ok(())
}

/// The values of a column by its name.
pub(super) fn at<'d>(
    columns: &[(&'static str, Kind)],
    values: &'d [ColumnData],
    name: &str,
) -> Option<&'d ColumnData> {
    columns.iter().position(|it| it.0 == name).and_then(|place| values.get(place))
}

/// Appends the fields of a record.
fn push(
    path: &Path,
    record: &csv::StringRecord,
    (wanted, places): (&[(&'static str, Kind)], &[usize]),
    columns: &mut [ColumnBuilder],
) -> Result<(), ResultsError> {
    for ((&(name, _), &place), column) in wanted.iter().zip(places).zip(columns) {
        let cell = record.get(place).unwrap_or("");
        let wrong = |expected| ResultsError::WrongType {
            path: path.to_owned(),
            column: name.to_owned(),
            expected,
            found: format!("`{cell}` in line {}", record.position().map_or(0, csv::Position::line)),
        };
        match &mut column.data {
            ColumnData::Real(values) => {
                values.push(parsed(cell).ok_or_else(|| wrong("a number"))?);
            }
            ColumnData::Integer(values) => {
                values.push(parsed(cell).ok_or_else(|| wrong("an integer"))?);
            }
            ColumnData::Text(_) => column.texts.push(Some(cell)),
        }
    }
    Ok(())
}

/// The value of a cell, `Some(None)` if it is empty, `None` if it cannot be parsed.
fn parsed<T: std::str::FromStr>(cell: &str) -> Option<Option<T>> {
    if cell.is_empty() {
        return Some(None);
    }
    cell.parse().ok().map(Some)
}
