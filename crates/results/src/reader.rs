//! Reads a run's folder, in Parquet or CSV, always by column name.
//!
//! [`RunReader::jobs`] and similar functions give all rows as structs. [`JobRow::some`] and similar
//! functions give selected rows ([`Rows`]). [`RunReader::columns`] gives single columns.

mod batch;
mod csv;
mod digest;
mod parquet;
mod pick;
mod rows;

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::columns::{Kind, Table};
use crate::pack::{self, Pack, PackedRun};
use crate::provenance::FORMAT;
use crate::{About, Provenance, ResultsError, Summary, Timing, read_text};

pub use crate::tables::{
    AttemptRow, BookingRow, CheckpointRow, CrashRow, DisclosureRow, DisplacementRow, FailureRow,
    HoldRow, InputRow, IntervalRow, JobRow, JobTimes, MaintenanceRow, MessageCountRow,
    MessageFaultRow, MessageRow, MoveRow, NodeRow, OfferRow, OutageRow, PlacementRow,
    PlacementTimes, ReservationRow, ResourceRow, SlotTimes, TaskRow, TransactionRow, TransferRow,
    WorkflowRow,
};
pub(crate) use parquet::read as read_parquet;
pub use pick::Rows;
pub(crate) use rows::{Place, Row};

use batch::Batch;

/// A run's folder, or a run in a pack.
#[derive(Clone, Debug)]
pub struct RunReader {
    folder: PathBuf,
    packed: Option<Packed>,
    /// The formats of tables in a folder that are read, the preferred one first.
    formats: &'static [TableFormat],
}

/// A format of the tables in a run's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TableFormat {
    Parquet,
    Csv,
}

/// Both formats: Parquet is preferred where a table is there in both.
const FORMATS: &[TableFormat] = &[TableFormat::Parquet, TableFormat::Csv];

impl TableFormat {
    /// The name of a table's file.
    fn file(self, table: Table) -> String {
        let ending = match self {
            TableFormat::Parquet => "parquet",
            TableFormat::Csv => "csv",
        };
        format!("{}.{ending}", table.name())
    }
}

/// A run in a pack.
#[derive(Clone, Debug)]
struct Packed {
    pack: Arc<Pack>,
    at: usize,
}

impl Packed {
    fn run(&self) -> &PackedRun {
        &self.pack.runs()[self.at]
    }

    /// Error in the part of this run in a file of the pack.
    fn damaged(&self, file: &str, reason: String) -> ResultsError {
        self.of_this_run(self.pack.folder().join(file), reason)
    }

    fn of_this_run(&self, path: PathBuf, reason: String) -> ResultsError {
        let run = self.run();
        let (number, folder) = (run.run, run.folder());
        ResultsError::damaged(&path, format!("run {number} (`{folder}`): {reason}"))
    }
}

/// A column's values.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnData {
    /// Floats and seconds.
    Real(Vec<Option<f64>>),
    /// Integers.
    Integer(Vec<Option<i64>>),
    /// Texts. Many rows share a few texts, which are therefore in a list.
    Text(TextColumn),
}

/// Texts, each kept once per block of rows that were read together.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TextColumn {
    /// For each row, the place of its text in `texts`; `None` = missing.
    pub codes: Vec<Option<u32>>,
    /// The texts.
    pub texts: Vec<String>,
}

impl TextColumn {
    /// The text of a row.
    pub fn at(&self, row: usize) -> Option<&str> {
        let code = (*self.codes.get(row)?)?;
        self.texts.get(code as usize).map(String::as_str)
    }
}

/// Some columns of a table.
#[derive(Clone, Debug, Default)]
pub struct TableData {
    path: PathBuf,
    /// Number of rows that were read before these.
    first: usize,
    rows: usize,
    columns: Vec<(&'static str, ColumnData)>,
}

/// Value of a column in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CellValue<'a> {
    /// No value.
    Missing,
    /// A float, or seconds.
    Real(f64),
    /// An integer.
    Integer(i64),
    /// A text.
    Text(&'a str),
}

/// A number that no run has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impossible {
    /// Name of its column.
    pub column: &'static str,
    /// Number of its row among those that were read, from 1.
    pub row: usize,
    /// The number in digits.
    pub value: String,
}

