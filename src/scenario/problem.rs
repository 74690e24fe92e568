//! What is wrong with a scenario: every problem, each at its place in the text.

use std::fmt;
use std::ops::Range;

use super::Source;

/// A mistake in a scenario, with its place and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, in one line.
    pub message: String,
    /// The bytes of the text that are wrong, or the table in which something is missing.
    pub span: Range<usize>,
    /// What to say under those bytes.
    pub label: String,
    /// How to put it right.
    pub help: Option<String>,
}

/// A place in a text as editors count: lines and columns (in characters) from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl Problem {
    /// Where the problem begins in `text`.
    pub fn position(&self, text: &str) -> Position {
        Position::of(self.span.start, text)
    }
}

impl Position {
    /// The position of byte `at` of `text`; of its end, if there is no such byte.
    pub fn of(at: usize, text: &str) -> Position {
        let before = &text[..floor(text, at)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Position {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

/// The last place between characters that is not behind `at`.
pub(super) fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    // Place 0 is one always.
    (0..=at).rev().find(|&place| text.is_char_boundary(place)).unwrap_or(0)
}

/// The first place between characters that is not before `at`.
fn ceil(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&place| text.is_char_boundary(place)).unwrap_or(text.len())
}

/// A scenario that cannot be run, and every reason why.
///
/// Invariant: there is at least one problem, and every span lies inside the
/// text and between characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidScenario {
    /// The text the problems point into.
    pub source: Source,
    /// The problems in the order of the text.
    pub problems: Vec<Problem>,
}

impl InvalidScenario {
    pub(crate) fn new(source: Source, problems: Vec<Problem>) -> InvalidScenario {
        let problems = orderly(&source, problems);
        InvalidScenario { source, problems }
    }
}

/// Something that a scenario says in vain: as a [`Problem`], but the scenario can be run.
pub type Warning = Problem;

/// What a valid scenario says in vain.
///
/// Invariant: every span lies inside the text and between characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warnings {
    /// The text the warnings point into.
    pub source: Source,
    /// The warnings in the order of the text.
    pub found: Vec<Warning>,
}

impl Warnings {
    pub(crate) fn new(source: Source, found: Vec<Warning>) -> Warnings {
        let found = orderly(&source, found);
        Warnings { source, found }
    }
}

/// Orders problems by place and drops repetitions, which sweeps produce when several
/// variants share a mistake.
fn orderly(source: &Source, mut problems: Vec<Problem>) -> Vec<Problem> {
    // Whole characters only: the renderer cuts the text there.
    for Problem { span, .. } in &mut problems {
        let end = ceil(&source.text, span.end);
        *span = floor(&source.text, span.start.min(end))..end;
    }
    problems.sort_by(|a, b| (a.span.start, &a.message).cmp(&(b.span.start, &b.message)));
    problems.dedup_by(|a, b| a.span == b.span && a.message == b.message);
    problems
}
impl InvalidScenario {
    /// Whether the reader refused what the schema had let pass: a mistake of ours.
    pub fn is_drift(&self) -> bool {
        let says_so = |help: &String| help.starts_with(DRIFT);
        self.problems.iter().any(|problem| problem.help.as_ref().is_some_and(says_so))
    }
}

/// How the help of a problem begins that is no mistake of the author's.
pub(super) const DRIFT: &str = "this is a bug of haggle";

/// One line a problem: `scenario.toml:14:1: unknown key …`.
impl fmt::Display for InvalidScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let Position { line, column } = problem.position(&self.source.text);
            let separator = if index == 0 { "" } else { "\n" };
            let path = self.source.path.display();
            write!(f, "{separator}{path}:{line}:{column}: {}", problem.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for InvalidScenario {}
