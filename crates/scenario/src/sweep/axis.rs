//! The axes of a sweep in the document: the places that each path stands for, and setting values there.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::Value as Json;

use crate::file::Axis;
use crate::schema::SCHEMA;
use crate::schema::conform;
use crate::{Problem, Scenario};
use haggle_config::Findings;
use haggle_config::document::{Entry, Node, Path, Step, Value};
use haggle_config::nearest;

/// An axis with its values and the places where it puts them.
pub(super) struct Place {
    /// Name of the axis.
    pub(super) axis: String,
    /// Values, at least one, each with its own place in the text; for variants, their names.
    pub(super) values: Vec<Node>,
    /// Place of the axis in the text; problems of the axis are shown there.
    pub(super) span: Range<usize>,
    /// Values put by each value of the axis, with their paths.
    pub(super) puts: Vec<Vec<Put>>,
    /// Its number in the list of axes.
    index: usize,
}

/// A value that is put at a path.
pub(super) struct Put {
    pub(super) path: Path,
    pub(super) value: Node,
    /// Place of the path in the text.
    pub(super) span: Range<usize>,
}

/// Puts values at their paths, short paths first: a table that is put as a whole must not undo values inside it.
pub(super) fn put_all<'p>(puts: impl Iterator<Item = &'p Put>, root: &mut Node) {
    let mut puts: Vec<&Put> = puts.collect();
    // Stable: of paths of one length the later axis wins.
    puts.sort_by_key(|put| put.path.0.len());
    for put in puts {
        set((root, SCHEMA.whole()), &put.path.0, &put.value, &put.span);
    }
}

impl Place {
    /// True if any of its values is put at this path.
    pub(super) fn sets(&self, at: &Path) -> bool {
        self.puts.iter().flatten().any(|put| put.path == *at)
    }

    /// Puts the values with these indices, one for each axis, at the paths of their axes.
    ///
    /// In a [`frame`], each of these axes then lists only the value that is taken.
    pub(super) fn set(places: &[Place], indices: &[usize], root: &mut Node) {
        for (place, &index) in places.iter().zip(indices) {
            let at = Path::root().key("sweep").key("axis").index(place.index).key("values");
            if let Some(Value::Array(values)) = root.at_mut(&at).map(|it| &mut it.value) {
                *values = vec![place.values[index].clone()];
            }
        }
        put_all(places.iter().zip(indices).flat_map(|(place, &index)| &place.puts[index]), root);
    }
}

/// A document in which each axis has its first value only: the part that all variants share. A variant needs no
/// more of its sweep. Otherwise all values of a sweep would be copied for each variant.
pub(super) fn frame(root: &Node) -> Node {
    let mut frame = root.clone();
    let list = Path::root().key("sweep").key("axis");
    let axes = match root.at(&list).map(|node| &node.value) {
        Some(Value::Array(axes)) => axes.len(),
        _ => 0,
    };
    for axis in (0..axes).map(|index| list.index(index)) {
        for key in ["values", "variant"] {
            if let Some(Value::Array(all)) = frame.at_mut(&axis.key(key)).map(|it| &mut it.value) {
                all.truncate(1);
            }
        }
    }
    frame
}

/// A value as in results: strings without quotes. A table with a name or a rule of one's own is written as this
/// name, followed by its other keys.
pub(super) fn text_of(value: &toml::Value) -> String {
    let named = value.as_table().and_then(|table| {
        let key = ["name", "own"].into_iter().find(|key| table.contains_key(*key))?;
        let mut text = table[key].as_str()?.to_owned();
        for (key, value) in table.iter().filter(|(other, _)| *other != key) {
            text.push_str(&format!(" {key}={}", text_of(value)));
        }
        Some(text)
    });
    named.or_else(|| value.as_str().map(str::to_owned)).unwrap_or_else(|| value.to_string())
}

/// Place of a sweep in the text, as far as its axes show it.
pub(super) fn sweep_place(places: &[Place]) -> Range<usize> {
    places.first().map_or(0..0, |place| place.span.clone())
}