/// Consumer of rows that have been read.
type Take<'t> = dyn FnMut(&mut Batch) -> Result<(), ResultsError> + 't;

/// Number of rows that are in memory at a time.
#[derive(Clone, Copy)]
enum Keep {
    All,
    Batch,
}

impl RunReader {
    /// Opens a run's folder. If the folder does not exist, opens the run of this folder in a pack of
    /// its sweep.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn open(folder: &Path) -> Result<RunReader, ResultsError> {
        match fs::read_dir(folder) {
            Ok(_) => Ok(RunReader { folder: folder.to_owned(), packed: None, formats: FORMATS }),
            Err(error) => match in_pack(folder)? {
                Some((pack, at)) => Ok(RunReader::packed(folder.to_owned(), pack, at)),
                None => Err(ResultsError::read(folder, error)),
            },
        }
    }

    /// A run of a pack; `folder` is the folder that it would have.
    pub(crate) fn packed(folder: PathBuf, pack: Arc<Pack>, at: usize) -> RunReader {
        RunReader { folder, packed: Some(Packed { pack, at }), formats: FORMATS }
    }

    /// True if it is in a pack and has no folder of its own.
    pub fn is_packed(&self) -> bool {
        self.packed.is_some()
    }

    /// The folder, or the folder that a packed run would have.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// True if the run has this table.
    pub fn has(&self, table: Table) -> bool {
        self.file(table).is_ok()
    }

    /// Some columns of a table, by name, with the types of [`crate::columns`].
    ///
    /// # Errors
    /// If the table or a column is missing or damaged.
    pub fn columns(&self, table: Table, names: &[&str]) -> Result<TableData, ResultsError> {
        self.columns_of(table, names, &Rows::all())
    }

    /// Some columns of some rows of a table.
    ///
    /// # Errors
    /// If the table or a column is missing or damaged.
    pub fn columns_of(
        &self,
        table: Table,
        names: &[&str],
        rows: &Rows,
    ) -> Result<TableData, ResultsError> {
        let mut all = TableData::default();
        self.each_batch(table, names, rows, Keep::All, &mut |data| {
            all = data;
            Ok(())
        })?;
        Ok(all)
    }

    /// Gives some columns of some rows to `take`, in batches of some thousand rows.
    ///
    /// # Errors
    /// If the table or a column is missing or damaged, or `take` fails.
    pub fn in_batches(
        &self,
        table: Table,
        names: &[&str],
        rows: &Rows,
        mut take: impl FnMut(TableData) -> Result<(), ResultsError>,
    ) -> Result<(), ResultsError> {
        self.each_batch(table, names, rows, Keep::Batch, &mut take)
    }

    /// Gives some columns of some rows to `take`: all rows at once, or in batches of some thousand
    /// rows, so that the whole table is never in memory.
    fn each_batch(
        &self,
        table: Table,
        names: &[&str],
        rows: &Rows,
        keep: Keep,
        take: &mut dyn FnMut(TableData) -> Result<(), ResultsError>,
    ) -> Result<(), ResultsError> {
        let read = self.each_batch_of_this_format(table, names, rows, keep, take);
        read.map_err(|error| self.explained(error))
    }

    fn each_batch_of_this_format(
        &self,
        table: Table,
        names: &[&str],
        rows: &Rows,
        keep: Keep,
        take: &mut dyn FnMut(TableData) -> Result<(), ResultsError>,
    ) -> Result<(), ResultsError> {
        let (path, is_parquet) = self.file(table)?;
        let defined = |names: &[&str]| {
            let defined = |name: &&str| {
                let defined = table.columns().iter().find(|column| column.name == *name);
                defined.map(|column| (column.name, column.kind)).ok_or_else(|| {
                    ResultsError::MissingColumn { path: path.clone(), column: (*name).to_owned() }
                })
            };
            names.iter().map(defined).collect::<Result<Vec<(&'static str, Kind)>, _>>()
        };
        let (wanted, keys) = (defined(names)?, defined(&rows.columns())?);
        let part = self.packed.as_ref().and_then(|it| it.run().rows.get(table.name()).copied());
        let mut first = 0;
        let mut give = |batch: &mut Batch| {
            let count = batch.rows();
            let names = wanted.iter().map(|(name, _)| *name);
            let columns = names.zip(batch.take()).collect();
            let data = TableData { path: path.clone(), first, rows: count, columns };
            first += count;
            take(data)
        };
        let mut batch = Batch::new(wanted.iter().map(|it| it.1));
        let mut each: &mut Take<'_> = match keep {
            // All rows stay in the batch up to the end.
            Keep::All => &mut |_| Ok(()),
            Keep::Batch => &mut give,
        };
        match is_parquet {
            true => parquet::each(&path, &wanted, part, (rows, &keys), &mut batch, &mut each)?,
            false => csv::each(&path, &wanted, (rows, &keys), &mut batch, &mut each)?,
        }
        match keep {
            // Given even without rows, because the caller needs the columns.
            Keep::All => give(&mut batch),
            Keep::Batch if batch.rows() > 0 => give(&mut batch),
            Keep::Batch => Ok(()),
        }
    }

    /// `summary.json`.
    ///
    /// # Errors
    /// If it is missing or damaged.
    pub fn summary(&self) -> Result<Summary, ResultsError> {
        // Another format of the tables is the cause why the summary cannot be read, so it is named instead.
        self.json("summary.json").map_err(|error| match self.provenance() {
            Err(other @ ResultsError::OtherFormat { .. }) => other,
            _ => error,
        })
    }

    /// `summary.json` as a JSON value, for access to its values by name.
    ///
    /// # Errors
    /// If it is missing or damaged.
    pub fn summary_value(&self) -> Result<serde_json::Value, ResultsError> {
        self.json("summary.json")
    }

    /// `provenance.json`.
    ///
    /// # Errors
    /// If it is missing or damaged, or says that the tables are of another format.
    pub fn provenance(&self) -> Result<Provenance, ResultsError> {
        let found = self.provenance_of_any_format()?;
        if found.format != FORMAT {
            let Provenance { version, build, .. } = found;
            return Err(ResultsError::OtherFormat { folder: self.folder.clone(), version, build });
        }
        Ok(found)
    }

    /// `provenance.json` for any format of the tables. The content of `about` and the meaning of
    /// digests may differ.
    ///
    /// # Errors
    /// If it is missing or damaged.
    pub fn provenance_of_any_format(&self) -> Result<Provenance, ResultsError> {
        self.json("provenance.json")
    }

    /// Facts about the run that its tables do not have.
    ///
    /// # Errors
    /// If `provenance.json` is missing or damaged, or the tables are of another format.
    pub fn about(&self) -> Result<About, ResultsError> {
        self.provenance().map(|it| it.about)
    }

    /// `timing.json`.
    ///
    /// # Errors
    /// If it is missing or damaged.
    pub fn timing(&self) -> Result<Timing, ResultsError> {
        self.json("timing.json")
    }

    /// `scenario.toml`, with which the run can be repeated. Nothing else needs it, so it may be missing.
    ///
    /// # Errors
    /// If it is there and cannot be read.
    pub fn scenario(&self) -> Result<Option<String>, ResultsError> {
        match self.text("scenario.toml") {
            Ok(text) => Ok(Some(text.into_owned())),
            Err(_) if !self.folder.join("scenario.toml").exists() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces an error by [`ResultsError::OtherFormat`] if the run has another format, which is the
    /// cause then.
    fn explained(&self, error: ResultsError) -> ResultsError {
        match (self.provenance(), error, &self.packed) {
            (Err(other @ ResultsError::OtherFormat { .. }), ..) => other,
            // A file of a pack has many runs.
            (_, ResultsError::Damaged { path, reason }, Some(packed)) => {
                packed.of_this_run(path, reason)
            }
            (_, error, _) => error,
        }
    }

    fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T, ResultsError> {
        let path = self.folder.join(name);
        let text = self.text(name)?;
        serde_json::from_str(&text).map_err(|error| match &self.packed {
            Some(packed) => packed.damaged(pack::RUNS, format!("`{name}`: {error}")),
            None => ResultsError::damaged(&path, error),
        })
    }

    fn text(&self, name: &str) -> Result<Cow<'_, str>, ResultsError> {
        if let Some(packed) = &self.packed {
            let run = packed.run();
            return Ok(Cow::Borrowed(match name {
                "summary.json" => &run.summary,
                "provenance.json" => &run.provenance,
                "timing.json" => &run.timing,
                // The only other file of a packed run is `scenario.toml`.
                _ => &run.toml,
            }));
        }
        let path = self.folder.join(name);
        let text = read_text(&path)?;
        Ok(Cow::Owned(text))
    }

    /// A table's file, and true if it is Parquet. Parquet is preferred if both files exist.
    fn file(&self, table: Table) -> Result<(PathBuf, bool), ResultsError> {
        if let Some(packed) = &self.packed {
            if packed.run().rows.contains_key(table.name()) {
                return Ok((packed.pack.folder().join(format!("{}.parquet", table.name())), true));
            }
            return Err(ResultsError::MissingTable {
                folder: self.folder.clone(),
                table: table.name(),
            });
        }
        for format in self.formats {
            let path = self.folder.join(format.file(table));
            if path.exists() {
                return Ok((path, *format == TableFormat::Parquet));
            }
        }
        Err(ResultsError::MissingTable { folder: self.folder.clone(), table: table.name() })
    }
}

