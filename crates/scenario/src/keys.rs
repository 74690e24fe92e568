//! All keys of a scenario, collected from the schema. `haggle help KEY` and the page on scenarios in the manual
//! use them.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::schema::SCHEMA;
use super::vocabulary::{self, Word};
use haggle_config::nearest;

/// A key, or a form of a table that has several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Keys from the root with dots, such as `provider.checkpoints.cost`; a form of a table counts as a
    /// key, such as `workload.step.fit-load.load`.
    pub path: String,
    /// Path without forms, as written in a sweep, such as `provider.policy.order`.
    pub way: String,
    /// Type of its value.
    pub takes: String,
    /// Default value, as scenarios write it.
    pub default: Option<String>,
    /// True if the key is required.
    pub required: bool,
    /// Meaning of the key.
    pub meaning: String,
    /// Words that are valid values.
    pub words: Vec<Word>,
    /// Table that may be written in place of a word.
    pub beside: Option<Word>,
    /// Table that it opens; keys with the same value open the same table.
    pub table: Option<String>,
    /// Table that contains it; `None` for the tables of the root.
    pub within: Option<String>,
    /// Tag and word that select this form of a table, such as `kind = "fit-load"`.
    pub form: Option<String>,
}

impl Key {
    /// Last part of its path.
    pub fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or_default()
    }
}

/// Tables in the order in which the author of a scenario needs them.
const ORDER: [&str; 16] = [
    "scenario",
    "workload",
    "user",
    "provider",
    "metascheduler",
    "network",
    "failures",
    "maintenance",
    "grid",
    "plans",
    "results",
    "figure",
    "change",
    "branch",
    "sweep",
    "set",
];

/// Tables that many keys open: type and name.
const LAWS: [(&str, &str); 2] = [("Law", "law"), ("TimeLaw", "time law")];

/// All keys; a key in a table of several places is listed once for each.
pub fn all() -> Vec<Key> {
    let mut keys = Vec::new();
    let root = &SCHEMA.whole()["properties"];
    for name in ORDER {
        add(
            &mut keys,
            None,
            &Place {
                path: name.to_owned(),
                way: name.to_owned(),
                schema: &root[name],
                required: false,
            },
        );
    }
    keys
}

/// All keys without the forms of tables, each once, as `haggle help` takes them.
pub fn ways() -> BTreeSet<String> {
    all().into_iter().map(|key| key.way).collect()
}

/// Paths of all values that a sweep or `set` can change; `*` stands for all members of a list.
pub fn paths() -> BTreeSet<String> {
    let all = all();
    let lists: BTreeSet<&str> = all
        .iter()
        .filter(|key| key.takes.starts_with("list: table"))
        .map(|key| key.way.as_str())
        .collect();
    let path = |key: &Key| {
        let mut way = String::new();
        let mut path = String::new();
        for part in key.way.split('.') {
            for text in [&mut way, &mut path] {
                text.push_str(if text.is_empty() { "" } else { "." });
                text.push_str(part);
            }
            if lists.contains(way.as_str()) {
                path.push_str(".*");
            }
        }
        path
    };
    // Keys that are read before anything is set cannot be set, and all runs share the figures.
    let others = ["sweep", "set", "figure", "scenario.extends"];
    let is_other = |way: &str| {
        others
            .iter()
            .any(|it| way == *it || way.strip_prefix(it).is_some_and(|rest| rest.starts_with('.')))
    };
    let values = all.iter().filter(|key| key.table.is_none() && !is_other(&key.way));
    values.map(path).collect()
}

