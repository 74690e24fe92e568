//! Scenarios that extend another one.

use std::ops::Range;

use serde_json::Value as Json;

use super::schema::SCHEMA;
use super::{Problem, Source};
use haggle_config::Findings;
use haggle_config::document::{self, Entry, Node, Path, Value};

/// Keys of the header that are never inherited.
const OWN: [&str; 3] = ["name", "description", "extends"];

/// Puts `root` over the file that `source` extends, if any.
///
/// Tables are merged key by key. All other values are replaced, and so are a whole sweep and a table of another
/// kind (`policy.name`). Values from the other file have their place at the `extends` key, because that file can
/// be validated by itself. The settings of that file are `settle`d first, so that they do not undo values in
/// `root`.
pub(super) fn inherit(
    root: &mut Node,
    source: &Source,
    settle: fn(&mut Node) -> Findings,
) -> Result<(), Problem> {
    let at = Path::root().key("scenario").key("extends");
    let Some(name) = root.at(&at) else { return Ok(()) };
    let span = name.span.clone();
    let Some(base) = &source.base else {
        // A value that is not text is reported against the schema.
        let is_text = name.text().is_some();
        return if is_text { Err(elsewhere(span)) } else { Ok(()) };
    };
    let mut under = match document::parse(&base.text) {
        Ok(under) => under,
        Err(problems) => return Err(broken(base, &problems[0], span)),
    };
    // The other file may extend a further one.
    inherit(&mut under, base, settle).map_err(|problem| broken(base, &problem, span.clone()))?;
    if let Some(problem) = settle(&mut under).problems.first() {
        return Err(broken(base, problem, span));
    }
    // Spans of the other file do not refer to the text of this one.
    let value = Value::from_toml(under.to_toml(), &span);
    let mut under = Node { span, value };
    if let Value::Table(entries) = &mut under.value {
        for entry in entries.iter_mut().filter(|entry| entry.key == "scenario") {
            if let Value::Table(header) = &mut entry.node.value {
                header.retain(|entry| !OWN.contains(&entry.key.as_str()));
            }
        }
    }
    // The other file is the lower layer: what this file writes is put over it.
    let over = std::mem::replace(root, under);
    overlay(root, over, SCHEMA.whole());
    Ok(())
}

/// Kind of a table: the tag, or the rule of one's own.
fn kind<'n>(node: &'n Node, schema: &Json) -> Option<&'n str> {
    let (tag, _) = SCHEMA.variants(schema)?;
    let own = SCHEMA.table_beside_words(schema).and_then(|table| SCHEMA.required(table).next());
    [Some(tag), own].into_iter().flatten().find_map(|key| node.get(key)?.text())
}

fn overlay(under: &mut Node, over: Node, schema: &Json) {
    // A table of another kind has other keys, so none of the inherited ones may stay.
    let is_another = kind(&over, schema).is_some_and(|it| kind(under, schema) != Some(it));
    let under_tag = |tag: &str| under.get(tag)?.text();
    let table = SCHEMA.table_for(schema, under_tag).unwrap_or(&Json::Null);
    match (&mut under.value, over.value) {
        (Value::Table(entries), Value::Table(own)) if !is_another => {
            under.span = over.span;
            for Entry { key, key_span, node } in own {
                match entries.iter_mut().find(|entry| entry.key == key) {
                    // A sweep is replaced as a whole: axes of two files would multiply.
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
