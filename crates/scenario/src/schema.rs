//! The JSON schema of scenario files, made from the types that hold them.
//!
//! It is stored in `schema.json`, because every command reads it. A test compares the file with the types.

use std::sync::LazyLock;

use haggle_config::document::Node;
use haggle_config::{Findings, Rules, Schema};

use crate::quantity::check_format;

/// The JSON schema of a scenario file, for editors and for `haggle schema`.
pub const SCHEMA_TEXT: &str = include_str!("schema.json");

/// The same, parsed.
pub static SCHEMA: LazyLock<Schema> =
    LazyLock::new(|| Schema::read(SCHEMA_TEXT).expect("a test has read the file"));

/// Checks a document, and changes it so that it fits the schema.
pub(crate) fn conform(root: &mut Node) -> Findings {
    haggle_config::conform(root, Rules { schema: &SCHEMA, check_format })
}

#[cfg(test)]
mod tests {
    use schemars::schema_for;
    use serde::Deserialize;

    use super::*;
    use crate::Scenario;

    #[test]
    fn the_file_says_what_the_types_say() {
        let types = format!("{:#}\n", schema_for!(Scenario).to_value());
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/schema.json");
            std::fs::write(path, types).expect("the file can be written");
            return;
        }
        assert!(
            types == SCHEMA_TEXT,
            "crates/scenario/src/schema.json is stale: run UPDATE_SCHEMA=1 cargo test -p haggle-scenario schema"
        );
        assert!(SCHEMA.definitions().all(|(_, schema)| schema.is_object()));
    }

    /// Serde must accept the smallest scenario of the schema. Otherwise the two differ, and a checked document
    /// might not be readable.
    #[test]
    fn placeholders_of_every_definition_fit() {
        for (name, _) in SCHEMA.properties(SCHEMA.whole()) {
            let mut scenario = toml::Table::new();
            let schema = &SCHEMA.whole()["properties"][name];
            let value = match SCHEMA.type_of(schema) {
                Some("array") => {
                    toml::Value::Array(vec![SCHEMA.placeholder(&SCHEMA.plain(schema)["items"])])
                }
                _ => SCHEMA.placeholder(schema),
            };
            scenario.insert(name.into(), value);
            let read = Scenario::deserialize(toml::Value::Table(scenario.clone()));
            assert!(read.is_ok(), "{name}: {scenario}: {read:?}");
        }
    }
}
