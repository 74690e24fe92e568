//! `runs.parquet`: the data of a pack's runs that are not in tables, a row a run.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use crate::ResultsError;
use crate::columns::Kind;
use crate::reader::{ColumnData, read_parquet};
use crate::sweep_folder::folder_of_run;

/// A run of a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PackedRun {
    /// Its number.
    pub(crate) run: usize,
    /// The folder of its variant, if the sweep has axes.
    pub(crate) scenario: String,
    /// Its seed.
    pub(crate) seed: u64,
    /// `summary.json`.
    pub(crate) summary: String,
    /// `provenance.json`.
    pub(crate) provenance: String,
    /// `timing.json`.
    pub(crate) timing: String,
    /// `scenario.toml`.
    pub(crate) toml: String,
    /// For each table, the first row of this run and the number of its rows.
    pub(crate) rows: BTreeMap<String, (usize, usize)>,
}

impl PackedRun {
    /// The folder that the run would have inside the sweep's.
    pub(crate) fn folder(&self) -> String {
        folder_of_run(&self.scenario, self.seed)
    }
}

/// Names and kinds of the columns.
const COLUMNS: [(&str, Kind); 7] = [
    ("run", Kind::Integer),
    ("scenario", Kind::Text),
    ("seed", Kind::Integer),
    ("summary", Kind::Text),
    ("provenance", Kind::Text),
    ("toml", Kind::Text),
    ("rows", Kind::Text),
];

/// The name of the file.
pub(crate) const FILE: &str = "runs.parquet";

pub(super) fn write(folder: &Path, runs: &[PackedRun]) -> Result<(), ResultsError> {
    let path = folder.join(FILE);
    let file = File::create(&path).map_err(|error| ResultsError::write(&path, error))?;
    put(file, runs).map_err(|error| ResultsError::write_parquet(&path, error))
}

fn put(file: File, runs: &[PackedRun]) -> Result<(), ParquetError> {
    let fields = COLUMNS.iter().map(|&(name, kind)| {
        let (physical, logical) = match kind {
            Kind::Integer => (Physical::INT64, None),
            _ => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let field = Type::primitive_type_builder(name, physical);
        field.with_logical_type(logical).with_repetition(Repetition::REQUIRED).build().map(Arc::new)
    });
    let schema = Type::group_type_builder("schema").with_fields(fields.collect::<Result<_, _>>()?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        // Hardly any text occurs twice, and a pack is always read as a whole.
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    let mut file =
        SerializedFileWriter::new(file, Arc::new(schema.build()?), Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    integers(&mut group, runs.iter().map(|run| run.run as i64))?;
    texts(&mut group, runs.iter().map(|run| run.scenario.as_str()))?;
    // The same 64 bits, which reading turns back into the seed.
    integers(&mut group, runs.iter().map(|run| run.seed as i64))?;
    texts(&mut group, runs.iter().map(|run| run.summary.as_str()))?;
    texts(&mut group, runs.iter().map(|run| run.provenance.as_str()))?;
    texts(&mut group, runs.iter().map(|run| run.toml.as_str()))?;
    let rows: Vec<String> = runs
        .iter()
        .map(|run| serde_json::to_string(&run.rows).expect("texts and numbers"))
        .collect();
    texts(&mut group, rows.iter().map(String::as_str))?;
    group.close()?;
    file.close().map(drop)
}

fn integers(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: impl Iterator<Item = i64>,
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.expect("the schema has it");
    column.typed::<Int64Type>().write_batch(&values.collect::<Vec<_>>(), None, None)?;
    column.close()
}

fn texts<'t>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: impl Iterator<Item = &'t str>,
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.expect("the schema has it");
    let values: Vec<ByteArray> = values.map(ByteArray::from).collect();
    column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
    column.close()
}

pub(super) fn read(folder: &Path) -> Result<Vec<PackedRun>, ResultsError> {
    let path = folder.join(FILE);
    let columns = read_parquet(&path, &COLUMNS, None)?;
    let damaged = |column: usize, row: usize| {
        let column = COLUMNS[column].0;
        ResultsError::damaged(&path, format!("`{column}` has no value in row {}", row + 1))
    };
    let integer = |column: usize, row: usize| match &columns[column] {
        ColumnData::Integer(values) => values.get(row).copied().flatten(),
        _ => None,
    };
    let integer = |column, row| integer(column, row).ok_or_else(|| damaged(column, row));
    // A text of no letters, such as the variant of a sweep without axes, is read as a missing one.
    let text = |column: usize, row: usize| match &columns[column] {
        ColumnData::Text(values) if row < values.codes.len() => {
            Ok(values.at(row).unwrap_or_default().to_owned())
        }
        _ => Err(damaged(column, row)),
    };
    let rows = columns.first().map_or(0, ColumnData::len);
    let run = |row: usize| {
        Ok(PackedRun {
            run: integer(0, row)? as usize,
            scenario: text(1, row)?,
            seed: integer(2, row)? as u64,
            summary: text(3, row)?,
            provenance: text(4, row)?,
            timing: String::new(),
            toml: text(5, row)?,
            rows: serde_json::from_str(&text(6, row)?)
                .map_err(|error| ResultsError::damaged(&path, error))?,
        })
    };
    let mut runs = (0..rows).map(run).collect::<Result<Vec<PackedRun>, ResultsError>>()?;
    read_timing(folder, &mut runs);
    Ok(runs)
}

/// Name of the only file that differs between equal packs.
const TIMING: &str = "timing.json";

pub(super) fn write_timing(folder: &Path, runs: &[PackedRun]) -> Result<(), ResultsError> {
    let lines: Vec<String> = runs
        .iter()
        .map(|run| format!("\"{}\": {}", run.run, run.timing.replace('\n', " ").trim()))
        .collect();
    let path = folder.join(TIMING);
    fs::write(&path, format!("{{\n{}\n}}\n", lines.join(",\n")))
        .map_err(|error| ResultsError::write(&path, error))
}

/// No result depends on it, so it may be missing.
fn read_timing(folder: &Path, runs: &mut [PackedRun]) {
    let text = fs::read_to_string(folder.join(TIMING)).unwrap_or_default();
    let known: BTreeMap<usize, serde_json::Value> = serde_json::from_str(&text).unwrap_or_default();
    for run in runs {
        run.timing = known.get(&run.run).map(ToString::to_string).unwrap_or_default();
    }
}
