//! Columns out of a Parquet file.

use std::fs::File;
use std::path::Path;

use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrowPrimitiveType, PrimitiveArray, StringArray};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::{ColumnData, TextBuilder};
use crate::ResultsError;
use crate::columns::Kind;

pub(super) fn read(
    path: &Path,
    wanted: &[(&'static str, Kind)],
) -> Result<Vec<ColumnData>, ResultsError> {
    let file = File::open(path).map_err(|error| ResultsError::read(path, error))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file)
        .map_err(|error| ResultsError::damaged(path, error))?;
    let schema = builder.schema().clone();
    for (name, _) in wanted {
        schema.index_of(name).map_err(|_| ResultsError::MissingColumn {
            path: path.to_owned(),
            column: (*name).to_owned(),
        })?;
    }
    let names = wanted.iter().map(|(name, _)| *name);
    let mask = ProjectionMask::columns(builder.parquet_schema(), names);
    let batches = builder
        .with_projection(mask)
        .with_batch_size(65_536)
        .build()
        .map_err(|error| ResultsError::damaged(path, error))?;

    let mut columns: Vec<ColumnData> =
        wanted.iter().map(|&(_, kind)| ColumnData::new(kind)).collect();
    let mut texts: Vec<TextBuilder> = wanted.iter().map(|_| TextBuilder::default()).collect();
    for batch in batches {
        let batch = batch.map_err(|error| ResultsError::damaged(path, error))?;
        for (i, (name, _)) in wanted.iter().enumerate() {
            let array = batch.column_by_name(name).map(|array| array.as_ref());
            let read = array.is_some_and(|array| match &mut columns[i] {
                ColumnData::Real(values) => extend::<Float64Type>(values, array),
                ColumnData::Integer(values) => extend::<Int64Type>(values, array),
                ColumnData::Text(_) => extend_text(&mut texts[i], array),
            });
            if !read {
                return Err(ResultsError::WrongType {
                    path: path.to_owned(),
                    column: (*name).to_owned(),
                    expected: columns[i].type_name(),
                    found: array.map_or_else(String::new, |it| it.data_type().to_string()),
                });
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

/// Takes in an array, or says that it is of another type.
fn extend<T: ArrowPrimitiveType>(values: &mut Vec<Option<T::Native>>, array: &dyn Array) -> bool {
    let typed = array.as_any().downcast_ref::<PrimitiveArray<T>>();
    typed.map(|array| values.extend(array.iter())).is_some()
}

fn extend_text(texts: &mut TextBuilder, array: &dyn Array) -> bool {
    let typed = array.as_any().downcast_ref::<StringArray>();
    typed.map(|array| array.iter().for_each(|text| texts.push(text))).is_some()
}
