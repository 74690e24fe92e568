//! Scenarios that begin with another one.

use std::ops::Range;

use serde_json::Value as Json;

use super::schema::SCHEMA;
use super::{Problem, Source};
use haggle_config::Findings;
use haggle_config::document::{self, Entry, Node, Path, Value};

/// What a scenario has of its own, whatever it extends.
const OWN: [&str; 3] = ["name", "description", "extends"];

/// Puts `root` over what `source` extends, if anything.
///
/// Tables are put over tables, key by key; anything else takes the place of what
/// was there, and so do a sweep as a whole and a table that says it is another one (`policy.name`). What comes from the other file has
/// its place where that file is named: it can be validated by itself. What that
/// file sets is `settle`d before, so that it does not undo what stands in `root`.
pub(super) fn inherit(
    root: &mut Node,
    source: &Source,
    settle: fn(&mut Node) -> Findings,
) -> Result<(), Problem> {
    let at = Path::root().key("scenario").key("extends");
    let Some(name) = root.at(&at) else { return Ok(()) };
    let span = name.span.clone();
    let Some(base) = &source.base else {
        // What is no text at all is found against the schema.
        let is_text = name.text().is_some();
        return if is_text { Err(elsewhere(span)) } else { Ok(()) };
    };
    let mut under = match document::parse(&base.text) {
        Ok(under) => under,
        Err(problems) => return Err(broken(base, &problems[0], span)),
    };
    inherit(&mut under, base, settle).map_err(|problem| broken(base, &problem, span.clone()))?;
    if let Some(problem) = settle(&mut under).problems.first() {
        return Err(broken(base, problem, span));
    }
    let value = Value::from_toml(under.to_toml(), &span);
    let mut under = Node { span, value };
    if let Value::Table(entries) = &mut under.value {
        for entry in entries.iter_mut().filter(|entry| entry.key == "scenario") {
            if let Value::Table(header) = &mut entry.node.value {
                header.retain(|entry| !OWN.contains(&entry.key.as_str()));
            }
        }
    }
    let over = std::mem::replace(root, under);
    overlay(root, over, SCHEMA.whole());
    Ok(())
}

/// Which table it is of those that can stand here: the tag, or the rule of one's own.
fn kind<'n>(node: &'n Node, schema: &Json) -> Option<&'n str> {
    let (tag, _) = SCHEMA.variants(schema)?;
    let own = SCHEMA.table_beside_words(schema).and_then(|table| SCHEMA.required(table).next());
    [Some(tag), own].into_iter().flatten().find_map(|key| node.get(key)?.text())
}

fn overlay(under: &mut Node, over: Node, schema: &Json) {
    let is_another = kind(&over, schema).is_some_and(|it| kind(under, schema) != Some(it));
    let under_tag = |tag: &str| under.get(tag)?.text();
    let table = SCHEMA.table_for(schema, under_tag).unwrap_or(&Json::Null);
    match (&mut under.value, over.value) {
        (Value::Table(entries), Value::Table(own)) if !is_another => {
            under.span = over.span;
            for Entry { key, key_span, node } in own {
                match entries.iter_mut().find(|entry| entry.key == key) {
                    Some(entry) if key != "sweep" => {
                        entry.key_span = key_span;
                        overlay(&mut entry.node, node, &table["properties"][&key]);
                    }
                    Some(entry) => *entry = Entry { key, key_span, node },
                    None => entries.push(Entry { key, key_span, node }),
                }
            }
        }
        (value, own) => {
            *value = own;
            under.span = over.span;
        }
    }
}

fn elsewhere(span: Range<usize>) -> Problem {
    Problem {
        message: "`extends` names a file in the same folder".into(),
        span,
        label: "not the name of a file here".into(),
        help: Some("write its name without a folder, such as \"policies.toml\"".into()),
    }
}

fn broken(base: &Source, problem: &Problem, span: Range<usize>) -> Problem {
    let path = base.path.display();
    Problem {
        message: format!("the extended scenario has a problem: {}", problem.message),
        span,
        label: "in this file".into(),
        help: Some(format!("`haggle validate {path}` shows where")),
    }
}
