//! No key is silent: each key of a scenario changes the results, or is refused, or causes a
//! warning.
//!
//! The keys come from the schema and the values from their types, so a new key is tried as soon as
//! it exists. The scenarios in `every_key/` are made so that every key matters in one of them. A
//! key that never changes anything fails the test until one of them uses it.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use haggle::experiment::sweep::{OnFailure, SweepConduct, Wanted, sweep};
use haggle::experiment::{Conduct, Destination, Figures, Keep, Outcome, Unwatched, run};
use haggle::scenario::{Experiment, Logs, SCHEMA_TEXT, Source};
use haggle_results::Existing;
use haggle_runtime::Driver;
use serde_json::Value as Json;
use tempfile::TempDir;
use toml::Value;

/// The scenarios in which keys are changed, and the files that they read.
const BASES: [&str; 44] = [
    "queue",
    "passes",
    "initial",
    "grid-initial",
    "bags",
    "reservations",
    "maintenance",
    "spread",
    "relaxed",
    "coordinated",
    "slots",
    "coallocated",
    "requests",
    "mapped",
    "protocols",
    "moldable",
    "grid",
    "replicas",
    "copies",
    "both",
    "outputs",
    "moving",
    "young",
    "sessions",
    "session-outputs",
    "limit",
    "workflows",
    "workflow-files",
    "flows",
    "static-flows",
    "plans",
    "plans-genetic",
    "plans-recorded",
    "plans-workflows",
    "models",
    "steps",
    "log",
    "sweep",
    "changes",
    "following",
    "nodes",
    "queues",
    "preemption",
    "sites",
];
const LAWS: &str = "laws";
const READ: [&str; 17] = [
    "all-rules.swf",
    "nodes.swf",
    "queues.swf",
    "other.swf",
    "sessions.swf",
    "jobs.sacct",
    "site.sacct",
    "jobs.csv",
    "columns.mapping",
    "initial.csv",
    "other.csv",
    "failures.tab",
    "other.tab",
    "machines.loads",
    "flow.json",
    "flow.dax",
    "negative.dax",
];

/// Keys for people, or with tests elsewhere.
const EXEMPT: [(&str, &str); 9] = [
    ("Account.name", "names an account for `parent` and messages"),
    ("Header.description", "is there to be read, and `show` prints it"),
    ("Header.extends", "names another file: tests/cli_extends.rs"),
    ("LogReading.format", "is known from the content of most logs: tests/cli_formats.rs"),
    ("Node.name", "names nodes for queues: tests/cli_queues.rs"),
    ("Offers.told", "has one word; rules in its place: tests/cli_own_rules.rs"),
    ("Qos.name", "names a quality of service for `preempts` and messages"),
    ("Queue.name", "names a queue for `preempts` and messages"),
    ("Sweep.max-runs", "is a bound: a sweep that exceeds it is refused"),
];

/// Keys that change only figures.
const FIGURES: [&str; 3] = ["Header.name", "Results.", "Figure"];

static SCHEMA: LazyLock<Json> =
    LazyLock::new(|| serde_json::from_str(SCHEMA_TEXT).expect("a schema"));

/// Result of a scenario.
#[derive(Clone, Debug, PartialEq)]
enum Came {
    /// It is refused, before or during the run.
    Refused,
    /// Every file of the results, except those about the scenario itself; and the warnings.
    Results(BTreeMap<String, Vec<u8>>, BTreeSet<String>),
}

/// A step into a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Key(String),
    Index(usize),
}

/// A key of a table in a scenario: its name in the format, and its path.
struct Place {
    key: String,
    path: Vec<Step>,
    property: Json,
}

