//! Digest of a run's tables, by which runs are compared.
//!
//! The digest is taken over the values, not over the files. It does not depend on the format, the
//! compression, the size of row groups or the version of the Parquet library. A column's digest is
//! XXH3-128 over its values in row order, in a fixed binary form:
//! - integers and times (in microseconds, as they are read back): 8 bytes little-endian, missing = the
//!   smallest integer;
//! - floats: the 8 bytes of IEEE 754, missing = the one quiet NaN with no payload;
//! - words: 4 bytes, the word's place in the order of first appearance in the column,
//!   then these words at the end;
//! - texts: length in 4 bytes, then the bytes.
//!
//! A table's digest is XXH3-128 over (column name, column digest)…, without empty columns that are
//! marked `if_used` in `tables/`. The run's digest is SHA-256 over (table name, rows, table digest)….
//! XXH3 does not protect against forgery. It detects accidental changes, at a few hundredths of the
//! time for writing.

use std::collections::BTreeMap;
use std::fmt::Write;

use haggle_model::time::MICROS_PER_SECOND;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use xxhash_rust::xxh3::Xxh3;

use crate::buffer::{Buffer, NO_INTEGER, NO_WORD, Values};
use crate::columns::{Column, Table};

/// The digests of a run's tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunDigest {
    /// SHA-256 over all tables, 64 hexadecimal digits.
    pub overall: String,
    /// XXH3-128 of each table that was written, 32 hexadecimal digits, by table name.
    pub tables: BTreeMap<String, String>,
}

impl RunDigest {
    pub(crate) fn new(tables: &[(Table, u64, u128)]) -> RunDigest {
        let mut overall = Sha256::new();
        let mut by_name = BTreeMap::new();
        for &(table, rows, digest) in tables {
            // A zero byte ends each name; otherwise different lists could have the same bytes.
            overall.update(table.name().as_bytes());
            overall.update([0]);
            overall.update(rows.to_le_bytes());
            overall.update(digest.to_le_bytes());
            by_name.insert(table.name().to_owned(), format!("{digest:032x}"));
        }
        RunDigest { overall: hex(&overall.finalize()), tables: by_name }
    }
}

/// SHA-256 of some bytes, 64 hexadecimal digits: for scenario files and inputs.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}"); // writing to a String cannot fail
    }
    text
}

/// The digest of one table under construction.
pub(crate) struct TableDigest {
    columns: Vec<ColumnDigest>,
}

/// The digest of one column under construction.
struct ColumnDigest {
    hash: Xxh3,
    words: Turns,
    /// True if the column counts always, or has a value.
    counts: bool,
}

impl ColumnDigest {
    fn new(column: &Column) -> ColumnDigest {
        ColumnDigest { hash: Xxh3::new(), words: Turns::default(), counts: !column.if_used }
    }

    fn update(&mut self, values: &Values) {
        self.counts = self.counts || values.has_any();
        let hash = &mut self.hash;
        match values {
            Values::Seconds(values) | Values::Integer(values) => {
                update_with(hash, values, |value| value.to_le());
            }
            Values::Real(values) => {
                update_with(hash, values, |value| f64::from_bits(value.to_bits().to_le()));
            }
            Values::Word { codes, words } => {
                update_with(hash, self.words.places(codes, words.len()), |place| place.to_le());
            }
            Values::Text { bytes, ends } => {
                for pair in ends.windows(2) {
                    hash.update(&(pair[1] - pair[0]).to_le_bytes());
                    hash.update(&bytes[pair[0] as usize..pair[1] as usize]);
                }
            }
        }
    }

    /// The digest of all values, if the column counts; `values` has all words.
    fn finish(mut self, values: &Values) -> Option<u128> {
        if let Values::Word { words, .. } = values {
            for &code in &self.words.codes {
                self.hash.update(words.get(code));
                self.hash.update(&[0]);
            }
        }
        self.counts.then(|| self.hash.digest128())
    }
}

/// The words of a column in the order of first appearance. Codes cannot be used: they depend on names
/// known to the writer before the run, which readers of the table do not have.
#[derive(Default)]
struct Turns {
    /// For each code, its place among them.
    places: Vec<u32>,
    /// For each place, its code.
    codes: Vec<u32>,
    /// The places of the rows of one batch.
    batch: Vec<u32>,
}

