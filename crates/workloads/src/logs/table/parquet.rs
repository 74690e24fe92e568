//! Rows of a Parquet file, as texts.
//!
//! A column may have a type with a meaning of its own. A timestamp becomes a date, so that its unit needs no mapping.
//! A file is read by its end first, so a stream is copied into a temporary file.

mod delta;
mod pages;

use std::fs::File;
use std::io::{self, BufRead, BufWriter, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::schema::types::ColumnDescriptor;

use super::super::error::{LogError, LogProblem};
use super::super::source::Source;
use crate::lines::Unreadable;
use crate::swf::Malformed;

/// Rows that are decoded at once.
const BATCH_ROWS: usize = 1_024;

/// Most digits of a decimal number of 16 bytes.
const DIGITS_MAX: usize = 38;

/// The rows, and the values of the current one.
pub(super) struct Parquet {
    file: Arc<File>,
    facts: Arc<ParquetMetaData>,
    /// The line is the number of the row, from 1.
    pub(super) source: Source,
    pub(super) names: Vec<String>,
    forms: Vec<Form>,
    /// The columns of the group of rows that is being read.
    columns: Vec<Option<Column>>,
    next_group: usize,
    /// Rows of the group that are not decoded yet.
    rest: usize,
    /// Rows of the batch behind the current one.
    batch: usize,
    /// The values of the row, one behind the other.
    values: Vec<u8>,
    /// The end of each value.
    ends: Vec<usize>,
}

/// The meaning of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Plain,
    Unsigned,
    Date,
    /// An instant, or a local time; in parts of a second.
    Timestamp {
        parts: i64,
        is_utc: bool,
    },
    Decimal {
        scale: usize,
    },
    /// A row has any number of values, so none is read.
    List,
}

impl Form {
    fn of(column: &ColumnDescriptor) -> Form {
        if column.max_rep_level() > 0 {
            return Form::List;
        }
        match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::Timestamp(timestamp)), _) => Form::Timestamp {
                parts: match timestamp.unit {
                    TimeUnit::MILLIS => 1_000,
                    TimeUnit::MICROS => 1_000_000,
                    TimeUnit::NANOS => 1_000_000_000,
                },
                is_utc: timestamp.is_adjusted_to_u_t_c,
            },
            // Writers of older versions only know instants.
            (_, ConvertedType::TIMESTAMP_MILLIS) => Form::Timestamp { parts: 1_000, is_utc: true },
            (_, ConvertedType::TIMESTAMP_MICROS) => {
                Form::Timestamp { parts: 1_000_000, is_utc: true }
            }
            (_, ConvertedType::DATE) => Form::Date,
            (_, ConvertedType::DECIMAL) => match usize::try_from(column.type_scale()) {
                Ok(scale @ ..=DIGITS_MAX) => Form::Decimal { scale },
                _ => Form::Plain,
            },
            (
                _,
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64,
            ) => Form::Unsigned,
            _ => Form::Plain,
        }
    }

    /// Adds the text of a whole number.
    fn push(self, value: i64, out: &mut Vec<u8>) {
        match self {
            Form::Date => {
                let day = i32::try_from(value).ok().and_then(|day| {
                    let epoch = Date::constant(1970, 1, 1);
                    epoch.checked_add(jiff::Span::new().try_days(day).ok()?).ok()
                });
                push(out, day.map_or_else(|| value.to_string(), |day| day.to_string()));
            }
            Form::Timestamp { parts, is_utc } => {
                let nanos = i128::from(value) * i128::from(1_000_000_000 / parts);
                // Later than any date: the number is refused as a time.
                let text = Timestamp::from_nanosecond(nanos).map_or_else(
                    |_| value.to_string(),
                    |instant| match is_utc {
                        true => instant.to_string(),
                        false => TimeZone::UTC.to_datetime(instant).to_string(),
                    },
                );
                push(out, text);
            }
            Form::Decimal { scale } => push_decimal(i128::from(value), scale, out),
            Form::Unsigned => push(out, value.cast_unsigned()),
            Form::Plain | Form::List => push(out, value),
        }
    }
}