impl Place {
    /// True if one of `warnings` is about it, or about a table that it is in.
    fn is_in(&self, warnings: &BTreeSet<String>) -> bool {
        let keys = self.path.iter().filter_map(|step| match step {
            Step::Key(key) => Some(format!("`{key}` of ")),
            Step::Index(_) => None,
        });
        keys.into_iter().any(|key| warnings.iter().any(|text| text.starts_with(&key)))
    }
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/every_key");
    for name in READ {
        fs::copy(from.join(name), folder.path().join(name)).expect("a file of the test");
    }
    folder
}

fn base(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/every_key/{name}.toml"));
    let text = fs::read_to_string(path).expect("a scenario of the test");
    let mut scenario = Value::Table(text.parse().expect("TOML"));
    spell_out(&mut scenario, &SCHEMA);
    scenario
}

/// Replaces words that are short for a table by this table, so that its keys can be tried.
fn spell_out(value: &mut Value, schema: &Json) {
    let (_, schema) = plain(schema);
    if let (Value::String(word), Some((tag, choices))) = (&*value, tagged(schema))
        && choices.iter().any(|(it, _)| it == word)
    {
        *value = Value::Table([(tag, Value::String(word.clone()))].into_iter().collect());
    }
    match value {
        Value::Table(table) => {
            let tag = tagged(schema).map(|(tag, choices)| (table.get(&tag).cloned(), choices));
            let schema = match tag {
                Some((word, choices)) => choices
                    .into_iter()
                    .find(|(it, _)| Some(it.as_str()) == word.as_ref().and_then(Value::as_str))
                    .map_or(&Json::Null, |choice| choice.1),
                None => schema,
            };
            for (key, value) in table {
                spell_out(value, &schema["properties"][key]);
            }
        }
        Value::Array(items) => {
            for item in items {
                spell_out(item, &schema["items"]);
            }
        }
        _ => {}
    }
}

/// Summary of a scenario, which costs less than its results.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    /// It is refused.
    Refused,
    /// Its summary, without warnings.
    Summary(Json),
    /// It has several runs.
    Several,
}

fn read(scenario: &Value, folder: &Path) -> Option<Experiment> {
    let text = toml::to_string(scenario).expect("TOML");
    Experiment::read(Source::new(folder.join("scenario.toml"), text), Logs::MustExist).ok()
}

fn look(scenario: &Value, folder: &Path) -> Seen {
    let Some(experiment) = read(scenario, folder) else { return Seen::Refused };
    if experiment.runs().count() > 1 {
        return Seen::Several;
    }
    let one = experiment.runs().next().expect("a run");
    match run(&one.scenario(), folder, None, &conduct(&AtomicBool::new(false))) {
        Ok(Outcome { summary, .. }) => {
            let mut summary = serde_json::to_value(summary).expect("JSON");
            summary["warnings"] = Json::Null;
            Seen::Summary(summary)
        }
        Err(_) => Seen::Refused,
    }
}

fn conduct(stop: &AtomicBool) -> Conduct<'_> {
    let driver = Driver::Sequential;
    Conduct { driver, stop, watch: &Unwatched, check: false, warnings: &[] }
}

/// Carries out a scenario that lies in `folder`.
fn come(scenario: &Value, folder: &Path, figures: Figures) -> Came {
    let Some(experiment) = read(scenario, folder) else { return Came::Refused };
    let stop = AtomicBool::new(false);
    let results = tempfile::tempdir_in(folder).expect("a folder for the results");
    let output = results.path().join("results");
    let mut warnings: BTreeSet<String> =
        experiment.warnings.found.iter().map(|warning| warning.message.clone()).collect();
    if experiment.runs().count() > 1 {
        let conduct = SweepConduct {
            output: &output,
            wanted: Wanted { keep: Keep::Tables, any_build: false },
            pack: None,
            workers: 1,
            figures: Figures::Skip,
            on_failure: OnFailure::Stop,
            stop: &stop,
            on_run: &|| {},
        };
        let Ok(swept) = sweep(&experiment, folder, &conduct) else { return Came::Refused };
        warnings.extend(swept.warnings);
    } else {
        let one = experiment.runs().next().expect("a run");
        let destination = Destination {
            folder: output.clone(),
            end: None,
            keep: Keep::Tables,
            existing: Existing::Keep,
            figures,
        };
        match run(&one.scenario(), folder, Some(&destination), &conduct(&stop)) {
            Ok(outcome) => warnings.extend(outcome.warnings),
            Err(_) => return Came::Refused,
        }
    }
    let mut files = BTreeMap::new();
    collect(&output, &output, &mut files);
    Came::Results(files, warnings)
}

