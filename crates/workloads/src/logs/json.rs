//! A JSON text of any length, member by member of its outermost object.
//!
//! The elements of long lists are returned one at a time, so that only one of them is in memory. Values are found
//! by their brackets and quotes here; `serde_json` reads them.

use std::borrow::Cow;
use std::io::{self, Read};
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::error::{LogError, LogProblem};
use super::source::Source;
use crate::lines::Unreadable;
use crate::swf::Malformed;

/// Most bytes of one value. Without a bound, a wrong file would be read into memory.
const VALUE_BYTES_MAX: usize = 64 * 1024 * 1024;

const CHUNK_BYTES: usize = 64 * 1024;

/// The text, and the value that was found last.
pub(super) struct Json<R> {
    input: R,
    /// The place is that of the value.
    pub(super) source: Source,
    /// Keys of the lists whose elements are returned.
    wanted: &'static [&'static str],
    chunk: Vec<u8>,
    at: usize,
    /// The place of the next byte: its line and column, from 1.
    next_line: u64,
    next_column: usize,
    state: State,
    /// The value.
    pub(super) value: Vec<u8>,
    /// The column at which it begins, from 1.
    column: usize,
}

#[derive(Clone, Copy)]
enum State {
    Start,
    /// Before a member, which is the first one or not.
    Object {
        first: bool,
    },
    /// Before an element of a list.
    List {
        key: &'static str,
        first: bool,
    },
    End,
}

impl<R: Read> Json<R> {
    pub(super) fn new(
        input: R,
        log: Arc<str>,
        malformed: Malformed,
        wanted: &'static [&'static str],
    ) -> Json<R> {
        Json {
            input,
            source: Source::new(log, malformed),
            wanted,
            chunk: Vec::new(),
            at: 0,
            next_line: 1,
            next_column: 1,
            state: State::Start,
            value: Vec::new(),
            column: 0,
        }
    }

    /// Finds the next element of a wanted list, and returns the key of the list. `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<&'static str>, LogError> {
        loop {
            match self.state {
                State::Start => {
                    self.expect(b'{')?;
                    self.state = State::Object { first: true };
                }
                State::Object { first } => {
                    if self.has_ended(b'}', first)? {
                        self.end()?;
                    } else {
                        self.member()?;
                    }
                }
                State::List { key, first } => {
                    if self.has_ended(b']', first)? {
                        self.state = State::Object { first: false };
                    } else {
                        self.state = State::List { key, first: false };
                        self.find_value(true)?;
                        return Ok(Some(key));
                    }
                }
                State::End => return Ok(None),
            }
        }
    }

    /// Reads the name of a member, and its value if it is not wanted.
    fn member(&mut self) -> Result<(), LogError> {
        self.state = State::Object { first: false };
        self.find_value(true)?;
        if self.value.first() != Some(&b'"') {
            return Err(self.unexpected("the name of a member"));
        }
        let name = self.value[1..].strip_suffix(b"\"");
        let wanted = self.wanted.iter().find(|key| name == Some(key.as_bytes())).copied();
        self.expect(b':')?;
        match wanted {
            Some(key) if self.peek_value()? == Some(b'[') => {
                self.take();
                self.state = State::List { key, first: true };
                Ok(())
            }
            _ => self.find_value(false),
        }
    }

    /// True at the end of a list or an object. Before a further value, the comma is taken.
    fn has_ended(&mut self, bracket: u8, first: bool) -> Result<bool, LogError> {
        match self.peek_value()? {
            Some(byte) if byte == bracket => {
                self.take();
                return Ok(true);
            }
            Some(b',') if !first => self.take(),
            Some(_) if first => {}
            _ if bracket == b'}' => return Err(self.unexpected("`,` or `}`")),
            _ => return Err(self.unexpected("`,` or `]`")),
        }
        Ok(false)
    }

    fn end(&mut self) -> Result<(), LogError> {
        self.state = State::End;
        match self.peek_value()? {
            None => Ok(()),
            Some(_) => Err(self.unexpected("the end of the text")),
        }
    }

    /// Takes the next value; keeps its bytes if they are wanted.
    fn find_value(&mut self, keep: bool) -> Result<(), LogError> {
        let first = self.peek_value()?;
        (self.source.line, self.column) = (self.next_line, self.next_column);
        self.value.clear();
        let mut depth = 0_u64;
        let (mut in_text, mut escaped) = (false, false);
        let mut bytes = 0;
        while let Some(byte) = self.peek()? {
            let is_end =
                !in_text && depth == 0 && (b",]}:".contains(&byte) || byte.is_ascii_whitespace());
            if is_end {
                break;
            }
            if keep {
                if bytes == VALUE_BYTES_MAX {
                    let problem = format!("a value has more than {VALUE_BYTES_MAX} bytes");
                    return Err(self.whole(problem));
                }
                self.value.push(byte);
            }
            bytes += 1;
            self.take();
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_text => escaped = true,
                b'"' => in_text = !in_text,
                _ if in_text => continue,
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => continue,
            }
            // A value with brackets or quotes ends with them.
            if depth == 0 && !in_text && first.is_some_and(|first| b"{[\"".contains(&first)) {
                return Ok(());
            }
        }
        if bytes == 0 || depth > 0 || in_text {
            return Err(self.unexpected("a value"));
        }
        Ok(())
    }

    fn expect(&mut self, byte: u8) -> Result<(), LogError> {
        if self.peek_value()? != Some(byte) {
            return Err(self.unexpected(if byte == b'{' { "`{`" } else { "`:`" }));
        }
        self.take();
        Ok(())
    }

    /// The next byte that is no white space.
    fn peek_value(&mut self) -> Result<Option<u8>, LogError> {
        while let Some(byte) = self.peek()? {
            // A byte order mark may begin the text.
            let is_mark = matches!(self.state, State::Start) && b"\xef\xbb\xbf".contains(&byte);
            if !byte.is_ascii_whitespace() && !is_mark {
                return Ok(Some(byte));
            }
            self.take();
        }
        Ok(None)
    }

    fn peek(&mut self) -> Result<Option<u8>, LogError> {
        if self.at == self.chunk.len() {
            self.fill().map_err(|error| self.at_next(Unreadable::Read(error).into()))?;
        }
        Ok(self.chunk.get(self.at).copied())
    }

    fn fill(&mut self) -> io::Result<()> {
        self.chunk.resize(CHUNK_BYTES, 0);
        self.at = 0;
        let count = loop {
            match self.input.read(&mut self.chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                count => break count,
            }
        };
        // A chunk of an error has no bytes that were read.
        self.chunk.truncate(*count.as_ref().unwrap_or(&0));
        count.map(drop)
    }

    fn take(&mut self) {
        if self.chunk.get(self.at) == Some(&b'\n') {
            self.next_line += 1;
            self.next_column = 0;
        }
        self.next_column += 1;
        self.at += 1;
    }

    fn unexpected(&mut self, expected: &str) -> LogError {
        let found = match self.chunk.get(self.at) {
            Some(byte) => format!("`{}`", byte.escape_ascii()),
            None => "the end of the text; is the file complete?".to_owned(),
        };
        self.whole(format!("expected {expected}, found {found}"))
    }

    fn whole(&mut self, problem: String) -> LogError {
        self.state = State::End;
        self.at_next(LogProblem::Whole(problem))
    }

    fn at_next(&self, problem: LogProblem) -> LogError {
        problem.at(&self.source.log, self.next_line, self.next_column)
    }

    /// An error in the value that was found last.
    pub(super) fn error(&self, problem: LogProblem) -> LogError {
        self.source.error(self.column, problem)
    }

    /// An error of `serde_json` in the value that was found last, with its place in the text.
    pub(super) fn value_error(&self, error: &serde_json::Error) -> LogError {
        let text = error.to_string();
        let text = text.rsplit_once(" at line ").map_or(&*text, |(text, _)| text);
        // Lines of a value count from 1; 0 means that the place is not known.
        let below = (error.line() as u64).saturating_sub(1);
        let before = if below == 0 { self.column.saturating_sub(1) } else { 0 };
        let column = before + error.column();
        LogProblem::Record(text.to_owned()).at(
            &self.source.log,
            self.source.line + below,
            column.max(1),
        )
    }
}