/// Finds the places of every axis; reports paths that lead nowhere and names that are taken.
pub(super) fn places(scenario: &Scenario, root: &Node, findings: &mut Findings) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    let axes = scenario.sweep.iter().flat_map(|sweep| &sweep.axes);
    for (index, axis) in axes.enumerate() {
        let at = Path::root().key("sweep").key("axis").index(index);
        let known = |key| findings.replaced.iter().any(|replaced| replaced.contains(&at.key(key)));
        // An axis with a replaced value has been reported, and its placeholder leads nowhere.
        if ["path", "values", "variant"].into_iter().any(known) {
            continue;
        }
        // A replaced name is a placeholder, which several axes may share.
        let named = !known("name");
        let written = if axis.path.is_some() { at.key("path") } else { at.clone() };
        let span = root.place(&written);
        if let Some(problem) = wrong_keys(axis, span.clone()) {
            findings.problems.push(problem);
            continue;
        }
        let title = axis.title();
        if named && places.iter().any(|place| place.axis == title) {
            findings.problems.push(Problem {
                message: format!("two axes are called \"{title}\""),
                span: root.place(&at.key("name")),
                label: "taken".into(),
                help: Some("give one of them another `name`".into()),
            });
        }
        let (values, puts) = match &axis.path {
            Some(path) => {
                let values = nodes(root, &at.key("values"));
                findings.problems.extend(twice(&title, &values));
                let Some(paths) = find(root, path, &span, findings) else { continue };
                let put = |value: &Node| -> Vec<Put> {
                    let at = |path: &Path| Put {
                        path: path.clone(),
                        value: value.clone(),
                        span: span.clone(),
                    };
                    paths.iter().map(at).collect()
                };
                let puts = values.iter().map(put).collect();
                (values, puts)
            }
            None => variants(root, &at.key("variant"), findings),
        };
        if puts.iter().flatten().any(|put| is_figure(&put.path)) {
            findings.problems.push(Problem {
                message: format!("axis \"{title}\" varies a figure, which all runs share"),
                span,
                label: "not of a run".into(),
                help: Some("remove it; a sweep draws as many [[figure]] as there are".into()),
            });
            continue;
        }
        // An axis without values would leave no variant at all.
        if !values.is_empty() {
            places.push(Place { axis: title, values, span, puts, index });
        }
    }
    places
}

/// Name of the axis of branches, and of its value without a branch.
pub(super) const BRANCH: &str = "branch";
const BASE: &str = "base";

/// The axis of the branches, if there are any: the scenario as it is, then one change more for each branch.
pub(super) fn branches(scenario: &Scenario, root: &Node, findings: &mut Findings) -> Option<Place> {
    let at = Path::root().key(BRANCH);
    let span = root.place(&at);
    let all = nodes(root, &at);
    let mut names: Vec<Node> =
        vec![Node { span: span.clone(), value: Value::String(BASE.to_owned()) }];
    let mut puts = vec![Vec::new()];
    let before = nodes(root, &Path::root().key("change"));
    for branch in &all {
        let (Some(name), Value::Table(entries)) = (branch.get("name"), &branch.value) else {
            continue;
        };
        if names.iter().any(|known| known.text() == name.text()) {
            findings.problems.push(Problem {
                message: format!("two branches are called \"{}\"", name.text().unwrap_or("")),
                span: name.span.clone(),
                label: "taken".into(),
                help: Some(format!(
                    "give it another `name`; the run without a branch is \"{BASE}\""
                )),
            });
        }
        let own = entries.iter().filter(|entry| entry.key != "name").cloned().collect();
        let change = Node { span: branch.span.clone(), value: Value::Table(own) };
        let changes = Value::Array(before.iter().cloned().chain([change]).collect());
        let value = Node { span: branch.span.clone(), value: changes };
        puts.push(vec![Put { path: Path::root().key("change"), value, span: branch.span.clone() }]);
        names.push(name.clone());
    }
    let axes = scenario.sweep.iter().flat_map(|sweep| &sweep.axes);
    if !all.is_empty() && axes.clone().any(|axis| axis.title() == BRANCH) {
        findings.problems.push(Problem {
            message: format!("an axis is called \"{BRANCH}\", as the axis of the branches is"),
            span: span.clone(),
            label: "taken".into(),
            help: Some("give the axis another `name`".into()),
        });
    }
    // Its number is that of no written axis, so that none of them lists its values.
    let index = axes.count();
    (!all.is_empty()).then(|| Place { axis: BRANCH.to_owned(), values: names, span, puts, index })
}