/// The files of results, except those about the scenario and the machine.
fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder of results") {
        let path = entry.expect("readable").path();
        let name = path.strip_prefix(root).expect("inside").display().to_string();
        if path.is_dir() {
            collect(root, &path, files);
        } else if ["scenario.toml", "provenance.json", "timing.json"]
            .iter()
            .all(|it| !name.ends_with(it))
        {
            let mut bytes = fs::read(&path).expect("a file of results");
            if name.ends_with("summary.json") {
                let mut summary: Json = serde_json::from_slice(&bytes).expect("JSON");
                summary["warnings"] = Json::Null;
                bytes = summary.to_string().into_bytes();
            }
            files.insert(name, bytes);
        }
    }
}

/// A schema without references, and the name that the reference had.
fn plain(schema: &Json) -> (Option<&str>, &Json) {
    let mut found = (None, schema);
    loop {
        let (_, schema) = found;
        if let Some(reference) = schema["$ref"].as_str() {
            let target = SCHEMA.pointer(reference.trim_start_matches('#')).expect("defined");
            found = (reference.rsplit('/').next(), target);
        } else if let Some(choices) = schema["anyOf"].as_array() {
            let present = choices.iter().find(|choice| choice["type"] != "null");
            found = (None, present.expect("something but null"));
        } else {
            return found;
        }
    }
}

/// The tables that a definition may be, by the word that distinguishes them. Other possible values
/// are own rules.
fn tagged(schema: &Json) -> Option<(String, Vec<(String, &Json)>)> {
    let tag_of = |choice: &Json| {
        let mut properties = choice["properties"].as_object()?.iter();
        properties.find_map(|(key, it)| Some((key.clone(), it["const"].as_str()?.to_owned())))
    };
    let choices = schema["oneOf"].as_array()?;
    let (tag, _) = choices.iter().find_map(tag_of)?;
    let word = |choice| Some((tag_of(choice)?.1, choice));
    Some((tag, choices.iter().filter_map(word).collect()))
}

/// Name of one of several tables. If a word may replace the table, keys of one name have the same
/// meaning in all of them, and all are tried under each word below.
fn name_of(definition: &str, word: &str, schema: &Json) -> String {
    match words(schema) {
        Some(_) => definition.to_owned(),
        None => format!("{definition} {word}"),
    }
}

/// All keys of the format, as `Definition.key`.
fn all_keys() -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    let mut add = |name: &str, schema: &Json| {
        for (key, _) in schema["properties"].as_object().into_iter().flatten() {
            keys.insert(format!("{name}.{key}"));
        }
    };
    add("Scenario", &SCHEMA);
    for (name, schema) in SCHEMA["$defs"].as_object().expect("definitions") {
        match tagged(schema) {
            Some((_, choices)) => {
                choices.iter().for_each(|(word, it)| add(&name_of(name, word, schema), it));
            }
            None => add(name, schema),
        }
    }
    keys
}

/// All keys of the tables in `document`, written there or not.
fn places(document: &Value) -> Vec<Place> {
    let mut places = Vec::new();
    walk(document, "Scenario", &SCHEMA, &mut Vec::new(), &mut places);
    places
}

