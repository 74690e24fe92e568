//! Problems of a scenario: all of them, each at its place in the text.

use std::fmt;

use haggle_config::problem::orderly;
use haggle_config::{Lines, Position, Problem, Source};

/// A scenario that cannot be run, with all of its problems.
///
/// Invariant: there is at least one problem, and every span lies inside the text and between characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidScenario {
    /// Text that the spans refer to.
    pub source: Source,
    /// Problems in the order of the text.
    pub problems: Vec<Problem>,
}

impl InvalidScenario {
    /// Problems of a text, ordered by place and without repetitions; there must be at least one.
    pub fn new(source: Source, problems: Vec<Problem>) -> InvalidScenario {
        let problems = orderly(&source, problems);
        InvalidScenario { source, problems }
    }
}

/// The way out of a problem that does not say its own.
const HELP: &str = "`haggle help KEY` explains a key, and docs/scenario.md has all keys";

/// A value of a scenario without effect, or a doubtful one: as a [`Problem`], but the scenario can be run.
pub type Warning = Problem;

/// Warnings about a valid scenario.
///
/// Invariant: every span lies inside the text and between characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warnings {
    /// Text that the spans refer to.
    pub source: Source,
    /// Warnings in the order of the text.
    pub found: Vec<Warning>,
}

impl Warnings {
    pub(crate) fn new(source: Source, found: Vec<Warning>) -> Warnings {
        let found = orderly(&source, found);
        Warnings { source, found }
    }
}

impl InvalidScenario {
    /// Adds help to problems without it. Other files that are checked like scenarios have other keys, so this is a
    /// step of its own.
    pub(super) fn with_help(mut self) -> InvalidScenario {
        for problem in &mut self.problems {
            problem.help.get_or_insert_with(|| HELP.to_owned());
        }
        self
    }

    /// True if the reader refused a document that fits the schema: an error of the program.
    pub fn is_drift(&self) -> bool {
        let says_so = |help: &String| help.starts_with(DRIFT);
        self.problems.iter().any(|problem| problem.help.as_ref().is_some_and(says_so))
    }
}

/// Beginning of the help of a problem that is an error of the program.
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
