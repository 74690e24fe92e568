//! Checks a document against the schema, and continues after each mistake.
//!
//! A mistake is reported, and its value is removed or replaced. Serde can then read the rest, which is
//! checked, too. The paths of replaced values are recorded, and nothing more is reported about them.

use serde_json::Value as Json;

use crate::document::{Entry, Node, Path, Value};
use crate::suggest::{either, nearest};
use crate::{Problem, Schema};

/// Result of a check against the schema.
#[derive(Debug, Default)]
pub struct Findings {
    /// The mistakes.
    pub problems: Vec<Problem>,
    /// Places of values that were replaced. Other checks skip them.
    pub replaced: Vec<Path>,
}

/// Rules for documents.
#[derive(Clone, Copy)]
pub struct Rules {
    /// The keys and values that are permitted.
    pub schema: &'static Schema,
    /// Checks a string against the format that the schema names for it.
    pub check_format: fn(format: &str, text: &str) -> Result<(), FormatError>,
}

/// Reason why a string does not fit its format, with a correction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}: {help}")]
pub struct FormatError {
    /// The mistake, with the string.
    pub problem: String,
    /// Text to write instead.
    pub help: String,
}

impl FormatError {
    /// An error with the mistake and a correction.
    pub fn new(problem: String, help: &str) -> FormatError {
        FormatError { problem, help: help.into() }
    }
}

/// Checks `root` and makes it fit the rules.
pub fn conform(root: &mut Node, rules: Rules) -> Findings {
    let mut pass = Pass { rules, findings: Findings::default() };
    pass.value(root, rules.schema.whole(), &Path::root());
    pass.findings
}

/// One pass over a document.
struct Pass {
    rules: Rules,
    findings: Findings,
}

/// The table around an unknown key.
#[derive(Clone, Copy)]
struct Around<'a> {
    schema: &'a Json,
    kin: Option<Kin<'a>>,
    /// Other entries of this table.
    kept: &'a [Entry],
}

/// A tagged table, and its alternatives.
#[derive(Clone, Copy)]
struct Kin<'k> {
    tag: &'k str,
    /// The value of its tag.
    word: &'k str,
    variants: &'k [(&'k str, &'k Json)],
}

/// Result of the check of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    Fits,
    /// A problem has been reported; the value must be removed.
    Unfit,
}

impl Pass {
    fn value(&mut self, node: &mut Node, schema: &Json, path: &Path) -> Fit {
        let words = self.rules.schema.words(schema);
        let beside = self.rules.schema.table_beside_words(schema);
        if let Some((tag, variants)) = self.rules.schema.variants(schema) {
            if words.is_some() && !matches!(node.value, Value::Table(_)) {
                // If the variant needs more keys than its tag, the check of the table reports them.
                let names: Vec<&str> = variants.iter().map(|&(name, _)| name).collect();
                if self.word(node, &names, beside, path) == Fit::Unfit {
                    return Fit::Unfit;
                }
                node.tag(tag);
            }
            return match beside.filter(|table| is_meant(node, tag, table)) {
                Some(table) => self.table(node, table, None, path),
                None => self.tagged(node, tag, &variants, path),
            };
        }
        if let Some(words) = words {
            return match beside {
                Some(table) if matches!(node.value, Value::Table(_)) => {
                    self.table(node, table, None, path)
                }
                beside => self.word(node, &words, beside, path),
            };
        }
        let Some(expected) = self.rules.schema.type_of(schema) else {
            return Fit::Fits;
        };
        let schema = self.rules.schema.plain(schema);
        match (expected, &mut node.value) {
            ("string", Value::String(_)) => match self.length(node, schema, path) {
                Fit::Fits => self.format(node, schema),
                Fit::Unfit => Fit::Unfit,
            },
            ("integer", Value::Integer(_)) | ("number", Value::Integer(_) | Value::Float(_)) => {
                self.range(node, schema, path)
            }
            ("boolean", Value::Boolean(_)) => Fit::Fits,
            ("array", Value::Array(_)) => self.array(node, schema, path),
            // A table whose keys are chosen by the author, such as the paths of a sweep.
            ("object", Value::Table(_)) if self.takes_any_key(schema) => Fit::Fits,
            ("object", Value::Table(_)) => self.table(node, schema, None, path),
            _ => self.wrong_type(node, expected, schema, path),
        }
    }