fn walk(value: &Value, name: &str, schema: &Json, path: &mut Vec<Step>, places: &mut Vec<Place>) {
    let (defined, schema) = plain(schema);
    let name = defined.unwrap_or(name);
    match value {
        Value::Table(table) => {
            let (name, schema) = match tagged(schema) {
                Some((tag, choices)) => {
                    let word = table[&tag].as_str().expect("a word");
                    let choice = choices.iter().find(|(it, _)| it == word).expect("a known word");
                    (name_of(name, word, schema), choice.1)
                }
                None => (name.to_owned(), schema),
            };
            for (key, property) in schema["properties"].as_object().into_iter().flatten() {
                path.push(Step::Key(key.clone()));
                let key_name = format!("{name}.{key}");
                places.push(Place {
                    key: key_name,
                    path: path.clone(),
                    property: property.clone(),
                });
                if let Some(inner) = table.get(key) {
                    walk(inner, "", property, path, places);
                }
                path.pop();
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Step::Index(index));
                walk(item, "", &schema["items"], path, places);
                path.pop();
            }
        }
        _ => {}
    }
}

fn at<'v>(document: &'v mut Value, path: &[Step]) -> &'v mut Value {
    path.iter().fold(document, |value, step| match step {
        Step::Key(key) => value.get_mut(key).expect("written"),
        Step::Index(index) => value.get_mut(*index).expect("written"),
    })
}

/// The document with `value` at `path`, or without the value there.
fn with(document: &Value, path: &[Step], value: Option<Value>) -> Value {
    let mut changed = document.clone();
    let (last, table) = path.split_last().expect("a key");
    let Step::Key(key) = last else { unreachable!("places are keys") };
    let table = at(&mut changed, table).as_table_mut().expect("a table");
    match value {
        Some(value) => table.insert(key.clone(), value),
        None => table.remove(key),
    };
    changed
}

/// Values to try for a key with the value `now`.
fn candidates(property: &Json, now: Option<&Value>, names: &[String]) -> Vec<Value> {
    let (_, schema) = plain(property);
    let texts = |texts: &[&str]| -> Vec<Value> {
        texts.iter().map(|text| Value::String((*text).to_owned())).collect()
    };
    if let Some(words) = words(schema) {
        return words.into_iter().map(Value::String).collect();
    }
    let of_type = match &schema["type"] {
        Json::String(name) => name.as_str(),
        Json::Array(names) => {
            names.iter().filter_map(Json::as_str).find(|name| *name != "null").unwrap_or("")
        }
        _ => "",
    };
    match (of_type, schema["format"].as_str()) {
        ("string", Some("time-span")) => texts(&["37s", "1s", "0s", "10min", "3h", "1ms"]),
        ("string", Some("instant")) => texts(&["37s", "-1h", "0s"]),
        ("string", Some("time-or-share")) => texts(&["15s", "40%", "0s"]),
        ("string", Some("share")) => texts(&["35%", "1%", "90%", "0%", "100%"]),
        ("string", Some("time-zone")) => texts(&["Asia/Tokyo", "-03:30"]),
        ("string", Some("axis-range")) => texts(&["1min..1h", "10%..90%", "1..50", "..4"]),
        ("string", Some("job")) => texts(&["2", "0"]),
        ("string", Some("picture-size")) => texts(&["88x60mm", "400x300px"]),
        ("string", Some("bytes")) => texts(&["90 MB", "1 kB", "2 GB"]),
        ("string", Some("bandwidth")) => texts(&["3 Mbit/s", "1 Gbit/s", "100 kbit/s"]),
        ("string", Some("estimates")) => texts(&["exact", "over:50%", "uniform:3"]),
        ("string", Some("name")) => {
            let mut names: Vec<Value> = names.iter().cloned().map(Value::String).collect();
            names.push(Value::String("another".to_owned()));
            names
        }
        ("string", _) => texts(&["other.swf", "other.tab", "provider.south.policy", "another"]),
        ("boolean", _) => vec![Value::Boolean(true), Value::Boolean(false)],
        ("integer", _) => [2, 1, 3, 0, 5, 20, 100].map(Value::Integer).to_vec(),
        ("number", _) => [0.5, 2.0, 0.1, 7.0, 0.9, 30.0, -0.5].map(Value::Float).to_vec(),
        ("array", _) => arrays(schema, now, names),
        _ => Vec::new(),
    }
}