impl Turns {
    /// The place of each of these codes; `words` is the number of all words.
    fn places(&mut self, codes: &[u32], words: usize) -> &[u32] {
        self.places.resize(words.max(self.places.len()), NO_WORD);
        self.batch.clear();
        for &code in codes {
            let place = match self.places.get_mut(code as usize) {
                Some(place) => {
                    if *place == NO_WORD {
                        *place = self.codes.len() as u32;
                        self.codes.push(code);
                    }
                    *place
                }
                // The code of a missing value.
                None => NO_WORD,
            };
            self.batch.push(place);
        }
        &self.batch
    }
}

impl TableDigest {
    pub(crate) fn new(table: Table) -> TableDigest {
        TableDigest { columns: table.columns().iter().map(ColumnDigest::new).collect() }
    }

    /// Adds the rows of a buffer that is about to be written.
    pub(crate) fn update(&mut self, buffer: &Buffer) {
        for (digest, values) in self.columns.iter_mut().zip(&buffer.columns) {
            match values {
                // Copied only if a reader gets other values.
                Values::Seconds(micros) if micros.iter().any(|&it| as_read(it) != it) => {
                    let micros = micros.iter().map(|&it| as_read(it)).collect();
                    digest.update(&Values::Seconds(micros));
                }
                _ => digest.update(values),
            }
        }
    }

    /// The digest of all rows.
    pub(crate) fn finish(self, buffer: &Buffer) -> u128 {
        let columns = self.columns.into_iter().zip(&buffer.columns);
        digest_of(buffer.table, columns.map(|(digest, values)| digest.finish(values)))
    }
}

/// The digest of a column that is read in parts. Each part has some rows, and the last part has all words.
pub(crate) fn column_digest(column: &Column, values: impl Iterator<Item = Values>) -> Option<u128> {
    let mut digest = ColumnDigest::new(column);
    let mut last = Values::Integer(Vec::new());
    for values in values {
        digest.update(&values);
        last = values;
    }
    digest.finish(&last)
}

/// The digest of a table from those of its columns that count.
pub(crate) fn digest_of(table: Table, columns: impl Iterator<Item = Option<u128>>) -> u128 {
    let mut hash = Xxh3::new();
    for (column, digest) in table.columns().iter().zip(columns) {
        let Some(digest) = digest else { continue };
        hash.update(column.name.as_bytes());
        hash.update(&[0]);
        hash.update(&digest.to_le_bytes());
    }
    hash.digest128()
}

/// A time in microseconds as a reader of the table gets it. Seconds are floats there, so the division
/// and the product that undoes it are rounded. Both together are exact for 71 years.
pub(crate) fn as_read(micros: i64) -> i64 {
    const EXACT: u64 = 1 << (f64::MANTISSA_DIGITS - 2);
    if micros == NO_INTEGER || micros.unsigned_abs() <= EXACT {
        return micros;
    }
    read_back(micros as f64 / MICROS_PER_SECOND as f64)
}

/// A time in microseconds, from the seconds in a table.
pub(crate) fn read_back(seconds: f64) -> i64 {
    (seconds * MICROS_PER_SECOND as f64).round() as i64
}

/// Hashes values as they lie in memory, which on most machines is little-endian already.
fn update_with<T: bytemuck::NoUninit>(hash: &mut Xxh3, values: &[T], swap: impl Fn(&T) -> T) {
    if cfg!(target_endian = "little") {
        hash.update(bytemuck::cast_slice(values));
    } else {
        for value in values {
            hash.update(bytemuck::bytes_of(&swap(value)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_taken_in_as_it_is_read_back() {
        for micros in [0, 1, -1, 123_456_789, 1 << 51, NO_INTEGER] {
            assert_eq!(as_read(micros), micros);
        }
        let read = |micros: i64| read_back(micros as f64 / MICROS_PER_SECOND as f64);
        for power in 30..62 {
            for step in 0..1000 {
                let micros = (1 << power) + step * ((1 << power) / 1009) + 1;
                assert_eq!(as_read(micros), read(micros), "{micros}");
                assert_eq!(as_read(-micros), read(-micros), "{micros}");
            }
        }
        assert_ne!(as_read(4_294_984_007_630_610), 4_294_984_007_630_610, "136 years lose some");
    }
}
