//! Which values of a scenario are read, which are written in vain, and which are doubtful.

use std::collections::BTreeSet;

use super::Check;
use crate::problem::Warning;
use crate::schema::SCHEMA;
use haggle_config::document::{Node, Path, Step, Value};
use serde_json::Value as Json;

/// A value as it is written: its key, and where it stands in the text.
///
/// The values that an axis puts at one path differ by their places, and one value that an axis
/// puts at several paths is written once.
pub(crate) type Written = (String, usize, usize);

/// What the checks have found out about the values of one variant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uses {
    /// Values that something reads.
    pub(crate) read: BTreeSet<Written>,
    /// Values that nothing reads, and what to say if no other variant reads them either.
    pub(crate) unread: Vec<(Written, Warning)>,
    /// What has an effect that is hardly meant, whatever other variants do.
    pub(crate) doubts: Vec<Warning>,
}

impl Check<'_> {
    /// Notes whether the value at `path` is `read`. If it is not, `owner` (such as `provider
    /// "north"`) says it in vain, for the reason `why`, and `remedy` is the way out.
    ///
    /// A value that is not written, or is the default, says nothing.
    pub(super) fn uses(&mut self, path: &Path, read: bool, owner: &str, why: &str, remedy: &str) {
        let what = format!("`{}` of {owner}", path.name());
        self.has_effect(path, read, &what, why, remedy);
    }

    /// Warns about what stands at `path`.
    pub(super) fn doubt(&mut self, path: &Path, message: String, label: &str, help: String) {
        let (span, label, help) = (self.root.place(path), label.to_owned(), Some(help));
        self.uses.doubts.push(Warning { message, span, label, help });
    }

    /// As [`Check::uses`], with a name for what stands there.
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

/// Whether a value is what would hold without it.
fn is_default(root: &Node, node: &Node, path: &Path) -> bool {
    if let Value::Table(entries) = &node.value {
        return entries.iter().all(|entry| is_default(root, &entry.node, &path.key(&entry.key)));
    }
    let Some(schema) = schema_at(root, path) else { return false };
    let written = serde_json::to_value(node.to_toml()).unwrap_or(Json::Null);
    match &schema["default"] {
        Json::Null => false,
        Json::Number(default) => default.as_f64() == written.as_f64(),
        default => *default == written,
    }
}

/// The schema of the value at `path` of a document.
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
