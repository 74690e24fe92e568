//! Simpler documents, made by removing or reducing a part of one.

use toml::Value;

use super::keys::{chosen, member, named};
use super::repair::{at, at_mut};
use super::strings::{Kind, Role, role};
use haggle_config::document::Step;
use haggle_scenario::schema::SCHEMA;

/// Yields simpler variants of a document, the largest change first.
///
/// The caller takes each candidate that is good enough, and the next ones are simpler still.
#[derive(Clone, Debug)]
pub struct Simpler {
    best: toml::Table,
    /// Edits of the document, in the order in which they are tried.
    edits: Vec<Edit>,
    next: usize,
    /// True if a candidate of this round was taken.
    moved: bool,
}

#[derive(Clone, Debug)]
enum Edit {
    /// Removes members of a list from one place to another, with all references to them.
    Cut(Vec<Step>, usize, usize),
    /// Removes a key of a table.
    Drop(Vec<Step>),
    /// Replaces a value.
    Put(Vec<Step>, Value),
}

impl Simpler {
    /// Begins with a document.
    pub fn new(document: toml::Table) -> Simpler {
        let edits = edits(&document);
        Simpler { best: document, edits, next: 0, moved: false }
    }

    /// Simplest document that was taken so far.
    pub fn best(&self) -> &toml::Table {
        &self.best
    }

    /// Next document to try; `None` if no simpler one is left.
    pub fn candidate(&mut self) -> Option<toml::Table> {
        loop {
            let Some(edit) = self.edits.get(self.next) else {
                if !std::mem::take(&mut self.moved) {
                    return None;
                }
                self.edits = edits(&self.best);
                self.next = 0;
                continue;
            };
            self.next += 1;
            // An edit may lead nowhere after an earlier one was taken.
            if let Some(document) = apply(&self.best, edit).filter(|it| *it != self.best) {
                return Some(document);
            }
        }
    }

    /// Takes the document that was tried last as the best.
    pub fn take(&mut self, document: toml::Table) {
        self.best = document;
        self.moved = true;
    }
}

/// All edits of a document, the largest first.
fn edits(document: &toml::Table) -> Vec<Edit> {
    let mut found = Vec::new();
    collect(&Value::Table(document.clone()), &mut Vec::new(), &mut found);
    // Outer places have more in them. A stable sort keeps later places before earlier ones, so that these are
    // still valid after a removal.
    found.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    found.into_iter().map(|(_, edit)| edit).collect()
}

/// Collects the edits of a value at `steps`, each with the number of values that it removes.
fn collect(value: &Value, steps: &mut Vec<Step>, found: &mut Vec<(usize, Edit)>) {
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                steps.push(Step::Key(key.clone()));
                found.push((weight(value), Edit::Drop(steps.clone())));
                collect(value, steps, found);
                steps.pop();
            }
        }
        Value::Array(items) => {
            let mut length = items.len();
            while length > 0 {
                let mut end = items.len();
                while end > 0 {
                    let start = end.saturating_sub(length);
                    let weight = items[start..end].iter().map(weight).sum();
                    found.push((weight, Edit::Cut(steps.clone(), start, end)));
                    end = start;
                }
                // First all members, then halves, quarters and so on, as in delta debugging.
                length /= 2;
            }
            for (index, item) in items.iter().enumerate() {
                steps.push(Step::Index(index));
                collect(item, steps, found);
                steps.pop();
            }
        }
        value => {
            found.extend(smaller(value).into_iter().map(|it| (0, Edit::Put(steps.clone(), it))));
        }
    }
}

/// Number of values in one.
fn weight(value: &Value) -> usize {
    match value {
        Value::Table(table) => 1 + table.values().map(weight).sum::<usize>(),
        Value::Array(items) => 1 + items.iter().map(weight).sum::<usize>(),
        _ => 1,
    }
}

