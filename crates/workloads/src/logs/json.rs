//! A JSON text of any length, member by member of its outermost object.
//!
//! The parts of wanted members are returned one at a time, so that only one of them is in memory. Values are found
//! by their brackets and quotes here; `serde_json` reads them.

use std::io::{self, Read};
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use super::error::{LogError, LogProblem};
use super::source::Source;
use crate::lines::Unreadable;
use crate::swf::Malformed;
use haggle_model::Span;

/// Most bytes of one value. Without a bound, a wrong file would be read into memory.
const VALUE_BYTES_MAX: usize = 64 * 1024 * 1024;

const CHUNK_BYTES: usize = 64 * 1024;

/// The text, and the value that was found last.
pub(super) struct Json<R> {
    input: R,
    /// The place is that of the value.
    pub(super) source: Source,
    /// Keys of the members that are returned.
    wanted: &'static [&'static str],
    chunk: Vec<u8>,
    at: usize,
    /// The place of the next byte: its line and column, from 1.
    next_line: u64,
    next_column: usize,
    state: State,
    /// The value.
    pub(super) value: Vec<u8>,
    /// The name of the member that it is the value of, if it is one of a wanted object.
    pub(super) name: String,
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
    /// Before a part of a wanted member.
    Inside {
        key: &'static str,
        part: Part,
        first: bool,
    },
    /// Before a wanted value that has no parts.
    Whole {
        key: &'static str,
    },
    End,
}

/// A value that is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// An element of a list.
    Element,
    /// A member of an object.
    Member,
    /// A text, a number, or another value without parts.
    Whole,
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
            name: String::new(),
            column: 0,
        }
    }

    /// Finds the next part of a wanted member, and returns the key of the member. `None` at the end. Members
    /// with the value null have no part.
    pub(super) fn next(&mut self) -> Result<Option<(&'static str, Part)>, LogError> {
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
                State::Inside { key, part, first } => {
                    let bracket = if part == Part::Element { b']' } else { b'}' };
                    if self.has_ended(bracket, first)? {
                        self.state = State::Object { first: false };
                        continue;
                    }
                    self.state = State::Inside { key, part, first: false };
                    if part == Part::Member {
                        self.name = self.name()?;
                    }
                    self.find_value(true)?;
                    return Ok(Some((key, part)));
                }
                State::Whole { key } => {
                    self.state = State::Object { first: false };
                    self.find_value(true)?;
                    if self.value != b"null" {
                        return Ok(Some((key, Part::Whole)));
                    }
                }
                State::End => return Ok(None),
            }
        }
    }

    /// Reads the name of a member, and its value if it is not wanted.
    fn member(&mut self) -> Result<(), LogError> {
        self.state = State::Object { first: false };
        let name = self.name()?;
        let Some(key) = self.wanted.iter().find(|key| **key == name) else {
            return self.find_value(false);
        };
        let part = match self.peek_value()? {
            Some(b'[') => Part::Element,
            Some(b'{') => Part::Member,
            _ => {
                self.state = State::Whole { key };
                return Ok(());
            }
        };
        self.take();
        self.state = State::Inside { key, part, first: true };
        Ok(())
    }

    /// Reads the name of a member and the colon behind it.
    fn name(&mut self) -> Result<String, LogError> {
        self.find_value(true)?;
        let name = serde_json::from_slice(&self.value);
        let name = name.map_err(|_| self.unexpected("the name of a member"))?;
        self.expect(b':')?;
        Ok(name)
    }

    /// True at the end of a list or an object, which is taken. Before a further value, the comma is taken.
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

    /// The column at which the value begins that was found last, from 1.
    pub(super) fn column(&self) -> usize {
        self.column
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

/// A length of time in seconds, from 0 on.
pub(super) fn span(member: &str, seconds: f64) -> Result<Span, LogProblem> {
    const SECONDS_MAX: f64 = 1e12;
    if (0.0..=SECONDS_MAX).contains(&seconds) {
        return Ok(Span::from_micros((seconds * 1e6).round() as i64));
    }
    let found = seconds.to_string();
    Err(LogProblem::field(member, "seconds from 0 to 1000000000000", found.as_bytes()))
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

    /// The parts that are found: the key, the name of a member in it, the value and its line.
    fn found(text: &str) -> Result<Vec<(&'static str, String, u64)>, String> {
        let mut json = Json::new(text.as_bytes(), Arc::from("a.json"), Malformed::Refuse, WANTED);
        let mut found = Vec::new();
        while let Some((key, part)) = json.next().map_err(|error| error.to_string())? {
            let value = String::from_utf8_lossy(&json.value);
            let value = match part {
                Part::Member => format!("{}={value}", json.name),
                Part::Element | Part::Whole => value.into_owned(),
            };
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
    fn wanted_members_may_be_objects_and_numbers() {
        let text =
            "{\"jobs\": {\"a\\u0062\": 1,\n\"}\": {\"x\": [2]}}, \"mo\\u0072e\": 7, \"jobs\": {}}";
        let expected = [("jobs", "ab=1", 1), ("jobs", "}={\"x\": [2]}", 2), ("more", "7", 2)];
        let found = found(text).expect("a good text");
        let found: Vec<_> =
            found.iter().map(|(key, text, line)| (*key, text.as_str(), *line)).collect();
        assert_eq!(found, expected);
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
        assert_eq!(
            error("{\"more\": {1: 2}}"),
            "a.json:1:12: expected the name of a member, found `:`"
        );
        assert_eq!(
            error("{\"more\": {\"a\": 2"),
            "a.json:1:17: expected `,` or `}`, found the end of the text; is the file complete?"
        );
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
