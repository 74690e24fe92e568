//! Rules as rows of tables, and the engine that applies them to the items of a scenario.
//!
//! A row has a key, a requirement and the words of its report. `T` is the item that the rule is about, and `F` are facts
//! that follow from other items. A text may contain words in braces: `{name}` stands for the word "name" that is given
//! with the item, and `{key}` for the key of the place. Braces around any other text stay.

use std::fmt::Display;

use haggle_config::document::Path;

use super::Check;

/// Words for texts, each with its name.
pub(super) type Words<'a> = &'a [(&'a str, &'a dyn Display)];

/// A rule that refuses an item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refusal<T: ?Sized, F: ?Sized = ()> {
    /// Two features that exclude each other, if the rule is about such a pair.
    pub(super) between: Option<(&'static str, &'static str)>,
    /// Place of the report: keys and indices below the item, joined by dots. It is empty for the item itself.
    at: &'static str,
    broken: fn(&T, &F) -> bool,
    pub(super) message: &'static str,
    label: &'static str,
    help: &'static str,
}

/// Refuses an item that is `broken`, at a place below it.
pub(super) const fn refuse<T: ?Sized, F: ?Sized>(
    at: &'static str,
    broken: fn(&T, &F) -> bool,
    message: &'static str,
    label: &'static str,
    help: &'static str,
) -> Refusal<T, F> {
    Refusal { between: None, at, broken, message, label, help }
}

/// As [`refuse`], for a feature that excludes another one.
pub(super) const fn exclude<T: ?Sized, F: ?Sized>(
    between: (&'static str, &'static str),
    at: &'static str,
    broken: fn(&T, &F) -> bool,
    message: &'static str,
    label: &'static str,
    help: &'static str,
) -> Refusal<T, F> {
    Refusal { between: Some(between), at, broken, message, label, help }
}

/// A requirement without which keys have no effect.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effect<T, F = ()> {
    /// Keys below the item, joined by spaces.
    keys: &'static str,
    read: fn(&T, &F) -> bool,
    why: &'static str,
    remedy: &'static str,
}

/// Keys that are `read` only under this requirement. Several rows of a key are several requirements; the first one
/// that is not met gives the reason.
pub(super) const fn effect<T, F>(
    keys: &'static str,
    read: fn(&T, &F) -> bool,
    why: &'static str,
    remedy: &'static str,
) -> Effect<T, F> {
    Effect { keys, read, why, remedy }
}

/// Words about keys of which an item has exactly one.
pub(super) struct Sources {
    /// Message if it has none.
    pub(super) none: &'static str,
    /// Help if it has none.
    pub(super) add: &'static str,
    /// Message if it has two.
    pub(super) two: &'static str,
    /// Help if it has two.
    pub(super) keep: &'static str,
}