/// Checks a document against the schema, and applies its `set`, which holds for all variants.
pub(super) fn settle(root: &mut Node) -> Findings {
    let mut findings = conform(root);
    let Value::Table(entries) = &mut root.value else { return findings };
    let Some(at) = entries.iter().position(|entry| entry.key == "set") else { return findings };
    // Removed, so that no variant applies it again.
    let settings = entries.remove(at).node;
    put_all(puts(root, &settings, &mut findings).iter(), root);
    // Again, because the settings may put values that do not fit the schema.
    let after = conform(root);
    findings.problems.extend(after.problems);
    findings.replaced.extend(after.replaced);
    findings
}

/// Values that a table of paths puts, with their paths.
pub(super) fn puts(root: &Node, settings: &Node, findings: &mut Findings) -> Vec<Put> {
    let mut puts = Vec::new();
    if let Value::Table(entries) = &settings.value {
        for entry in entries {
            let paths = find(root, &entry.key, &entry.key_span, findings);
            let put = |path| Put { path, value: entry.node.clone(), span: entry.key_span.clone() };
            puts.extend(paths.into_iter().flatten().map(put));
        }
    }
    puts
}

/// Members of a list.
fn nodes(root: &Node, path: &Path) -> Vec<Node> {
    match root.at(path).map(|node| &node.value) {
        Some(Value::Array(nodes)) => nodes.clone(),
        _ => Vec::new(),
    }
}

/// Names of the variants of an axis, and the values that each puts.
fn variants(root: &Node, path: &Path, findings: &mut Findings) -> (Vec<Node>, Vec<Vec<Put>>) {
    let mut names: Vec<Node> = Vec::new();
    let mut known = BTreeSet::new();
    let mut all = Vec::new();
    for (index, variant) in nodes(root, path).iter().enumerate() {
        let Some(name) = variant.get("name") else { continue };
        // An invalid name has been reported, and all of them have the same placeholder now.
        let written = !findings.replaced.contains(&path.index(index).key("name"));
        if !known.insert(name.text().map(str::to_owned)) && written {
            findings.problems.push(Problem {
                message: format!("two variants are called \"{}\"", name.text().unwrap_or("")),
                span: name.span.clone(),
                label: "taken".into(),
                help: Some("give one of them another `name`".into()),
            });
        }
        let settings = variant.get("set");
        all.push(settings.map_or_else(Vec::new, |settings| puts(root, settings, findings)));
        names.push(name.clone());
    }
    (names, all)
}

/// True if a path leads into a figure.
fn is_figure(path: &Path) -> bool {
    matches!(path.0.first(), Some(Step::Key(key)) if key == "figure")
}

/// All places that `path` stands for; reports a path that leads nowhere.
fn find(
    root: &Node,
    path: &str,
    span: &Range<usize>,
    findings: &mut Findings,
) -> Option<Vec<Path>> {
    let segments: Vec<&str> = path.split('.').collect();
    let mut search = Search { root, dead_end: None, paths: Vec::new() };
    search.walk(Some(root), SCHEMA.whole(), &Path::root(), &segments);
    // Keys that are read before anything is set cannot be set.
    let too_late =
        matches!(segments[..], ["sweep" | "set" | "branch", ..] | ["scenario", "extends"]);
    if !search.paths.is_empty() && !too_late {
        return Some(search.paths);
    }
    findings.problems.push(Problem {
        message: format!("path \"{path}\" matches no key of the scenario"),
        span: span.clone(),
        label: "leads nowhere".into(),
        help: Some(search.dead_end.filter(|_| !too_late).unwrap_or_else(|| {
            if too_late {
                return "sweeps, branches, `set` and `extends` are read before values are set"
                    .into();
            }
            "write keys and names with dots, such as \"provider.*.policy\"".into()
        })),
    });
    None
}