/// The members of an object, in their order, with values that are not read yet.
pub(super) struct Members<'a>(pub(super) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// The value of a member; `None` if it is missing or null.
    pub(super) fn read<T: Deserialize<'a>>(&self, key: &str) -> Result<Option<T>, LogProblem> {
        let Some((_, value)) = self.0.iter().find(|(name, _)| *name == key) else {
            return Ok(None);
        };
        serde_json::from_str(value.get()).map_err(|error| {
            let text = error.to_string();
            let text = text.rsplit_once(" at line ").map_or(&*text, |(text, _)| text);
            LogProblem::Record(format!("{key}: {text}"))
        })
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members<'a>, D::Error> {
        struct Object;

        /// A name with an escape is no part of the text.
        #[derive(serde::Deserialize)]
        struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

        impl<'de> Visitor<'de> for Object {
            type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((Name(name), value)) = map.next_entry()? {
                    members.push((name, value));
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(Object).map(Members)
    }
}

/// A number that may be missing: a number, a text, null, or `{"set": true, "infinite": false, "number": 7}`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Number {
    #[default]
    Unknown,
    Infinite,
    Of(f64),
}

impl Number {
    /// The number, if it is known and finite.
    pub(super) fn known(self) -> Option<f64> {
        match self {
            Number::Of(number) => Some(number),
            Number::Unknown | Number::Infinite => None,
        }
    }

