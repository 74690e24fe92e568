//! The keys of the schema, each by the name under which coverage counts it.
//!
//! A table at one place gives its path to its keys (`provider.policy.edf.late`). A table at several places, such
//! as a law, gives them its own name (`time-law.uniform.low`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::strings::{Role, role};
use haggle_scenario::schema::SCHEMA;

/// A key of a table of the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Name of the type of the table.
    pub(super) table: String,
    /// The key.
    pub(super) key: String,
    /// Name under which it is counted.
    pub shown: String,
    /// Kind of its value; for a list, of its members.
    pub(super) value: Value,
}

/// Tables whose keys are never drawn: drawn logs have one format, which leaves no choices, and numbers in place of names.
const LEFT_OUT: [&str; 3] = ["LogReading", "LogNames", "LoggedDemand"];

impl Key {
    /// True if a case may have it.
    pub fn may_be_drawn(&self) -> bool {
        let is_reading = (self.table.as_str(), self.key.as_str()) == ("Workload", "reading");
        let is_scenario = role(&self.table, &self.key) == Some(Role::Scenario);
        !is_reading && !is_scenario && !LEFT_OUT.contains(&self.table.as_str())
    }

    /// Words that are valid values, if it takes words.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let words: &[String] = match &self.value {
            Value::Words(words) => words,
            _ => &[],
        };
        words.iter().map(String::as_str)
    }
}

/// Kind of the value of a key, as far as needed here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// One of these words.
    Words(Vec<String>),
    /// Any other string.
    String {
        /// Its format.
        format: Option<String>,
    },
    /// Something else.
    Other,
}

/// Name of the type of a schema, and the schema without references and "or null".
pub(super) fn named(schema: &Json) -> (Option<&str>, &Json) {
    let reference = schema["$ref"].as_str().or_else(|| {
        let choices = schema["anyOf"].as_array()?;
        choices.iter().find_map(|choice| choice["$ref"].as_str())
    });
    (reference.and_then(|it| it.rsplit('/').next()), SCHEMA.plain(schema))
}

/// Schema of the members of a list, or of a list of lists; for other types, the schema itself.
pub(super) fn member(schema: &Json) -> &Json {
    let mut schema = schema;
    while SCHEMA.type_of(schema) == Some("array") {
        schema = &SCHEMA.plain(schema)["items"];
    }
    schema
}

/// Every key of the schema, in the order of its tables.
pub fn keys() -> Vec<Key> {
    let mut walk = Walk { uses: BTreeMap::new(), seen: BTreeSet::new(), keys: Vec::new() };
    // All uses are counted first, because the name of a key depends on them.
    walk.count(SCHEMA.whole());
    for definition in SCHEMA.definitions().map(|(_, it)| it) {
        walk.count(definition);
    }
    walk.table("Scenario", "", SCHEMA.whole());
    walk.keys
}

struct Walk {
    /// Number of places at which a type is used.
    uses: BTreeMap<String, usize>,
    seen: BTreeSet<String>,
    keys: Vec<Key>,
}

impl Walk {
    fn count(&mut self, table: &Json) {
        let choices = SCHEMA.plain(table)["oneOf"].as_array().into_iter().flatten();
        for table in choices.chain([table]) {
            for (_, property) in SCHEMA.properties(table) {
                if let (Some(name), _) = named(member(property)) {
                    *self.uses.entry(name.to_owned()).or_default() += 1;
                }
            }
        }
    }

    /// Adds the keys of a table and of the tables inside it, shown behind `prefix`.
    fn table(&mut self, name: &str, prefix: &str, table: &Json) {
        if let Some((_, variants)) = SCHEMA.variants(table) {
            for (variant, table) in variants {
                self.rows(name, &format!("{prefix}{variant}."), table);
            }
            return;
        }
        self.rows(name, prefix, table);
    }

    fn rows(&mut self, table_name: &str, prefix: &str, table: &Json) {
        for (key, property) in SCHEMA.properties(table) {
            if property["const"].is_string() {
                continue; // the tag; each of its words is a table of its own
            }
            let schema = member(property);
            let (name, inner) = named(schema);
            let value = match (SCHEMA.words(schema), SCHEMA.type_of(schema)) {
                (Some(words), _) => Value::Words(words.into_iter().map(str::to_owned).collect()),
                (None, Some("string")) => {
                    Value::String { format: inner["format"].as_str().map(str::to_owned) }
                }
                _ => Value::Other,
            };
            let shown = format!("{prefix}{key}");
            self.keys.push(Key {
                table: table_name.to_owned(),
                key: key.to_owned(),
                shown: shown.clone(),
                value,
            });
            let Some(name) = name.filter(|_| is_table(inner)) else { continue };
            // A type at several places has its keys once, under its own name.
            if self.seen.insert(name.to_owned()) {
                let prefix = prefix_of(name, &shown, self.uses[name]);
                self.table(name, &prefix, inner);
            }
        }
    }
}

