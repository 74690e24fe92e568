//! Repairs problems that `validate` reports, at their places.

use serde_json::Value as Json;
use toml::Value;

use super::document::Draw;
use super::fill::fill;
use super::keys::{chosen, member, named};
use super::size::{always, members, most};
use super::wanted::Wanted;
use haggle_config::document::{self, Path, Step};
use haggle_scenario::schema::SCHEMA;
use haggle_scenario::{InvalidScenario, Problem};

/// Round from which on a repair may change more than the place of the problem.
const PATIENT_ROUNDS: u32 = 12;

/// Repairs the problems of `document`, the last one first, so that a removal does not move the places of the
/// others. The `wanted` key stays, and something else is changed.
pub(super) fn repair(
    document: &mut toml::Table,
    invalid: &InvalidScenario,
    round: u32,
    wanted: &mut Option<Wanted>,
    draw: &mut Draw<'_>,
) {
    let Ok(places) = document::parse(&invalid.source.text) else { return };
    // As one value, so that places are found in the same way at every depth.
    let mut root = Value::Table(std::mem::take(document));
    let mut last: Option<Path> = None;
    for problem in invalid.problems.iter().rev() {
        let path = places.path_at(&problem.span);
        // A problem at a place that has just been repaired is out of date. A problem of the whole document is not.
        let overlaps = |last: &Path| path.contains(last) || last.contains(&path);
        if last.as_ref().is_some_and(overlaps) && !path.0.is_empty() {
            continue;
        }
        // A problem that stays is repaired in a larger part around its place.
        let up = if round > PATIENT_ROUNDS { draw.dice.below(3) } else { 0 };
        // A problem of a member must not remove a whole list of the scenario.
        let length = path.0.len().saturating_sub(up).max(path.0.len().min(2));
        mend(&mut root, problem, &path.0[..length], wanted.as_ref(), draw);
        last = Some(path);
    }
    // A problem may be about two parts, and name the one that could stay.
    if round > PATIENT_ROUNDS {
        prune(&mut root, wanted.as_ref(), draw);
    }
    if let Value::Table(mended) = root {
        *document = mended;
    }
    if let Some(wanted) = wanted {
        wanted.put(document, draw);
    }
    let missing = std::mem::take(&mut draw.missing);
    if !missing.is_empty() && draw.dice.chance(50) {
        bring_in(document, draw.dice.pick(&missing).table(), draw);
    }
    fill(document, draw);
}

/// Draws a list of the scenario that is missing or empty.
fn bring_in(document: &mut toml::Table, key: &str, draw: &mut Draw<'_>) {
    let is_empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
    if document.get(key).is_none_or(is_empty) {
        let value = draw.value("Scenario", key, &SCHEMA.whole()["properties"][key]);
        document.insert(key.to_owned(), value);
    }
}

/// Adds a key that the problem asks for, changes a key that it names, or changes the value at its place.
fn mend(
    root: &mut Value,
    problem: &Problem,
    steps: &[Step],
    wanted: Option<&Wanted>,
    draw: &mut Draw<'_>,
) {
    let place = Place::find(root, steps);
    if let Some(help) = &problem.help
        && draw.dice.chance(60)
        && follow(root, help, &place)
    {
        return;
    }
    let mut target = place.clone();
    if let Some(table) = at(root, &place.steps).and_then(Value::as_table) {
        let keys = chosen(table, place.schema).1;
        let words = texts(problem).flat_map(named_in);
        let (present, absent): (Vec<&str>, Vec<&str>) = words
            .filter(|word| keys["properties"].get(*word).is_some())
            .partition(|word| table.contains_key(*word));
        if !absent.is_empty() && draw.dice.chance(70) {
            let key = *draw.dice.pick(&absent);
            // A named key that is absent is probably the one that the problem asks for.
            return place.add(root, key, draw);
        }
        if !present.is_empty() && draw.dice.chance(70) {
            let key = *draw.dice.pick(&present);
            let steps: Vec<Step> =
                place.steps.iter().cloned().chain([Step::Key(key.to_owned())]).collect();
            target = Place::find(root, &steps);
        }
    }
    // If any value of the wanted key will do, the key itself may be drawn again.
    if let Some(wanted) = wanted.filter(|it| it.is_in(&target.steps))
        && !(wanted.is_open() && draw.dice.chance(40))
        && give_way(root, problem, &target, wanted, draw)
    {
        return;
    }
    target.change(root, draw);
}

