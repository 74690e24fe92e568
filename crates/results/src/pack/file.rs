//! A table of a pack: the rows of all runs, one run after the other, as in the runs' own files.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::ResultsError;
use crate::columns::Table;
use crate::parquet_file::{Group, fields, properties};
use crate::regular;
use crate::writer::ROWS_PER_GROUP;

/// Values that are copied at once.
const ROWS_AT_ONCE: usize = 16_384;

/// The file under construction.
pub(super) struct PackedFile {
    path: PathBuf,
    writer: SerializedFileWriter<File>,
    group: Option<Group>,
    rows: usize,
    /// Columns before those of the table: a text for each axis, and the seed.
    before: usize,
}

impl PackedFile {
    pub(super) fn create(
        folder: &Path,
        table: Table,
        axes: &[String],
    ) -> Result<PackedFile, ResultsError> {
        let path = folder.join(format!("{}.parquet", table.name()));
        let file = File::create(&path).map_err(|error| ResultsError::write(&path, error))?;
        let writer = schema(table, axes).and_then(|schema| {
            SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties(table)))
        });
        match writer {
            Ok(writer) => {
                Ok(PackedFile { path, writer, group: None, rows: 0, before: axes.len() + 1 })
            }
            Err(error) => Err(ResultsError::write_parquet(&path, error)),
        }
    }

    /// Number of rows so far.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Adds the rows of the table at `source`, which belong to this point of the axes.
    pub(super) fn append(
        &mut self,
        point: &[String],
        seed: u64,
        source: &Path,
    ) -> Result<(), ResultsError> {
        let file = regular::open(source)?;
        let file = SerializedFileReader::new(file);
        let file = file.map_err(|error| ResultsError::damaged(source, error))?;
        for at in 0..file.num_row_groups() {
            let added = file.get_row_group(at).and_then(|rows| self.add(point, seed, &*rows));
            added.map_err(|error| ResultsError::write_parquet(&self.path, error))?;
        }
        Ok(())
    }

    pub(super) fn close(mut self) -> Result<(), ResultsError> {
        let closed = self.finish_group().and_then(|()| self.writer.finish());
        closed.map(drop).map_err(|error| ResultsError::write_parquet(&self.path, error))
    }

    fn add(
        &mut self,
        point: &[String],
        seed: u64,
        source: &dyn RowGroupReader,
    ) -> Result<(), ParquetError> {
        let rows = source.metadata().num_rows() as usize;
        let group = self.group.get_or_insert_with(|| Group::new(&self.writer));
        for (at, writer) in group.writers(rows).enumerate() {
            match (at.checked_sub(self.before), writer) {
                (Some(column), writer) => copy(source.get_column_reader(column)?, writer, rows)?,
                (None, ColumnWriter::ByteArrayColumnWriter(writer)) => {
                    repeat(writer, &ByteArray::from(point[at].as_str()), rows)?;
                }
                (None, ColumnWriter::Int64ColumnWriter(writer)) => {
                    // Tables have signed integers; a larger seed keeps its bits.
                    repeat(writer, &(seed as i64), rows)?;
                }
                (None, _) => unreachable!("only texts and the seed stand before the others"),
            }
        }
        self.rows += rows;
        // Row groups of a run are not divided, so this one may be larger.
        if group.rows() >= ROWS_PER_GROUP { self.finish_group() } else { Ok(()) }
    }

    fn finish_group(&mut self) -> Result<(), ParquetError> {
        self.group.take().map_or(Ok(()), |group| group.finish(&mut self.writer))
    }
}

fn schema(table: Table, axes: &[String]) -> Result<Type, ParquetError> {
    let mut all = Vec::new();
    for axis in axes {
        // An axis may have the name of a column, and a table must not have two columns of one name.
        let taken = table.columns().iter().any(|column| column.name == axis);
        let name = if taken { format!("axis.{axis}") } else { axis.clone() };
        let axis = Type::primitive_type_builder(&name, Physical::BYTE_ARRAY)
            .with_logical_type(Some(LogicalType::String))
            .with_repetition(Repetition::REQUIRED)
            .build()?;
        all.push(Arc::new(axis));
    }
    let seed = Type::primitive_type_builder("seed", Physical::INT64)
        .with_repetition(Repetition::REQUIRED)
        .build()?;
    all.push(Arc::new(seed));
    all.extend(fields(table)?);
    Type::group_type_builder("schema").with_fields(all).build()
}

fn repeat<T: DataType>(
    writer: &mut ColumnWriterImpl<'_, T>,
    value: &T::T,
    mut rows: usize,
) -> Result<(), ParquetError> {
    let values = vec![value.clone(); rows.min(ROWS_AT_ONCE)];
    while rows > 0 {
        let at_once = rows.min(values.len());
        writer.write_batch(&values[..at_once], None, None)?;
        rows -= at_once;
    }
    Ok(())
}

