//! Takes a scenario apart into one that extends another, and the other.

use serde_json::Value as Json;
use toml::Value;

use super::dice::Dice;
use haggle_scenario::schema::SCHEMA;

/// Two documents of which the second, extending the first by the name `base`, says what
/// `document` says; how they share it depends on `salt`.
///
/// A list stands in one of them as a whole, and so does a sweep.
pub fn split(document: &toml::Table, base: &str, salt: u64) -> (toml::Table, toml::Table) {
    let mut dice = Dice::new(salt, 0);
    let (mut under, mut over) = deal(document, SCHEMA.whole(), &mut dice);
    // What a base sets is settled before anything is put over it, so the two go together.
    for key in ["set", "sweep"] {
        if let Some(value) = document.get(key) {
            under.remove(key);
            over.insert(key.to_owned(), value.clone());
        }
    }
    let header = over.entry("scenario").or_insert_with(|| Value::Table(toml::Table::new()));
    if let Value::Table(header) = header {
        // A name is never inherited.
        for key in ["name", "description"] {
            if let Some(value) = document.get("scenario").and_then(|it| it.get(key)) {
                header.insert(key.to_owned(), value.clone());
            }
        }
        header.insert("extends".to_owned(), Value::String(base.to_owned()));
    }
    (under, over)
}

/// Each key goes to one side; a table may be shared. What a table cannot be without stays in the
/// base, which has to be read by itself.
fn deal(table: &toml::Table, schema: &Json, dice: &mut Dice) -> (toml::Table, toml::Table) {
    let (mut under, mut over) = (toml::Table::new(), toml::Table::new());
    for (key, value) in table {
        let property = &SCHEMA.plain(schema)["properties"][key];
        let needed = SCHEMA.required(schema).any(|it| it == key);
        match (value, dice.below(3)) {
            // Which kind of table it is has to be said on the side that has its keys.
            (Value::Table(inner), 0) if SCHEMA.variants(property).is_none() => {
                let (low, high) = deal(inner, property, dice);
                under.insert(key.clone(), Value::Table(low));
                over.insert(key.clone(), Value::Table(high));
            }
            (value, 2) if !needed => drop(over.insert(key.clone(), value.clone())),
            (value, _) => drop(under.insert(key.clone(), value.clone())),
        }
    }
    (under, over)
}
