//! A row group, encoded column by column while its rows come in.
//!
//! In the file one column stands after the other, but rows bring a value for each. So every
//! column's pages wait in memory, encoded and packed, until the group is full.

use std::fs::File;
use std::mem;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use haggle_model::time::MICROS_PER_SECOND;
use parquet::column::page::{CompressedPage, PageWriteSpec, PageWriter};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl, get_column_writer};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};

use crate::buffer::{NO_INTEGER, NO_WORD, Values};

/// Values of a column that are copied and encoded at once: few enough for the nearest cache.
const ROWS_AT_ONCE: usize = 1024;

/// A row group being made.
pub(crate) struct Group {
    rows: usize,
    columns: Vec<Column>,
}

/// A column being encoded.
struct Column {
    writer: ColumnWriter<'static>,
    pages: Pages,
    /// Its words so far, as the writer takes them; there only ever come more.
    words: Vec<ByteArray>,
}

/// A column's pages so far; its writer adds to them.
#[derive(Clone)]
struct Pages(Arc<Mutex<TrackedWrite<Vec<u8>>>>);

impl Group {
    /// An empty group of a file.
    pub(crate) fn new(file: &SerializedFileWriter<File>) -> Group {
        let column = |column: &Arc<_>| {
            let pages = Pages(Arc::new(Mutex::new(TrackedWrite::new(Vec::new()))));
            let properties = Arc::clone(file.properties());
            let writer = get_column_writer(Arc::clone(column), properties, Box::new(pages.clone()));
            Column { writer, pages, words: Vec::new() }
        };
        Group { rows: 0, columns: file.schema_descr().columns().iter().map(column).collect() }
    }

    /// How many rows it has.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Adds some rows of a buffer.
    pub(super) fn add(
        &mut self,
        columns: &[Values],
        rows: Range<usize>,
    ) -> Result<(), ParquetError> {
        self.rows += rows.len();
        for (column, values) in self.columns.iter_mut().zip(columns) {
            for start in rows.clone().step_by(ROWS_AT_ONCE) {
                column.add(values, start..rows.end.min(start + ROWS_AT_ONCE))?;
            }
        }
        Ok(())
    }

    /// The writers of its columns, each of which is about to get so many rows.
    pub(crate) fn writers(
        &mut self,
        rows: usize,
    ) -> impl Iterator<Item = &mut ColumnWriter<'static>> {
        self.rows += rows;
        self.columns.iter_mut().map(|column| &mut column.writer)
    }

    /// Writes it to the file.
    pub(crate) fn finish(self, file: &mut SerializedFileWriter<File>) -> Result<(), ParquetError> {
        let mut group = file.next_row_group()?;
        for Column { writer, pages, .. } in self.columns {
            let closed = writer.close()?;
            group.append_column(&Bytes::from(pages.take()?), closed)?;
        }
        group.close().map(|_| ())
    }
}

impl Pages {
    fn take(&self) -> Result<Vec<u8>, ParquetError> {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        mem::replace(&mut *pages, TrackedWrite::new(Vec::new())).into_inner()
    }
}

impl PageWriter for Pages {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec, ParquetError> {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        SerializedPageWriter::new(&mut pages).write_page(page)
    }

    fn close(&mut self) -> Result<(), ParquetError> {
        Ok(())
    }
}

impl Column {
    fn add(&mut self, values: &Values, rows: Range<usize>) -> Result<(), ParquetError> {
        match (&mut self.writer, values) {
            (ColumnWriter::DoubleColumnWriter(writer), Values::Seconds(micros)) => {
                // The division is the one of Time::as_secs_f64: exact to the last bit everywhere.
                let seconds = |&micros: &i64| {
                    (micros != NO_INTEGER).then(|| micros as f64 / MICROS_PER_SECOND as f64)
                };
                put(writer, micros[rows].iter().map(seconds))
            }
            (ColumnWriter::DoubleColumnWriter(writer), Values::Real(values)) => {
                put(writer, values[rows].iter().map(|&value| (!value.is_nan()).then_some(value)))
            }
            (ColumnWriter::Int64ColumnWriter(writer), Values::Integer(values)) => {
                let there = |&value: &i64| (value != NO_INTEGER).then_some(value);
                put(writer, values[rows].iter().map(there))
            }
            (ColumnWriter::ByteArrayColumnWriter(writer), Values::Word { codes, words }) => {
                let new = words[self.words.len()..].iter().map(|word| word.as_str().into());
                self.words.extend(new);
                let word =
                    |&code: &u32| (code != NO_WORD).then(|| self.words[code as usize].clone());
                put(writer, codes[rows].iter().map(word))
            }
            (ColumnWriter::ByteArrayColumnWriter(writer), Values::Text { bytes, ends }) => {
                let ends = &ends[rows.start..=rows.end];
                let first = ends[0] as usize;
                let bytes = Bytes::copy_from_slice(&bytes[first..ends[rows.len()] as usize]);
                let text = |pair: &[i32]| {
                    let (start, end) = (pair[0] as usize - first, pair[1] as usize - first);
                    (start < end).then(|| bytes.slice(start..end).into())
                };
                put(writer, ends.windows(2).map(text))
            }
            (_, values) => unreachable!("{values:?} are not what the schema says of their column"),
        }
    }
}

/// Adds values, some of which may be missing; one that is where there always is one is an error.
fn put<T: DataType>(
    writer: &mut ColumnWriterImpl<'_, T>,
    rows: impl ExactSizeIterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let count = rows.len();
    let mut values = Vec::with_capacity(count);
    if writer.get_descriptor().max_def_level() == 0 {
        values.extend(rows.flatten());
        if values.len() < count {
            let name = writer.get_descriptor().name().to_owned();
            return Err(ParquetError::General(format!("column {name} lacks a value")));
        }
        return writer.write_batch(&values, None, None).map(|_| ());
    }
    let mut levels = Vec::with_capacity(count);
    for value in rows {
        levels.push(i16::from(value.is_some()));
        values.extend(value);
    }
    writer.write_batch(&values, Some(&levels), None).map(|_| ())
}
