//! Splits a scenario into a base and a scenario that extends it.

use serde_json::Value as Json;
use toml::Value;

use super::dice::Dice;
use haggle_scenario::schema::SCHEMA;

/// Two documents, of which the second extends the first by the name `base`. Together they equal `document`; the
/// split depends on `salt`.
///
/// A list is in one of them as a whole, and so is a sweep.
pub fn split(document: &toml::Table, base: &str, salt: u64) -> (toml::Table, toml::Table) {
    let mut dice = Dice::new(salt, 0);
    let (mut under, mut over) = deal(document, SCHEMA.whole(), &mut dice);
    // The settings of a base are applied before anything is put over it, so `set` and `sweep` must be in one
    // document.
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

/// Deals each key to one side; a table may be shared. Required keys stay in the base, which must be valid by
/// itself.
fn deal(table: &toml::Table, schema: &Json, dice: &mut Dice) -> (toml::Table, toml::Table) {
    let (mut under, mut over) = (toml::Table::new(), toml::Table::new());
    for (key, value) in table {
        let property = &SCHEMA.plain(schema)["properties"][key];
        let needed = SCHEMA.required(schema).any(|it| it == key);
        match (value, dice.below(3)) {
            // A tagged table is not shared, because its tag must be on the side of its keys.
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
