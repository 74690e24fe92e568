//! Rows that wait to be written, kept column by column.

use crate::columns::{Column, Kind, Table};
use crate::words::{Known, WordList};

/// Stands for "no value" in buffers of integers and microseconds.
pub(crate) const NO_INTEGER: i64 = i64::MIN;
/// Stands for "no value" in buffers of words.
pub(crate) const NO_WORD: u32 = u32::MAX;

/// The values of one column. Missing values are [`NO_INTEGER`], not-a-number, [`NO_WORD`] or the empty text.
#[derive(Debug)]
pub(crate) enum Values {
    /// Microseconds.
    Seconds(Vec<i64>),
    /// Floats.
    Real(Vec<f64>),
    /// Integers.
    Integer(Vec<i64>),
    /// Codes and their words. The words stay when rows are removed.
    Word { codes: Vec<u32>, words: WordList },
    /// All texts one after the other; text `i` is `bytes[ends[i]..ends[i + 1]]`.
    Text { bytes: Vec<u8>, ends: Vec<i32> },
}

impl Values {
    /// True if any value is present.
    pub(crate) fn has_any(&self) -> bool {
        match self {
            Values::Seconds(values) | Values::Integer(values) => {
                values.iter().any(|&it| it != NO_INTEGER)
            }
            Values::Real(values) => values.iter().any(|it| !it.is_nan()),
            Values::Word { codes, .. } => codes.iter().any(|&it| it != NO_WORD),
            Values::Text { bytes, .. } => !bytes.is_empty(),
        }
    }

    pub(crate) fn push_integer(&mut self, value: i64) {
        match self {
            Values::Integer(values) => values.push(value),
            other => mismatch("an integer", other),
        }
    }

    pub(crate) fn push_micros(&mut self, value: i64) {
        match self {
            Values::Seconds(values) => values.push(value),
            other => mismatch("seconds", other),
        }
    }

    pub(crate) fn push_real(&mut self, value: f64) {
        match self {
            // All missing values have the same bits, so that digests agree.
            Values::Real(values) => values.push(if value.is_nan() { f64::NAN } else { value }),
            other => mismatch("a float", other),
        }
    }

    pub(crate) fn push_code(&mut self, code: u32) {
        match self {
            Values::Word { codes, .. } => codes.push(code),
            other => mismatch("a word", other),
        }
    }

    pub(crate) fn push_word(&mut self, word: &str) {
        match self {
            Values::Word { codes, words } => codes.push(words.code_of(word)),
            other => mismatch("a word", other),
        }
    }

    pub(crate) fn push_text(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        match self {
            Values::Text { bytes, ends } => {
                write(bytes);
                // A batch of a few thousand texts stays far below 2 GiB.
                ends.push(i32::try_from(bytes.len()).unwrap_or(i32::MAX));
            }
            other => mismatch("a text", other),
        }
    }

    /// Appends a missing value.
    pub(crate) fn push_missing(&mut self) {
        match self {
            Values::Seconds(values) | Values::Integer(values) => values.push(NO_INTEGER),
            Values::Real(values) => values.push(f64::NAN),
            Values::Word { codes, .. } => codes.push(NO_WORD),
            Values::Text { .. } => self.push_text(|_| {}),
        }
    }
}

/// The rows of one table that are not written yet.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) table: Table,
    pub(crate) columns: Vec<Values>,
    pub(crate) rows: usize,
}

impl Buffer {
    /// An empty buffer for a table; `known` has the words known before the run.
    pub(crate) fn new(table: Table, known: &Known) -> Buffer {
        let column = |column: &Column| match column.kind {
            Kind::Seconds => Values::Seconds(Vec::new()),
            Kind::Real => Values::Real(Vec::new()),
            Kind::Integer => Values::Integer(Vec::new()),
            Kind::Word => Values::Word { codes: Vec::new(), words: known.words(column.words) },
            Kind::Text => Values::Text { bytes: Vec::new(), ends: vec![0] },
        };
        Buffer { table, columns: table.columns().iter().map(column).collect(), rows: 0 }
    }

    /// Starts a row. Every column must get a value, in order.
    pub(crate) fn next_row(&mut self) -> std::slice::IterMut<'_, Values> {
        self.rows += 1;
        self.columns.iter_mut()
    }

    /// Removes the rows, which have been written.
    pub(crate) fn clear(&mut self) {
        self.rows = 0;
        for values in &mut self.columns {
            match values {
                Values::Seconds(values) | Values::Integer(values) => values.clear(),
                Values::Real(values) => values.clear(),
                Values::Word { codes, .. } => codes.clear(),
                Values::Text { bytes, ends } => {
                    bytes.clear();
                    // The first one is the start of the first text.
                    ends.truncate(1);
                }
            }
        }
    }
}

#[cold]
fn mismatch(given: &str, column: &Values) -> ! {
    unreachable!("{given} was given for {column:?}: its table says otherwise")
}
