//! Rows that have been read but not passed on yet, column by column.

use super::{ColumnData, TextColumn};
use crate::columns::Kind;

/// Maximum number of rows that are decoded before they are passed on, and of their values.
const ROWS_MAX: usize = 65_536;
const VALUES_MAX: usize = 1 << 20;

/// Number of rows that are decoded before they are passed on: fewer of a table with many columns.
pub(super) fn rows_at_once(columns: usize) -> usize {
    (VALUES_MAX / columns.max(1)).clamp(1, ROWS_MAX)
}

/// Columns that are being filled.
pub(super) struct Batch {
    kinds: Vec<Kind>,
    columns: Vec<ColumnBuilder>,
}

/// A column that is being filled.
pub(super) struct ColumnBuilder {
    pub(super) data: ColumnData,
    pub(super) texts: TextBuilder,
}

impl ColumnBuilder {
    fn new(kind: Kind) -> ColumnBuilder {
        ColumnBuilder { data: ColumnData::new(kind), texts: TextBuilder::default() }
    }

    fn len(&self) -> usize {
        match &self.data {
            ColumnData::Text(_) => self.texts.column.codes.len(),
            data => data.len(),
        }
    }

    fn finish(self) -> ColumnData {
        match self.data {
            ColumnData::Text(_) => ColumnData::Text(self.texts.column),
            data => data,
        }
    }
}

impl Batch {
    pub(super) fn new(kinds: impl IntoIterator<Item = Kind>) -> Batch {
        let kinds = Vec::from_iter(kinds);
        let columns = kinds.iter().map(|&kind| ColumnBuilder::new(kind)).collect();
        Batch { kinds, columns }
    }

    pub(super) fn columns(&mut self) -> &mut [ColumnBuilder] {
        &mut self.columns
    }

    pub(super) fn rows(&self) -> usize {
        self.columns.first().map_or(0, ColumnBuilder::len)
    }

    /// Removes and returns all rows.
    pub(super) fn take(&mut self) -> Vec<ColumnData> {
        let new = self.kinds.iter().map(|&kind| ColumnBuilder::new(kind)).collect();
        let full: Vec<ColumnBuilder> = std::mem::replace(&mut self.columns, new);
        full.into_iter().map(ColumnBuilder::finish).collect()
    }
}

/// Collects texts row by row, each kept once.
#[derive(Default)]
pub(super) struct TextBuilder {
    column: TextColumn,
    // Only looked up, never iterated, so its order does not affect results.
    places: std::collections::BTreeMap<String, u32>,
}

impl TextBuilder {
    pub(super) fn push(&mut self, text: Option<&str>) {
        let code = text.filter(|text| !text.is_empty()).map(|text| self.place(text));
        self.column.codes.push(code);
    }

    fn place(&mut self, text: &str) -> u32 {
        if let Some(&place) = self.places.get(text) {
            return place;
        }
        let place = self.column.texts.len() as u32;
        self.column.texts.push(text.to_owned());
        self.places.insert(text.to_owned(), place);
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_wide_tables_come_in_smaller_parts() {
        assert_eq!((rows_at_once(0), rows_at_once(1), rows_at_once(16)), (65_536, 65_536, 65_536));
        assert_eq!((rows_at_once(64), rows_at_once(usize::MAX)), (16_384, 1));
    }
}
