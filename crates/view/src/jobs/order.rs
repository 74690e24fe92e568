//! Order of rows by a column.

use std::cmp::Ordering;

use super::{Column, columns};
use crate::Refusal;

/// A column and a direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sort {
    pub(super) column: &'static str,
    reverse: bool,
}

impl Sort {
    pub(super) fn read(text: &str) -> Result<Sort, Refusal> {
        let name = text.strip_prefix('-').unwrap_or(text);
        let known = columns().iter().find(|it| it.name == name);
        let known = known.ok_or_else(|| {
            Refusal::wrong(format!("`{name}` is no column of `jobs`"), "name a column of the table")
        })?;
        Ok(Sort { column: known.name, reverse: text.starts_with('-') })
    }

    /// Sorts rows. Equal rows stay in the order of the table, and missing values come last.
    pub(super) fn apply(self, column: &Column, rows: &mut [u32]) {
        let directed = |order: Ordering| if self.reverse { order.reverse() } else { order };
        match column {
            Column::Real(values) => {
                let value = |row: u32| values.get(row as usize).copied().unwrap_or(f64::NAN);
                rows.sort_by(|&a, &b| {
                    let (a, b) = (value(a), value(b));
                    let order = a.partial_cmp(&b).map(directed);
                    order.unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
                });
            }
            Column::Integer(values) => {
                let value = |row: u32| values.get(row as usize).copied().unwrap_or(i64::MIN);
                rows.sort_by(|&a, &b| {
                    let (a, b) = (value(a), value(b));
                    let missing = (a == i64::MIN).cmp(&(b == i64::MIN));
                    missing.then_with(|| directed(a.cmp(&b)))
                });
            }
            Column::Text { texts, .. } => {
                // The rank of each text: texts are compared once, not for each pair of rows.
                let mut order = Vec::from_iter(0..texts.len());
                order.sort_by(|&a, &b| texts[a].cmp(&texts[b]));
                let mut ranks = vec![0_usize; texts.len()];
                let mut rank = 0;
                for (place, &text) in order.iter().enumerate() {
                    // A text that is there twice has one rank.
                    if place > 0 && texts[order[place - 1]] != texts[text] {
                        rank += 1;
                    }
                    ranks[text] = rank;
                }
                let rank = |row: u32| match column {
                    Column::Text { codes, .. } => {
                        codes.get(row as usize).and_then(|&code| ranks.get(code as usize))
                    }
                    _ => None,
                };
                rows.sort_by(|&a, &b| {
                    let (a, b) = (rank(a), rank(b));
                    a.is_none().cmp(&b.is_none()).then_with(|| directed(a.cmp(&b)))
                });
            }
        }
    }
}