impl Check<'_> {
    /// Reports an item that has none of some keys, or two of them. The second one is the place of the report.
    pub(super) fn one_source(
        &mut self,
        of: Sources,
        path: &Path,
        keys: &[(&str, bool)],
        words: Words<'_>,
    ) {
        match self.given(path, keys)[..] {
            [_] => {}
            [] => self.report(path, fill(of.none, words), "a source is missing", of.add),
            [first, second, ..] => {
                let keys: [(&str, &dyn Display); 2] = [("first", &first), ("second", &second)];
                let message = fill(of.two, &[words, &keys].concat());
                self.report(&path.key(second), message, "a second source", of.keep);
            }
        }
    }

    /// The keys that an item has. A key that was given but wrong has been reported already.
    pub(super) fn given<'k>(&self, path: &Path, keys: &[(&'k str, bool)]) -> Vec<&'k str> {
        let given = |&&(key, given): &&(&str, bool)| given || self.is_replaced(&path.key(key));
        keys.iter().filter(given).map(|(key, _)| *key).collect()
    }

    /// Reports each rule that an item at `path` breaks.
    pub(super) fn refuse<T: ?Sized, F: ?Sized>(
        &mut self,
        rules: &[Refusal<T, F>],
        path: &Path,
        (item, facts): (&T, &F),
        words: Words<'_>,
    ) {
        for rule in rules {
            self.apply(rule, path, (item, facts), words);
        }
    }

    /// Reports the first rule that an item breaks; `true` if there is one.
    pub(super) fn refuse_first<T: ?Sized, F: ?Sized>(
        &mut self,
        rules: &[Refusal<T, F>],
        path: &Path,
        (item, facts): (&T, &F),
        words: Words<'_>,
    ) -> bool {
        rules.iter().any(|rule| self.apply(rule, path, (item, facts), words))
    }

    fn apply<T: ?Sized, F: ?Sized>(
        &mut self,
        rule: &Refusal<T, F>,
        path: &Path,
        (item, facts): (&T, &F),
        words: Words<'_>,
    ) -> bool {
        if !(rule.broken)(item, facts) {
            return false;
        }
        let at = below(path, &fill(rule.at, words));
        let key = at.name();
        let words = [words, &[("key", &key)]].concat();
        let [message, label, help] =
            [rule.message, rule.label, rule.help].map(|text| fill(text, &words));
        self.report(&at, message, &label, help);
        true
    }

    /// Records the keys of an item that are read, and those that have no effect; `owner` names the item.
    pub(super) fn effects<T, F>(
        &mut self,
        rows: &[Effect<T, F>],
        path: &Path,
        (item, facts): (&T, &F),
        owner: &str,
        words: Words<'_>,
    ) {
        let mut done = Vec::new();
        for key in rows.iter().flat_map(|row| row.keys.split(' ')) {
            if done.contains(&key) {
                continue;
            }
            done.push(key);
            let mut of_key = rows.iter().filter(|row| row.keys.split(' ').any(|it| it == key));
            let at = below(path, key);
            match of_key.find(|row| !(row.read)(item, facts)) {
                None => self.uses(&at, true, owner, "", ""),
                Some(row) => {
                    self.uses(&at, false, owner, &fill(row.why, words), &fill(row.remedy, words));
                }
            }
        }
    }
}

/// Path of a table of an array.
pub(super) fn item(kind: &str, index: usize) -> Path {
    Path::root().key(kind).index(index)
}

/// Path below another one: keys and indices, joined by dots.
pub(super) fn below(path: &Path, keys: &str) -> Path {
    let steps = keys.split('.').filter(|step| !step.is_empty());
    steps.fold(path.clone(), |path, step| match step.parse() {
        Ok(index) => path.index(index),
        Err(_) => path.key(step),
    })
}

/// A text with its words.
fn fill(text: &str, words: Words<'_>) -> String {
    with_words(text, |name| {
        let word = words.iter().find(|(word, _)| *word == name);
        word.map_or_else(|| format!("{{{name}}}"), |(_, word)| word.to_string())
    })
}

/// A text in which each part in braces is replaced.
pub(super) fn with_words(text: &str, word: impl Fn(&str) -> String) -> String {
    let mut parts = text.split('{');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('}') {
            Some((name, rest)) => filled.extend([word(name).as_str(), rest]),
            None => filled.extend(["{", part]),
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::{below, fill, item};

    #[test]
    fn texts_have_their_words_and_keep_other_braces() {
        let words: super::Words<'_> = &[("name", &"{of}"), ("of", &3)];
        let text = "\"{name}\" has {of}: write `a = { b = [{ c = 1 }] }`, {";
        assert_eq!(fill(text, words), "\"{of}\" has 3: write `a = { b = [{ c = 1 }] }`, {");
    }

    #[test]
    fn places_are_keys_and_indices() {
        let path = item("user", 2);
        assert_eq!(below(&path, ""), path);
        assert_eq!(below(&path, "a.0.b"), path.key("a").index(0).key("b"));
    }
}
