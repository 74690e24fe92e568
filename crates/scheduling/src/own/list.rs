//! The rules of one kind that a program adds, by their names.

use std::fmt;

use super::Own;

/// Purpose of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// An order of queues.
    Order,
    /// A placement of rigid jobs.
    Placement,
    /// A scheduler of grids.
    GridPolicy,
    /// A prediction of the lengths of tasks.
    Prediction,
    /// A composition of bags.
    Composition,
    /// A rule for the disclosure of a provider's offers.
    Offers,
    /// The time between checkpoints on a grid.
    GridCheckpoints,
    /// The time between checkpoints of rigid jobs.
    JobCheckpoints,
}

/// Rules of one kind.
#[derive(Clone, Debug)]
pub struct List<T> {
    kind: Kind,
    rules: Vec<Own<T>>,
}

/// A scenario names a rule that the program does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchRule {
    /// Purpose of the rule.
    pub kind: Kind,
    /// Name of the rule.
    pub name: String,
}

impl<T: Copy> List<T> {
    /// The rule of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn get(&self, name: &str) -> Result<Own<T>, NoSuchRule> {
        let found = self.rules.iter().find(|own| own.name == name);
        found.copied().ok_or_else(|| NoSuchRule { kind: self.kind, name: name.to_owned() })
    }
}

impl<T> List<T> {
    /// A list without rules.
    pub const fn of(kind: Kind) -> List<T> {
        List { kind, rules: Vec::new() }
    }

    /// Purpose, name and version of each rule.
    pub fn all(&self) -> impl Iterator<Item = (Kind, &'static str, u32)> {
        self.rules.iter().map(|own| (self.kind, own.name, own.version))
    }

    /// Adds a rule. `ours` are the words of the built-in rules.
    ///
    /// # Panics
    /// If the name of the rule has other characters than letters, digits, `-` and `_`, or is taken.
    #[track_caller]
    pub fn add(&mut self, own: Own<T>, ours: &[&str]) {
        let (kind, name) = (self.kind, own.name);
        let allowed = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        assert!(
            !name.is_empty() && name.chars().all(allowed),
            "`{name}` cannot be the name of a rule: use letters, digits, `-` and `_`"
        );
        assert!(
            !ours.contains(&name),
            "\"{name}\" is a word of haggle's: give the {kind} another name"
        );
        let taken = self.rules.iter().any(|other| other.name == name);
        assert!(!taken, "\"{name}\" is there twice: give each {kind} a name of its own");
        self.rules.push(own);
    }
}

impl<T> PartialEq for List<T> {
    fn eq(&self, other: &List<T>) -> bool {
        self.kind == other.kind && self.rules == other.rules
    }
}

impl<T> Eq for List<T> {}

impl Kind {
    /// The purpose in words, such as `grid policy`.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Order => "order",
            Kind::Placement => "placement",
            Kind::GridPolicy => "grid policy",
            Kind::Prediction => "prediction",
            Kind::Composition => "composition",
            Kind::Offers => "offer rule",
            Kind::GridCheckpoints => "checkpoint rule of a grid",
            Kind::JobCheckpoints => "checkpoint rule of a provider",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for NoSuchRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no {} of one's own called \"{}\"", self.kind, self.name)
    }
}

impl std::error::Error for NoSuchRule {}
