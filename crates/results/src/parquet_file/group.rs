//! A row group, encoded column by column while its rows arrive.
//!
//! In the file, columns follow one another, but each row brings a value for every column. The pages of
//! all columns therefore wait in memory, encoded and compressed, until the group is full.

use std::fs::File;
use std::mem;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use haggle_model::time::MICROS_PER_SECOND;
use parquet::column::page::{CompressedPage, PageWriteSpec, PageWriter};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl, get_column_writer};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};

use crate::buffer::{NO_INTEGER, NO_WORD, Values};

/// Values of a column that are copied and encoded at once. They fit in the nearest cache.
const ROWS_AT_ONCE: usize = 1024;

/// A row group under construction.
pub(crate) struct Group {
    rows: usize,
    columns: Vec<Column>,
}

/// A column that is being encoded.
struct Column {
    writer: ColumnWriter<'static>,
    pages: Pages,
}

/// The column's pages so far; its writer appends to them.
#[derive(Clone)]
struct Pages(Arc<Mutex<TrackedWrite<Vec<u8>>>>);

impl Group {
    /// An empty group of a file.
    pub(crate) fn new(file: &SerializedFileWriter<File>) -> Group {
        let column = |column: &Arc<_>| {
            let pages = Pages(Arc::new(Mutex::new(TrackedWrite::new(Vec::new()))));
            let properties = Arc::clone(file.properties());
            let writer = get_column_writer(Arc::clone(column), properties, Box::new(pages.clone()));
            Column { writer, pages }
        };
        Group { rows: 0, columns: file.schema_descr().columns().iter().map(column).collect() }
    }

    /// Number of its rows.
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

    /// The writers of its columns. The caller must add this number of rows to each.
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
        for Column { writer, pages } in self.columns {
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
                // The same division as in `Time::as_secs_f64`, so that floats agree to the last bit.
                let seconds = |micros| micros as f64 / MICROS_PER_SECOND as f64;
                put(writer, micros[rows].iter().copied(), |&it| it != NO_INTEGER, seconds)
            }
            (ColumnWriter::DoubleColumnWriter(writer), Values::Real(values)) => {
                put(writer, values[rows].iter().copied(), |it| !it.is_nan(), |it| it)
            }
            (ColumnWriter::Int64ColumnWriter(writer), Values::Integer(values)) => {
                put(writer, values[rows].iter().copied(), |&it| it != NO_INTEGER, |it| it)
            }
            (ColumnWriter::ByteArrayColumnWriter(writer), Values::Word { codes, words }) => {
                let word = |code| words.share(code).into();
                put(writer, codes[rows].iter().copied(), |&it| it != NO_WORD, word)
            }
            (ColumnWriter::ByteArrayColumnWriter(writer), Values::Text { bytes, ends }) => {
                let ends = &ends[rows.start..=rows.end];
                let first = ends[0] as usize;
                let bytes = Bytes::copy_from_slice(&bytes[first..ends[rows.len()] as usize]);
                let place = |pair: &[i32]| pair[0] as usize - first..pair[1] as usize - first;
                let texts = ends.windows(2).map(place);
                put(writer, texts, |it| !it.is_empty(), |it| bytes.slice(it).into())
            }
            (_, values) => unreachable!("{values:?} are not what the schema says of their column"),
        }
    }
}

/// Adds the values of some rows; a value is missing if it is not `there`. A missing value in a column
/// that must have one is an error.
fn put<R, T: DataType>(
    writer: &mut ColumnWriterImpl<'_, T>,
    rows: impl ExactSizeIterator<Item = R> + Clone,
    there: impl Fn(&R) -> bool,
    value: impl Fn(R) -> T::T,
) -> Result<(), ParquetError> {
    let levels = Vec::from_iter(rows.clone().map(|row| i16::from(there(&row))));
    let all_there = levels.iter().all(|&level| level == 1);
    let may_lack = writer.get_descriptor().max_def_level() > 0;
    if !all_there && !may_lack {
        let name = writer.get_descriptor().name().to_owned();
        return Err(ParquetError::General(format!("column {name} lacks a value")));
    }
    // Mostly no value is missing, so that no filter is needed.
    let values = match all_there {
        true => Vec::from_iter(rows.map(value)),
        false => Vec::from_iter(rows.filter(there).map(value)),
    };
    writer.write_batch(&values, may_lack.then_some(&levels), None).map(|_| ())
}