fn push(out: &mut Vec<u8>, value: impl std::fmt::Display) {
    write!(out, "{value}").expect("memory takes it");
}

/// Adds a number with some digits behind its point.
fn push_decimal(value: i128, scale: usize, out: &mut Vec<u8>) {
    let digits = format!("{:0width$}", value.unsigned_abs(), width = scale + 1);
    let (whole, part) = digits.split_at(digits.len() - scale);
    let sign = if value < 0 { "-" } else { "" };
    let point = if scale > 0 { "." } else { "" };
    push(out, format_args!("{sign}{whole}{point}{part}"));
}

/// A column of a group of rows.
enum Column {
    Bool(Values<parquet::data_type::BoolType>),
    Int32(Values<parquet::data_type::Int32Type>),
    Int64(Values<parquet::data_type::Int64Type>),
    Int96(Values<parquet::data_type::Int96Type>),
    Float(Values<parquet::data_type::FloatType>),
    Double(Values<parquet::data_type::DoubleType>),
    Bytes(Values<parquet::data_type::ByteArrayType>),
    Fixed(Values<parquet::data_type::FixedLenByteArrayType>),
}

/// The values of a column in a batch of rows.
struct Values<T: DataType> {
    reader: ColumnReaderImpl<T>,
    /// The level of a value that is there.
    known: i16,
    levels: Vec<i16>,
    values: Vec<T::T>,
    row: usize,
    value: usize,
}

impl<T: DataType> Values<T> {
    fn new(reader: ColumnReaderImpl<T>, known: i16) -> Values<T> {
        Values { reader, known, levels: Vec::new(), values: Vec::new(), row: 0, value: 0 }
    }

    fn read(&mut self, rows: usize) -> Result<(), ParquetError> {
        self.levels.clear();
        self.values.clear();
        (self.row, self.value) = (0, 0);
        let levels = (self.known > 0).then_some(&mut self.levels);
        let (found, ..) = self.reader.read_records(rows, levels, None, &mut self.values)?;
        if found < rows {
            return Err(ParquetError::EOF("a column has too few rows".to_owned()));
        }
        Ok(())
    }

    /// The value of the next row.
    fn next(&mut self) -> Option<&T::T> {
        let level = self.levels.get(self.row).copied();
        self.row += 1;
        if level.is_some_and(|level| level < self.known) {
            return None;
        }
        self.value += 1;
        self.values.get(self.value - 1)
    }
}

impl Column {
    fn new(reader: ColumnReader, known: i16) -> Column {
        match reader {
            ColumnReader::BoolColumnReader(it) => Column::Bool(Values::new(it, known)),
            ColumnReader::Int32ColumnReader(it) => Column::Int32(Values::new(it, known)),
            ColumnReader::Int64ColumnReader(it) => Column::Int64(Values::new(it, known)),
            ColumnReader::Int96ColumnReader(it) => Column::Int96(Values::new(it, known)),
            ColumnReader::FloatColumnReader(it) => Column::Float(Values::new(it, known)),
            ColumnReader::DoubleColumnReader(it) => Column::Double(Values::new(it, known)),
            ColumnReader::ByteArrayColumnReader(it) => Column::Bytes(Values::new(it, known)),
            ColumnReader::FixedLenByteArrayColumnReader(it) => {
                Column::Fixed(Values::new(it, known))
            }
        }
    }

    fn read(&mut self, rows: usize) -> Result<(), ParquetError> {
        match self {
            Column::Bool(it) => it.read(rows),
            Column::Int32(it) => it.read(rows),
            Column::Int64(it) => it.read(rows),
            Column::Int96(it) => it.read(rows),
            Column::Float(it) => it.read(rows),
            Column::Double(it) => it.read(rows),
            Column::Bytes(it) => it.read(rows),
            Column::Fixed(it) => it.read(rows),
        }
    }

