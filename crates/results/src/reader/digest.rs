//! Recomputes the digest of a run's tables, to check that they are unchanged.

use std::collections::BTreeMap;
use std::fs;

use super::{ColumnData, FORMATS, RunReader, TextColumn};
use crate::buffer::{NO_INTEGER, NO_WORD, Values};
use crate::columns::{Column, Kind, Table};
use crate::digest::{RunDigest, column_digest, digest_of, read_back};
use crate::words::WordList;
use crate::writer::ROWS_PER_BATCH;
use crate::{Provenance, ResultsError};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Columns that are read at once. A large table does not fit into memory as a whole.
const AT_ONCE: usize = 8;

impl RunReader {
    /// The digest of all tables of the run.
    ///
    /// # Errors
    /// If a table is damaged.
    pub fn digest(&self) -> Result<RunDigest, ResultsError> {
        let tables = Table::ALL.into_iter().filter(|&table| self.has(table));
        let digests: Result<Vec<_>, _> = tables.map(|table| self.table_digest(table)).collect();
        Ok(RunDigest::new(&digests?))
    }

    /// Files of tables that were changed, cut, removed or added since the run wrote them. Of a run in a pack, the
    /// names of such tables.
    ///
    /// # Errors
    /// If `provenance.json` or a table cannot be read.
    pub fn changed_files(&self) -> Result<Vec<String>, ResultsError> {
        let provenance = self.provenance()?;
        // The runs of a pack share its files.
        if self.is_packed() {
            let now = self.digest()?.tables;
            let written = provenance.digest.tables.into_iter();
            let changed = written.filter(|(table, digest)| now.get(table) != Some(digest));
            return Ok(changed.map(|(table, _)| table).collect());
        }
        let mut changed = Vec::new();
        for table in Table::ALL {
            for format in FORMATS {
                let name = format.file(table);
                // With both formats, the reader would never look at the second file.
                let only = RunReader { formats: std::slice::from_ref(format), ..self.clone() };
                if only.has_changed(table, &name, &provenance)? {
                    changed.push(name);
                }
            }
        }
        Ok(changed)
    }

    /// True if a file is missing, was added, or differs from the written one. The reader must
    /// read only the format of that file.
    fn has_changed(
        &self,
        table: Table,
        name: &str,
        written: &Provenance,
    ) -> Result<bool, ResultsError> {
        let bytes = match (written.tables.get(name), self.has(table)) {
            (Some(bytes), true) => *bytes,
            (written, is_there) => return Ok(written.is_some() || is_there),
        };
        // A file of another size has changed, so it need not be read.
        let file = fs::metadata(self.folder().join(name));
        if file.is_ok_and(|file| file.is_file() && file.len() != bytes) {
            return Ok(true);
        }
        let now = RunDigest::new(&[self.table_digest(table)?]).tables;
        Ok(now.get(table.name()) != written.digest.tables.get(table.name()))
    }

    /// A digest of the rows of a table that does not depend on their order, with their number.
    ///
    /// # Errors
    /// If the table is damaged.
    pub fn rows_in_any_order(&self, table: Table) -> Result<(usize, u64), ResultsError> {
        let mut rows: Vec<u64> = Vec::new();
        for columns in table.columns().chunks(AT_ONCE) {
            let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
            let data = self.columns(table, &names)?;
            rows.resize(data.rows(), 0);
            for (_, data) in data.columns {
                add_to_rows(&mut rows, &data);
            }
        }
        // A sum does not depend on the order of rows. It may wrap, as hashes do.
        Ok((rows.len(), rows.iter().fold(0, |all, row| all.wrapping_add(*row))))
    }

    fn table_digest(&self, table: Table) -> Result<(Table, u64, u128), ResultsError> {
        let mut digests = Vec::with_capacity(table.columns().len());
        let mut rows = 0;
        for columns in table.columns().chunks(AT_ONCE) {
            let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
            let data = self.columns(table, &names)?;
            rows = data.rows() as u64;
            for (column, (_, data)) in columns.iter().zip(data.columns) {
                digests.push(digest_of_column(column, data));
            }
        }
        Ok((table, rows, digest_of(table, digests.into_iter())))
    }
}

/// Adds the value that each row has in a column to the hash of the row.
fn add_to_rows(rows: &mut [u64], column: &ColumnData) {
    let bytes = |row: usize| match column {
        ColumnData::Real(values) => values[row].map(|value| value.to_bits().to_le_bytes().to_vec()),
        ColumnData::Integer(values) => values[row].map(|value| value.to_le_bytes().to_vec()),
        ColumnData::Text(texts) => {
            texts.codes[row].map(|code| texts.texts[code as usize].as_bytes().to_vec())
        }
    };
    for (row, hash) in rows.iter_mut().enumerate() {
        let value = bytes(row);
        // Otherwise a missing value and an empty text would be the same.
        let is_there = u64::from(value.is_some());
        *hash =
            xxh3_64_with_seed(value.as_deref().unwrap_or_default(), hash.wrapping_add(is_there));
    }
}

/// The digest of a column, with its values as before they were written.
fn digest_of_column(column: &Column, data: ColumnData) -> Option<u128> {
    let values = match data {
        ColumnData::Real(values) if column.kind == Kind::Seconds => {
            let values = values.into_iter().map(|value| value.map_or(NO_INTEGER, read_back));
            Values::Seconds(values.collect())
        }
        ColumnData::Real(values) => {
            Values::Real(values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect())
        }
        ColumnData::Integer(values) => {
            Values::Integer(values.into_iter().map(|value| value.unwrap_or(NO_INTEGER)).collect())
        }
        ColumnData::Text(texts) if column.kind == Kind::Word => words(&texts),
        ColumnData::Text(texts) => {
            return column_digest(
                column,
                // In batches, because a batch has `i32` ends of texts and a whole column may be longer.
                texts.codes.chunks(ROWS_PER_BATCH).map(|rows| {
                    let (mut bytes, mut ends) = (Vec::new(), vec![0]);
                    for text in rows
                        .iter()
                        .map(|&row| row.map_or("", |it| texts.texts[it as usize].as_str()))
                    {
                        bytes.extend_from_slice(text.as_bytes());
                        ends.push(i32::try_from(bytes.len()).unwrap_or(i32::MAX));
                    }
                    Values::Text { bytes, ends }
                }),
            );
        }
    };
    column_digest(column, std::iter::once(values))
}

/// Words with one code each. A column may have a word once per block of its rows.
fn words(texts: &TextColumn) -> Values {
    // Equal words of two blocks get the same code.
    let (mut words, mut places) = (WordList::default(), BTreeMap::new());
    let mut code =
        |text: &String| *places.entry(text.clone()).or_insert_with(|| words.push(text.clone()));
    let codes: Vec<u32> = texts.texts.iter().map(&mut code).collect();
    let coded =
        texts.codes.iter().map(|place| place.map_or(NO_WORD, |place| codes[place as usize]));
    Values::Word { codes: coded.collect(), words }
}