/// The pack with the run of this folder: `SWEEP/AXIS=…/…/seed=…`.
fn in_pack(folder: &Path) -> Result<Option<(Arc<Pack>, usize)>, ResultsError> {
    let is_partition =
        |path: &Path| path.file_name().is_some_and(|it| it.to_string_lossy().contains('='));
    // The name of the sweep's folder may contain `=` as well, so every parent is tried.
    let mut sweep = folder;
    while let (true, Some(above)) = (is_partition(sweep), sweep.parent()) {
        sweep = above;
        let name = folder.strip_prefix(sweep).unwrap_or(folder).to_string_lossy();
        // The parent of a relative path with one part is empty, which stands for the current folder.
        let place = if sweep.as_os_str().is_empty() { Path::new(".") } else { sweep };
        for path in Pack::all_in(place)?.into_values() {
            let pack = Pack::open(&path)?;
            if let Some(at) = pack.runs().iter().position(|run| run.folder() == name) {
                return Ok(Some((Arc::new(pack), at)));
            }
        }
    }
    Ok(None)
}

impl ColumnData {
    fn new(kind: Kind) -> ColumnData {
        match kind {
            Kind::Seconds | Kind::Real => ColumnData::Real(Vec::new()),
            Kind::Integer => ColumnData::Integer(Vec::new()),
            Kind::Word | Kind::Text => ColumnData::Text(TextColumn::default()),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            ColumnData::Real(values) => values.len(),
            ColumnData::Integer(values) => values.len(),
            ColumnData::Text(values) => values.codes.len(),
        }
    }