/// Changes something beside or around the wanted key: a key that the problem names or whose words it quotes, or
/// any other. Returns `true` if there was one.
fn give_way(
    root: &mut Value,
    problem: &Problem,
    target: &Place,
    wanted: &Wanted,
    draw: &mut Draw<'_>,
) -> bool {
    let mut said = Vec::new();
    let mut any = Vec::new();
    for length in 0..target.steps.len() {
        let place = Place::find(root, &target.steps[..length]);
        let Some(table) = at(root, &place.steps).and_then(Value::as_table) else { continue };
        for (key, property) in SCHEMA.properties(chosen(table, place.schema).1) {
            let steps: Vec<Step> =
                place.steps.iter().cloned().chain([Step::Key(key.to_owned())]).collect();
            // Neither the wanted key nor a tag, which would change the whole table.
            if wanted.is_in(&steps) || property["const"].is_string() {
                continue;
            }
            let words = SCHEMA.words(property).unwrap_or_default();
            let is_quoted = |word: &&str| {
                texts(problem).any(|text| text.contains(&format!("\"{word}\"")))
                    && table.get(key).and_then(Value::as_str) != Some(*word)
            };
            let quoted = words.into_iter().filter(is_quoted);
            said.extend(quoted.map(|word| (place.clone(), key, Some(word))));
            if texts(problem).any(|text| named_in(text).any(|name| name == key)) {
                said.push((place.clone(), key, None));
            }
            any.push((place.clone(), key, None));
        }
    }
    // Sometimes any key, because the text may name only one of several reasons.
    let remedies = if said.is_empty() || draw.dice.chance(25) { any } else { said };
    if remedies.is_empty() {
        return false;
    }
    let (place, key, word) = draw.dice.pick(&remedies);
    place.set(root, key, *word, draw);
    true
}

/// All texts of a problem.
fn texts(problem: &Problem) -> impl Iterator<Item = &str> {
    let texts = [Some(&problem.message), Some(&problem.label), problem.help.as_ref()];
    texts.into_iter().flatten().map(String::as_str)
}

/// Writes a setting that a help text proposes, such as `period = "0s"`; returns `true` if it did.
fn follow(root: &mut Value, help: &str, place: &Place) -> bool {
    let settings = help.split('`').skip(1).step_by(2).filter_map(|it| it.parse().ok());
    let Some((key, value)) = settings.flat_map(|it: toml::Table| it).next() else { return false };
    // The setting belongs beside the wrong value, in its place, or in the table that the text names.
    let said = help.split(['[', ']']).nth(1).unwrap_or_default();
    let said: Vec<Step> = said.split('.').map(|key| Step::Key(key.to_owned())).collect();
    let around = &place.steps[..place.steps.len().saturating_sub(1)];
    for steps in [&place.steps[..], around, &said[..]] {
        let table = Place::find(root, steps);
        let Some(Value::Table(there)) = at_mut(root, &table.steps) else { continue };
        if table.steps == steps && chosen(there, table.schema).1["properties"].get(&key).is_some() {
            let name = named(table.schema).0.unwrap_or("Scenario");
            let property = &chosen(there, table.schema).1["properties"][&key];
            let value = bounded(value, name, &key, property);
            there.insert(key, value);
            return true;
        }
    }
    false
}

/// An example of a help text, limited to the sizes of worlds here.
fn bounded(value: Value, name: &str, key: &str, schema: &Json) -> Value {
    match value {
        Value::Integer(number) => Value::Integer(number.min(most(name, key).unwrap_or(number))),
        Value::Table(table) => {
            let (inner, schema) = named(schema);
            let keys = chosen(&table, schema).1;
            let bound = |(key, value): (String, Value)| {
                let value = bounded(value, inner.unwrap_or(name), &key, &keys["properties"][&key]);
                (key, value)
            };
            Value::Table(table.into_iter().map(bound).collect())
        }
        Value::Array(items) => {
            let items = items.into_iter().map(|item| bounded(item, name, key, member(schema)));
            Value::Array(items.collect())
        }
        value => value,
    }
}

/// Removes a value without which the document is still complete.
fn prune(root: &mut Value, wanted: Option<&Wanted>, draw: &mut Draw<'_>) {
    let mut steps = Vec::new();
    loop {
        match at(root, &steps) {
            Some(Value::Table(table)) if !table.is_empty() => {
                let keys: Vec<&String> = table.keys().collect();
                steps.push(Step::Key((*draw.dice.pick(&keys)).clone()));
            }
            Some(Value::Array(items)) if !items.is_empty() => {
                steps.push(Step::Index(draw.dice.below(items.len())));
            }
            _ => return,
        }
        let place = Place::find(root, &steps);
        let spare = place.optional && wanted.is_none_or(|it| !it.is_in(&steps));
        // Otherwise the search goes deeper, so that small parts are removed, too.
        if spare && steps.len() > 1 && draw.dice.chance(50) {
            return place.put(root, None);
        }
    }
}