    /// Checks a word, which may be replaced by a table of the form `beside`.
    fn word(&mut self, node: &Node, words: &[&str], beside: Option<&Json>, path: &Path) -> Fit {
        let mut known = list(words);
        for key in beside.into_iter().flat_map(|table| self.rules.schema.required(table)) {
            known.push_str(&format!("; or a table, `{{ {key} = \"…\" }}`"));
        }
        let Some(text) = node.text() else {
            return self.unfit(
                node,
                format!("`{}` must be a word, not {}", path.name(), node.kind()),
                node.kind().into(),
                Some(format!("write one of {known}")),
            );
        };
        if words.contains(&text) {
            return Fit::Fits;
        }
        let known = format!("`{}` is one of {known}", path.name());
        let help = match nearest(text, words.iter().copied()) {
            Some(word) => format!("did you mean \"{word}\"? {known}"),
            None => known,
        };
        let message = format!("`{}` cannot be \"{text}\"", path.name());
        self.unfit(node, message, "no such word".into(), Some(help))
    }

    fn tagged(
        &mut self,
        node: &mut Node,
        tag: &str,
        variants: &[(&str, &Json)],
        path: &Path,
    ) -> Fit {
        if !matches!(node.value, Value::Table(_)) {
            let message = format!("`{}` must be a table, not {}", path.name(), node.kind());
            let help = self.constant(node, tag, variants, path).unwrap_or_else(|| {
                let names: Vec<&str> = variants.iter().map(|&(name, _)| name).collect();
                format!("write a table whose `{tag}` is one of {}", list(&names))
            });
            return self.unfit(node, message, node.kind().into(), Some(help));
        }
        let names: Vec<&str> = variants.iter().map(|&(name, _)| name).collect();
        let Some(written) = node.get(tag) else {
            return self.unfit(
                node,
                format!("{path} has no `{tag}`"),
                format!("`{tag}` is missing here"),
                Some(format!("`{tag}` is one of {}", list(&names))),
            );
        };
        if self.word(written, &names, None, &path.key(tag)) == Fit::Unfit {
            return Fit::Unfit;
        }
        let chosen = variants.iter().find(|(name, _)| written.text() == Some(name));
        match chosen {
            Some(&(word, variant)) => {
                self.table(node, variant, Some(Kin { tag, word, variants }), path)
            }
            // Not reached: the word has just been found among the names of the variants.
            None => Fit::Unfit,
        }
    }

    fn format(&mut self, node: &Node, schema: &Json) -> Fit {
        let (Some(format), Some(text)) = (schema["format"].as_str(), node.text()) else {
            return Fit::Fits;
        };
        match (self.rules.check_format)(format, text) {
            Ok(()) => Fit::Fits,
            Err(error) => {
                self.unfit(node, error.problem, "cannot be read".into(), Some(error.help))
            }
        }
    }

    fn length(&mut self, node: &Node, schema: &Json, path: &Path) -> Fit {
        let (Some(most), Some(text)) = (schema["maxLength"].as_u64(), node.text()) else {
            return Fit::Fits;
        };
        let count = text.chars().count() as u64;
        if count <= most {
            return Fit::Fits;
        }
        self.unfit(
            node,
            format!("`{}` has {count} characters, needs at most {most}", path.name()),
            "too long".into(),
            self.purpose_of(schema, path),
        )
    }