/// Keys that a path, or the end of one, stands for. Each has the other places at which it is the same.
pub fn find(typed: &str) -> Vec<(Key, Vec<String>)> {
    // Users copy headers and quoted keys from scenarios and messages.
    let end = typed.trim_matches(['[', ']', '"', '`']);
    let keys = all();
    let is_exact = |key: &Key| key.path == end || key.form.is_none() && key.way == end;
    let exact = keys.iter().any(is_exact);
    let ends = |path: &str| path.strip_suffix(end).is_some_and(|before| before.ends_with('.'));
    // An exact path has precedence over paths that end in it.
    let is_meant = |key: &&Key| match exact {
        true => is_exact(key),
        false => ends(&key.path) || key.form.is_none() && ends(&key.way),
    };
    let mut found: Vec<(Key, Vec<String>)> = Vec::new();
    for key in keys.iter().filter(is_meant) {
        let same = |(other, _): &&mut (Key, _)| {
            let table = other.within == key.within && other.within.is_some();
            let forms = other.way == key.way && other.meaning == key.meaning;
            // A key of a table at several places, or of several forms, is explained once.
            (table || forms) && other.name() == key.name()
        };
        match found.iter_mut().find(same) {
            Some((_, elsewhere)) => elsewhere.push(key.path.clone()),
            None => found.push((key.clone(), Vec::new())),
        }
    }
    found
}

/// Keys, tables and forms that have this word, each with the meaning of the word there.
pub fn that_may_be(word: &str) -> Vec<(Key, Word)> {
    let mut found: Vec<(Key, Word)> = Vec::new();
    for key in all() {
        let meant = key.words.iter().find(|known| known.word == word).cloned();
        // Keys of one type have the same words, and the first of them is enough.
        let is_new = |key: &Key| found.iter().all(|(other, _)| other.words != key.words);
        if let Some(meant) = meant.filter(|_| is_new(&key)) {
            found.push((key, meant));
        }
    }
    found
}

/// Meaning of a type of values, by its name in the keys, such as "time" or "law".
pub fn type_called(typed: &str) -> Option<String> {
    let quantities = quantities()
        .map(|(name, meaning, example)| (name, format!("{meaning}, such as {example}")));
    let laws = laws().map(|(name, about)| (name.to_owned(), about));
    quantities.chain(laws).find(|kind| kind.0 == typed).map(|kind| kind.1)
}

/// Known key or word that is nearest to an unknown one.
pub fn suggestion(typed: &str) -> Option<String> {
    let keys = all();
    let known = keys.iter().flat_map(|key| {
        let words = key.words.iter().map(|word| word.word.as_str());
        [key.path.as_str(), key.name()].into_iter().chain(words)
    });
    nearest(typed, known).map(str::to_owned)
}

/// A key with the schema of its value.
struct Place<'s> {
    path: String,
    way: String,
    schema: &'s Json,
    required: bool,
}

/// Adds a key and all keys below it.
fn add(keys: &mut Vec<Key>, within: Option<&str>, place: &Place) {
    let Place { path, way, schema, required: is_required } = place;
    let inner = element(schema);
    let forms = SCHEMA.variants(inner);
    let opens = forms.is_some() || SCHEMA.properties(inner).next().is_some();
    let table = opens.then(|| match definition(inner) {
        Some(name) => law(name).unwrap_or(name).to_owned(),
        None => path.clone(),
    });
    // Words that open a table are told as its forms.
    let words = definition(inner).map(vocabulary::words).filter(|_| !opens).unwrap_or_default();
    let beside = definition(inner).and_then(vocabulary::table_beside).filter(|_| !opens);
    // The default of a table that a word stands for is that word, too. Other tables have defaults at their keys,
    // unless they have forms.
    let default = match &forms {
        Some((tag, _)) if SCHEMA.words(inner).is_some() => given(&schema["default"][tag]),
        Some((tag, _)) => table_of(tag, &schema["default"]),
        None if opens => None,
        None => given(&schema["default"]),
    };
    keys.push(Key {
        path: path.clone(),
        way: way.clone(),
        takes: takes(schema),
        default,
        required: *is_required,
        meaning: about(schema),
        words,
        beside,
        table: table.clone(),
        within: within.map(str::to_owned),
        form: None,
    });
    let table = table.as_deref();
    let Some((tag, forms)) = forms else {
        return add_keys(keys, table, (path, way), inner, None);
    };
    let forms = forms.into_iter().map(|(word, form)| (word, form, tag, format!("\"{word}\"")));
    let own = SCHEMA.table_beside_words(inner).and_then(|table| {
        let key = SCHEMA.required(table).next()?;
        Some((key, table, key, "\"NAME\"".to_owned()))
    });
    for (word, form, tag, value) in forms.chain(own) {
        let path = format!("{path}.{word}");
        keys.push(Key {
            path: path.clone(),
            way: way.clone(),
            takes: "table".to_owned(),
            default: None,
            required: false,
            meaning: about(form),
            words: Vec::new(),
            beside: None,
            table: None,
            within: table.map(str::to_owned),
            form: Some(format!("{tag} = {value}")),
        });
        let within = format!("{} {word}", table.unwrap_or_default());
        add_keys(keys, Some(&within), (&path, way), form, Some(tag));
    }
}