    /// Adds the text of the value of the next row. A missing value has none.
    fn push(&mut self, form: Form, out: &mut Vec<u8>) {
        const NANOSECONDS: Form = Form::Timestamp { parts: 1_000_000_000, is_utc: true };
        match self {
            Column::Bool(it) => it.next().into_iter().for_each(|value| push(out, value)),
            Column::Int32(it) => match (it.next(), form) {
                (None, _) => {}
                (Some(value), Form::Unsigned) => push(out, value.cast_unsigned()),
                (Some(value), _) => form.push(i64::from(*value), out),
            },
            Column::Int64(it) => it.next().into_iter().for_each(|value| form.push(*value, out)),
            Column::Int96(it) => {
                it.next().into_iter().for_each(|value| NANOSECONDS.push(value.to_nanos(), out));
            }
            Column::Float(it) => it.next().into_iter().for_each(|value| push(out, value)),
            Column::Double(it) => it.next().into_iter().for_each(|value| push(out, value)),
            Column::Bytes(it) => {
                it.next().into_iter().for_each(|value| push_bytes(value.data(), form, out));
            }
            Column::Fixed(it) => {
                it.next().into_iter().for_each(|value| push_bytes(value.data(), form, out));
            }
        }
    }
}

/// Adds a text, or a decimal number of up to 16 bytes, the first of which is the highest.
fn push_bytes(bytes: &[u8], form: Form, out: &mut Vec<u8>) {
    match form {
        Form::Decimal { scale } if (1..=16).contains(&bytes.len()) => {
            let sign = if bytes[0] & 0x80 == 0 { 0 } else { -1 };
            let value = bytes.iter().fold(sign, |value, &byte| value << 8 | i128::from(byte));
            push_decimal(value, scale, out);
        }
        _ => out.extend_from_slice(bytes),
    }
}

impl Parquet {
    pub(super) fn new(
        input: Box<dyn BufRead + Send>,
        log: Arc<str>,
        malformed: Malformed,
    ) -> Result<Parquet, LogError> {
        let source = Source::new(log, malformed);
        let file =
            copied(input).map_err(|error| source.error(0, Unreadable::Read(error).into()))?;
        let facts = facts(&file).map_err(|error| source.error(0, damaged(&error)))?;
        let columns = facts.file_metadata().schema_descr().columns();
        let names = columns.iter().map(|column| column.path().string()).collect();
        let forms = columns.iter().map(|column| Form::of(column)).collect();
        Ok(Parquet {
            file: Arc::new(file),
            facts,
            source,
            names,
            forms,
            columns: Vec::new(),
            next_group: 0,
            rest: 0,
            batch: 0,
            values: Vec::new(),
            ends: Vec::new(),
        })
    }

    /// True if the values of a column are dates, which need no unit.
    pub(super) fn has_dates(&self, at: usize) -> bool {
        matches!(self.forms[at], Form::Date | Form::Timestamp { .. })
    }

    /// Reads the next row; `false` at the end.
    pub(super) fn next(&mut self) -> Result<bool, LogError> {
        let found = self.next_row();
        found.map_err(|error| self.source.error(0, damaged(&error)))
    }

    fn next_row(&mut self) -> Result<bool, ParquetError> {
        if self.batch == 0 && !guarded(|| self.next_batch())? {
            return Ok(false);
        }
        self.batch -= 1;
        self.source.line += 1;
        self.values.clear();
        self.ends.clear();
        for (column, form) in self.columns.iter_mut().zip(&self.forms) {
            match column {
                Some(column) => column.push(*form, &mut self.values),
                None => self.values.extend_from_slice(b"a list"),
            }
            self.ends.push(self.values.len());
        }
        Ok(true)
    }