    fn is_missing(&self, row: usize) -> bool {
        match self {
            ColumnData::Real(values) => values.get(row).is_none_or(Option::is_none),
            ColumnData::Integer(values) => values.get(row).is_none_or(Option::is_none),
            ColumnData::Text(texts) => texts.at(row).is_none(),
        }
    }

    /// A number as a float.
    fn number(&self, row: usize) -> Option<f64> {
        match self {
            ColumnData::Real(values) => values.get(row).copied().flatten(),
            ColumnData::Integer(values) => values.get(row).copied().flatten().map(|it| it as f64),
            ColumnData::Text(_) => None,
        }
    }

    /// A number in digits, few for a large float.
    fn in_digits(&self, row: usize) -> String {
        match self {
            ColumnData::Integer(values) => {
                values.get(row).copied().flatten().map_or_else(String::new, |it| it.to_string())
            }
            _ => self.number(row).map_or_else(String::new, |it| format!("{it:?}")),
        }
    }

    fn type_name(&self) -> &'static str {
        match self {
            ColumnData::Real(_) => "float",
            ColumnData::Integer(_) => "integer",
            ColumnData::Text(_) => "text",
        }
    }
}

impl TableData {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Value of a column in a row; missing if the column was not requested.
    pub fn cell(&self, row: usize, name: &str) -> CellValue<'_> {
        let Ok(column) = self.column(name) else { return CellValue::Missing };
        let value = match column {
            ColumnData::Real(values) => values.get(row).copied().flatten().map(CellValue::Real),
            ColumnData::Integer(values) => {
                values.get(row).copied().flatten().map(CellValue::Integer)
            }
            ColumnData::Text(texts) => texts.at(row).map(CellValue::Text),
        };
        value.unwrap_or(CellValue::Missing)
    }

    /// Numbers of these columns that no run has ([`Column::range`](crate::columns::Column::range)), by column.
    pub fn impossible(&self, table: Table) -> impl Iterator<Item = Impossible> {
        let read = table.columns().iter().filter_map(|it| Some((it, self.column(it.name).ok()?)));
        read.flat_map(move |(column, values)| {
            let is_odd = |row: &usize| values.number(*row).is_some_and(|it| !column.range.has(it));
            let odd = (0..self.rows).filter(is_odd);
            odd.map(move |row| Impossible {
                column: column.name,
                row: self.first + row + 1,
                value: values.in_digits(row),
            })
        })
    }

    /// Rows in which an interval of these columns ends before it begins. Each has the columns of the beginning and the
    /// end, and the number of the row among those that were read, from 1.
    pub fn reversed(
        &self,
        table: Table,
    ) -> impl Iterator<Item = (&'static [&'static str; 2], usize)> {
        table.intervals().iter().flat_map(move |ends| {
            let read = ends.map(|name| self.column(name).ok());
            let is_reversed = move |row: &usize| {
                let [begin, end] = read.map(|it| it?.number(*row));
                begin.zip(end).is_some_and(|(begin, end)| end < begin)
            };
            (0..self.rows).filter(is_reversed).map(move |row| (ends, self.first + row + 1))
        })
    }

    /// Refuses numbers that no run has, and intervals that end before they begin.
    ///
    /// # Errors
    /// If there is one. It names the file, the row and the column.
    pub fn refuse_impossible(&self, table: Table) -> Result<(), ResultsError> {
        let damaged = |reason: String| Err(ResultsError::damaged(&self.path, reason));
        if let Some(Impossible { column, row, value }) = self.impossible(table).next() {
            return damaged(format!("row {row}, column `{column}`: no run has the number {value}"));
        }
        match self.reversed(table).next() {
            Some(([begin, end], row)) => {
                damaged(format!("row {row}, column `{end}`: it is before `{begin}`"))
            }
            None => Ok(()),
        }
    }

    /// A column of any type.
    ///
    /// # Errors
    /// If it was not requested.
    pub fn data(&self, name: &str) -> Result<&ColumnData, ResultsError> {
        self.column(name)
    }

    /// A column of floats or seconds.
    ///
    /// # Errors
    /// If it was not requested or has another type.
    pub fn real(&self, name: &str) -> Result<&[Option<f64>], ResultsError> {
        match self.column(name)? {
            ColumnData::Real(values) => Ok(values),
            other => Err(self.wrong_type(name, "float", other)),
        }
    }

    /// A column of integers.
    ///
    /// # Errors
    /// If it was not requested or has another type.
    pub fn integer(&self, name: &str) -> Result<&[Option<i64>], ResultsError> {
        match self.column(name)? {
            ColumnData::Integer(values) => Ok(values),
            other => Err(self.wrong_type(name, "integer", other)),
        }
    }

    /// A column of texts.
    ///
    /// # Errors
    /// If it was not requested or has another type.
    pub fn text(&self, name: &str) -> Result<&TextColumn, ResultsError> {
        match self.column(name)? {
            ColumnData::Text(values) => Ok(values),
            other => Err(self.wrong_type(name, "text", other)),
        }
    }

    fn column(&self, name: &str) -> Result<&ColumnData, ResultsError> {
        let found = self.columns.iter().find(|(known, _)| *known == name);
        found.map(|(_, data)| data).ok_or_else(|| ResultsError::MissingColumn {
            path: self.path.clone(),
            column: name.to_owned(),
        })
    }

    fn wrong_type(&self, name: &str, expected: &'static str, found: &ColumnData) -> ResultsError {
        ResultsError::WrongType {
            path: self.path.clone(),
            column: name.to_owned(),
            expected,
            found: found.type_name().to_owned(),
        }
    }
}