    fn range(&mut self, node: &Node, schema: &Json, path: &Path) -> Fit {
        let number = match node.value {
            Value::Integer(number) => number as f64,
            Value::Float(number) => number,
            _ => return Fit::Fits,
        };
        let (least, most) = bounds_of_type(schema);
        let bound = |key: &str| {
            let of_type = match key {
                "minimum" => least,
                "maximum" => most,
                _ => None,
            };
            schema[key].as_f64().or(of_type)
        };
        // NaN first, because no comparison holds for it. An infinite number is reported by the bound that it
        // exceeds, if there is one.
        let needs = if number.is_nan() {
            "a number".into()
        } else if let Some(bound) = bound("exclusiveMinimum").filter(|&bound| number <= bound) {
            format!("more than {bound}")
        } else if let Some(bound) = bound("minimum").filter(|&bound| number < bound) {
            format!("at least {bound}")
        } else if let Some(bound) = bound("maximum").filter(|&bound| number > bound) {
            format!("at most {bound}")
        } else if number.is_infinite() {
            "a finite number".into()
        } else {
            return Fit::Fits;
        };
        let help = self.purpose_of(schema, path);
        self.unfit(
            node,
            format!("`{}` is {number}, needs {needs}", path.name()),
            format!("needs {needs}"),
            help,
        )
    }

    fn array(&mut self, node: &mut Node, schema: &Json, path: &Path) -> Fit {
        let Value::Array(items) = &mut node.value else {
            return Fit::Fits;
        };
        let count = items.len() as u64;
        let least = schema["minItems"].as_u64().unwrap_or(0);
        let most = schema["maxItems"].as_u64().unwrap_or(u64::MAX);
        if let Some(needs) = needed(count, least, most) {
            return self.unfit(
                node,
                format!("`{}` has {count} elements, needs {needs}", path.name()),
                format!("needs {needs}"),
                self.purpose_of(schema, path),
            );
        }
        for (index, item) in items.iter_mut().enumerate() {
            let path = path.index(index);
            if self.value(item, &schema["items"], &path) == Fit::Unfit {
                // An element without a purpose of its own has that of its array.
                let purpose = self.purpose_of(schema, &path);
                if let Some(problem) = self.findings.problems.last_mut() {
                    problem.help = problem.help.take().or(purpose);
                }
                // To remove it would change the numbers of the elements after it.
                self.replace(item, &schema["items"], path);
            }
        }
        Fit::Fits
    }

    /// Checks a table; `kin` are its alternatives.
    fn table(&mut self, node: &mut Node, schema: &Json, kin: Option<Kin<'_>>, path: &Path) -> Fit {
        let span = node.span.clone();
        let Value::Table(entries) = &mut node.value else {
            return Fit::Fits;
        };
        let mut absent: Vec<&str> =
            self.rules.schema.properties(schema).map(|(key, _)| key).collect();
        absent.retain(|key| entries.iter().all(|entry| entry.key != *key));

        let mut kept = Vec::with_capacity(entries.len());
        let mut unknown = Vec::new();
        for mut entry in std::mem::take(entries) {
            let path = path.key(&entry.key);
            let property = &schema["properties"][&entry.key];
            if property.is_null() {
                unknown.push((entry, path));
            } else if self.value(&mut entry.node, property, &path) == Fit::Fits {
                kept.push(entry);
            } else if self.rules.schema.required(schema).any(|key| key == entry.key) {
                self.replace(&mut entry.node, property, path);
                kept.push(entry);
            } else {
                // An optional value is left out; a required one is replaced, so that serde can read the table.
                self.findings.replaced.push(path);
            }
        }

        // Reported last, because a suggestion depends on the other entries.
        for (entry, path) in unknown {
            self.unknown_key(&entry, &path, &mut absent, Around { schema, kin, kept: &kept });
        }
        for key in self.rules.schema.required(schema) {
            if kept.iter().any(|entry| entry.key == key) {
                continue;
            }
            let property = &schema["properties"][key];
            // A key for which a misspelt one was written is not reported as missing.
            if absent.contains(&key) {
                self.findings.problems.push(Problem {
                    message: format!("{path} has no `{key}`"),
                    span: span.clone(),
                    label: format!("`{key}` is missing here"),
                    help: Some(match self.rules.schema.purpose(property) {
                        Some(purpose) => format!("add `{key}`: {purpose}"),
                        None => format!("add `{key}`"),
                    }),
                });
            }
            let mut node = Node { span: span.clone(), value: Value::Boolean(false) };
            self.replace(&mut node, property, path.key(key));
            kept.push(Entry { key: key.into(), key_span: span.clone(), node });
        }
        node.value = Value::Table(kept);
        Fit::Fits
    }