/// Keys and tables that a text names: words between backticks or brackets.
fn named_in(text: &str) -> impl Iterator<Item = &str> {
    let marks = ['`', '[', ']'];
    text.split(marks).skip(1).filter(|word| !word.is_empty() && !word.contains(' '))
}

/// A value of a document with its schema.
#[derive(Clone)]
struct Place {
    steps: Vec<Step>,
    /// Type of the table that contains it, directly or in a list, and the key there.
    table: &'static str,
    key: String,
    /// Schema of the value.
    schema: &'static Json,
    /// True if the document is complete without it.
    optional: bool,
}

impl Place {
    /// The value at `steps`, or the nearest one on the way that exists.
    fn find(root: &Value, steps: &[Step]) -> Place {
        let mut place = Place {
            steps: Vec::new(),
            table: "Scenario",
            key: String::new(),
            schema: SCHEMA.whole(),
            optional: false,
        };
        let mut type_name = "Scenario";
        for step in steps {
            match (step, at(root, &place.steps)) {
                (Step::Key(key), Some(Value::Table(table))) => {
                    let keys = chosen(table, place.schema).1;
                    if !table.contains_key(key) || keys["properties"][key].is_null() {
                        return place;
                    }
                    place.table = type_name;
                    place.key.clone_from(key);
                    place.schema = &keys["properties"][key];
                    place.optional =
                        SCHEMA.required(keys).all(|it| it != key) && !always(type_name, key);
                }
                (Step::Index(index), Some(Value::Array(items))) if *index < items.len() => {
                    let list = SCHEMA.plain(place.schema);
                    let least = list["minItems"].as_u64().unwrap_or(0) as usize;
                    place.optional = items.len() > least.max(members(place.table, &place.key).0);
                    place.schema = &list["items"];
                }
                _ => return place,
            }
            // A value without a type of its own belongs to the type around it.
            type_name = named(place.schema).0.unwrap_or(type_name);
            place.steps.push(step.clone());
        }
        place
    }

    /// Adds a key to the table here.
    fn add(&self, root: &mut Value, key: &str, draw: &mut Draw<'_>) {
        let Some(Value::Table(table)) = at_mut(root, &self.steps) else { return };
        let keys = chosen(table, self.schema).1;
        let name = named(self.schema).0.unwrap_or("Scenario");
        if let Some((_, property)) = SCHEMA.properties(keys).find(|it| it.0 == key) {
            table.insert(key.to_owned(), draw.value(name, key, property));
        }
    }

    /// Sets a key of the table here to this word, or to another value.
    fn set(&self, root: &mut Value, key: &str, word: Option<&str>, draw: &mut Draw<'_>) {
        let Some(Value::Table(table)) = at_mut(root, &self.steps) else { return };
        match word {
            Some(word) => drop(table.insert(key.to_owned(), Value::String(word.to_owned()))),
            None if table.contains_key(key) => {
                let steps = [&self.steps[..], &[Step::Key(key.to_owned())]].concat();
                Place::find(root, &steps).change(root, draw);
            }
            None => self.add(root, key, draw),
        }
    }

    /// Removes the value, or draws it again.
    fn change(&self, root: &mut Value, draw: &mut Draw<'_>) {
        let keep = !self.optional || draw.dice.chance(45);
        let drawn = keep.then(|| draw.value(self.table, &self.key, self.schema));
        self.put(root, drawn);
    }

    /// Replaces the value here, or removes it.
    fn put(&self, root: &mut Value, value: Option<Value>) {
        let Some((last, way)) = self.steps.split_last() else { return };
        match (at_mut(root, way), last, value) {
            (Some(Value::Table(table)), Step::Key(key), Some(value)) => {
                table.insert(key.clone(), value);
            }
            (Some(Value::Table(table)), Step::Key(key), None) => drop(table.remove(key)),
            (Some(Value::Array(items)), Step::Index(index), Some(value)) => items[*index] = value,
            (Some(Value::Array(items)), Step::Index(index), None) => drop(items.remove(*index)),
            _ => {}
        }
    }
}

/// Value at the end of `steps`.
pub(super) fn at<'v>(root: &'v Value, steps: &[Step]) -> Option<&'v Value> {
    steps.iter().try_fold(root, |value, step| match step {
        Step::Key(key) => value.get(key.as_str()),
        Step::Index(index) => value.get(*index),
    })
}

/// Value at the end of `steps`, mutable.
pub(super) fn at_mut<'v>(root: &'v mut Value, steps: &[Step]) -> Option<&'v mut Value> {
    steps.iter().try_fold(root, |value, step| match step {
        Step::Key(key) => value.get_mut(key.as_str()),
        Step::Index(index) => value.get_mut(*index),
    })
}
