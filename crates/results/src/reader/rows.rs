//! Rows as structs, for figures, comparisons and explanations. Their fields are defined in `tables/`.

use super::{Keep, Rows, RunReader, TableData};
use crate::ResultsError;
use crate::tables::ReadRow;

impl RunReader {
    /// Some rows of a table.
    pub(crate) fn rows<T: ReadRow>(&self, rows: &Rows) -> Result<Vec<T>, ResultsError> {
        let mut all = Vec::new();
        self.each_row(rows, &mut |row| all.push(row))?;
        Ok(all)
    }

    /// Reads all rows of a table and forgets them.
    pub(crate) fn check_rows<T: ReadRow>(
        &self,
        is_needless: &dyn Fn() -> bool,
        look: &mut dyn FnMut(&TableData) -> Result<(), ResultsError>,
    ) -> Result<(), ResultsError> {
        self.each_batch(T::TABLE, T::COLUMNS, &Rows::all(), Keep::Batch, &mut |data| {
            if is_needless() {
                return Ok(());
            }
            let mut rows = 0..data.rows();
            rows.try_for_each(|at| T::read(&Row { data: &data, at }).map(drop))?;
            look(&data)
        })
    }

    /// Gives some rows of a table to `take`, one after the other.
    pub(crate) fn each_row<T: ReadRow>(
        &self,
        rows: &Rows,
        take: &mut dyn FnMut(T),
    ) -> Result<(), ResultsError> {
        self.each_batch(T::TABLE, T::COLUMNS, rows, Keep::Batch, &mut |data| {
            (0..data.rows()).try_for_each(|at| T::read(&Row { data: &data, at }).map(&mut *take))
        })
    }
}

pub(crate) struct Row<'a> {
    data: &'a super::TableData,
    at: usize,
}

impl<'a> Row<'a> {
    /// Its values, in the order of its columns.
    pub(crate) fn places(&self) -> Places<'a> {
        Places { data: self.data, at: self.at, next: 0 }
    }
}

/// The values of a row, one after the other.
pub(crate) struct Places<'a> {
    data: &'a super::TableData,
    at: usize,
    next: usize,
}

impl<'a> Places<'a> {
    /// The next value, which must be in the column of this name.
    pub(crate) fn next(&mut self, name: &'static str) -> Place<'a> {
        let column = self.data.columns.get(self.next).map(|(_, column)| column);
        self.next += 1;
        Place { row: Row { data: self.data, at: self.at }, column, name }
    }
}

/// One value of a row.
pub(crate) struct Place<'a> {
    row: Row<'a>,
    column: Option<&'a super::ColumnData>,
    name: &'static str,
}

impl<'a> Place<'a> {
    /// True if the value is missing.
    pub(crate) fn is_missing(&self) -> bool {
        self.column.is_none_or(|column| column.is_missing(self.row.at))
    }

    pub(crate) fn real(&self) -> Result<f64, ResultsError> {
        let value = match self.column {
            Some(super::ColumnData::Real(values)) => values.get(self.row.at).copied().flatten(),
            _ => None,
        };
        self.row.present(self.name, value)
    }

    pub(crate) fn integer(&self) -> Result<i64, ResultsError> {
        let value = match self.column {
            Some(super::ColumnData::Integer(values)) => values.get(self.row.at).copied().flatten(),
            _ => None,
        };
        self.row.present(self.name, value)
    }

    pub(crate) fn text(&self) -> Result<&'a str, ResultsError> {
        let value = match self.column {
            Some(super::ColumnData::Text(texts)) => texts.at(self.row.at),
            _ => None,
        };
        self.row.present(self.name, value)
    }

    pub(crate) fn damaged(&self, reason: impl ToString) -> ResultsError {
        self.row.damaged(reason)
    }
}

impl Row<'_> {
    /// Number of the row among the selected ones, from 1.
    fn number(&self) -> usize {
        self.data.first + self.at + 1
    }

    fn present<T>(&self, name: &str, value: Option<T>) -> Result<T, ResultsError> {
        value.ok_or_else(|| ResultsError::WrongType {
            path: self.data.path.clone(),
            column: name.to_owned(),
            expected: "a value in every row",
            found: format!("none in row {}", self.number()),
        })
    }

    fn damaged(&self, reason: impl ToString) -> ResultsError {
        ResultsError::damaged(
            &self.data.path,
            format!("row {}: {}", self.number(), reason.to_string()),
        )
    }
}
