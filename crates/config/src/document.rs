//! A TOML document as a tree in which every key and value has its place in the text.
//!
//! The tree has a type of its own because checks and sweeps change it: invalid parts are removed, and
//! values of an axis are inserted. Each part keeps its place in the text.

use std::fmt;
use std::ops::Range;

use toml::de::{DeInteger, DeTable, DeValue};
use toml::value::Datetime;

use crate::Problem;
use crate::problem::floor;

/// A value and its place in the text.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its bytes in the text.
    pub span: Range<usize>,
    /// Its content.
    pub value: Value,
}

/// Content of a value.
#[derive(Clone, Debug)]
pub enum Value {
    /// A text.
    String(String),
    /// A number without decimals.
    Integer(i64),
    /// A number with decimals.
    Float(f64),
    /// True or false.
    Boolean(bool),
    /// A date, a time, or both.
    Datetime(Datetime),
    /// Values in their order.
    Array(Vec<Node>),
    /// Keys with their values, in the order of the text.
    Table(Vec<Entry>),
}

/// A key with its place, and its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Its bytes in the text.
    pub key_span: Range<usize>,
    /// Its value.
    pub node: Node,
}

/// A step into the tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// To the value of this key.
    Key(String),
    /// To the element with this index, from 0.
    Index(usize),
}

/// The path from the root of a document to one of its values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Path(pub Vec<Step>);

impl Path {
    /// The whole document.
    pub fn root() -> Path {
        Path::default()
    }

    /// The path to the value of `key` in this table.
    pub fn key(&self, key: &str) -> Path {
        let mut steps = self.0.clone();
        steps.push(Step::Key(key.into()));
        Path(steps)
    }

    /// The path to the element at `index` of this array.
    pub fn index(&self, index: usize) -> Path {
        let mut steps = self.0.clone();
        steps.push(Step::Index(index));
        Path(steps)
    }

    /// True if `other` is the same path or lies inside it.
    pub fn contains(&self, other: &Path) -> bool {
        other.0.starts_with(&self.0)
    }

    /// The last key of the path, which names the value.
    pub fn name(&self) -> &str {
        let keys = self.0.iter().rev().filter_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Index(_) => None,
        });
        keys.into_iter().next().unwrap_or("scenario")
    }
}

/// Writes a table like its header: `[network]`, `[[provider]]`.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&str> = self
            .0
            .iter()
            .filter_map(|step| match step {
                Step::Key(key) => Some(key.as_str()),
                Step::Index(_) => None,
            })
            .collect();
        match self.0.last() {
            None => write!(f, "the scenario"),
            Some(Step::Key(_)) => write!(f, "[{}]", keys.join(".")),
            Some(Step::Index(_)) => write!(f, "[[{}]]", keys.join(".")),
        }
    }
}

/// Reads a TOML text, or returns all syntax errors.
pub fn parse(text: &str) -> Result<Node, Vec<Problem>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut problems: Vec<Problem> =
        errors.into_iter().map(|error| syntax_error(&error, text)).collect();
    let root = Node::from_table(table.get_ref(), 0..0, &mut problems);
    if problems.is_empty() { Ok(root) } else { Err(problems) }
}

/// A syntax error with its place and, if a text lacks its quotes, a correction.
fn syntax_error(error: &toml::de::Error, text: &str) -> Problem {
    let span = error.span().unwrap_or(0..0);
    let word = text.get(span.clone()).unwrap_or_default();
    let bare = word.starts_with(char::is_alphabetic) && !word.contains(char::is_whitespace);
    if bare && error.message().contains("expected") {
        return Problem {
            message: format!("not TOML: `{word}` is not a value"),
            span,
            label: "needs quotes".into(),
            help: Some(format!("write text in quotes: \"{word}\"")),
        };
    }
    // A missing part has no extent, so its line is marked.
    let span = if span.is_empty() { line_around(text, span.start) } else { span };
    Problem {
        message: format!("not TOML: {}", error.message()),
        span,
        label: "here".into(),
        help: Some(syntax_help(error.message()).into()),
    }
}

/// The correction of a syntax error, chosen by the message of the parser.
fn syntax_help(message: &str) -> &'static str {
    // Long messages are tested first, because shorter ones are parts of them.
    let has = |words: &[&str]| words.iter().any(|word| message.contains(word));
    if has(&["duplicate key"]) {
        "keep one of the two; each member of a list of tables begins with its own [[name]]"
    } else if has(&["unclosed table", "unclosed array table"]) {
        "write the name of a table as [name], that of one of several as [[name]]"
    } else if has(&["unclosed array", "comma between array", "`=` in array"]) {
        "write a list as [first, second]"
    } else if has(&["inline table"]) {
        "write a table in one line as { key = value, other = value }"
    } else if has(&["escape", "unicode"]) {
        "write \\\\ for a backslash in a text, or the text in single quotes"
    } else if has(&["must be quoted"]) {
        "write a value after `=`: a text in quotes, a number, true, false, a list or a table"
    } else if has(&["keys cannot be empty"]) {
        "write one `key = value` a line, and texts in quotes"
    } else if has(&["string", "quote"]) {
        "close a text with the quote that it begins with, in the same line"
    } else if has(&["recursion"]) {
        "nest fewer lists and tables in each other"
    } else if has(&["integer", "float", "radix", "leading zero", "sign", "number"]) {
        "write a number as 12, 0.5 or 1e6, and one with a unit as a text, such as \"12h\""
    } else {
        "write one `key = value` a line, and texts in quotes"
    }
}