/// Reports repeated values of an axis: they would be the same point again.
fn twice<'a>(axis: &'a str, values: &'a [Node]) -> impl Iterator<Item = Problem> + 'a {
    let text = |value: &Node| text_of(&value.to_toml());
    let mut known = BTreeSet::new();
    let again = values.iter().filter(move |value| !known.insert(text(value)));
    again.map(move |value| Problem {
        message: format!("axis \"{axis}\" has {} twice", text(value)),
        span: value.span.clone(),
        label: "again".into(),
        help: Some("remove it; runs are repeated with other seeds by `replications`".into()),
    })
}

/// Reports an axis that has not exactly one of a path with values and a name with variants.
fn wrong_keys(axis: &Axis, span: Range<usize>) -> Option<Problem> {
    let (message, help) = match (&axis.path, axis.values.is_empty(), axis.variants.is_empty()) {
        (Some(_), false, true) => return None,
        (None, true, false) if axis.name.is_some() => return None,
        (None, true, false) => ("an axis of variants has no name", "add `name = \"…\"`"),
        (Some(_), true, true) => ("the axis has no values", "add `values = [...]`"),
        _ => (
            "an axis has either a `path` with `values` or a `name` with variants",
            "keep one of the two",
        ),
    };
    Some(Problem {
        message: message.into(),
        span,
        label: "this axis".into(),
        help: Some(help.into()),
    })
}

/// Follows a path through the document.
struct Search<'r> {
    root: &'r Node,
    /// Explanation of the first dead end.
    dead_end: Option<String>,
    paths: Vec<Path>,
}

impl Search<'_> {
    /// `node` is `None` in a table that is valid but not written.
    fn walk(&mut self, node: Option<&Node>, schema: &'static Json, at: &Path, segments: &[&str]) {
        let Some((segment, rest)) = segments.split_first() else {
            self.paths.push(at.clone());
            return;
        };
        match node.map(|node| &node.value) {
            Some(Value::Array(items)) => self.walk_array(items, schema, at, segment, rest),
            Some(Value::Table(_)) | None => {
                let property = property(schema, segment);
                let next = node.and_then(|node| node.get(segment));
                // At the root, a key of a table without the table, such as `policy`, is the usual mistake.
                if next.is_none() && property.is_null() && at.0.is_empty() {
                    return self.stop(below(self.root, segment));
                }
                let table = SCHEMA.type_of(property) == Some("object");
                // Tables that are not written can be set as well, and so can the last key of the path.
                let open = table || SCHEMA.variants(property).is_some() || rest.is_empty();
                if next.is_some() || open && !segment.is_empty() {
                    self.walk(next, property, &at.key(segment), rest);
                } else {
                    self.stop(format!("{at} has no `{segment}`"));
                }
            }
            Some(_) => self.stop(format!("`{}` is a single value", at.name())),
        }
    }

    fn walk_array(
        &mut self,
        items: &[Node],
        schema: &'static Json,
        at: &Path,
        segment: &str,
        rest: &[&str],
    ) {
        let schema = &SCHEMA.plain(schema)["items"];
        let names: Vec<&str> = items.iter().filter_map(|item| item.get("name")?.text()).collect();
        let number = segment.parse::<usize>().ok();
        let before = self.paths.len();
        for (index, item) in items.iter().enumerate() {
            let named = item.get("name").and_then(Node::text) == Some(segment);
            // Members are counted from 1 in paths.
            if segment == "*" || named || number == Some(index + 1) {
                self.walk(Some(item), schema, &at.index(index), rest);
            }
        }
        if self.paths.len() == before {
            let copied = items.iter().find_map(|item| copied(item, segment));
            let hint = match nearest(segment, names.iter().copied()) {
                _ if copied.is_some() => copied.unwrap_or_default(),
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None if number.is_some() && names.is_empty() => format!(
                    "there {} after `{}`: write a number from 1 to {}, or set the whole list",
                    are(items.len()),
                    at.name(),
                    items.len()
                ),
                None if names.is_empty() => {
                    format!("write a number from 1 or `*` after `{}`", at.name())
                }
                None => format!("after `{}` comes `*` or one of {}", at.name(), names.join(", ")),
            };
            self.stop(hint);
        }
    }

    fn stop(&mut self, why: String) {
        self.dead_end.get_or_insert(why);
    }
}

