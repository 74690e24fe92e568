//! The manual's page on scenarios. It is made from the schema, so that it is never out of date.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::changing;
use super::keys::{self, Key};

const HEAD: &str = "\
# Keys of a scenario

<!-- Made from the types in crates/scenario/src/file. To renew it: UPDATE_MANUAL=1 cargo test -p haggle-scenario manual -->

A scenario is one TOML file. `[name]` opens a table that occurs once, `[[name]]` a table that may occur several times.
Keys that are not listed here are refused. `haggle help KEY` prints the text of this page on a key, such as `haggle help
provider.policy`; `haggle schema` prints the same as a JSON schema for editors, and `haggle show FILE` a scenario with
every default. [start.md](start.md) shows how scenarios are used.

Units of times are `us`, `ms`, `s`, `min`, `h`, `d` and `w`. Units of data are `B`, `kB`, `MB`, `GB` and `TB`. Units of bandwidths are `bit/s`, `kbit/s`, `Mbit/s` and `Gbit/s`
for rates; a time may have several (`\"1h 30min\"`).

A word of `policy` is short for a table with this name only: `policy = \"edf\"` is `policy = { name = \"edf\" }`.

Keys with ⇄ may change while a run goes on, see [change](#change); [the last section](#changes-while-a-run-goes-on) states the effect for each
key, and the reason why others may not.

A default of - means: without the key there is no such thing, or the meaning of the key describes this case. The defaults of a table
are those of its keys.

| type | meaning | example |
|---|---|---|
";

/// The whole page.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    for (name, meaning, example) in keys::quantities() {
        let _ = writeln!(page, "| {name} | {} | `{example}` |", cell(&meaning));
    }
    page.push_str("| word | one of the words listed under the table | |\n");
    let keys = keys::all();
    let mut told = BTreeSet::new();
    for opens in &keys {
        // Several keys may open one table, which has a single section.
        if let Some(table) = opens.table.as_deref().filter(|&table| told.insert(table)) {
            section(&mut page, &keys, opens, table);
        }
    }
    changes(&mut page);
    page
}

/// Writes the effect of a change of each key, or the reason why there is none. Longer beginnings of keys come first.
fn changes(page: &mut String) {
    page.push_str("\n## changes while a run goes on\n\nThe longest beginning of a key counts. All other keys are fixed when the run begins.\n");
    page.push_str("\n| keys that begin with | change | effect or reason |\n|---|---|---|\n");
    let mut rows = Vec::from_iter(changing::rows());
    rows.sort_by_key(|(start, _)| *start);
    for (start, verdict) in rows {
        let (may, why) = match verdict {
            Ok(effect) => ("⇄", effect),
            Err(reason) => ("-", reason),
        };
        let _ = writeln!(page, "| `{start}` | {may} | {} |", cell(why));
    }
}

/// Writes the section of a table.
fn section(page: &mut String, keys: &[Key], opens: &Key, table: &str) {
    let path = &opens.path;
    if let Some((name, about)) = keys::laws().find(|law| law.0 == table) {
        let _ = write!(page, "\n## {name}\n\n{about}\n");
    } else {
        let _ = write!(page, "\n## {path}\n\n{}\n", opens.meaning);
        let others: Vec<String> = keys
            .iter()
            .filter(|key| key.table.as_deref() == Some(table) && key.path != *path)
            .map(|key| format!("`{}`", key.path))
            .collect();
        if !others.is_empty() {
            let _ = write!(page, "\nThe same: {}.\n", others.join(", "));
        }
    }
    let below: Vec<&Key> = below(keys, path);
    let forms = below.iter().any(|key| key.form.is_some());
    page.push_str(match forms {
        true => "\n| form | key | type | default | meaning |\n|---|---|---|---|---|\n",
        false => "\n| key | type | default | meaning |\n|---|---|---|---|\n",
    });
    for key in &below {
        let (name, takes) = (key.name(), typed(keys, key));
        let meaning = meaning(key);
        if let Some(form) = &key.form {
            let _ = writeln!(page, "| `{form}` | | | | {meaning} |");
            for key in self::below(keys, &key.path) {
                let (name, takes, default) = (key.name(), typed(keys, key), default(key));
                let meaning = self::meaning(key);
                let _ = writeln!(page, "| | `{name}` | {takes} | {default} | {meaning} |");
            }
        } else {
            let _ = writeln!(page, "| `{name}` | {takes} | {} | {meaning} |", default(key));
        }
    }
    let forms = below.iter().filter(|key| key.form.is_some());
    let inside = forms.flat_map(|key| self::below(keys, &key.path));
    let mut told: Vec<&Key> = Vec::new();
    for key in below.iter().copied().chain(inside).filter(|key| !key.words.is_empty()) {
        let same = |other: &&Key| other.name() == key.name() && other.words == key.words;
        if told.iter().any(same) {
            continue; // of another form
        }
        told.push(key);
        let _ = write!(page, "\nWords of `{}`:\n\n", key.name());
        for word in &key.words {
            let _ = writeln!(page, "- `\"{}\"`: {}", word.word, word.meaning);
        }
        if let Some(table) = &key.beside {
            let _ = writeln!(page, "- `{}`: {}", table.word, table.meaning);
        }
    }
}

/// Keys directly below a path.
fn below<'k>(keys: &'k [Key], path: &str) -> Vec<&'k Key> {
    let is_below = |key: &&Key| {
        let rest = key.path.strip_prefix(path).and_then(|rest| rest.strip_prefix('.'));
        rest.is_some_and(|rest| !rest.contains('.'))
    };
    keys.iter().filter(is_below).collect()
}

/// Type of a key, with a link to the table that it opens.
fn typed(keys: &[Key], key: &Key) -> String {
    let Some(table) = &key.table else { return key.takes.clone() };
    if keys::laws().any(|law| law.0 == table) {
        return format!("[{}](#{})", key.takes, table.replace(' ', "-"));
    }
    let first = keys.iter().find(|other| other.table.as_ref() == Some(table));
    let path = first.map_or(&key.path, |first| &first.path);
    // Anchors of headings have no dots on GitHub.
    let anchor = path.replace('.', "");
    format!("{}, [{path}](#{anchor})", key.takes)
}

/// Meaning of a key, with a mark if its value may change while a run goes on.
fn meaning(key: &Key) -> String {
    let is_value = key.table.is_none() && key.form.is_none();
    let mark = if is_value && changing::changes(&key.way).is_ok() { " ⇄" } else { "" };
    format!("{}{mark}", cell(&key.meaning))
}

fn default(key: &Key) -> String {
    match &key.default {
        _ if key.required => "required".to_owned(),
        Some(default) => format!("`{default}`"),
        None => "-".to_owned(),
    }
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    // A bare bar would end the cell.
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn the_manual_page_agrees_with_the_schema() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenario.md");
        if std::env::var_os("UPDATE_MANUAL").is_some() {
            std::fs::write(&path, super::page()).expect("docs/ can be written");
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == super::page(),
            "docs/scenario.md is stale: run UPDATE_MANUAL=1 cargo test -p haggle-scenario manual"
        );
    }
}