/// The line with byte `at`, without blanks at both ends.
fn line_around(text: &str, at: usize) -> Range<usize> {
    let at = floor(text, at);
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
    let line = &text[start..end];
    let indent = line.len() - line.trim_start().len();
    let length = line.trim().len();
    start + indent..start + indent + length
}

impl Node {
    fn from_table(table: &DeTable<'_>, span: Range<usize>, problems: &mut Vec<Problem>) -> Node {
        let mut entries: Vec<Entry> = table
            .iter()
            .map(|(key, value)| Entry {
                key: key.get_ref().to_string(),
                key_span: key.span(),
                node: Node::from_value(value.get_ref(), value.span(), problems),
            })
            .collect();
        // The parser sorts keys by name, but readers expect the order of the text.
        entries.sort_by_key(|entry| entry.key_span.start);
        Node { span, value: Value::Table(entries) }
    }

    fn from_value(value: &DeValue<'_>, span: Range<usize>, problems: &mut Vec<Problem>) -> Node {
        let value = match value {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Integer(number) => match integer(number) {
                Some(number) => Value::Integer(number),
                None => {
                    problems.push(Problem {
                        message: format!("`{}` is too large for an integer", number.as_str()),
                        span: span.clone(),
                        label: "does not fit into 64 bits".into(),
                        help: Some(format!("the largest integer is {}", i64::MAX)),
                    });
                    // The rest is read on, so that all mistakes are reported at once.
                    Value::Integer(0)
                }
            },
            // The parser has accepted the syntax, which is a part of Rust's.
            DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(truth) => Value::Boolean(*truth),
            DeValue::Datetime(datetime) => Value::Datetime(*datetime),
            DeValue::Array(items) => Value::Array(
                items
                    .iter()
                    .map(|item| Node::from_value(item.get_ref(), item.span(), problems))
                    .collect(),
            ),
            DeValue::Table(table) => return Node::from_table(table, span, problems),
        };
        Node { span, value }
    }

    /// The tree without its places, for serde.
    pub fn to_toml(&self) -> toml::Value {
        match &self.value {
            Value::String(text) => toml::Value::String(text.clone()),
            Value::Integer(number) => toml::Value::Integer(*number),
            Value::Float(number) => toml::Value::Float(*number),
            Value::Boolean(truth) => toml::Value::Boolean(*truth),
            Value::Datetime(datetime) => toml::Value::Datetime(*datetime),
            Value::Array(items) => toml::Value::Array(items.iter().map(Node::to_toml).collect()),
            Value::Table(entries) => toml::Value::Table(
                entries.iter().map(|entry| (entry.key.clone(), entry.node.to_toml())).collect(),
            ),
        }
    }

    /// The value's type with its article, for messages.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::String(_) => "a string",
            Value::Integer(_) => "an integer",
            Value::Float(_) => "a number with decimals",
            Value::Boolean(_) => "a boolean",
            Value::Datetime(_) => "a date",
            Value::Array(_) => "an array",
            Value::Table(_) => "a table",
        }
    }

    /// Replaces a word by a table with this word as its `tag`, at the same place in the text.
    pub fn tag(&mut self, tag: &str) {
        let (key, key_span, node) = (tag.to_owned(), self.span.clone(), self.clone());
        self.value = Value::Table(vec![Entry { key, key_span, node }]);
    }

    /// The value of `key`, if this is a table that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Table(entries) => {
                entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
            }
            _ => None,
        }
    }

    /// The text, if this is a string.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Calls `see` with all texts inside, in order.
    pub fn texts(&self, see: &mut impl FnMut(&str)) {
        match &self.value {
            Value::String(text) => see(text),
            Value::Array(items) => items.iter().for_each(|item| item.texts(see)),
            Value::Table(entries) => entries.iter().for_each(|entry| entry.node.texts(see)),
            _ => {}
        }
    }

    /// The value at `path`.
    pub fn at(&self, path: &Path) -> Option<&Node> {
        path.0.iter().try_fold(self, Node::step)
    }

    /// The value at `path`, to be changed.
    pub fn at_mut(&mut self, path: &Path) -> Option<&mut Node> {
        path.0.iter().try_fold(self, |node, step| match (step, &mut node.value) {
            (Step::Key(key), Value::Table(entries)) => {
                entries.iter_mut().find(|entry| entry.key == *key).map(|entry| &mut entry.node)
            }
            (Step::Index(index), Value::Array(items)) => items.get_mut(*index),
            _ => None,
        })
    }

    /// The place of the value at `path`, or of the nearest existing table on the path.
    pub fn place(&self, path: &Path) -> Range<usize> {
        let mut node = self;
        for next in &path.0 {
            match node.step(next) {
                Some(next) => node = next,
                None => break,
            }
        }
        node.span.clone()
    }

    /// The path to the innermost value that was written at `span`, or around it.
    pub fn path_at(&self, span: &Range<usize>) -> Path {
        if span.is_empty() {
            return Path::root(); // what is missing in the whole document has no place
        }
        let mut places = Vec::new();
        self.places(&Path::root(), &mut places);
        let around = |place: &Range<usize>| {
            !place.is_empty() && place.start <= span.start && span.end <= place.end
        };
        let inside = places.into_iter().filter(|(place, _)| around(place));
        // Of places with equal length, the innermost one.
        let smallest = inside.rev().min_by_key(|(place, _)| place.len());
        smallest.map_or_else(Path::root, |(_, path)| path)
    }

    /// Places of all parts with their paths, from outside to inside.
    fn places(&self, path: &Path, places: &mut Vec<(Range<usize>, Path)>) {
        places.push((self.span.clone(), path.clone()));
        match &self.value {
            Value::Table(entries) => {
                for Entry { key, key_span, node } in entries {
                    let path = path.key(key);
                    // A key in a header is the place of a table, not of a value.
                    if !matches!(node.value, Value::Table(_) | Value::Array(_)) {
                        places.push((key_span.clone(), path.clone()));
                    }
                    node.places(&path, places);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    item.places(&path.index(index), places);
                }
            }
            _ => {}
        }
    }

    fn step(&self, step: &Step) -> Option<&Node> {
        match (step, &self.value) {
            (Step::Key(key), _) => self.get(key),
            (Step::Index(index), Value::Array(items)) => items.get(*index),
            _ => None,
        }
    }
}

