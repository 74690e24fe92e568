//! The tables of a run. Each is opened once, and its rows are added one by one.

use std::path::{Path, PathBuf};

use haggle_model::Cast;

use super::{Format, ROWS_PER_BATCH};
use crate::ResultsError;
use crate::buffer::Buffer;
use crate::columns::Table;
use crate::csv_file::CsvFile;
use crate::digest::{RunDigest, TableDigest};
use crate::parquet_file::ParquetFile;
use crate::tables::Cells;
use crate::words::Known;

/// All tables that have been opened.
pub(super) struct Files {
    folder: PathBuf,
    format: Format,
    known: Known,
    /// In the order of [`Table::ALL`].
    files: Vec<Option<TableFile>>,
}

impl Files {
    pub(super) fn new(folder: PathBuf, format: Format, cast: &Cast) -> Files {
        Files { folder, format, known: Known::of(cast), files: Table::ALL.map(|_| None).into() }
    }

    /// Returns a table, and opens it at the first use.
    #[inline]
    pub(super) fn open(&mut self, table: Table) -> Result<&mut TableFile, ResultsError> {
        let place = table as usize;
        if self.files[place].is_none() {
            self.create(table)?;
        }
        Ok(self.files[place].as_mut().expect("it has just been seen to"))
    }

    #[cold]
    fn create(&mut self, table: Table) -> Result<(), ResultsError> {
        let file = TableFile::create(&self.folder, table, &self.known, self.format)?;
        self.files[table as usize] = Some(file);
        Ok(())
    }

    /// Adds a row to its table.
    #[inline]
    pub(super) fn put<C: Cells>(&mut self, row: C) -> Result<(), ResultsError> {
        let file = self.open(C::TABLE)?;
        row.give(&mut file.buffer);
        file.flush_if_full()
    }

    /// Adds rows that were produced together. Without any row, the table is not opened.
    pub(super) fn put_all<C: Cells>(
        &mut self,
        rows: impl IntoIterator<Item = C>,
    ) -> Result<(), ResultsError> {
        let mut rows = rows.into_iter().peekable();
        if rows.peek().is_none() {
            return Ok(());
        }
        let file = self.open(C::TABLE)?;
        rows.for_each(|row| row.give(&mut file.buffer));
        file.flush_if_full()
    }

    /// Writes the remaining rows and closes all tables.
    pub(super) fn close(self) -> Result<RunDigest, ResultsError> {
        let files = self.files.into_iter().flatten();
        let digests = files.map(TableFile::close).collect::<Result<Vec<_>, _>>()?;
        Ok(RunDigest::new(&digests))
    }
}

/// One table with its files.
pub(super) struct TableFile {
    pub(super) buffer: Buffer,
    rows: u64,
    digest: TableDigest,
    parquet: Option<ParquetFile>,
    csv: Option<CsvFile>,
}

impl TableFile {
    fn create(
        folder: &Path,
        table: Table,
        known: &Known,
        format: Format,
    ) -> Result<TableFile, ResultsError> {
        let parquet = match format {
            Format::Parquet | Format::Both => Some(ParquetFile::create(folder, table)?),
            Format::Csv | Format::Neither => None,
        };
        let csv = match format {
            Format::Csv | Format::Both => Some(CsvFile::create(folder, table)?),
            Format::Parquet | Format::Neither => None,
        };
        Ok(TableFile {
            buffer: Buffer::new(table, known),
            rows: 0,
            digest: TableDigest::new(table),
            parquet,
            csv,
        })
    }

    #[inline]
    pub(super) fn flush_if_full(&mut self) -> Result<(), ResultsError> {
        if self.buffer.rows < ROWS_PER_BATCH {
            return Ok(());
        }
        self.flush()
    }

    pub(super) fn flush(&mut self) -> Result<(), ResultsError> {
        if self.buffer.rows == 0 {
            return Ok(());
        }
        self.digest.update(&self.buffer);
        if let Some(parquet) = &mut self.parquet {
            parquet.write(&self.buffer)?;
        }
        if let Some(csv) = &mut self.csv {
            csv.write(&self.buffer)?;
        }
        self.rows += self.buffer.rows as u64;
        self.buffer.clear();
        Ok(())
    }

    fn close(mut self) -> Result<(Table, u64, u128), ResultsError> {
        self.flush()?;
        if let Some(parquet) = self.parquet {
            parquet.close()?;
        }
        let table = self.buffer.table;
        Ok((table, self.rows, self.digest.finish(&self.buffer)))
    }
}
