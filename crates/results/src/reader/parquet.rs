//! Reads rows from a Parquet file.
//!
//! A row group is skipped if the smallest and largest values of its columns exclude all selected rows.
//! In the other row groups, the columns of the conditions are decoded first. In all other columns,
//! pages without a selected row are skipped without decompression.

use std::fs::File;
use std::path::Path;

use parquet::basic::Type as Physical;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescriptor;

use super::ColumnData;
use super::Take;
use super::batch::{Batch, ColumnBuilder, rows_at_once};
use super::csv::at;
use super::pick::{Extremes, Rows};
use crate::ResultsError;
use crate::columns::Kind;
use crate::regular;

/// Consecutive rows of a row group: the first one, and their number.
type Range = (usize, usize);

/// All rows of some columns, or a part given by its first row and its number of rows.
pub(crate) fn read(
    path: &Path,
    wanted: &[(&'static str, Kind)],
    part: Option<(usize, usize)>,
) -> Result<Vec<ColumnData>, ResultsError> {
    let mut all = Batch::new(wanted.iter().map(|it| it.1));
    each(path, wanted, part, (&Rows::all(), &[]), &mut all, &mut |_| Ok(()))?;
    Ok(all.take())
}

/// Puts some columns of the selected rows into `batch`, which `take` gets each time that it has some
/// thousand rows. The rows are selected from all rows, or from a part given by its first row and its
/// number of rows.
pub(super) fn each(
    path: &Path,
    wanted: &[(&'static str, Kind)],
    part: Option<(usize, usize)>,
    (rows, keys): (&Rows, &[(&'static str, Kind)]),
    batch: &mut Batch,
    take: &mut Take<'_>,
) -> Result<(), ResultsError> {
    let file = regular::open(path)?;
    let damaged = |error: ParquetError| ResultsError::damaged(path, error);
    let file = SerializedFileReader::new(file).map_err(damaged)?;
    let places = |columns: &[(&'static str, Kind)]| {
        let place = |&(name, kind): &(&'static str, Kind)| find(&file, path, name, kind);
        columns.iter().map(place).collect::<Result<Vec<usize>, _>>()
    };
    let (wanted, keys) = (places(wanted)?, (places(keys)?, keys));
    let (mut skip, mut left) = part.unwrap_or((0, usize::MAX));
    for i in 0..file.num_row_groups() {
        let group = file.get_row_group(i).map_err(damaged)?;
        let all = group.metadata().num_rows() as usize;
        let skipped = skip.min(all);
        skip -= skipped;
        let count = left.min(all - skipped);
        left -= count;
        let ranges = match count {
            0 => Vec::new(),
            _ => asked(&*group, (skipped, count), (rows, &keys.0, keys.1)).map_err(damaged)?,
        };
        let mut readers = Vec::with_capacity(wanted.len());
        // Without rows, no column is opened.
        for &place in wanted.iter().filter(|_| !ranges.is_empty()) {
            readers.push(Cursor::new(&*group, place).map_err(damaged)?);
        }
        for ranges in in_parts(&ranges, rows_at_once(wanted.len())) {
            for (reader, column) in readers.iter_mut().zip(batch.columns()) {
                reader.read(&ranges, column).map_err(damaged)?;
            }
            take(batch)?;
        }
    }
    Ok(())
}

/// The place of a column, after a check of its type.
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

/// The selected rows in a part of a row group.
fn asked(
    group: &dyn RowGroupReader,
    part: Range,
    (rows, places, keys): (&Rows, &[usize], &[(&'static str, Kind)]),
) -> Result<Vec<Range>, ParquetError> {
    if keys.is_empty() {
        return Ok(vec![part]);
    }
    let range = |name| {
        let place = keys.iter().position(|key| key.0 == name)?;
        smallest_and_largest(group.metadata(), places[place])
    };
    if !rows.may_be_in(&range) {
        return Ok(Vec::new());
    }
    let mut readers = places
        .iter()
        .map(|&place| Cursor::new(group, place))
        .collect::<Result<Vec<_>, ParquetError>>()?;
    let mut batch = Batch::new(keys.iter().map(|it| it.1));
    let mut found: Vec<Range> = Vec::new();
    for (first, count) in in_parts(&[part], rows_at_once(keys.len())).into_iter().flatten() {
        for (reader, column) in readers.iter_mut().zip(batch.columns()) {
            reader.read(&[(first, count)], column)?;
        }
        let values = batch.take();
        let column = |name| at(keys, &values, name);
        let here = rows.found(count, &column);
        for row in (0..count).filter(|&row| here[row]) {
            match found.last_mut().filter(|last| last.0 + last.1 == first + row) {
                Some(last) => last.1 += 1,
                None => found.push((first + row, 1)),
            }
        }
    }
    Ok(found)
}

/// The smallest and the largest value of a column in a row group, if the file has them and no value is
/// missing.
fn smallest_and_largest(group: &RowGroupMetaData, place: usize) -> Option<Extremes> {
    let statistics = group.column(place).statistics()?;
    statistics.null_count_opt().filter(|&missing| missing == 0)?;
    match statistics {
        Statistics::Int64(it) => Some(Extremes::Integer(*it.min_opt()?, *it.max_opt()?)),
        Statistics::Double(it) => Some(Extremes::Real(*it.min_opt()?, *it.max_opt()?)),
        _ => None,
    }
}

/// The same rows, divided into parts of some rows that are decoded at once.
fn in_parts(ranges: &[Range], at_once: usize) -> Vec<Vec<Range>> {
    let mut parts: Vec<Vec<Range>> = Vec::new();
    let mut room = 0;
    for &(mut first, mut count) in ranges {
        // A long range is cut, and short ones share a part.
        while count > 0 {
            if room == 0 {
                parts.push(Vec::new());
                room = at_once;
            }
            let taken = count.min(room);
            if let Some(part) = parts.last_mut() {
                part.push((first, taken));
            }
            (first, count, room) = (first + taken, count - taken, room - taken);
        }
    }
    parts
}

/// A column of a row group, read from the first row to the last.
struct Cursor {
    reader: ColumnReader,
    at: usize,
}

impl Cursor {
    fn new(group: &dyn RowGroupReader, place: usize) -> Result<Cursor, ParquetError> {
        Ok(Cursor { reader: group.get_column_reader(place)?, at: 0 })
    }

    /// Appends the values of some rows, which must come after all rows read before.
    fn read(&mut self, ranges: &[Range], into: &mut ColumnBuilder) -> Result<(), ParquetError> {
        let Cursor { reader, at } = self;
        let texts = &mut into.texts;
        match (reader, &mut into.data) {
            (ColumnReader::DoubleColumnReader(reader), ColumnData::Real(values)) => {
                values_of(reader, at, ranges, |value| {
                    values.push(value.copied());
                    Ok(())
                })
            }
            (ColumnReader::Int64ColumnReader(reader), ColumnData::Integer(values)) => {
                values_of(reader, at, ranges, |value| {
                    values.push(value.copied());
                    Ok(())
                })
            }
            (ColumnReader::ByteArrayColumnReader(reader), ColumnData::Text(_)) => {
                values_of(reader, at, ranges, |value: Option<&ByteArray>| {
                    texts.push(value.map(ByteArray::as_utf8).transpose()?);
                    Ok(())
                })
            }
            _ => Err(ParquetError::General("a row group has a schema of its own".into())),
        }
    }
}

/// Gives the value of every row. It is an error if there are fewer values than rows.
fn values_of<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    at: &mut usize,
    ranges: &[Range],
    mut take: impl FnMut(Option<&T::T>) -> Result<(), ParquetError>,
) -> Result<(), ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for &(first, rows) in ranges {
        let missing = |left: usize| {
            ParquetError::EOF(format!("{left} of {rows} values from row {first} on are missing"))
        };
        if first > *at && reader.skip_records(first - *at)? < first - *at {
            return Err(missing(rows));
        }
        *at = first + rows;
        let mut left = rows;
        while left > 0 {
            values.clear();
            levels.clear();
            let (read, _, _) = reader.read_records(left, Some(&mut levels), None, &mut values)?;
            if read == 0 {
                return Err(missing(left));
            }
            left -= read;
            // A column without missing values has no levels.
            levels.resize(read, 1);
            let mut values = values.iter();
            for &level in &levels {
                take(if level > 0 { values.next() } else { None })?;
            }
        }
    }
    Ok(())
}