impl Value {
    /// Converts a value that was not in the text; all of its parts get the place `span`.
    pub fn from_toml(value: toml::Value, span: &Range<usize>) -> Value {
        let node = |value| Node { span: span.clone(), value: Value::from_toml(value, span) };
        match value {
            toml::Value::String(text) => Value::String(text),
            toml::Value::Integer(number) => Value::Integer(number),
            toml::Value::Float(number) => Value::Float(number),
            toml::Value::Boolean(truth) => Value::Boolean(truth),
            toml::Value::Datetime(datetime) => Value::Datetime(datetime),
            toml::Value::Array(items) => Value::Array(items.into_iter().map(node).collect()),
            toml::Value::Table(table) => Value::Table(
                table
                    .into_iter()
                    .map(|(key, value)| Entry { key, key_span: span.clone(), node: node(value) })
                    .collect(),
            ),
        }
    }
}

fn integer(number: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_places() {
        let text = "[[provider]]\nname = \"a\"\n[[provider]]\nname = \"b\"\nspeed = 1_0.5\n";
        let root = parse(text).expect("valid TOML");
        let path = Path::root().key("provider").index(1);
        assert_eq!(&text[root.place(&path.key("speed"))], "1_0.5");
        assert_eq!(&text[root.place(&path.key("missing"))], "[[provider]]");
        assert_eq!(path.to_string(), "[[provider]]");
        assert!(matches!(
            root.to_toml()["provider"][1]["speed"],
            toml::Value::Float(speed) if speed == 10.5
        ));
    }

    #[test]
    fn the_innermost_value_at_a_place_is_found() {
        let text = "[[a]]\nb = 1\n[[a]]\nb = [{ c = 2 }, { c = 3 }]\n[d]\ne = \"x\"\n";
        let root = parse(text).expect("valid TOML");
        for path in [
            Path::root().key("a").index(1),
            Path::root().key("a").index(1).key("b").index(1).key("c"),
            Path::root().key("d").key("e"),
            Path::root().key("d"),
        ] {
            assert_eq!(root.path_at(&root.place(&path)), path);
        }
    }

    #[test]
    fn every_syntax_error_is_reported() {
        let problems = parse("a = \nb = 1\n[x\nd=1\nd=2\ne = 0xfffffffffffffffff\n").unwrap_err();
        assert!(problems.len() >= 2, "{problems:#?}");
        assert!(problems.iter().all(|problem| problem.help.is_some()), "{problems:#?}");
    }

    #[test]
    fn every_syntax_error_has_a_way_out() {
        for (text, help) in [
            ("a = 1\na = 2", "keep one of the two"),
            ("[x\na = 1", "[[name]]"),
            ("a = [1 2]", "a list or a table"),
            ("a = { b = 1", "write a table in one line"),
            ("a = \"\\q\"", "for a backslash"),
            ("a = \"x\n", "close a text"),
            ("a = 012", "write a number"),
            ("a =", "write a value after"),
            ("= 1", "`key = value`"),
        ] {
            let problems = parse(text).unwrap_err();
            let said = problems[0].help.as_deref().unwrap_or_default();
            assert!(said.contains(help), "{text}: {problems:#?}");
        }
    }
}
