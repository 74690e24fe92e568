//! Results of scenarios that were drawn at random.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Result of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// How it ended.
    pub outcome: Outcome,
    /// Number of repairs until the drawn scenario was accepted.
    pub repairs: u32,
    /// Its keys, with their words; see [`crate::draw::keys_of`].
    pub keys: BTreeSet<String>,
    /// The features that met in it, by name.
    pub features: BTreeSet<String>,
}

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "outcome", content = "why")]
pub enum Outcome {
    /// All rules held.
    Held,
    /// The scenario was refused.
    Refused(String),
    /// It ended with an error that the manual names, and with the same one on both drivers.
    Stopped(String),
    /// It ended, but after too many messages for the other tests.
    Long,
    /// A rule did not hold.
    Failed(Failure),
}

/// A rule that did not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Kind of the rule.
    pub kind: FailureKind,
    /// Text of the error.
    pub what: String,
}

/// Kind of a rule that did not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The program panicked.
    Panic,
    /// A signal ended the program, for example without memory.
    Abort,
    /// A run did not end within a bound that suffices for such a small world.
    TooLong,
    /// The schema and the reader of scenarios disagree.
    Schema,
    /// The run refused at its start a scenario that `validate` had accepted.
    RefusedAtStart,
    /// A run ended with an error that no scenario should cause.
    RunError,
    /// A check during the run failed, or the tables disagree.
    Check,
    /// Two runs differed.
    Difference,
    /// The scenario that a run wrote gives another run.
    Resolved,
    /// A scenario split into a base and an extension differs from the original.
    Extends,
    /// A job could not be explained.
    Explain,
    /// A run differed from itself in a comparison.
    Compare,
    /// A figure could not be drawn.
    Figure,
    /// A sweep failed, or differed after it was resumed.
    Sweep,
}

impl FailureKind {
    /// Name of the kind.
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
    /// Common mark of failures with one reason: their kind, and their text without numbers and
    /// names.
    pub fn mark(&self) -> String {
        // The second line names the tables that disagree.
        let words = self.what.lines().take(2).flat_map(str::split_whitespace);
        // Paths are left out, since a reduced case lies in another folder.
        let said: Vec<&str> = words.filter(|word| !word.starts_with('/')).collect();
        let said = said.join(" ");
        let mut mark = format!("{}: ", self.kind.name());
        let mut quoted = false;
        for letter in said.chars().take(240) {
            match letter {
                // Names stand in quotes, and differ from case to case.
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
