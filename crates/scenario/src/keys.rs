//! Every key that a scenario can have, found by walking through the schema: for the manual's page on
//! scenarios and for `haggle help KEY`.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::schema::SCHEMA;
use super::vocabulary::{self, Word};
use haggle_config::nearest;

/// A key, or one of the forms of a table that has several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Keys from the root with dots, such as `provider.checkpoints.cost`; a form of a table counts as a
    /// key, such as `workload.step.fit-load.load`.
    pub path: String,
    /// The same without forms, as paths of a sweep are written, such as `provider.policy.order`.
    pub way: String,
    /// What it takes.
    pub takes: String,
    /// What stands for it where it is not given, as scenarios write it.
    pub default: Option<String>,
    /// Whether it must be given.
    pub required: bool,
    /// What it means.
    pub meaning: String,
    /// The words that it may be.
    pub words: Vec<Word>,
    /// The table that may stand in the place of a word.
    pub beside: Option<Word>,
    /// The table that it opens: equal wherever that is the same.
    pub table: Option<String>,
    /// The table that it is in; none for the first of all.
    pub within: Option<String>,
    /// What says which form a table has, with the word of this one, such as `kind = "fit-load"`.
    pub form: Option<String>,
}

impl Key {
    /// The last part of its path.
    pub fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or_default()
    }
}

/// Tables in the order in which the author of a scenario comes to them.
const ORDER: [&str; 14] = [
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
    "sweep",
    "set",
];

/// Tables that many keys open: the type, and what it is called.
const LAWS: [(&str, &str); 2] = [("Law", "law"), ("TimeLaw", "time law")];

/// All keys; one that is in a table of several places is there once for each.
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

/// The paths of all values that a sweep or `set` can set: `*` stands for all members of a list.
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
    // What is read before anything is set cannot be set, and all runs share the figures.
    let others = ["sweep", "set", "figure", "scenario.extends"];
    let is_other = |way: &str| {
        others
            .iter()
            .any(|it| way == *it || way.strip_prefix(it).is_some_and(|rest| rest.starts_with('.')))
    };
    let values = all.iter().filter(|key| key.table.is_none() && !is_other(&key.way));
    values.map(path).collect()
}

/// The keys that are meant by a path, or by the end of one: each with the other places where it is the same.
pub fn find(typed: &str) -> Vec<(Key, Vec<String>)> {
    let end = typed.trim_matches(['[', ']', '"', '`']);
    let keys = all();
    let is_exact = |key: &Key| key.path == end || key.form.is_none() && key.way == end;
    let exact = keys.iter().any(is_exact);
    let ends = |path: &str| path.strip_suffix(end).is_some_and(|before| before.ends_with('.'));
    let is_meant = |key: &&Key| match exact {
        true => is_exact(key),
        false => ends(&key.path) || key.form.is_none() && ends(&key.way),
    };
    let mut found: Vec<(Key, Vec<String>)> = Vec::new();
    for key in keys.iter().filter(is_meant) {
        let same = |(other, _): &&mut (Key, _)| {
            let table = other.within == key.within && other.within.is_some();
            let forms = other.way == key.way && other.meaning == key.meaning;
            (table || forms) && other.name() == key.name()
        };
        match found.iter_mut().find(same) {
            Some((_, elsewhere)) => elsewhere.push(key.path.clone()),
            None => found.push((key.clone(), Vec::new())),
        }
    }
    found
}

/// The keys, tables and forms that have this word, each with what it means there.
pub fn that_may_be(word: &str) -> Vec<(Key, Word)> {
    let mut found: Vec<(Key, Word)> = Vec::new();
    for key in all() {
        let meant = key.words.iter().find(|known| known.word == word).cloned();
        let is_new = |key: &Key| found.iter().all(|(other, _)| other.words != key.words);
        if let Some(meant) = meant.filter(|_| is_new(&key)) {
            found.push((key, meant));
        }
    }
    found
}

/// What a type of values is, by the name that keys have of it, such as "time" or "law".
pub fn type_called(typed: &str) -> Option<String> {
    let quantities = quantities()
        .map(|(name, meaning, example)| (name, format!("{meaning}, such as {example}")));
    let laws = laws().map(|(name, about)| (name.to_owned(), about));
    quantities.chain(laws).find(|kind| kind.0 == typed).map(|kind| kind.1)
}

/// The key or word that is nearest to one that there is not.
pub fn suggestion(typed: &str) -> Option<String> {
    let keys = all();
    let known = keys.iter().flat_map(|key| {
        let words = key.words.iter().map(|word| word.word.as_str());
        [key.path.as_str(), key.name()].into_iter().chain(words)
    });
    nearest(typed, known).map(str::to_owned)
}

/// A key, with what the schema says of its value.
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
    let words = definition(inner).map(vocabulary::words).filter(|_| !opens).unwrap_or_default();
    let beside = definition(inner).and_then(vocabulary::table_beside).filter(|_| !opens);
    // Of what a word stands for, too, the default is that word. Other tables have defaults at their keys, unless they
    // have forms.
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

/// Adds the keys of a table: those that must be given first.
fn add_keys(
    keys: &mut Vec<Key>,
    table: Option<&str>,
    (path, way): (&str, &str),
    of: &Json,
    tag: Option<&str>,
) {
    let must = |name: &str| SCHEMA.required(of).any(|required| required == name);
    let mut found: Vec<_> = SCHEMA.properties(of).filter(|&(name, _)| Some(name) != tag).collect();
    found.sort_by_key(|&(name, _)| !must(name));
    for (name, schema) in found {
        let (path, way) = (format!("{path}.{name}"), format!("{way}.{name}"));
        add(keys, table, &Place { path, way, schema, required: must(name) });
    }
}

/// What the elements of a list are; of anything else, itself.
fn element(schema: &Json) -> &Json {
    match SCHEMA.type_of(schema) {
        Some("array") => element(&SCHEMA.plain(schema)["items"]),
        _ => schema,
    }
}

/// The name of the type that a schema refers to.
fn definition(schema: &Json) -> Option<&str> {
    let choices = schema["anyOf"].as_array().into_iter().flatten();
    let reference = choices.chain([schema]).find_map(|choice| choice["$ref"].as_str());
    reference?.strip_prefix("#/$defs/")
}

/// What a law is called.
fn law(definition: &str) -> Option<&'static str> {
    LAWS.iter().find(|law| law.0 == definition).map(|law| law.1)
}

/// What a text of this format is called.
fn text_of(format: &str) -> String {
    match format {
        "time-span" => "time".to_owned(),
        other => other.replace('-', " "),
    }
}

/// The laws: what each is called and what it is.
pub(super) fn laws() -> impl Iterator<Item = (&'static str, String)> {
    LAWS.iter().map(|(definition, name)| (*name, about(SCHEMA.definition(definition))))
}

/// What a value has to be.
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

/// Between which numbers a number has to be.
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

/// A value as a scenario writes it.
/// A default that there is, as scenarios write it.
fn given(default: &Json) -> Option<String> {
    Some(default).filter(|default| !default.is_null()).map(as_written)
}

/// An inline table whose first key names its form, such as `{ law = "poisson", mean = 20.0 }`.
fn table_of(tag: &str, table: &Json) -> Option<String> {
    let mut keys = Vec::from_iter(table.as_object()?);
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

/// What the schema says of it, in one line.
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
