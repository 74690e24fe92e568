//! The JSON schema of scenario files, made from the types that hold them, and
//! the questions that checking asks of it.
//!
//! It is kept as a file, `schema.json`, for every command asks it something: a definition is read
//! when it is asked for, which most never are. A test holds the file to the types.
//!
//! Indexing a `Json` that has no such key yields null, so each question gets the
//! answer "nothing" from a schema that does not speak of the matter.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use serde::Deserialize;
use serde_json::Value as Json;
use serde_json::value::RawValue;

/// The JSON schema of a scenario file, for editors and for `haggle schema`.
pub const SCHEMA_TEXT: &str = include_str!("schema.json");

/// The file, with the definitions as they are written.
#[derive(Deserialize)]
struct Written {
    #[serde(borrow, rename = "$defs")]
    definitions: BTreeMap<&'static str, &'static RawValue>,
    #[serde(flatten)]
    root: Json,
}

/// A definition, and what it says once somebody has asked.
struct Definition(&'static RawValue, OnceLock<Json>);

struct Read {
    root: Json,
    definitions: BTreeMap<&'static str, Definition>,
}

/// What is read, is read once: checking a sweep asks for it many times.
static READ: LazyLock<Read> = LazyLock::new(|| {
    let Written { definitions, root } = written();
    let unread = |(name, text)| (name, Definition(text, OnceLock::new()));
    Read { root, definitions: definitions.into_iter().map(unread).collect() }
});

fn written() -> Written {
    serde_json::from_str(SCHEMA_TEXT).expect("a test has read the file")
}

/// The schema of a whole scenario, without the definitions it refers to.
pub(super) fn whole() -> &'static Json {
    &READ.root
}

/// The schema of a type, by its name.
pub(super) fn definition(name: &str) -> &'static Json {
    let Some(Definition(text, read)) = READ.definitions.get(name) else { return &Json::Null };
    read.get_or_init(|| serde_json::from_str(text.get()).expect("a test has read the file"))
}

/// The schemas of all types, in the order of their names.
pub(super) fn definitions() -> impl Iterator<Item = (&'static str, &'static Json)> {
    READ.definitions.keys().map(|&name| (name, definition(name)))
}

/// A schema with references and "or null" taken away, for TOML has no null.
pub(super) fn plain(schema: &Json) -> &Json {
    let mut plain = schema;
    loop {
        if let Some(reference) = plain["$ref"].as_str() {
            plain = definition(reference.trim_start_matches("#/$defs/"));
        } else if let Some(choices) = plain["anyOf"].as_array() {
            let present = choices.iter().find(|choice| choice["type"] != "null");
            plain = present.unwrap_or(&Json::Null);
        } else {
            return plain;
        }
    }
}

/// The words that a string may be, if the schema lists them.
pub(super) fn words(schema: &Json) -> Option<Vec<&str>> {
    let schema = plain(schema);
    if let Some(word) = schema["const"].as_str() {
        return Some(vec![word]);
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().map(Json::as_str).collect();
    }
    schema["oneOf"].as_array()?.iter().map(|choice| choice["const"].as_str()).collect()
}

/// The tables a tagged table may be, each with its tag's value: (key of the tag, variants).
pub(super) fn variants(schema: &Json) -> Option<(&str, Vec<(&str, &Json)>)> {
    let choices = plain(schema)["oneOf"].as_array()?;
    let (key, _) =
        properties(choices.first()?).find(|(_, property)| property["const"].is_string())?;
    let tagged =
        |choice| Some((plain(choice)["properties"][key]["const"].as_str()?, plain(choice)));
    Some((key, choices.iter().map(tagged).collect::<Option<_>>()?))
}

/// The keys of a table and the schemas of their values.
pub(super) fn properties(schema: &Json) -> impl Iterator<Item = (&str, &Json)> {
    let properties = plain(schema)["properties"].as_object();
    properties.into_iter().flatten().map(|(key, property)| (key.as_str(), property))
}

/// The keys a table must have.
pub(super) fn required(schema: &Json) -> impl Iterator<Item = &str> {
    plain(schema)["required"].as_array().into_iter().flatten().filter_map(Json::as_str)
}

/// The type a value must have; `None` where anything goes.
pub(super) fn type_of(schema: &Json) -> Option<&str> {
    match &plain(schema)["type"] {
        Json::String(name) => Some(name),
        Json::Array(names) => names.iter().filter_map(Json::as_str).find(|&name| name != "null"),
        _ => None,
    }
}

/// What a key is for: its description, shortened to what fits a line of help.
pub(super) fn purpose(schema: &Json) -> Option<String> {
    let description =
        schema["description"].as_str().or_else(|| plain(schema)["description"].as_str())?;
    let line = description.lines().collect::<Vec<_>>().join(" ");
    Some(line.trim_end_matches('.').to_owned())
}

/// The least value that fits the schema: it stands in for one that was wrong or
/// missing, so that the rest can be checked.
pub(super) fn placeholder(schema: &Json) -> toml::Value {
    use toml::Value;

    if let Some(word) = words(schema).as_deref().and_then(<[_]>::first) {
        return Value::String((*word).into());
    }
    if let Some((_, variants)) = variants(schema) {
        return variants.first().map_or(Value::Boolean(false), |(_, variant)| placeholder(variant));
    }
    let schema = plain(schema);
    let minimum = |otherwise: f64| schema["minimum"].as_f64().unwrap_or(otherwise);
    match type_of(schema) {
        Some("string") => Value::String(schema["examples"][0].as_str().unwrap_or_default().into()),
        Some("integer") => Value::Integer(minimum(0.0) as i64),
        Some("number") => Value::Float(minimum(1.0)),
        Some("array") => {
            let count = schema["minItems"].as_u64().unwrap_or(0);
            Value::Array((0..count).map(|_| placeholder(&schema["items"])).collect())
        }
        Some("object") => Value::Table(
            required(schema)
                .map(|key| (key.to_owned(), placeholder(&schema["properties"][key])))
                .collect(),
        ),
        _ => Value::Boolean(false),
    }
}

#[cfg(test)]
mod tests {
    use schemars::schema_for;

    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn the_file_says_what_the_types_say() {
        let types = format!("{:#}\n", schema_for!(Scenario).to_value());
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/scenario/schema.json");
            std::fs::write(path, types).expect("the file can be written");
            return;
        }
        assert!(
            types == SCHEMA_TEXT,
            "src/scenario/schema.json is stale: run UPDATE_SCHEMA=1 cargo test -p haggle --lib schema"
        );
        assert!(definitions().all(|(_, schema)| schema.is_object()));
    }

    /// Serde must accept what the schema calls the least scenario; otherwise the
    /// two have drifted apart and checking could not stand in for reading.
    #[test]
    fn placeholders_of_every_definition_fit() {
        for (name, _) in properties(whole()) {
            let mut scenario = toml::Table::new();
            let schema = &whole()["properties"][name];
            let value = match type_of(schema) {
                Some("array") => toml::Value::Array(vec![placeholder(&plain(schema)["items"])]),
                _ => placeholder(schema),
            };
            scenario.insert(name.into(), value);
            let read = Scenario::deserialize(toml::Value::Table(scenario.clone()));
            assert!(read.is_ok(), "{name}: {scenario}: {read:?}");
        }
    }
}
