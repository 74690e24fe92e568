//! What is wrong with a scenario: every problem, each at its place in the text.

use std::fmt;

use haggle_config::problem::orderly;
use haggle_config::{Lines, Position, Problem, Source};

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
    /// The problems of a text, ordered by place, repetitions dropped; at least one.
    pub fn new(source: Source, problems: Vec<Problem>) -> InvalidScenario {
        let problems = orderly(&source, problems);
        InvalidScenario { source, problems }
    }
}

/// The way out of a problem that does not say its own.
const HELP: &str = "`haggle help KEY` explains a key, and docs/scenario.md has all keys";

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

impl InvalidScenario {
    /// The same with a way out of each problem; other files that are checked like scenarios have other keys.
    pub(super) fn with_help(mut self) -> InvalidScenario {
        for problem in &mut self.problems {
            problem.help.get_or_insert_with(|| HELP.to_owned());
        }
        self
    }

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
        let lines = Lines::of(&self.source.text);
        for (index, problem) in self.problems.iter().enumerate() {
            let Position { line, column } = lines.position(problem.span.start);
            let separator = if index == 0 { "" } else { "\n" };
            let path = self.source.path.display();
            write!(f, "{separator}{path}:{line}:{column}: {}", problem.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for InvalidScenario {}
