//! A table as a Parquet file.

mod group;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::ResultsError;
use crate::buffer::Buffer;
use crate::columns::{Column, Kind, Missing, Table};
use crate::writer::ROWS_PER_GROUP;

pub(crate) use group::Group;

/// A Parquet file under construction.
pub(crate) struct ParquetFile {
    path: PathBuf,
    writer: SerializedFileWriter<File>,
    /// The row group under construction.
    group: Option<Group>,
}

impl ParquetFile {
    pub(crate) fn create(folder: &Path, table: Table) -> Result<ParquetFile, ResultsError> {
        let path = folder.join(format!("{}.parquet", table.name()));
        let file = File::create(&path).map_err(|error| ResultsError::write(&path, error))?;
        let writer = schema(table).and_then(|schema| {
            SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties(table)))
        });
        match writer {
            Ok(writer) => Ok(ParquetFile { path, writer, group: None }),
            Err(error) => Err(ResultsError::write_parquet(&path, error)),
        }
    }

    /// Adds the buffer's rows to the current row group, and to further ones.
    pub(crate) fn write(&mut self, buffer: &Buffer) -> Result<(), ResultsError> {
        self.add(buffer).map_err(|error| ResultsError::write_parquet(&self.path, error))
    }

    pub(crate) fn close(mut self) -> Result<(), ResultsError> {
        let closed = self.finish_group().and_then(|()| self.writer.finish());
        closed.map(|_| ()).map_err(|error| ResultsError::write_parquet(&self.path, error))
    }

    fn add(&mut self, buffer: &Buffer) -> Result<(), ParquetError> {
        let mut written = 0;
        while written < buffer.rows {
            let group = self.group.get_or_insert_with(|| Group::new(&self.writer));
            let end = buffer.rows.min(written + ROWS_PER_GROUP - group.rows());
            group.add(&buffer.columns, written..end)?;
            written = end;
            if group.rows() == ROWS_PER_GROUP {
                self.finish_group()?;
            }
        }
        Ok(())
    }

    fn finish_group(&mut self) -> Result<(), ParquetError> {
        self.group.take().map_or(Ok(()), |group| group.finish(&mut self.writer))
    }
}

fn schema(table: Table) -> Result<Type, ParquetError> {
    Type::group_type_builder("schema").with_fields(fields(table)?).build()
}

/// The columns of a table.
pub(crate) fn fields(table: Table) -> Result<Vec<Arc<Type>>, ParquetError> {
    table.columns().iter().map(|column| field(column).map(Arc::new)).collect()
}

/// Words are plain texts in the file, because categories cannot be concatenated across runs.
fn field(column: &Column) -> Result<Type, ParquetError> {
    let (physical, logical) = match column.kind {
        Kind::Seconds | Kind::Real => (Physical::DOUBLE, None),
        Kind::Integer => (Physical::INT64, None),
        Kind::Word | Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let repetition = match column.missing {
        Missing::Empty(_) => Repetition::OPTIONAL,
        Missing::Never | Missing::Number(_) => Repetition::REQUIRED,
    };
    Type::primitive_type_builder(column.name, physical)
        .with_logical_type(logical)
        .with_repetition(repetition)
        .build()
}

pub(crate) fn properties(table: Table) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        // Pages of this size stay in the cache while they are filled and compressed.
        .set_data_page_size_limit(128 * 1024)
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for column in table.columns() {
        // The lookup of values in a dictionary would dominate the time of writing. Repeated numbers
        // shrink as well under compression, so only words have a dictionary.
        let dictionary = column.kind == Kind::Word;
        properties = properties.set_column_dictionary_enabled(column.name.into(), dictionary);
        // No reader needs the first and the last text of the alphabet, and their comparisons cost time.
        if matches!(column.kind, Kind::Word | Kind::Text) {
            let name = column.name.into();
            properties = properties.set_column_statistics_enabled(name, EnabledStatistics::None);
        }
    }
    properties.build()
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::schema::printer::print_schema;

    use super::*;
    use crate::words::Known;

    /// A table of messages of two batches, the second of which fills a row group and one row more.
    fn messages(folder: &Path) -> SerializedFileReader<File> {
        let mut file = ParquetFile::create(folder, Table::Messages).expect("a file");
        let mut buffer = Buffer::new(Table::Messages, &Known::default());
        for rows in [ROWS_PER_GROUP - 1, 2] {
            for i in 0..rows {
                let mut row = buffer.next_row();
                let mut next = || row.next().expect("a column");
                next().push_micros(i as i64);
                ["user", "north", "Submit"].into_iter().for_each(|word| next().push_word(word));
                match i % 2 {
                    0 => next().push_missing(),
                    _ => next().push_integer(i as i64),
                }
            }
            file.write(&buffer).expect("written");
            buffer.clear();
        }
        file.close().expect("closed");
        let file = File::open(folder.join("messages.parquet")).expect("it is there");
        SerializedFileReader::new(file).expect("a Parquet file")
    }

    #[test]
    fn row_groups_are_full_but_the_last() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = messages(folder.path());
        let rows: Vec<_> = file.metadata().row_groups().iter().map(|it| it.num_rows()).collect();
        assert_eq!(rows, [ROWS_PER_GROUP as i64, 1]);
        let columns = file.metadata().row_group(0).columns();
        assert!(columns.iter().all(|column| column.compression() == Compression::SNAPPY));
        let statistics = columns.iter().map(|column| column.statistics().is_some());
        assert_eq!(statistics.collect::<Vec<_>>(), [true, false, false, false, true]);
        let dictionaries = columns.iter().map(|column| column.dictionary_page_offset().is_some());
        assert_eq!(dictionaries.collect::<Vec<_>>(), [false, true, true, true, false]);
    }

    #[test]
    fn texts_are_plain_and_only_what_may_be_missing_is_optional() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = messages(folder.path());
        let mut schema = Vec::new();
        print_schema(&mut schema, file.metadata().file_metadata().schema());
        assert_eq!(
            String::from_utf8(schema).expect("text"),
            "message schema {\n  REQUIRED DOUBLE time;\n  REQUIRED BYTE_ARRAY sender (STRING);\n  \
             REQUIRED BYTE_ARRAY receiver (STRING);\n  REQUIRED BYTE_ARRAY kind (STRING);\n  \
             OPTIONAL INT64 job;\n}\n"
        );
    }

    #[test]
    fn a_value_that_must_not_be_missing_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut file = ParquetFile::create(folder.path(), Table::MessageCounts).expect("a file");
        let mut buffer = Buffer::new(Table::MessageCounts, &Known::default());
        let row = buffer.next_row().zip([Some("user"), Some("north"), Some("Submit"), None]);
        row.for_each(|(column, word)| match word {
            Some(word) => column.push_word(word),
            None => column.push_missing(),
        });
        assert!(file.write(&buffer).is_err());
    }
}
