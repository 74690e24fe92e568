//! Axes that set the same value: the last one that is put wins, so the others have less effect, or none.

use std::collections::{BTreeMap, BTreeSet};

use super::axis::{Place, Put};
use crate::{Problem, Warning};
use haggle_config::Findings;
use haggle_config::document::{Node, Path, Step, Value};

/// Reports axes without any effect, and warns of axes that others override in part.
pub(super) fn check(places: &[Place], root: &Node, findings: &mut Findings) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if places.len() < 2 {
        return warnings;
    }
    let all: Vec<Overriding> = places.iter().map(Overriding::of).collect();
    for (index, place) in places.iter().enumerate() {
        let written: BTreeSet<Written> =
            place.puts.iter().flatten().flat_map(|put| Written::of(put, index)).collect();
        let always = written.iter().map(|it| it.overridden(&all, Overriding::always));
        let always: Option<Vec<usize>> = always.collect();
        // Only if each of its values is overridden: one that is not gives `None`.
        if let Some(&by) = always.as_ref().and_then(|by| by.first()) {
            findings.problems.push(Problem {
                message: format!(
                    "axis \"{}\" has no effect: axis \"{}\" sets the same values",
                    place.axis, places[by].axis
                ),
                span: place.span.clone(),
                label: "overridden".into(),
                help: Some("remove one of them, or let them set different values".into()),
            });
            continue;
        }
        let in_part =
            |it: &Written| Some((it.overridden(&all, Overriding::sometimes)?, it.leaf.clone()));
        if let Some((by, leaf)) = written.iter().find_map(in_part) {
            warnings.push(Warning {
                message: format!(
                    "axis \"{}\" overrides a part of axis \"{}\": both set `{}`",
                    places[by].axis,
                    place.axis,
                    named(root, &leaf)
                ),
                span: place.span.clone(),
                label: "overridden in part".into(),
                help: Some("let the two axes set different values".into()),
            });
        }
    }
    warnings
}

/// A value that an axis sets, down to single keys of tables. The order is that in which values are put: long paths
/// after short ones, and later axes after earlier ones.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Written {
    leaf: Path,
    order: (usize, usize),
}

impl Written {
    fn of(put: &Put, axis: usize) -> Vec<Written> {
        let mut leaves = Vec::new();
        collect_leaves(&put.path, &put.value, &mut leaves);
        // As in `put_all`: short paths first, then in the order of the axes.
        let order = (put.path.0.len(), axis);
        leaves.into_iter().map(|leaf| Written { leaf, order }).collect()
    }

    /// Axis that puts another value there afterwards.
    fn overridden(&self, all: &[Overriding], by: fn(&Overriding, &Path) -> bool) -> Option<usize> {
        let puts_later = |(axis, overriding): (usize, &Overriding)| {
            let places = (0..=self.leaf.0.len()).filter(|&length| (length, axis) > self.order);
            let mut places = places.map(|length| Path(self.leaf.0[..length].to_vec()));
            // An axis of variants may itself put a table and a key inside it.
            (axis != self.order.1 && places.any(|place| by(overriding, &place))).then_some(axis)
        };
        all.iter().enumerate().find_map(puts_later)
    }
}

fn collect_leaves(path: &Path, value: &Node, leaves: &mut Vec<Path>) {
    match &value.value {
        Value::Table(entries) if !entries.is_empty() => {
            for entry in entries {
                collect_leaves(&path.key(&entry.key), &entry.node, leaves);
            }
        }
        _ => leaves.push(path.clone()),
    }
}

/// Paths at which an axis puts values, each with the number of its values that do so.
struct Overriding {
    values: usize,
    places: BTreeMap<Path, usize>,
}

impl Overriding {
    fn of(place: &Place) -> Overriding {
        let mut places = BTreeMap::new();
        for puts in &place.puts {
            // A set, because a value that puts a path twice counts once.
            for path in puts.iter().map(|put| &put.path).collect::<BTreeSet<_>>() {
                *places.entry(path.clone()).or_default() += 1;
            }
        }
        Overriding { values: place.puts.len(), places }
    }

    /// True if each of its values sets this path.
    fn always(&self, at: &Path) -> bool {
        self.places.get(at) == Some(&self.values)
    }

    /// True if at least one of its values sets this path.
    fn sometimes(&self, at: &Path) -> bool {
        self.places.contains_key(at)
    }
}

/// A path as written in an axis: `provider.north.speed`.
fn named(root: &Node, path: &Path) -> String {
    let mut at = Path::root();
    let mut names = Vec::new();
    for step in &path.0 {
        match step {
            Step::Key(key) => {
                at = at.key(key);
                names.push(key.clone());
            }
            Step::Index(index) => {
                at = at.index(*index);
                let name = root.at(&at.key("name")).and_then(Node::text);
                names.push(name.map_or_else(|| (index + 1).to_string(), str::to_owned));
            }
        }
    }
    names.join(".")
}
