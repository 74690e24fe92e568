//! The wanted key of a case.
//!
//! A key that needs others beside it would hardly ever be drawn, and neither would a word that does. So each case
//! wants one key or word, and all have their turn from case to case. The key is added, with the path to it,
//! whenever it is missing, and problems are repaired around it.

use std::collections::{BTreeMap, VecDeque};

use haggle_model::random::splitmix;
use serde_json::Value as Json;
use toml::Value;

use super::document::Draw;
use super::keys::{Key, chosen, is_table, keys, member, named, tag_of};
use super::size::{Theme, Wish};
use haggle_config::document::Step;
use haggle_scenario::schema::SCHEMA;

/// A key that must be present.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// Keys from the root to it, which is the last.
    way: Vec<Link>,
    /// Word that its value must be, if any.
    word: Option<String>,
    /// Place where it was put.
    place: Vec<Step>,
}

/// A key of the tables of one type and tag.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Link {
    table: String,
    tag: String,
    key: String,
}

impl Wanted {
    /// Wanted key of case `number` under `seed`.
    pub(super) fn of_case(seed: u64, number: u64) -> Wanted {
        let mut turns = turns();
        let (key, word) = turns.swap_remove(turn(turns.len(), seed, number));
        let last = Link { table: key.table.clone(), tag: tag_of(&key), key: key.key };
        let table = (last.table.clone(), last.tag.clone());
        let mut way = ways().remove(&table).expect("every table has a way to it");
        way.push(last);
        Wanted { way, word, place: Vec::new() }
    }

    /// True if a theme allows it.
    pub(super) fn suits(&self, theme: Theme) -> bool {
        self.way.iter().all(|link| {
            let agrees = match theme.wish(&link.table, &link.key) {
                Some(Wish::Absent) => false,
                Some(Wish::OneOf(words)) => {
                    self.word.as_deref().is_none_or(|word| words.contains(&word))
                }
                Some(Wish::Present) | None => true,
            };
            agrees && !theme.avoids(&link.table, &link.tag)
        })
    }

    /// True if the value at `steps` is the wanted one, or contains it.
    pub(super) fn is_in(&self, steps: &[Step]) -> bool {
        self.place.starts_with(steps)
    }

    /// True if any value of the key will do.
    pub(super) fn is_open(&self) -> bool {
        self.word.is_none()
    }

    /// Adds the key, with the missing tables on the path to it.
    pub(super) fn put(&mut self, document: &mut toml::Table, draw: &mut Draw<'_>) {
        // The key is put again after repairs, perhaps at another place.
        self.place.clear();
        let (mut table, mut schema) = (document, SCHEMA.whole());
        for (number, link) in self.way.iter().enumerate() {
            let property = &chosen(table, schema).1["properties"][&link.key];
            if !table.contains_key(&link.key) {
                let value = draw.value(&link.table, &link.key, property);
                table.insert(link.key.clone(), value);
            }
            self.place.push(Step::Key(link.key.clone()));
            let value = &mut table[&link.key];
            let Some(next) = self.way.get(number + 1) else {
                if let Some(word) = &self.word {
                    say(value, word);
                }
                return;
            };
            schema = named(member(property)).1;
            table = next.table_in(value, schema, &mut self.place, draw);
        }
    }
}

impl Link {
    /// Table in a value that may have this key; drawn if there is none.
    fn table_in<'v>(
        &self,
        value: &'v mut Value,
        schema: &Json,
        place: &mut Vec<Step>,
        draw: &mut Draw<'_>,
    ) -> &'v mut toml::Table {
        let fits = |value: &Value| {
            value.as_table().is_some_and(|table| chosen(table, schema).0 == self.tag)
        };
        let value = match value {
            Value::Array(items) => {
                let index = items.iter().position(fits).unwrap_or(items.len());
                place.push(Step::Index(index));
                if index == items.len() {
                    // A placeholder, which is replaced by a table below.
                    items.push(Value::Boolean(false));
                }
                &mut items[index]
            }
            value => value,
        };
        if !fits(value) {
            *value = Value::Table(draw.table_of(&self.table, schema, &self.tag));
        }
        match value {
            Value::Table(table) => table,
            _ => unreachable!("it has just been made a table"),
        }
    }
}

