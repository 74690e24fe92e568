//! Queries of a JSON schema for the check of documents.
//!
//! A definition is parsed at its first use. Most definitions never are.
//!
//! Indexing a `Json` without this key gives null. A query therefore finds nothing in a schema that does
//! not contain the property.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::Value as Json;
use serde_json::value::RawValue;

/// The file, with the definitions as they are written.
#[derive(Deserialize)]
struct Written {
    #[serde(borrow, rename = "$defs")]
    definitions: BTreeMap<&'static str, &'static RawValue>,
    #[serde(flatten)]
    root: Json,
}

/// A definition, and its parsed form after the first use.
struct Definition(&'static RawValue, OnceLock<Json>);

/// A JSON schema against which documents are checked.
pub struct Schema {
    root: Json,
    definitions: BTreeMap<&'static str, Definition>,
}

impl Schema {
    /// Reads a schema.
    ///
    /// # Errors
    /// If it is not JSON.
    pub fn read(text: &'static str) -> Result<Schema, serde_json::Error> {
        let Written { definitions, root } = serde_json::from_str(text)?;
        let unread = |(name, text)| (name, Definition(text, OnceLock::new()));
        Ok(Schema { root, definitions: definitions.into_iter().map(unread).collect() })
    }

    /// The schema of a whole document, without the definitions it refers to.
    pub fn whole(&'static self) -> &'static Json {
        &self.root
    }

    /// The schema of a type, by its name.
    pub fn definition(&'static self, name: &str) -> &'static Json {
        let Some(Definition(text, read)) = self.definitions.get(name) else { return &Json::Null };
        read.get_or_init(|| serde_json::from_str(text.get()).unwrap_or(Json::Null))
    }

    /// The schemas of all types, in the order of their names.
    pub fn definitions(&'static self) -> impl Iterator<Item = (&'static str, &'static Json)> {
        self.definitions.keys().map(|&name| (name, self.definition(name)))
    }

    /// The schema without references and "or null", because TOML has no null.
    pub fn plain<'s>(&'static self, schema: &'s Json) -> &'s Json {
        let mut plain = schema;
        loop {
            if let Some(reference) = plain["$ref"].as_str() {
                plain = self.definition(reference.trim_start_matches("#/$defs/"));
            } else if let Some(choices) = plain["anyOf"].as_array() {
                let present = choices.iter().find(|choice| choice["type"] != "null");
                plain = present.unwrap_or(&Json::Null);
            } else {
                return plain;
            }
        }
    }

    /// The words that a string may be, if the schema lists them. A table may be permitted as well, see
    /// [`Schema::table_beside_words`].
    pub fn words<'s>(&'static self, schema: &'s Json) -> Option<Vec<&'s str>> {
        let schema = self.plain(schema);
        if let Some(word) = schema["const"].as_str() {
            return Some(vec![word]);
        }
        if let Some(words) = schema["enum"].as_array() {
            return words.iter().map(Json::as_str).collect();
        }
        let choices = schema["oneOf"].as_array()?;
        let words =
            choices.iter().filter_map(|choice| choice["const"].as_str()).collect::<Vec<_>>();
        (!words.is_empty()).then_some(words)
    }

    /// The table without a tag that is permitted instead of a word or a tagged table.
    pub fn table_beside_words<'s>(&'static self, schema: &'s Json) -> Option<&'s Json> {
        self.words(schema)?;
        self.tables(schema).find(|table| self.tag(table).is_none())
    }

    /// The alternatives of a tagged table, each with its tag's value: (key of the tag, variants). If
    /// the schema has these values as words, too, a word alone means the table that has only this tag.
    pub fn variants<'s>(
        &'static self,
        schema: &'s Json,
    ) -> Option<(&'s str, Vec<(&'s str, &'s Json)>)> {
        let mut key = None;
        let tagged = |table| {
            let (tag, word) = self.tag(table)?;
            key = Some(tag);
            Some((word, table))
        };
        let variants = self.tables(schema).filter_map(tagged).collect();
        Some((key?, variants))
    }

    /// The table that is permitted here for the tag that `written` finds. Without tags, the only table.
    pub fn table_for<'s, 'w>(
        &'static self,
        schema: &'s Json,
        written: impl Fn(&str) -> Option<&'w str>,
    ) -> Option<&'s Json> {
        let Some((tag, variants)) = self.variants(schema) else { return Some(self.plain(schema)) };
        match written(tag) {
            Some(word) => variants.into_iter().find(|(name, _)| *name == word).map(|it| it.1),
            None => self.table_beside_words(schema),
        }
    }

    /// The tables among the alternatives of a schema.
    fn tables<'s>(&'static self, schema: &'s Json) -> impl Iterator<Item = &'s Json> {
        let choices = self.plain(schema)["oneOf"].as_array().into_iter().flatten();
        choices.map(|choice| self.plain(choice)).filter(|choice| choice["type"] == "object")
    }

    /// The key by which a table differs from its alternatives, and its value there.
    fn tag<'s>(&'static self, table: &'s Json) -> Option<(&'s str, &'s str)> {
        self.properties(table).find_map(|(key, property)| Some((key, property["const"].as_str()?)))
    }

    /// The keys of a table and the schemas of their values.
    pub fn properties<'s>(
        &'static self,
        schema: &'s Json,
    ) -> impl Iterator<Item = (&'s str, &'s Json)> + use<'s> {
        let properties = self.plain(schema)["properties"].as_object();
        properties.into_iter().flatten().map(|(key, property)| (key.as_str(), property))
    }

    /// The keys a table must have.
    pub fn required<'s>(
        &'static self,
        schema: &'s Json,
    ) -> impl Iterator<Item = &'s str> + use<'s> {
        self.plain(schema)["required"].as_array().into_iter().flatten().filter_map(Json::as_str)
    }

    /// The type that a value must have; `None` = any.
    pub fn type_of<'s>(&'static self, schema: &'s Json) -> Option<&'s str> {
        match &self.plain(schema)["type"] {
            Json::String(name) => Some(name),
            Json::Array(names) => {
                names.iter().filter_map(Json::as_str).find(|&name| name != "null")
            }
            _ => None,
        }
    }

    /// Purpose of a key: its description in one line.
    pub fn purpose(&'static self, schema: &Json) -> Option<String> {
        let description = schema["description"]
            .as_str()
            .or_else(|| self.plain(schema)["description"].as_str())?;
        let line = description.lines().collect::<Vec<_>>().join(" ");
        Some(line.trim_end_matches('.').to_owned())
    }

    /// The smallest value that fits the schema. It replaces a wrong or missing value, so that the rest
    /// can be checked.
    pub fn placeholder(&'static self, schema: &Json) -> toml::Value {
        use toml::Value;

        if let Some((_, variants)) = self.variants(schema) {
            return variants
                .first()
                .map_or(Value::Boolean(false), |(_, variant)| self.placeholder(variant));
        }
        if let Some(word) = self.words(schema).as_deref().and_then(<[_]>::first) {
            return Value::String((*word).into());
        }
        let schema = self.plain(schema);
        let minimum = |otherwise: f64| schema["minimum"].as_f64().unwrap_or(otherwise);
        match self.type_of(schema) {
            Some("string") => {
                Value::String(schema["examples"][0].as_str().unwrap_or_default().into())
            }
            Some("integer") => Value::Integer(minimum(0.0) as i64),
            // Not 0, which an exclusive minimum of 0 would refuse.
            Some("number") => Value::Float(minimum(1.0)),
            Some("array") => {
                let count = schema["minItems"].as_u64().unwrap_or(0);
                Value::Array((0..count).map(|_| self.placeholder(&schema["items"])).collect())
            }
            Some("object") => Value::Table(
                self.required(schema)
                    .map(|key| (key.to_owned(), self.placeholder(&schema["properties"][key])))
                    .collect(),
            ),
            _ => Value::Boolean(false),
        }
    }
}