/// Prefix of the keys of a table.
fn prefix_of(name: &str, place: &str, uses: usize) -> String {
    if uses == 1 { format!("{place}.") } else { format!("{}.", kebab(name)) }
}

/// True if it is the schema of a table.
pub(super) fn is_table(schema: &Json) -> bool {
    SCHEMA.type_of(schema) == Some("object") || SCHEMA.variants(schema).is_some()
}

fn kebab(name: &str) -> String {
    let mut text = String::new();
    for (index, letter) in name.chars().enumerate() {
        if letter.is_uppercase() && index > 0 {
            text.push('-');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

/// Names of all keys of a document, and `key = word` for each key that is a word.
pub fn keys_of(document: &toml::Table) -> BTreeSet<String> {
    let mut shown = BTreeMap::new();
    for key in keys() {
        shown.insert((key.table.clone(), key.key.clone(), tag_of(&key)), key.shown);
    }
    let mut found = BTreeSet::new();
    visit(document, "Scenario", SCHEMA.whole(), &mut |table, tag, key, value| {
        let Some(shown) = shown.get(&(table.to_owned(), key.to_owned(), tag.to_owned())) else {
            return;
        };
        found.insert(shown.clone());
        if let Some(word) = value {
            found.insert(format!("{shown} = {word}"));
        }
    });
    found
}

/// Tag of a key of a tagged table: the last but one part of its name.
pub(super) fn tag_of(key: &Key) -> String {
    let definition = SCHEMA.definition(&key.table);
    match SCHEMA.variants(definition) {
        Some(_) => key.shown.rsplit('.').nth(1).unwrap_or_default().to_owned(),
        None => String::new(),
    }
}

/// Receives (table, tag, key, word).
type Each<'a> = dyn FnMut(&str, &str, &str, Option<&str>) + 'a;

/// Calls `each` with (table, tag, key, word) for every key of a table and of the tables inside it.
fn visit(table: &toml::Table, name: &str, schema: &Json, each: &mut Each<'_>) {
    let (tag, schema) = chosen(table, schema);
    for (key, value) in table {
        let property = &schema["properties"][key];
        let is_word = SCHEMA.words(member(property)).is_some();
        // A word, or the table that has it as its tag.
        let tagged = SCHEMA.variants(member(property)).and_then(|(tag, _)| value.get(tag));
        let word = tagged.unwrap_or(value).as_str();
        each(name, tag, key, word.filter(|_| is_word));
        let (name, inner) = named(member(property));
        let Some(name) = name.filter(|_| is_table(inner)) else { continue };
        visit_value(value, name, inner, each);
    }
}

fn visit_value(value: &toml::Value, name: &str, schema: &Json, each: &mut Each<'_>) {
    match value {
        toml::Value::Table(table) => visit(table, name, schema, each),
        toml::Value::Array(items) => {
            for item in items {
                visit_value(item, name, schema, each);
            }
        }
        _ => {}
    }
}

/// Tag of a table, and the schema that the tag selects; without a tag, the schema itself.
pub(super) fn chosen<'s>(table: &toml::Table, schema: &'s Json) -> (&'s str, &'s Json) {
    let Some((tag, variants)) = SCHEMA.variants(schema) else { return ("", SCHEMA.plain(schema)) };
    let word = table.get(tag).and_then(toml::Value::as_str);
    let found = variants.into_iter().find(|(name, _)| Some(*name) == word);
    let beside = SCHEMA.table_beside_words(schema).filter(|_| word.is_none());
    found.unwrap_or(("", beside.unwrap_or(&Json::Null)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_named_by_their_way_or_by_their_type() {
        let names: BTreeSet<String> = keys().into_iter().map(|key| key.shown).collect();
        for name in [
            "scenario.seed",
            "provider.policy.edf.late",
            "workload.step.window.until",
            "time-law.uniform.low",
            "grid.site.load.period",
            "sweep.axis.variant.set",
        ] {
            assert!(names.contains(name), "{name} is missing in {names:#?}");
        }
        assert_eq!(names.len(), keys().len(), "each has a name of its own");
    }

    #[test]
    fn keys_and_words_of_a_document_are_found() {
        let text = "[[provider]]\nname = \"a\"\npolicy = \"bags\"\n[[failures]]\n\
                    law = { up = { law = \"uniform\", low = \"0s\", high = \"1s\" } }\n";
        let found = keys_of(&text.parse().expect("it is TOML"));
        for name in ["provider.policy", "provider.policy = bags", "time-law.uniform.high"] {
            assert!(found.contains(name), "{name} is missing in {found:#?}");
        }
    }
}