/// Wishes of cases: each key that is drawn, and for a key with words, each word by itself.
fn turns() -> Vec<(Key, Option<String>)> {
    let with_words = |key: Key| {
        let words: Vec<Option<String>> = key.words().map(|word| Some(word.to_owned())).collect();
        let words = if words.is_empty() { vec![None] } else { words };
        words.into_iter().map(move |word| (key.clone(), word))
    };
    keys().into_iter().filter(Key::may_be_drawn).flat_map(with_words).collect()
}

/// Number of cases in which each key, and each word, has its turn once.
pub fn round() -> usize {
    turns().len()
}

/// Index of the wish, of `count`, that has its turn; in `count` cases, each has one. The steps from case to case
/// are near the golden section, so that a few consecutive cases already cover the whole schema.
fn turn(count: usize, seed: u64, number: u64) -> usize {
    let count = count as u64;
    // A step without a common divisor visits every index once in a round.
    let step = (count * 618 / 1000..).find(|&step| is_coprime(step, count)).unwrap_or(1);
    // Another seed begins elsewhere in the same sequence.
    ((splitmix(seed) % count + number % count * step) % count) as usize
}

fn is_coprime(one: u64, other: u64) -> bool {
    let (mut divisor, mut rest) = (one, other);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    divisor == 1
}

/// Sets a value to this word; in a list, one of its members.
fn say(value: &mut Value, word: &str) {
    let said = Value::String(word.to_owned());
    match value {
        Value::Array(items) if items.contains(&said) => {}
        Value::Array(items) => items.push(said),
        value => *value = said,
    }
}

/// Shortest path to the tables of each type and tag, as keys.
fn ways() -> BTreeMap<(String, String), Vec<Link>> {
    let root = ("Scenario".to_owned(), String::new());
    let mut ways = BTreeMap::from([(root.clone(), Vec::new())]);
    let mut next = VecDeque::from([(root, SCHEMA.whole())]);
    while let Some(((table, tag), schema)) = next.pop_front() {
        let way = ways[&(table.clone(), tag.clone())].clone();
        for (key, property) in SCHEMA.properties(schema) {
            let (Some(name), inner) = named(member(property)) else { continue };
            if !is_table(inner) {
                continue;
            }
            let kinds =
                SCHEMA.variants(inner).map_or_else(|| vec![("", inner)], |(_, kinds)| kinds);
            for (word, schema) in kinds {
                let kind = (name.to_owned(), word.to_owned());
                // The first way is the shortest, because tables are visited in breadth.
                if !ways.contains_key(&kind) {
                    let link = Link { table: table.clone(), tag: tag.clone(), key: key.to_owned() };
                    ways.insert(kind.clone(), way.iter().cloned().chain([link]).collect());
                    next.push_back((kind, schema));
                }
            }
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_key_and_every_word_has_its_turn_once_in_a_round() {
        let all = turns();
        for seed in [1, 501] {
            let had: BTreeSet<usize> =
                (0..all.len() as u64).map(|number| turn(all.len(), seed, number)).collect();
            assert_eq!(had.len(), all.len());
        }
        for policy in ["rigid", "shift", "shift-remap"] {
            let is_it = |turn: &&(Key, Option<String>)| {
                (&*turn.0.table, &*turn.0.key) == ("Coallocation", "policy")
                    && turn.1.as_deref() == Some(policy)
            };
            assert_eq!(all.iter().filter(is_it).count(), 1, "turns of {policy}");
        }
    }

    #[test]
    fn a_few_cases_in_a_row_want_things_from_all_over_the_schema() {
        let count = round();
        for first in [0, 300, 12_345] {
            let mut turns: Vec<usize> =
                (first..first + 50).map(|number| turn(count, 7, number)).collect();
            turns.sort_unstable();
            let widest = turns.windows(2).map(|pair| pair[1] - pair[0]).max();
            assert!(widest < Some(count / 15), "{turns:?} of {count}");
        }
    }
}