fn words(schema: &Json) -> Option<Vec<String>> {
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().map(|word| word.as_str().map(str::to_owned)).collect();
    }
    let choices = schema["oneOf"].as_array()?;
    // Own rules may be tables in place of a word: tests/cli_own_rules.rs.
    let words = choices.iter().filter_map(|choice| choice["const"].as_str());
    let words = Vec::from_iter(words.map(str::to_owned));
    (!words.is_empty()).then_some(words)
}

/// A list with another first element, one without its first element, and one with a single element.
fn arrays(schema: &Json, now: Option<&Value>, names: &[String]) -> Vec<Value> {
    let mut lists: Vec<Vec<Value>> = Vec::new();
    let now = now.and_then(Value::as_array).cloned().unwrap_or_default();
    if let Some((_, rest)) = now.split_first() {
        lists.push(rest.to_vec());
    }
    for candidate in candidates(&schema["items"], now.first(), names) {
        lists.push(vec![candidate.clone()]);
        if let Some((_, rest)) = now.split_first() {
            lists.push([&[candidate], rest].concat());
        }
    }
    lists.into_iter().map(Value::Array).collect()
}

/// The names that a scenario gives.
fn names(value: &Value) -> Vec<String> {
    match value {
        Value::Table(table) => {
            let own = table.get("name").and_then(Value::as_str).map(str::to_owned);
            own.into_iter().chain(table.values().flat_map(names)).collect()
        }
        Value::Array(items) => items.iter().flat_map(names).collect(),
        _ => Vec::new(),
    }
}

/// Results of the tries to give a key an effect.
#[derive(Default)]
struct Tried {
    changed: bool,
    silent: Vec<String>,
    told: u32,
}

/// Results of the tries, by key.
type Tries = BTreeMap<String, Tried>;

/// Tries keys of documents, each with its name, that `wanted` names.
///
/// A key is tried first in the documents that have it: these are made so that it matters.
fn attempt_all(
    documents: &[(String, Value)],
    folder: &Path,
    wanted: &dyn Fn(&str) -> bool,
    tried: &mut Tries,
) {
    for is_written in [true, false] {
        for (name, document) in documents {
            let is_wanted = |place: &Place| {
                wanted(&place.key) && document.get_at(&place.path).is_some() == is_written
            };
            attempt(name, document, folder, &is_wanted, tried);
        }
    }
}

