//! A table as a Parquet file.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use arrow_buffer::{Buffer as Bytes, NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use haggle_model::time::MICROS_PER_SECOND;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use crate::ResultsError;
use crate::buffer::{Buffer, NO_INTEGER, NO_WORD, Values};
use crate::columns::{Column, Kind, Missing, Table};
use crate::writer::ROWS_PER_GROUP;

/// A Parquet file being written.
pub(crate) struct ParquetFile {
    path: PathBuf,
    schema: Arc<Schema>,
    writer: ArrowWriter<File>,
}

impl ParquetFile {
    pub(crate) fn create(folder: &Path, table: Table) -> Result<ParquetFile, ResultsError> {
        let path = folder.join(format!("{}.parquet", table.name()));
        let file = File::create(&path).map_err(|error| ResultsError::write(&path, error))?;
        let schema = Arc::new(Schema::new(table.columns().iter().map(field).collect::<Vec<_>>()));
        // Without Arrow's own metadata every reader sees plain text columns; with it,
        // words would come back as categories, which do not concatenate across runs.
        let options = ArrowWriterOptions::new()
            .with_properties(properties(table))
            .with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(file, Arc::clone(&schema), options)
            .map_err(|error| ResultsError::write_parquet(&path, error))?;
        Ok(ParquetFile { path, schema, writer })
    }

    /// Adds the buffer's rows to the row group that is being made.
    pub(crate) fn write(&mut self, buffer: &Buffer) -> Result<(), ResultsError> {
        let path = &self.path;
        let broken = |error: ArrowError| ResultsError::damaged(path, error);
        let columns = buffer.columns.iter().map(array).collect::<Result<_, _>>();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns.map_err(broken)?)
            .map_err(broken)?;
        self.writer.write(&batch).map_err(|error| ResultsError::write_parquet(&self.path, error))
    }

    pub(crate) fn close(self) -> Result<(), ResultsError> {
        let path = self.path;
        match self.writer.close() {
            Ok(_) => Ok(()),
            Err(error) => Err(ResultsError::write_parquet(&path, error)),
        }
    }
}

fn field(column: &Column) -> Field {
    let data_type = match column.kind {
        Kind::Seconds | Kind::Real => DataType::Float64,
        Kind::Integer => DataType::Int64,
        Kind::Word => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
        Kind::Text => DataType::Utf8,
    };
    Field::new(column.name, data_type, matches!(column.missing, Missing::Empty(_)))
}

fn properties(table: Table) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        // Pages that stay in the cache while they are filled and compressed.
        .set_data_page_size_limit(128 * 1024)
        .set_max_row_group_row_count(Some(ROWS_PER_GROUP))
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for column in table.columns() {
        // Looking up each value in a dictionary is what writing would spend most on, and
        // repeated numbers shrink as well under compression: only words are worth it.
        let dictionary = column.kind == Kind::Word;
        properties = properties.set_column_dictionary_enabled(column.name.into(), dictionary);
    }
    properties.build()
}

fn array(values: &Values) -> Result<ArrayRef, ArrowError> {
    Ok(match values {
        Values::Seconds(values) => {
            // The division is the one of Time::as_secs_f64: exact to the last bit everywhere.
            let seconds: Vec<f64> =
                values.iter().map(|&micros| micros as f64 / MICROS_PER_SECOND as f64).collect();
            let nulls = present(values, |&micros| micros != NO_INTEGER);
            Arc::new(Float64Array::try_new(seconds.into(), nulls)?)
        }
        Values::Real(values) => {
            let nulls = present(values, |value| !value.is_nan());
            Arc::new(Float64Array::try_new(values.clone().into(), nulls)?)
        }
        Values::Integer(values) => {
            let nulls = present(values, |&value| value != NO_INTEGER);
            Arc::new(Int64Array::try_new(values.clone().into(), nulls)?)
        }
        Values::Word { codes, words } => {
            let nulls = present(codes, |&code| code != NO_WORD);
            // A missing word's key must still be one of the list's.
            let keys: Vec<i32> =
                codes.iter().map(|&code| if code == NO_WORD { 0 } else { code as i32 }).collect();
            let words = StringArray::from_iter_values(words);
            let keys = Int32Array::try_new(keys.into(), nulls)?;
            Arc::new(DictionaryArray::<Int32Type>::try_new(keys, Arc::new(words))?)
        }
        Values::Text { bytes, ends } => {
            let nulls = nonempty(ends);
            let offsets = OffsetBuffer::new(ends.clone().into());
            Arc::new(StringArray::try_new(offsets, Bytes::from_slice_ref(bytes), nulls)?)
        }
    })
}

/// Which values are there; `None` = all of them.
fn present<T>(values: &[T], is_there: impl Fn(&T) -> bool) -> Option<NullBuffer> {
    if values.iter().all(&is_there) {
        return None;
    }
    Some(values.iter().map(is_there).collect::<Vec<_>>().into())
}

fn nonempty(ends: &[i32]) -> Option<NullBuffer> {
    let lengths: Vec<i32> = ends.windows(2).map(|pair| pair[1] - pair[0]).collect();
    present(&lengths, |&length| length > 0)
}
