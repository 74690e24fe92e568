//! Mistakes in a text, each with its place.

use std::ops::Range;

use crate::Source;

/// A mistake in a text, with its place and a correction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Description of the mistake in one line.
    pub message: String,
    /// The wrong bytes of the text, or the table in which a part is missing.
    pub span: Range<usize>,
    /// Note below these bytes.
    pub label: String,
    /// The correction.
    pub help: Option<String>,
}

/// A place in a text as in editors: lines and columns (in characters) from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// A text whose lines have been counted once, for the positions of many places.
#[derive(Clone, Debug)]
pub struct Lines<'t> {
    text: &'t str,
    /// The first byte of each line.
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    /// Counts the lines of `text`.
    pub fn of(text: &'t str) -> Lines<'t> {
        let others = text.match_indices('\n').map(|(newline, _)| newline + 1);
        Lines { text, starts: std::iter::once(0).chain(others).collect() }
    }

    /// The line of byte `at` from 1, found in logarithmic time; behind the end, the last line.
    pub fn line(&self, at: usize) -> usize {
        let at = floor(self.text, at);
        self.starts.partition_point(|&start| start <= at)
    }

    /// The position of byte `at`; behind the end, the position of the end.
    pub fn position(&self, at: usize) -> Position {
        let line = self.line(at);
        let before = &self.text[self.starts[line - 1]..floor(self.text, at)];
        Position { line, column: before.chars().count() + 1 }
    }
}

/// The last boundary between characters at or before `at`.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    // Byte 0 is always a boundary.
    (0..=at).rev().find(|&place| text.is_char_boundary(place)).unwrap_or(0)
}

/// The first boundary between characters at or after `at`.
fn ceil(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&place| text.is_char_boundary(place)).unwrap_or(text.len())
}

/// Sorts problems by place, and removes repetitions from variants of a sweep that share a mistake.
/// Spans are limited to the text, and moved to boundaries between characters.
pub fn orderly(source: &Source, mut problems: Vec<Problem>) -> Vec<Problem> {
    // The renderer cuts the text at these places, which must be boundaries.
    for Problem { span, .. } in &mut problems {
        let end = ceil(&source.text, span.end);
        *span = floor(&source.text, span.start.min(end))..end;
    }
    problems.sort_by(|a, b| (a.span.start, &a.message).cmp(&(b.span.start, &b.message)));
    problems.dedup_by(|a, b| a.span == b.span && a.message == b.message);
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_counted_in_lines_and_characters() {
        let text = "a = 1\n\nä = \"ö\" # \u{fffd}\nb";
        let lines = Lines::of(text);
        for at in 0..text.len() + 3 {
            let before = &text[..floor(text, at)];
            let start = before.rfind('\n').map_or(0, |newline| newline + 1);
            let line = before.matches('\n').count() + 1;
            let column = before[start..].chars().count() + 1;
            assert_eq!(lines.position(at), Position { line, column }, "byte {at}");
            assert_eq!(lines.line(at), line, "byte {at}");
        }
    }
}