/// Adds the keys of a table, required keys first.
fn add_keys(
    keys: &mut Vec<Key>,
    table: Option<&str>,
    (path, way): (&str, &str),
    of: &Json,
    tag: Option<&str>,
) {
    let must = |name: &str| SCHEMA.required(of).any(|required| required == name);
    // The tag is told with the form itself.
    let mut found: Vec<_> = SCHEMA.properties(of).filter(|&(name, _)| Some(name) != tag).collect();
    // Stable: within both kinds in the order of the schema.
    found.sort_by_key(|&(name, _)| !must(name));
    for (name, schema) in found {
        let (path, way) = (format!("{path}.{name}"), format!("{way}.{name}"));
        add(keys, table, &Place { path, way, schema, required: must(name) });
    }
}

/// Schema of the elements of a list; for other types, the schema itself.
fn element(schema: &Json) -> &Json {
    match SCHEMA.type_of(schema) {
        Some("array") => element(&SCHEMA.plain(schema)["items"]),
        _ => schema,
    }
}

/// Name of the type to which a schema refers.
fn definition(schema: &Json) -> Option<&str> {
    let choices = schema["anyOf"].as_array().into_iter().flatten();
    let reference = choices.chain([schema]).find_map(|choice| choice["$ref"].as_str());
    reference?.strip_prefix("#/$defs/")
}

/// Name of a law.
fn law(definition: &str) -> Option<&'static str> {
    LAWS.iter().find(|law| law.0 == definition).map(|law| law.1)
}

/// Name of a format of text.
fn text_of(format: &str) -> String {
    match format {
        "time-span" => "time".to_owned(),
        other => other.replace('-', " "),
    }
}

/// The laws: names and meanings.
pub(super) fn laws() -> impl Iterator<Item = (&'static str, String)> {
    LAWS.iter().map(|(definition, name)| (*name, about(SCHEMA.definition(definition))))
}

/// Type and bounds of a value, in words.
fn takes(schema: &Json) -> String {
    let flat = SCHEMA.plain(schema);
    if let Some(law) = definition(schema).and_then(law) {
        return law.to_owned();
    }
    match SCHEMA.type_of(schema) {
        Some("array") => {
            let of = takes(&flat["items"]);
            match (flat["minItems"].as_u64(), flat["maxItems"].as_u64()) {
                (Some(least), Some(most)) if least == most => format!("list of {least}: {of}"),
                _ => format!("list: {of}"),
            }
        }
        Some("boolean") => "true or false".to_owned(),
        Some("integer") => format!("whole number{}", bounds(flat)),
        Some("number") => format!("number{}", bounds(flat)),
        Some("string") => flat["format"].as_str().map_or_else(|| "text".to_owned(), text_of),
        Some("object") => "table".to_owned(),
        _ if !vocabulary::words(definition(schema).unwrap_or_default()).is_empty() => {
            let tagged = SCHEMA.variants(schema).is_some();
            let beside = SCHEMA.table_beside_words(schema).is_some();
            match SCHEMA.words(schema) {
                None => "table",
                Some(_) if tagged || beside => "word or table",
                Some(_) => "word",
            }
            .to_owned()
        }
        _ => "any value".to_owned(),
    }
}

/// Bounds of a number, in words.
fn bounds(schema: &Json) -> String {
    let bound = |sign: &str, key: &str| {
        let number = schema[key].as_f64()?;
        Some(format!("{sign} {number}"))
    };
    let low = bound(">", "exclusiveMinimum").or_else(|| bound("≥", "minimum"));
    let high = bound("<", "exclusiveMaximum").or_else(|| bound("≤", "maximum"));
    match (low, high) {
        (None, None) => String::new(),
        (Some(one), None) | (None, Some(one)) => format!(" {one}"),
        (Some(low), Some(high)) => format!(" {low}, {high}"),
    }
}