    /// Reports a key that the table does not have. If a missing key has a similar name, it is assumed
    /// to be meant and is not reported as missing.
    fn unknown_key(
        &mut self,
        entry: &Entry,
        path: &Path,
        absent: &mut Vec<&str>,
        around: Around<'_>,
    ) {
        let Around { schema, kin, .. } = around;
        let table = Path(path.0[..path.0.len() - 1].to_vec());
        let with = match kin {
            Some(Kin { tag, word, .. }) => format!(" with `{tag} = \"{word}\"`"),
            None => String::new(),
        };
        let help = match nearest(&entry.key, absent.iter().copied()) {
            Some(meant) => {
                self.findings.replaced.push(table.key(meant));
                absent.retain(|key| *key != meant);
                format!("did you mean `{meant}`?")
            }
            None => {
                let known: Vec<&str> =
                    self.rules.schema.properties(schema).map(|(key, _)| key).collect();
                self.owner(&entry.key, around)
                    .unwrap_or_else(|| format!("{table}{with} has {}", list_keys(&known)))
            }
        };
        self.findings.problems.push(Problem {
            message: format!("{table}{with} has no key `{}`", entry.key),
            span: entry.key_span.clone(),
            label: "unknown key".into(),
            help: Some(help),
        });
    }

    /// The place to which a misplaced key belongs: to an alternative of the table, or one level further
    /// inside.
    fn owner(&self, key: &str, around: Around<'_>) -> Option<String> {
        let Around { schema, kin, kept } = around;
        let has = |table: &Json| self.rules.schema.properties(table).any(|(name, _)| name == key);
        if let Some(Kin { tag, word, variants }) = kin {
            let known: Vec<&str> =
                self.rules.schema.properties(schema).map(|(key, _)| key).collect();
            let owners = variants.iter().filter(|(_, table)| has(table)).map(|it| it.0);
            let owners: Vec<&str> = owners.collect();
            return (!owners.is_empty()).then(|| {
                let (own, known) = (list(&owners), list_keys(&known));
                format!("it is a key of {own}; with `{tag} = \"{word}\"` there are {known}")
            });
        }
        let mut inside = self.rules.schema.properties(schema).filter_map(|(property, schema)| {
            match self.rules.schema.variants(schema) {
                Some((tag, variants)) => {
                    let of = |&&(word, table): &&(&str, &Json)| word == key || has(table);
                    let said = |word: &str| {
                        let written = kept.iter().find(|entry| entry.key == property);
                        written.and_then(|it| it.node.get(tag)?.text()) == Some(word)
                    };
                    let all = || variants.iter().filter(of);
                    // The variant that is written already, or else the first one.
                    let (word, table) = *all().find(|it| said(it.0)).or_else(|| all().next())?;
                    let rest = if has(table) { format!("{key} = …") } else { "…".to_owned() };
                    Some((property, format!("{{ {tag} = \"{word}\", {rest} }}")))
                }
                None => has(schema).then(|| (property, format!("{{ {key} = … }}"))),
            }
        });
        let (property, table) = inside.next()?;
        // With more than one property that takes the key, a suggestion would be a guess.
        inside
            .next()
            .is_none()
            .then(|| format!("it belongs to `{property}`: write `{property} = {table}`"))
    }

    fn wrong_type(&mut self, node: &Node, expected: &str, schema: &Json, path: &Path) -> Fit {
        let expected = match expected {
            "string" => "a string",
            "integer" => "an integer",
            "number" => "a number",
            "boolean" => "true or false",
            "array" => "an array",
            "object" => "a table",
            other => other,
        };
        let help = match schema["examples"][0].as_str() {
            _ if expected == "a table" => self.keys_of(schema, path),
            _ if percent(node).is_some() && expected == "a number" => {
                percent(node).map(|part| format!("write `{} = {part}`", path.name()))
            }
            Some(example) => self
                .rules
                .schema
                .purpose(schema)
                .map(|purpose| format!("{purpose}, such as \"{example}\"")),
            None => self.purpose_of(schema, path),
        };
        let message = format!("`{}` must be {expected}, not {}", path.name(), node.kind());
        self.unfit(node, message, node.kind().into(), help)
    }