/// Values that are simpler than a number, a time or a share.
fn smaller(value: &Value) -> Vec<Value> {
    match value {
        Value::Integer(number) => {
            let mut smaller: Vec<i64> = vec![0, 1, 2, number / 2, number - 1];
            // Only towards zero, so that the search ends.
            smaller.retain(|it| it.abs() < number.abs());
            smaller.dedup();
            smaller.into_iter().map(Value::Integer).collect()
        }
        Value::Float(number) => {
            let simpler = [1.0, number.round()].into_iter().filter(|it| it != number);
            simpler.filter(|_| *number != 1.0).map(Value::Float).collect()
        }
        Value::String(text) => {
            let simple = ["0s", "1s", "10s", "1min", "10min", "1h"];
            let rank = simple.iter().position(|it| it == text);
            // Only a time is replaced by a time.
            match text.parse::<haggle_scenario::quantity::TimeSpan>() {
                Ok(_) => simple[..rank.unwrap_or(simple.len())]
                    .iter()
                    .map(|it| Value::String((*it).to_owned()))
                    .collect(),
                Err(_) => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

fn apply(document: &toml::Table, edit: &Edit) -> Option<toml::Table> {
    let mut root = Value::Table(document.clone());
    match edit {
        Edit::Put(steps, value) => *at_mut(&mut root, steps)? = value.clone(),
        Edit::Drop(steps) => {
            let (Step::Key(key), way) = steps.split_last()? else { return None };
            at_mut(&mut root, way)?.as_table_mut()?.remove(key)?;
        }
        Edit::Cut(steps, start, end) => {
            let items = at(&root, steps)?.as_array()?;
            let gone = items.get(*start..*end)?.iter().filter_map(|item| item.get("name"));
            // Read before the members are removed.
            let gone: Vec<String> = gone.filter_map(Value::as_str).map(str::to_owned).collect();
            at_mut(&mut root, steps)?.as_array_mut()?.drain(*start..*end);
            if let (false, Value::Table(table)) = (gone.is_empty(), &mut root) {
                forget(table, "Scenario", SCHEMA.whole(), &gone);
            }
        }
    }
    match root {
        Value::Table(document) => Some(document),
        _ => None,
    }
}

/// Removes references to names that are `gone`: members of lists, and tables in lists that require such a name.
fn forget(
    table: &mut toml::Table,
    name: &str,
    schema: &serde_json::Value,
    gone: &[String],
) -> bool {
    let schema = chosen(table, schema).1;
    let names_one = |text: &str| gone.iter().any(|it| it == text || is_copy(text, it));
    let mut orphan = false;
    for (key, value) in table.iter_mut() {
        let is_name = matches!(role(name, key), Some(Role::Names(kinds)) if kinds != [Kind::Axis]);
        let (type_name, inner) = named(member(&schema["properties"][key]));
        let type_name = type_name.unwrap_or(name);
        match value {
            Value::String(text) if is_name => orphan |= names_one(text),
            Value::Array(items) => items.retain_mut(|item| match item {
                Value::String(text) => !(is_name && names_one(text)),
                Value::Table(table) => !forget(table, type_name, inner, gone),
                _ => true,
            }),
            Value::Table(table) => {
                // A table outside a list stays, even if a name in it leads nowhere.
                forget(table, type_name, inner, gone);
            }
            _ => {}
        }
    }
    orphan
}

/// True if a name is that of a copy, or of a resource of a site.
fn is_copy(text: &str, name: &str) -> bool {
    text.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simplest(text: &str, will_do: impl Fn(&toml::Table) -> bool) -> toml::Table {
        let mut simpler = Simpler::new(text.parse().expect("it is TOML"));
        while let Some(candidate) = simpler.candidate() {
            if will_do(&candidate) {
                simpler.take(candidate);
            }
        }
        simpler.best().clone()
    }

    #[test]
    fn what_is_not_needed_goes() {
        let text = "[[provider]]\nname = \"a\"\nprocessors = 8\n[[provider]]\nname = \"b\"\n\
                    processors = 9\n[[user]]\nname = \"u\"\nsubmits-to = \"b\"\nworkload = \"w\"\n\
                    patience = \"6h\"\n[[user]]\nname = \"v\"\nsubmits-to = \"a\"\nworkload = \"w\"\n";
        let left = simplest(text, |document| {
            let users = document.get("user").and_then(Value::as_array);
            users.into_iter().flatten().any(|user| user.get("patience").is_some())
        });
        assert_eq!(left, "[[user]]\npatience = \"0s\"\n".parse().expect("it is TOML"));
    }

    #[test]
    fn with_a_name_goes_what_names_it() {
        let text = "[[provider]]\nname = \"a\"\n[[user]]\nname = \"u\"\nsubmits-to = \"a\"\n\
                    [[user]]\nname = \"v\"\nsubmits-to = \"b\"\n";
        let cut = Edit::Cut(vec![Step::Key("provider".to_owned())], 0, 1);
        let left = apply(&text.parse().expect("it is TOML"), &cut).expect("it can be cut");
        let expected = "provider = []\n[[user]]\nname = \"v\"\nsubmits-to = \"b\"\n";
        assert_eq!(left, expected.parse().expect("it is TOML"));
    }
}
