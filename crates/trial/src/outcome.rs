//! What came of a scenario that was drawn.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// What came of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// How it ended.
    pub outcome: Outcome,
    /// How often the drawn scenario was repaired before it was accepted.
    pub repairs: u32,
    /// The keys it has, and the words they are; see [`crate::draw::keys_of`].
    pub keys: BTreeSet<String>,
    /// The features that met in it, by name.
    pub features: BTreeSet<String>,
}

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "outcome", content = "why")]
pub enum Outcome {
    /// All that must hold did.
    Held,
    /// It was not accepted.
    Refused(String),
    /// It ended with an error that the manual names, and with the same one on both drivers.
    Stopped(String),
    /// It ended, but after so many messages that nothing else was looked at.
    Long,
    /// Something that must hold did not.
    Failed(Failure),
}

/// What did not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind of thing.
    pub kind: FailureKind,
    /// What was said of it.
    pub what: String,
}

/// What kind of thing did not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The program panicked.
    Panic,
    /// The program was ended by a signal, as when it gets no memory.
    Abort,
    /// A run did not end, whatever it was granted: such a small world needs less.
    TooLong,
    /// The schema and the reader of scenarios disagree.
    Schema,
    /// `validate` had accepted what was refused when the run began.
    RefusedAtStart,
    /// A run ended with an error that no scenario should lead to.
    RunError,
    /// A check during the run failed, or the tables disagree.
    Check,
    /// Two runs differed.
    Difference,
    /// What a run has written as its scenario gives another run.
    Resolved,
    /// A scenario taken apart into a base and an extension says something else.
    Extends,
    /// A job could not be explained.
    Explain,
    /// A run differed from itself.
    Compare,
    /// A figure could not be drawn.
    Figure,
    /// A sweep failed, or was another one when it was resumed.
    Sweep,
}

impl FailureKind {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            FailureKind::Panic => "panic",
            FailureKind::Abort => "abort",
            FailureKind::TooLong => "too long",
            FailureKind::Schema => "schema",
            FailureKind::RefusedAtStart => "refused at start",
            FailureKind::RunError => "run error",
            FailureKind::Check => "check",
            FailureKind::Difference => "difference",
            FailureKind::Resolved => "resolved scenario",
            FailureKind::Extends => "extends",
            FailureKind::Explain => "explain",
            FailureKind::Compare => "compare",
            FailureKind::Figure => "figure",
            FailureKind::Sweep => "sweep",
        }
    }
}

impl Failure {
    /// What two failures for one reason have in common: their kind, and what was said without
    /// numbers and names.
    pub fn mark(&self) -> String {
        // The second line says which tables disagree, or in what.
        let words = self.what.lines().take(2).flat_map(str::split_whitespace);
        // A case that is made smaller lies elsewhere.
        let said: Vec<&str> = words.filter(|word| !word.starts_with('/')).collect();
        let said = said.join(" ");
        let mut mark = format!("{}: ", self.kind.name());
        let mut quoted = false;
        for letter in said.chars().take(240) {
            match letter {
                '"' | '`' => quoted = !quoted,
                letter if quoted || letter.is_ascii_digit() => {}
                letter => mark.push(letter),
            }
        }
        mark
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_for_one_reason_have_one_mark() {
        let mark = |what: &str| Failure { kind: FailureKind::Check, what: what.to_owned() }.mark();
        assert_eq!(mark("job 4 started at 1.5 s"), mark("job 17 started at 20.25 s"));
        assert_eq!(mark("no job in \"a\""), mark("no job in \"b\""));
        assert_eq!(mark("cannot read /tmp/a/b.toml"), mark("cannot read /tmp/c.toml"));
        assert_ne!(mark("job 4 started"), mark("job 4 ended"));
        assert_ne!(mark("they disagree\n  in a"), mark("they disagree\n  in b"));
    }
}