/// Tries the keys of `document` at the places that `wanted` names, called `name`.
fn attempt(
    name: &str,
    document: &Value,
    folder: &Path,
    wanted: &dyn Fn(&Place) -> bool,
    tried: &mut Tries,
) {
    let names = names(document);
    // Drawing takes longer than simulation, so figures are drawn only if the tables do not change.
    let base = |figures| match come(document, folder, figures) {
        Came::Results(files, warnings) => (files, warnings),
        Came::Refused => panic!("{name} is refused"),
    };
    let seen = LazyCell::new(|| look(document, folder));
    let plain = LazyCell::new(|| base(Figures::Skip));
    let drawn = LazyCell::new(|| base(Figures::Draw));
    for place in places(document).into_iter().filter(|it| wanted(it)) {
        let entry = tried.entry(place.key.clone()).or_default();
        if entry.changed {
            continue;
        }
        let now = document.get_at(&place.path);
        let mut values: Vec<Option<Value>> =
            candidates(&place.property, now, &names).into_iter().map(Some).collect();
        // Removal of a table is not tried: a table has an effect by its keys.
        values.extend(now.filter(|now| !now.is_table()).map(|_| None));
        // A removed value equals the default, so such changes are left out.
        let default = Value::try_from(&place.property["default"]).ok();
        let meant = |value: Option<&Value>| value.cloned().or_else(|| default.clone());
        values.retain(|value| meant(value.as_ref()) != meant(now));
        for value in values {
            let changed = with(document, &place.path, value.clone());
            match (&*seen, look(&changed, folder)) {
                (_, Seen::Refused) => {
                    entry.told += 1;
                    continue;
                }
                (Seen::Summary(before), Seen::Summary(after)) if *before != after => {
                    entry.changed = true;
                    break;
                }
                _ => {}
            }
            let mut came = come(&changed, folder, Figures::Skip);
            let mut before = &*plain;
            let of_figures = FIGURES.iter().any(|it| place.key.starts_with(it));
            if of_figures && matches!(&came, Came::Results(after, _) if *after == before.0) {
                came = come(&changed, folder, Figures::Draw);
                before = &*drawn;
            }
            match came {
                Came::Results(after, _) if after != before.0 => {
                    entry.changed = true;
                    break;
                }
                Came::Results(_, told) if !place.is_in(&before.1) && !place.is_in(&told) => {
                    let value = value.map_or("(absent)".to_owned(), |it| it.to_string());
                    entry.silent.push(format!("{value} in {name}"));
                }
                Came::Results(..) | Came::Refused => entry.told += 1,
            }
        }
    }
}

/// Keys that changed nothing and caused no message.
fn silent(tried: &Tries) -> impl Iterator<Item = String> {
    let exempt = |key: &str| EXEMPT.iter().any(|(exempt, _)| *exempt == key);
    tried
        .iter()
        .filter(move |(key, it)| !exempt(key) && !it.changed && !it.silent.is_empty())
        .map(|(key, it)| format!("{key}: changes nothing: {}", it.silent.join(", ")))
}

#[test]
fn every_key_changes_the_results_or_is_refused_or_warned_about() {
    let folder = folder();
    let mut tried = Tries::new();
    let names = BASES.into_iter().chain([LAWS]);
    let documents = Vec::from_iter(names.map(|name| (name.to_owned(), base(name))));
    attempt_all(&documents, folder.path(), &|_| true, &mut tried);
    let mut wrong: Vec<String> = silent(&tried).collect();
    let absent = all_keys().into_iter().filter(|key| !tried.contains_key(key));
    wrong.extend(absent.map(|key| format!("{key}: no scenario of the test has its table")));
    // A table has an effect by its keys; any other key must have been tried.
    let has_values = |(_, it): &(&String, &Tried)| it.changed || it.told > 0;
    assert!(tried.iter().filter(has_values).count() > 200);
    assert!(wrong.is_empty(), "{} keys:\n{}", wrong.len(), wrong.join("\n"));
}

/// A key whose word decides which other keys are read.
struct Choice {
    key: &'static str,
    bases: &'static [&'static str],
    /// Values that must be set so that all words are accepted.
    with: &'static [(&'static str, &'static str)],
    /// Keys that some words refuse.
    without: &'static [&'static str],
    /// The tables whose keys are tried under each word.
    tables: &'static [&'static str],
}

const CHOICES: [Choice; 5] = [
    Choice {
        key: "Provider.policy",
        bases: &["queue", "bags", "spread", "coordinated", "slots"],
        with: &[],
        without: &[],
        tables: &["Provider", "Policy", "Offers", "Rescheduling", "Estimates", "Checkpoints"],
    },
    Choice {
        key: "Provider.on-failure",
        bases: &["queue"],
        with: &[],
        without: &[],
        tables: &["Provider", "Checkpoints"],
    },
    Choice {
        key: "Metascheduler.composition",
        bases: &["bags", "spread", "relaxed", "slots"],
        with: &[("Provider.disclosure", "slots")],
        without: &[],
        tables: &["Metascheduler", "Negotiation", "Offers"],
    },
    Choice {
        key: "Grid.policy",
        bases: &[
            "grid",
            "outputs",
            "moving",
            "young",
            "static-flows",
            "sessions",
            "session-outputs",
            "limit",
        ],
        with: &[],
        without: &["GridPolicy.replicas", "Grid.checkpoints"],
        tables: &[
            "Grid",
            "GridPolicy",
            "Replicas",
            "MaxReplicas",
            "SwitchedReplicas",
            "Information",
        ],
    },
    Choice {
        key: "Checkpoints.rule",
        bases: &["grid", "moving", "young"],
        with: &[],
        without: &["Checkpoints.interval"],
        tables: &["Checkpoints"],
    },
];

