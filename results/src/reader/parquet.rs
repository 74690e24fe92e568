//! Columns out of a Parquet file.

use std::fs::File;
use std::path::Path;

use parquet::basic::Type as Physical;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use super::{ColumnData, TextBuilder};
use crate::ResultsError;
use crate::columns::Kind;
use crate::regular;

/// Rows that are decoded at once.
const ROWS_AT_ONCE: usize = 65_536;

/// Some columns: all rows, or so many from a first one on.
pub(crate) fn read(
    path: &Path,
    wanted: &[(&'static str, Kind)],
    part: Option<(usize, usize)>,
) -> Result<Vec<ColumnData>, ResultsError> {
    let file = regular::open(path)?;
    let damaged = |error: ParquetError| ResultsError::damaged(path, error);
    let file = SerializedFileReader::new(file).map_err(damaged)?;
    let read = |&(name, kind): &(&'static str, Kind)| {
        let place = find(&file, path, name, kind)?;
        column(&file, place, kind, part).map_err(damaged)
    };
    wanted.iter().map(read).collect()
}

/// The place of a column that holds what it should.
fn find(
    file: &SerializedFileReader<File>,
    path: &Path,
    name: &str,
    kind: Kind,
) -> Result<usize, ResultsError> {
    let columns = file.metadata().file_metadata().schema_descr().columns();
    let place = columns.iter().position(|column| column.path().parts() == [name]);
    let place = place.ok_or_else(|| ResultsError::MissingColumn {
        path: path.to_owned(),
        column: name.to_owned(),
    })?;
    if holds(&columns[place], kind) {
        return Ok(place);
    }
    Err(ResultsError::WrongType {
        path: path.to_owned(),
        column: name.to_owned(),
        expected: kind.type_name(),
        found: columns[place].physical_type().to_string(),
    })
}

fn holds(column: &ColumnDescriptor, kind: Kind) -> bool {
    let physical = match kind {
        Kind::Seconds | Kind::Real => Physical::DOUBLE,
        Kind::Integer => Physical::INT64,
        Kind::Word | Kind::Text => Physical::BYTE_ARRAY,
    };
    column.physical_type() == physical && column.max_rep_level() == 0
}

/// The values of a column in all row groups, or in that part of its rows.
fn column(
    file: &SerializedFileReader<File>,
    place: usize,
    kind: Kind,
    part: Option<(usize, usize)>,
) -> Result<ColumnData, ParquetError> {
    let (mut skip, mut left) = part.unwrap_or((0, usize::MAX));
    let mut data = ColumnData::new(kind);
    let mut texts = TextBuilder::default();
    for i in 0..file.num_row_groups() {
        let group = file.get_row_group(i)?;
        let all = group.metadata().num_rows() as usize;
        let skipped = skip.min(all);
        skip -= skipped;
        let rows = left.min(all - skipped);
        left -= rows;
        if rows == 0 {
            continue;
        }
        let rows = (skipped, rows);
        match (group.get_column_reader(place)?, &mut data) {
            (ColumnReader::DoubleColumnReader(reader), ColumnData::Real(values)) => {
                values_of(reader, rows, |value| {
                    values.push(value.copied());
                    Ok(())
                })?;
            }
            (ColumnReader::Int64ColumnReader(reader), ColumnData::Integer(values)) => {
                values_of(reader, rows, |value| {
                    values.push(value.copied());
                    Ok(())
                })?;
            }
            (ColumnReader::ByteArrayColumnReader(reader), ColumnData::Text(_)) => {
                values_of(reader, rows, |value: Option<&ByteArray>| {
                    texts.push(value.map(ByteArray::as_utf8).transpose()?);
                    Ok(())
                })?;
            }
            _ => return Err(ParquetError::General("a row group has a schema of its own".into())),
        }
    }
    Ok(match data {
        ColumnData::Text(_) => ColumnData::Text(texts.column),
        other => other,
    })
}

/// Gives every row's value, of which there must be as many as the row group says.
fn values_of<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    (skipped, rows): (usize, usize),
    mut take: impl FnMut(Option<&T::T>) -> Result<(), ParquetError>,
) -> Result<(), ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    if skipped > 0 && reader.skip_records(skipped)? < skipped {
        return Err(ParquetError::EOF(format!("{rows} of {rows} values are missing")));
    }
    let mut left = rows;
    while left > 0 {
        values.clear();
        levels.clear();
        let at_once = ROWS_AT_ONCE.min(left);
        let (read, _, _) = reader.read_records(at_once, Some(&mut levels), None, &mut values)?;
        if read == 0 {
            return Err(ParquetError::EOF(format!("{left} of {rows} values are missing")));
        }
        left -= read;
        // A column that is never empty has no levels.
        levels.resize(read, 1);
        let mut values = values.iter();
        for &level in &levels {
            take(if level > 0 { values.next() } else { None })?;
        }
    }
    Ok(())
}