/// Help for the name of one copy of a provider with `count`.
fn copied(item: &Node, segment: &str) -> Option<String> {
    let name = item.get("name")?.text()?;
    let number: i64 = segment.strip_prefix(name)?.strip_prefix('-')?.parse().ok()?;
    let Value::Integer(count) = item.get("count")?.value else { return None };
    (1..=count).contains(&number).then(|| {
        format!(
            "\"{segment}\" is one of the {count} copies of \"{name}\", which a path names together: write a table for each \
             copy, without `count`"
        )
    })
}

/// Number of members of a list, in words.
fn are(count: usize) -> String {
    match count {
        1 => "is 1 element".to_owned(),
        _ => format!("are {count} elements"),
    }
}

/// Help with the paths at which tables have a key that the scenario itself lacks, such as `provider.*.policy`.
fn below(root: &Node, key: &str) -> String {
    let Value::Table(entries) = &root.value else { return String::new() };
    let written = entries.iter().filter_map(|entry| {
        let at = property(SCHEMA.whole(), &entry.key);
        let (way, table) = match entry.node.value {
            Value::Array(_) => (".*", &SCHEMA.plain(at)["items"]),
            Value::Table(_) => ("", at),
            _ => return None,
        };
        let has = !property(table, key).is_null();
        has.then(|| format!("\"{}{way}.{key}\"", entry.key))
    });
    let places = Vec::from_iter(written);
    match places.as_slice() {
        [] => format!("the scenario has no `{key}`"),
        places => format!("write {}", places.join(" or ")),
    }
}

/// Schema of a key of a table. If several tables may be at one place, the first one with this key counts, because
/// a sweep may also select the table.
fn property(schema: &'static Json, key: &str) -> &'static Json {
    let variants = SCHEMA.variants(schema).map_or_else(Vec::new, |(_, variants)| variants);
    let tables = variants.into_iter().map(|(_, table)| table);
    let beside = SCHEMA.table_beside_words(schema);
    let all = tables.chain(beside).chain([SCHEMA.plain(schema)]);
    let mut found = all.map(|table| &table["properties"][key]);
    found.find(|it| !it.is_null()).unwrap_or(&Json::Null)
}

/// Puts `value` at the end of `steps`. Missing tables are made on the way, and a word becomes the table that it
/// stands for.
fn set(
    (node, schema): (&mut Node, &'static Json),
    steps: &[Step],
    value: &Node,
    span: &Range<usize>,
) {
    let Some((step, rest)) = steps.split_first() else {
        *node = value.clone();
        return;
    };
    // A word becomes its table, so that a key of it can be set.
    if let (Value::String(_), Some((tag, _))) = (&node.value, SCHEMA.variants(schema)) {
        node.tag(tag);
    }
    match (step, &mut node.value) {
        (Step::Index(index), Value::Array(items)) => {
            // A list that was put before may be shorter.
            if let Some(item) = items.get_mut(*index) {
                set((item, &SCHEMA.plain(schema)["items"]), rest, value, span);
            }
        }
        (Step::Key(key), Value::Table(entries)) => {
            let place = entries.iter().position(|entry| entry.key == *key).unwrap_or_else(|| {
                let table = Node { span: span.clone(), value: Value::Table(Vec::new()) };
                entries.push(Entry { key: key.clone(), key_span: span.clone(), node: table });
                entries.len() - 1
            });
            set((&mut entries[place].node, property(schema, key)), rest, value, span);
        }
        // A single value that was put before has no keys.
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_copies_one_value_of_each_axis() {
        let size = |count: usize| {
            let values = Vec::from_iter((1..=count).map(|hours| format!("\"{hours}h\"")));
            let text = format!(
                "[sweep]\n[[sweep.axis]]\npath = \"scenario.until\"\nvalues = [{}]\n",
                values.join(", ")
            );
            let root = haggle_config::document::parse(&text).expect("valid TOML");
            let mut texts = 0;
            frame(&root).texts(&mut |_| texts += 1);
            texts
        };
        assert_eq!(size(1), 2, "the path and a value");
        assert_eq!(size(1_000), size(1));
    }
}