/// The document with `key` set to `value` at all its places, or removed.
fn with_all(document: &Value, key: &str, value: Option<&str>) -> Value {
    let written = |place: &Place| place.key == key && document.get_at(&place.path).is_some();
    places(document).into_iter().filter(written).fold(document.clone(), |document, place| {
        with(&document, &place.path, value.map(|value| Value::String(value.to_owned())))
    })
}

/// The document with `key` set to `word` at all its places. A table keeps those of its keys that
/// exist under this word.
fn under(document: &Value, key: &str, word: &str) -> Value {
    let written = |place: &Place| place.key == key && document.get_at(&place.path).is_some();
    places(document).into_iter().filter(written).fold(document.clone(), |document, place| {
        let (_, schema) = plain(&place.property);
        let chosen = tagged(schema).and_then(|(tag, choices)| {
            let (_, choice) = choices.into_iter().find(|(it, _)| it == word)?;
            Some((tag, choice))
        });
        let mut value = Value::String(word.to_owned());
        if let (Some((tag, choice)), Some(now)) = (chosen, document.get_at(&place.path)) {
            let mut table = now.as_table().cloned().unwrap_or_default();
            table.retain(|key, _| !choice["properties"][key].is_null());
            table.insert(tag, value);
            value = Value::Table(table);
        }
        with(&document, &place.path, Some(value))
    })
}

#[test]
fn no_key_is_silent_under_any_policy() {
    let folder = folder();
    let mut wrong = Vec::new();
    for choice in &CHOICES {
        let (definition, key) = choice.key.split_once('.').expect("Definition.key");
        let (_, schema) = plain(&SCHEMA["$defs"][definition]["properties"][key]);
        for word in words(schema).expect("a key of words") {
            let mut tried = Tries::new();
            let in_tables = |key: &str| {
                let (table, _) = key.split_once('.').expect("Definition.key");
                key != choice.key && choice.tables.contains(&table)
            };
            let mut documents = Vec::new();
            for name in choice.bases {
                let mut document = base(name);
                for (key, value) in choice.with {
                    document = with_all(&document, key, Some(value));
                }
                document = under(&document, choice.key, &word);
                for key in choice.without {
                    if come(&document, folder.path(), Figures::Skip) == Came::Refused {
                        document = with_all(&document, key, None);
                    }
                }
                if come(&document, folder.path(), Figures::Skip) != Came::Refused {
                    documents.push((format!("{name} with {word}"), document));
                }
            }
            attempt_all(&documents, folder.path(), &in_tables, &mut tried);
            assert!(!tried.is_empty(), "{word} is always refused");
            wrong.extend(silent(&tried).map(|text| format!("with {word}: {text}")));
        }
    }
    assert!(wrong.is_empty(), "{} keys:\n{}", wrong.len(), wrong.join("\n"));
}

/// A value of a document by its path.
trait At {
    fn get_at(&self, path: &[Step]) -> Option<&Value>;
}

impl At for Value {
    fn get_at(&self, path: &[Step]) -> Option<&Value> {
        path.iter().try_fold(self, |value, step| match step {
            Step::Key(key) => value.get(key),
            Step::Index(index) => value.get(*index),
        })
    }
}
