//! Coverage of the random cases: the number of accepted cases with each key, and with each pair of
//! features.

use std::collections::{BTreeMap, BTreeSet};

use crate::trial::Verdict;
use crate::trial::draw::keys;
use crate::trial::features;
use serde::Serialize;

use crate::commands::table::{lines, row};

/// Counts over accepted cases.
#[derive(Debug, Default, Serialize)]
pub(super) struct Coverage {
    /// Cases with each key, and with each word of a key, `key = word`.
    keys: BTreeMap<String, u64>,
    /// Cases with each pair of features, by both names in the order of the features.
    pairs: BTreeMap<String, BTreeMap<String, u64>>,
    /// Keys, and words of keys, that no case had.
    never: BTreeSet<String>,
}

impl Coverage {
    /// Counts without cases.
    pub(super) fn new() -> Coverage {
        let all = keys();
        let never = all.iter().filter(|it| it.may_be_drawn()).flat_map(|key| {
            let words = key.words().map(|word| format!("{} = {word}", key.shown));
            words.chain([key.shown.clone()])
        });
        Coverage { never: never.collect(), ..Coverage::default() }
    }

    /// Adds a case that ran.
    pub(super) fn add(&mut self, verdict: &Verdict) {
        for key in &verdict.keys {
            *self.keys.entry(key.clone()).or_default() += 1;
            self.never.remove(key);
        }
        let all = features::names().into_iter();
        // In the order of the features, so that each pair has one place.
        let had: Vec<&str> = all.filter(|name| verdict.features.contains(*name)).collect();
        for (place, one) in had.iter().enumerate() {
            let row = self.pairs.entry((*one).to_owned()).or_default();
            // Half of the table, with the diagonal: pairs have no order.
            for other in &had[..=place] {
                *row.entry((*other).to_owned()).or_default() += 1;
            }
        }
    }

    /// Both tables, and the names that no case had.
    pub(super) fn to_text(&self) -> String {
        let mut text = format!("\ncases with each key\n{}", self.keys_table());
        text.push_str(&format!("\ncases with each pair of features\n{}", self.pairs_table()));
        let never: Vec<&str> = self.never.iter().map(String::as_str).collect();
        if !never.is_empty() {
            text.push_str(&format!("\nin no case\n  {}\n", never.join("\n  ")));
        }
        text
    }

    fn keys_table(&self) -> String {
        let count = |key: &str| self.keys.get(key).copied().unwrap_or(0).to_string();
        let rows: Vec<Vec<String>> =
            keys().into_iter().map(|key| vec![key.shown.clone(), count(&key.shown)]).collect();
        lines(&rows, &[0])
    }

    fn pairs_table(&self) -> String {
        let number = |place: usize| (place + 1).to_string();
        let names = features::names();
        let mut head = row(["", ""]);
        head.extend((0..names.len()).map(number));
        let mut rows = vec![head];
        for (place, one) in names.iter().enumerate() {
            let mut cells = vec![number(place), (*one).to_owned()];
            for other in &names[..=place] {
                let count = self.pairs.get(*one).and_then(|row| row.get(*other));
                cells.push(count.copied().unwrap_or(0).to_string());
            }
            rows.push(cells);
        }
        lines(&rows, &[1])
    }
}
