//! Values of a scenario that are read, that have no effect, or that are doubtful.

use std::collections::BTreeSet;

use super::Check;
use crate::problem::Warning;
use crate::schema::SCHEMA;
use haggle_config::document::{Node, Path, Step, Value};
use serde_json::Value as Json;

/// A value of the text: its key, and its start and end in the text.
///
/// The values that an axis puts at one path differ by their places, and one value that an axis
/// puts at several paths is written once.
pub(crate) type Written = (String, usize, usize);

/// Findings of the checks about the values of one variant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uses {
    /// Values that are read.
    pub(crate) read: BTreeSet<Written>,
    /// Values that are not read, each with the warning that holds if no other variant reads them either.
    pub(crate) unread: Vec<(Written, Warning)>,
    /// Warnings of values whose effect is hardly intended, independent of other variants.
    pub(crate) doubts: Vec<Warning>,
}

impl Check<'_> {
    /// Records whether the value at `path` is `read`. If it is not, the warning names the `owner`, such as
    /// `provider "north"`, the reason `why`, and a `remedy`.
    ///
    /// A value that is not written, or is the default, gives no warning.
    pub(super) fn uses(&mut self, path: &Path, read: bool, owner: &str, why: &str, remedy: &str) {
        let what = format!("`{}` of {owner}", path.name());
        self.has_effect(path, read, &what, why, remedy);
    }

    /// Warns about the value at `path`.
    pub(super) fn doubt(&mut self, path: &Path, message: String, label: &str, help: String) {
        let (span, label, help) = (self.root.place(path), label.to_owned(), Some(help));
        self.uses.doubts.push(Warning { message, span, label, help });
    }

    /// As [`Check::uses`], with `what` as the name of the value.
    pub(super) fn has_effect(
        &mut self,
        path: &Path,
        read: bool,
        what: &str,
        why: &str,
        remedy: &str,
    ) {
        let Some(node) = self.root.at(path) else { return };
        let span = node.span.clone();
        let written = (path.name().to_owned(), span.start, span.end);
        if read {
            self.uses.read.insert(written);
        } else if !is_default(self.root, node, path) {
            let message = format!("{what} has no effect: {why}");
            let (label, help) = ("not used".to_owned(), Some(remedy.to_owned()));
            self.uses.unread.push((written, Warning { message, span, label, help }));
        }
    }
}

/// True if a value equals its default.
fn is_default(root: &Node, node: &Node, path: &Path) -> bool {
    if let Value::Table(entries) = &node.value {
        return entries.iter().all(|entry| is_default(root, &entry.node, &path.key(&entry.key)));
    }
    let Some(schema) = schema_at(root, path) else { return false };
    let written = serde_json::to_value(node.to_toml()).unwrap_or(Json::Null);
    match &schema["default"] {
        Json::Null => false,
        // The schema may write 1 where the text has 1.0.
        Json::Number(default) => default.as_f64() == written.as_f64(),
        default => *default == written,
    }
}

/// Schema of the value at `path` of a document.
fn schema_at(root: &Node, path: &Path) -> Option<&'static Json> {
    let whole = (SCHEMA.whole(), Path::root());
    let step = |(schema, at): (&'static Json, Path), step: &Step| {
        let (next, at) = match step {
            Step::Key(key) => {
                let tag = |tag: &str| root.at(&at)?.get(tag)?.text();
                (&SCHEMA.table_for(schema, tag)?["properties"][key], at.key(key))
            }
            Step::Index(index) => (&SCHEMA.plain(schema)["items"], at.index(*index)),
        };
        (!next.is_null()).then_some((next, at))
    };
    path.0.iter().try_fold(whole, step).map(|(schema, _)| schema)
}
