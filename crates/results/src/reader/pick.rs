//! Selection of rows of a table.

use std::collections::BTreeSet;

use super::ColumnData;

/// Rows of a table for which all conditions hold. Only the columns of the conditions are read as a
/// whole; from the other columns, only these rows are read.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    conditions: Vec<Condition>,
}

/// The smallest and the largest value of a column.
#[derive(Clone, Copy, Debug)]
pub(super) enum Extremes {
    Integer(i64, i64),
    Real(f64, f64),
}

/// A condition on one or two columns.
#[derive(Clone, Debug)]
enum Condition {
    /// A column of integers has one of these values.
    Integer(&'static str, BTreeSet<i64>),
    /// A column of texts has one of these values.
    Text(&'static str, BTreeSet<String>),
    /// The interval between two columns overlaps one of these spans; ends are included.
    During([&'static str; 2], Vec<(f64, f64)>),
}

impl Rows {
    /// All rows.
    pub fn all() -> Rows {
        Rows::default()
    }

    /// Rows with one of these integers in a column.
    pub fn of(column: &'static str, values: impl IntoIterator<Item = i64>) -> Rows {
        Rows::all().and(Condition::Integer(column, values.into_iter().collect()))
    }

    /// Of these, rows with one of these texts in a column.
    pub fn with(self, column: &'static str, values: impl IntoIterator<Item = String>) -> Rows {
        self.and(Condition::Text(column, values.into_iter().collect()))
    }

    /// Of these, rows whose interval between two columns overlaps one of `spans`, s. A missing start is
    /// before all times, a missing end after all.
    pub fn during(self, from: &'static str, to: &'static str, spans: Vec<(f64, f64)>) -> Rows {
        self.and(Condition::During([from, to], spans))
    }

    fn and(mut self, condition: Condition) -> Rows {
        self.conditions.push(condition);
        self
    }

    /// The columns of its conditions, each once.
    pub(super) fn columns(&self) -> Vec<&'static str> {
        let mut columns = Vec::new();
        for condition in &self.conditions {
            let new = condition.columns().iter().filter(|it| !columns.contains(*it));
            columns.extend(Vec::from_iter(new.copied()));
        }
        columns
    }

    /// True if a part of a table may have such rows, judged by the smallest and largest values of its
    /// columns.
    pub(super) fn may_be_in(&self, range: &dyn Fn(&'static str) -> Option<Extremes>) -> bool {
        self.conditions.iter().all(|it| it.may_be_in(range))
    }

    /// For each row, true if it is selected; `column` gives the values.
    pub(super) fn found<'d>(
        &self,
        rows: usize,
        column: &dyn Fn(&'static str) -> Option<&'d ColumnData>,
    ) -> Vec<bool> {
        let mut found = vec![true; rows];
        self.conditions.iter().for_each(|it| it.sieve(&mut found, column));
        found
    }
}

impl Condition {
    fn columns(&self) -> &[&'static str] {
        match self {
            Condition::Integer(column, _) | Condition::Text(column, _) => {
                std::slice::from_ref(column)
            }
            Condition::During(columns, _) => columns,
        }
    }

    fn may_be_in(&self, range: &dyn Fn(&'static str) -> Option<Extremes>) -> bool {
        let real = |column| match range(column) {
            Some(Extremes::Real(low, high)) => Some((low, high)),
            _ => None,
        };
        match self {
            Condition::Integer(column, values) => match range(column) {
                // In a damaged file, the smallest value may be above the largest one.
                Some(Extremes::Integer(low, high)) if low <= high => {
                    values.range(low..=high).next().is_some()
                }
                _ => true,
            },
            // The file has no smallest and largest texts.
            Condition::Text(..) => true,
            Condition::During([from, to], spans) => {
                // Without bounds, the interval may begin or end at any time.
                let earliest = real(from).map_or(f64::NEG_INFINITY, |it| it.0);
                let latest = real(to).map_or(f64::INFINITY, |it| it.1);
                spans.iter().any(|span| earliest <= span.1 && span.0 <= latest)
            }
        }
    }

    /// Removes the rows for which the condition does not hold.
    fn sieve<'d>(
        &self,
        found: &mut [bool],
        column: &dyn Fn(&'static str) -> Option<&'d ColumnData>,
    ) {
        let real = |name, row: usize| match column(name) {
            Some(ColumnData::Real(values)) => values.get(row).copied().flatten(),
            _ => None,
        };
        match self {
            Condition::Integer(name, values) => {
                // A column that is missing or of another type has no such value in any row.
                let Some(ColumnData::Integer(all)) = column(name) else { return found.fill(false) };
                for (found, value) in found.iter_mut().zip(all) {
                    *found &= value.is_some_and(|it| values.contains(&it));
                }
            }
            Condition::Text(name, values) => {
                let Some(ColumnData::Text(all)) = column(name) else { return found.fill(false) };
                // Each text is compared once, not in every row.
                let known = Vec::from_iter(all.texts.iter().map(|it| values.contains(it)));
                for (found, code) in found.iter_mut().zip(&all.codes) {
                    *found &= code.is_some_and(|code| known[code as usize]);
                }
            }
            Condition::During([from, to], spans) => {
                for (row, found) in found.iter_mut().enumerate().filter(|(_, found)| **found) {
                    let from = real(from, row).unwrap_or(f64::NEG_INFINITY);
                    let to = real(to, row).unwrap_or(f64::INFINITY);
                    *found = spans.iter().any(|span| from <= span.1 && span.0 <= to);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may_have(value: i64, extremes: Extremes) -> bool {
        Rows::of("job", [value]).may_be_in(&|_| Some(extremes))
    }

    #[test]
    fn large_integers_are_compared_exactly() {
        let odd = (1 << 53) + 1;
        assert!(may_have(odd, Extremes::Integer(odd, odd)));
        assert!(!may_have(odd - 1, Extremes::Integer(odd, odd)));
    }

    #[test]
    fn extremes_that_contradict_each_other_exclude_no_row() {
        assert!(may_have(3, Extremes::Integer(7, 1)));
    }
}