/// A default value as scenarios write it, if there is one.
fn given(default: &Json) -> Option<String> {
    Some(default).filter(|default| !default.is_null()).map(as_written)
}

/// An inline table whose first key names its form, such as `{ law = "poisson", mean = 20.0 }`.
fn table_of(tag: &str, table: &Json) -> Option<String> {
    let mut keys = Vec::from_iter(table.as_object()?);
    // The tag first, as scenarios write it.
    keys.sort_by_key(|(key, _)| *key != tag);
    let keys = keys.into_iter().map(|(key, value)| format!("{key} = {}", as_written(value)));
    Some(format!("{{ {} }}", keys.collect::<Vec<_>>().join(", ")))
}

fn as_written(value: &Json) -> String {
    match value {
        Json::Object(keys) => {
            let keys: Vec<_> =
                keys.iter().map(|(key, value)| format!("{key} = {}", as_written(value))).collect();
            if keys.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", keys.join(", ")) }
        }
        Json::Array(values) => {
            format!("[{}]", values.iter().map(as_written).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Description in the schema, in one line.
fn about(schema: &Json) -> String {
    let own =
        schema["description"].as_str().or_else(|| SCHEMA.plain(schema)["description"].as_str());
    own.unwrap_or_default().lines().collect::<Vec<_>>().join(" ")
}

/// The kinds of text, such as times with a unit: name, meaning and example.
pub(super) fn quantities() -> impl Iterator<Item = (String, String, String)> {
    let definitions = SCHEMA.definitions();
    definitions.filter_map(|(_, it)| {
        let name = it["format"].as_str().filter(|_| it["type"] == "string")?;
        Some((text_of(name), about(it), as_written(&it["examples"][0])))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_has_every_table_once() {
        let mut order = ORDER;
        order.sort_unstable();
        let mut tables: Vec<&str> =
            SCHEMA.properties(SCHEMA.whole()).map(|(name, _)| name).collect();
        tables.sort_unstable();
        assert_eq!(order.as_slice(), tables);
    }

    #[test]
    fn every_key_has_a_meaning_and_a_type() {
        for key in all() {
            assert!(!key.meaning.is_empty(), "{}", key.path);
            let any = ["values", "set"].contains(&key.name());
            assert!(any || key.takes != "any value", "{}", key.path);
        }
    }

    #[test]
    fn a_key_is_found_by_the_end_of_its_path() {
        let one = |typed| {
            let found = find(typed);
            assert_eq!(found.len(), 1, "{typed}: {found:?}");
            found[0].0.path.clone()
        };
        assert_eq!(one("provider.policy"), "provider.policy");
        assert_eq!(one("[[provider]]"), "provider");
        assert_eq!(one("fit-load"), "workload.step.fit-load");
        let paths: Vec<String> = find("checkpoints").into_iter().map(|(key, _)| key.path).collect();
        assert_eq!(paths, ["provider.checkpoints", "grid.checkpoints", "results.checkpoints"]);
        assert!(find("polic").is_empty());
        assert!(type_called("time").is_some_and(|about| about.contains("18h")));
        assert!(type_called("time law").is_some());
        assert_eq!(that_may_be("periodic")[0].0.path, "provider.checkpoints.rule");
        assert_eq!(one("conservative"), "provider.policy.conservative");
        assert_eq!(one("provider.policy.compression"), "provider.policy.conservative.compression");
        let orders = find("provider.policy.order");
        assert_eq!(orders.len(), 1, "the same for all policies that have it");
        assert_eq!(
            orders[0].1,
            ["provider.policy.easy.order", "provider.policy.conservative.order"]
        );
        assert_eq!(orders[0].0.default.as_deref(), Some("\"arrival\""));
        assert_eq!(find("provider.policy")[0].0.default.as_deref(), Some("\"easy\""));
        let law = find("metascheduler.coallocation.overhead");
        let poisson = r#"{ law = "poisson", mean = 20.0 }"#;
        assert_eq!(law[0].0.default.as_deref(), Some(poisson), "no table has it at its keys");
        assert_eq!(suggestion("provider.polcy").as_deref(), Some("provider.policy"));
    }
}