    /// The number as a whole one of up to 53 bits.
    pub(super) fn whole(self) -> Option<i64> {
        const MAX: f64 = (1_u64 << 53) as f64;
        self.known()
            .filter(|number| number.abs() <= MAX && number.fract() == 0.0)
            .map(|number| number as i64)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
        struct Any;

        #[derive(serde::Deserialize)]
        struct Parts {
            #[serde(default)]
            set: bool,
            #[serde(default)]
            infinite: bool,
            #[serde(default)]
            number: f64,
        }

        impl<'de> Visitor<'de> for Any {
            type Value = Number;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number, null or an object with the members set, infinite and number")
            }

            fn visit_unit<E>(self) -> Result<Number, E> {
                Ok(Number::Unknown)
            }

            fn visit_i64<E>(self, number: i64) -> Result<Number, E> {
                Ok(Number::Of(number as f64))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Number, E> {
                Ok(Number::Of(number as f64))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Number, E> {
                Ok(Number::Of(number))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Number, E> {
                match text.trim() {
                    "" => Ok(Number::Unknown),
                    "UNLIMITED" | "INFINITE" => Ok(Number::Infinite),
                    text => match text.parse::<f64>() {
                        Ok(number) if number.is_finite() => Ok(Number::Of(number)),
                        _ => Err(E::custom(format!("expected a number, found {text:?}"))),
                    },
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Number, A::Error> {
                let parts = Parts::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                Ok(match parts {
                    Parts { infinite: true, .. } => Number::Infinite,
                    Parts { set: true, number, .. } => Number::Of(number),
                    _ => Number::Unknown,
                })
            }
        }

        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: &[&str] = &["jobs", "more"];

    fn found(text: &str) -> Result<Vec<(&'static str, String, u64)>, String> {
        let mut json = Json::new(text.as_bytes(), Arc::from("a.json"), Malformed::Refuse, WANTED);
        let mut found = Vec::new();
        while let Some(key) = json.next().map_err(|error| error.to_string())? {
            let value = String::from_utf8_lossy(&json.value).into_owned();
            found.push((key, value, json.source.line));
        }
        Ok(found)
    }

    #[test]
    fn wanted_members_and_elements_are_found() {
        let text = "{\"meta\": {\"jobs\": [1, \"]}\\\"\"]},\n \"jobs\": [ {\"a\": [\"}\"]} ,\n 7,\"x\" ],\"more\" :[4], \"size\": 5}\n";
        let expected = [
            ("jobs", "{\"a\": [\"}\"]}", 2),
            ("jobs", "7", 3),
            ("jobs", "\"x\"", 3),
            ("more", "4", 3),
        ];
        let found = found(text).expect("a good text");
        let found: Vec<_> =
            found.iter().map(|(key, text, line)| (*key, text.as_str(), *line)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn names_of_members_may_have_escapes() {
        let members: Members<'_> =
            serde_json::from_str(r#"{"jo\u0062": 7, "a": null}"#).expect("an object");
        assert_eq!(members.read("job").ok(), Some(Some(7)));
        assert_eq!(members.read::<u8>("a").ok(), Some(None));
    }

    #[test]
    fn lists_may_be_empty_or_missing() {
        assert_eq!(found("{}"), Ok(vec![]));
        assert_eq!(found("\u{feff}{\"jobs\": [] }"), Ok(vec![]));
        assert_eq!(found("{\"jobs\": null}"), Ok(vec![]));
    }

    #[test]
    fn damaged_texts_are_named_with_their_place() {
        let error = |text: &str| found(text).expect_err("damaged");
        assert_eq!(error("[1]"), "a.json:1:1: expected `{`, found `[`");
        assert_eq!(
            error("{\"jobs\": [{}\n"),
            "a.json:2:1: expected `,` or `]`, found the end of the text; is the file complete?"
        );
        assert_eq!(
            error("{\"jobs\": [{\"a\""),
            "a.json:1:15: expected a value, found the end of the text; is the file complete?"
        );
        assert_eq!(error("{\"jobs\": [1 2]}"), "a.json:1:13: expected `,` or `]`, found `2`");
        assert_eq!(error("{\"jobs\": [1,]}"), "a.json:1:13: expected a value, found `]`");
        assert_eq!(error("{} x"), "a.json:1:4: expected the end of the text, found `x`");
        assert_eq!(error("{1: 2}"), "a.json:1:3: expected the name of a member, found `:`");
    }

    #[test]
    fn numbers_have_many_forms() {
        let read = |text: &str| serde_json::from_str::<Number>(text).ok();
        assert_eq!(read("7"), Some(Number::Of(7.0)));
        assert_eq!(read("\"7\""), Some(Number::Of(7.0)));
        assert_eq!(read("null"), Some(Number::Unknown));
        assert_eq!(
            read("{\"set\": true, \"infinite\": false, \"number\": 7}"),
            Some(Number::Of(7.0))
        );
        assert_eq!(
            read("{\"set\": false, \"infinite\": true, \"number\": 0}"),
            Some(Number::Infinite)
        );
        assert_eq!(
            read("{\"set\": false, \"infinite\": false, \"number\": 7}"),
            Some(Number::Unknown)
        );
        assert_eq!(read("\"many\""), None);
        assert_eq!(Number::Of(0.5).whole(), None);
    }
}