    /// Decodes the next rows, at least one; `false` at the end.
    fn next_batch(&mut self) -> Result<bool, ParquetError> {
        while self.rest == 0 {
            if !self.open_group()? {
                return Ok(false);
            }
        }
        let rows = self.rest.min(BATCH_ROWS);
        for column in self.columns.iter_mut().flatten() {
            column.read(rows)?;
        }
        (self.rest, self.batch) = (self.rest - rows, rows);
        Ok(true)
    }

    /// Opens the next group of rows; `false` behind the last one.
    fn open_group(&mut self) -> Result<bool, ParquetError> {
        let Some(group) = self.facts.row_groups().get(self.next_group) else {
            return Ok(false);
        };
        self.next_group += 1;
        self.rest = usize::try_from(group.num_rows())?;
        let columns = self.facts.file_metadata().schema_descr().columns();
        let open = |(at, form): (usize, &Form)| match form {
            Form::List => Ok(None),
            _ => {
                let known = columns[at].max_def_level();
                let reader = pages::column_reader(&self.file, group, at)?;
                Ok(Some(Column::new(reader, known)))
            }
        };
        self.columns =
            self.forms.iter().enumerate().map(open).collect::<Result<_, ParquetError>>()?;
        Ok(true)
    }

    /// The value of a column in the current row.
    pub(super) fn value(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        self.values[start..self.ends[at]].trim_ascii()
    }
}

/// The facts at the end of the file: its columns, and the places of their pages.
fn facts(file: &File) -> Result<Arc<ParquetMetaData>, ParquetError> {
    let copy = file.try_clone()?;
    guarded(|| Ok(Arc::new(SerializedFileReader::new(copy)?.metadata().clone())))
}

/// The result of code of the library, which panics on some damaged files.
fn guarded<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    // The file is not read on after an error.
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(ParquetError::General("a part is damaged".to_owned())))
}

fn copied(mut input: Box<dyn BufRead + Send>) -> io::Result<File> {
    let mut file = BufWriter::new(tempfile::tempfile()?);
    io::copy(&mut input, &mut file)?;
    file.into_inner().map_err(io::IntoInnerError::into_error)
}

fn damaged(error: &ParquetError) -> LogProblem {
    let text = match error {
        ParquetError::NYI(text) | ParquetError::General(text) | ParquetError::EOF(text) => {
            text.clone()
        }
        other => other.to_string(),
    };
    let text = text.lines().collect::<Vec<_>>().join(" ");
    LogProblem::Whole(format!(
        "no Parquet that can be read: {text}; write its pages plain, or packed with snappy, gzip, zstd or lz4"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_have_the_form_of_their_column() {
        let text = |form: Form, value: i64| {
            let mut out = Vec::new();
            form.push(value, &mut out);
            String::from_utf8(out).expect("a text")
        };
        let timestamp = |parts, is_utc| Form::Timestamp { parts, is_utc };
        assert_eq!(text(timestamp(1_000, true), 1_706_694_840_250), "2024-01-31T09:54:00.25Z");
        assert_eq!(text(timestamp(1_000_000, false), 1_706_694_840_000_000), "2024-01-31T09:54:00");
        assert_eq!(text(timestamp(1_000_000_000, true), -1), "1969-12-31T23:59:59.999999999Z");
        assert_eq!(text(timestamp(1_000, true), i64::MAX), i64::MAX.to_string());
        assert_eq!(text(Form::Date, 19_753), "2024-01-31");
        assert_eq!(text(Form::Date, i64::MIN), i64::MIN.to_string());
        assert_eq!(text(Form::Unsigned, -1), u64::MAX.to_string());
        assert_eq!(text(Form::Decimal { scale: 2 }, -5), "-0.05");
        assert_eq!(text(Form::Decimal { scale: 0 }, 12), "12");
        let decimal = |bytes: &[u8]| {
            let mut out = Vec::new();
            push_bytes(bytes, Form::Decimal { scale: 1 }, &mut out);
            String::from_utf8(out).expect("a text")
        };
        assert_eq!([decimal(&[1, 0]), decimal(&[0xff, 0xfe])], ["25.6", "-0.2"]);
    }
}