fn copy(
    reader: ColumnReader,
    writer: &mut ColumnWriter<'static>,
    rows: usize,
) -> Result<(), ParquetError> {
    match (reader, writer) {
        (ColumnReader::DoubleColumnReader(reader), ColumnWriter::DoubleColumnWriter(writer)) => {
            values(reader, writer, rows)
        }
        (ColumnReader::Int64ColumnReader(reader), ColumnWriter::Int64ColumnWriter(writer)) => {
            values(reader, writer, rows)
        }
        (
            ColumnReader::ByteArrayColumnReader(reader),
            ColumnWriter::ByteArrayColumnWriter(writer),
        ) => values(reader, writer, rows),
        _ => Err(ParquetError::General("the run's table has another schema".to_owned())),
    }
}

fn values<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    writer: &mut ColumnWriterImpl<'_, T>,
    rows: usize,
) -> Result<(), ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let mut left = rows;
    while left > 0 {
        values.clear();
        levels.clear();
        let at_once = left.min(ROWS_AT_ONCE);
        let (read, _, _) = reader.read_records(at_once, Some(&mut levels), None, &mut values)?;
        if read == 0 {
            return Err(ParquetError::EOF(format!("{left} of {rows} values are missing")));
        }
        // A column that must have a value in each row has no levels.
        let optional = writer.get_descriptor().max_def_level() > 0;
        writer.write_batch(&values, optional.then_some(levels.as_slice()), None)?;
        left -= read;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use haggle_model::{ActorId, ActorInfo, ActorKind, Cast};

    use crate::buffer::Buffer;
    use crate::columns::Kind;
    use crate::parquet_file::ParquetFile;
    use crate::reader::{ColumnData, read_parquet};
    use crate::tables::{Cells, MessageCells};
    use crate::words::Known;

    const TABLE: Table = Table::Messages;

    /// The table of a run with this number of rows, whose jobs are numbered from `first` on; some
    /// values are missing.
    fn table(folder: &Path, rows: usize, first: usize) -> PathBuf {
        let mut file = ParquetFile::create(folder, TABLE).expect("a file");
        let actors = ["user", "north"]
            .map(|name| ActorInfo { name: name.to_owned(), kind: ActorKind::Provider });
        let cast = Cast { actors: actors.into(), ..Cast::default() };
        let mut buffer = Buffer::new(TABLE, &Known::of(&cast));
        for row in first..first + rows {
            let cells = MessageCells {
                time: row as i64,
                sender: ActorId(0),
                receiver: ActorId(1),
                kind: "Submit",
                job: (!row.is_multiple_of(3)).then_some(row as i64),
            };
            cells.give(&mut buffer);
        }
        file.write(&buffer).expect("it can be written");
        file.close().expect("it can be closed");
        folder.join("messages.parquet")
    }

    /// Runs with tables shorter than a row group of the file, as long, and longer.
    #[test]
    fn each_run_is_read_back_alone_wherever_row_groups_end() {
        let (own, pack) = (tempfile::tempdir(), tempfile::tempdir());
        let (own, pack) = (own.expect("a folder"), pack.expect("a folder"));
        let sizes = [100_000, 100_000, 5, 0, ROWS_PER_GROUP, 2 * ROWS_PER_GROUP + 1, 7];
        let mut file =
            PackedFile::create(pack.path(), TABLE, &["policy".to_owned(), "job".to_owned()])
                .expect("a file");
        let mut parts = Vec::new();
        for (run, rows) in sizes.into_iter().enumerate() {
            let first = file.rows();
            let source = table(own.path(), rows, first);
            let point = [format!("run-{run}"), "taken".to_owned()];
            file.append(&point, run as u64, &source).expect("it can be packed");
            assert_eq!(file.rows() - first, rows);
            parts.push((first, rows));
        }
        file.close().expect("it can be closed");
        let path = pack.path().join("messages.parquet");
        let wanted = [
            ("policy", Kind::Text),
            ("axis.job", Kind::Text),
            ("seed", Kind::Integer),
            ("job", Kind::Integer),
        ];
        for (run, part) in parts.into_iter().enumerate() {
            let columns = read_parquet(&path, &wanted, Some(part)).expect("it can be read");
            let ColumnData::Text(policy) = &columns[0] else { panic!("texts") };
            assert_eq!(policy.codes.len(), part.1, "run {run}");
            let is_its = |text: &String| *text == format!("run-{run}");
            assert!(policy.texts.iter().all(is_its), "run {run}: {:?}", policy.texts);
            let ColumnData::Text(taken) = &columns[1] else { panic!("texts") };
            assert!(taken.texts.iter().all(|text| text == "taken"), "run {run}: {taken:?}");
            assert_eq!(columns[2], ColumnData::Integer(vec![Some(run as i64); part.1]));
            let job = |row: usize| (!row.is_multiple_of(3)).then_some(row as i64);
            let jobs = (part.0..part.0 + part.1).map(job).collect();
            assert_eq!(columns[3], ColumnData::Integer(jobs), "run {run}");
        }
    }
}