    fn unfit(&mut self, node: &Node, message: String, label: String, help: Option<String>) -> Fit {
        self.findings.problems.push(Problem { message, span: node.span.clone(), label, help });
        Fit::Unfit
    }

    fn replace(&mut self, node: &mut Node, schema: &Json, path: Path) {
        node.value = Value::from_toml(self.rules.schema.placeholder(schema), &node.span);
        self.findings.replaced.push(path);
    }

    /// A plain value, written as the variant that has only this value.
    fn constant(
        &self,
        node: &Node,
        tag: &str,
        variants: &[(&str, &Json)],
        path: &Path,
    ) -> Option<String> {
        let value = node.to_toml();
        let plain = value.is_str() || value.is_integer() || value.is_float();
        let only = |key: &str, variant| {
            let mut others = self.rules.schema.required(variant).filter(|&other| other != tag);
            others.next() == Some(key) && others.next().is_none()
        };
        let (name, _) = variants.iter().find(|(_, variant)| only("value", variant))?;
        plain
            .then(|| format!("write `{} = {{ {tag} = \"{name}\", value = {value} }}`", path.name()))
    }

    /// The keys that the table at `path` requires, or its purpose.
    fn keys_of(&self, schema: &Json, path: &Path) -> Option<String> {
        let needed: Vec<&str> = self.rules.schema.required(schema).collect();
        if needed.is_empty() {
            return self.purpose_of(schema, path);
        }
        Some(format!("write a table with {}", list_keys(&needed)))
    }

    /// The purpose of the value at `path` as help.
    fn purpose_of(&self, schema: &Json, path: &Path) -> Option<String> {
        self.rules.schema.purpose(schema).map(|purpose| format!("`{}`: {purpose}", path.name()))
    }

    /// True if a table's schema permits any keys.
    fn takes_any_key(&self, schema: &Json) -> bool {
        let schema = self.rules.schema.plain(schema);
        !matches!(schema["additionalProperties"], Json::Null | Json::Bool(false))
            && schema["properties"].is_null()
    }
}

/// True if the written table is `table`, which has no tag, and not one of the tagged tables.
fn is_meant(node: &Node, tag: &str, table: &Json) -> bool {
    let keys = table["required"].as_array().into_iter().flatten().filter_map(Json::as_str);
    node.get(tag).is_none() && keys.into_iter().any(|key| node.get(key).is_some())
}

/// The number for a percentage, where only a number is permitted.
fn percent(node: &Node) -> Option<f64> {
    let number: f64 = node.text()?.strip_suffix('%')?.trim_end().parse().ok()?;
    // Rounded, because 0.07 and 7 / 100 may differ in their last digits.
    format!("{:.6}", number / 100.0).parse().ok()
}

/// The range of an integer type that serde can read; the schema has the type as its format.
fn bounds_of_type(schema: &Json) -> (Option<f64>, Option<f64>) {
    match schema["format"].as_str() {
        Some("int32") => (Some(i32::MIN.into()), Some(i32::MAX.into())),
        Some("uint32") => (Some(0.0), Some(u32::MAX.into())),
        // Integers of TOML have 64 bits with a sign, so none is too large.
        Some("uint64") => (Some(0.0), None),
        _ => (None, None),
    }
}

fn list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    either(&quoted.iter().map(String::as_str).collect::<Vec<_>>())
}

fn list_keys(keys: &[&str]) -> String {
    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}

/// The number of elements that an array needs, in words; `None` if it has such a number.
fn needed(count: u64, least: u64, most: u64) -> Option<String> {
    if (least..=most).contains(&count) {
        return None;
    }
    Some(match count > most {
        _ if least == most => format!("{least}"),
        true => format!("at most {most}"),
        false => format!("at least {least}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_and_too_many_elements_are_told_apart() {
        let needed = |count| needed(count, 1, 100);
        assert_eq!(needed(0).as_deref(), Some("at least 1"));
        assert_eq!(needed(101).as_deref(), Some("at most 100"));
        assert_eq!([needed(1), needed(100)], [None, None]);
        assert_eq!(super::needed(25, 24, 24).as_deref(), Some("24"));
    }
}
