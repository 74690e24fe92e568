//! Rules from outside: programs of one's own can add rules to the built-in ones.
//!
//! Orders of queues, placements, compositions, grid schedulers, predictions of lengths and times between
//! checkpoints each have a variant `Own`. A provider can also have a rule for the disclosure of its offers.
//! Each variant documents the arguments and the result of its rule. A rule must depend on its arguments
//! only, so that runs can be repeated. Code that builds a world sets a rule directly; a scenario names it,
//! and it is found in the [`List`] of its kind.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use haggle_model::Span;

use crate::checkpoints::{JobSituation, Situation};
use crate::scheduler::Request;

mod list;
mod saved;
mod words;

pub use list::{Kind, List, NoSuchRule};
pub use saved::with_rules;

/// An order of a queue, from a request and the time to plan with: the job with the smallest result is
/// first. The rule is called once, when the job is queued.
pub type OrderRule = fn(&Request, Span) -> i64;

/// The time between checkpoints on a grid, see [`IntervalRule::Own`](crate::checkpoints::IntervalRule::Own).
pub type GridCheckpointRule = fn(&Situation) -> Span;

/// The time between checkpoints of a rigid job, see [`Every::Own`](crate::checkpoints::Every::Own).
pub type JobCheckpointRule = fn(&JobSituation) -> Span;

/// A rule of one's own, identified by its name and version.
#[derive(Clone, Copy)]
pub struct Own<T> {
    /// Its name.
    pub name: &'static str,
    /// Incremented by its author whenever its decisions change.
    pub version: u32,
    /// The rule.
    pub rule: T,
}

/// Its name.
impl<T> AsRef<str> for Own<T> {
    fn as_ref(&self) -> &str {
        self.name
    }
}

impl<T> fmt::Debug for Own<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Own").field(&self.name).field(&self.version).finish()
    }
}

impl<T> PartialEq for Own<T> {
    fn eq(&self, other: &Own<T>) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Own<T> {}

impl<T> PartialOrd for Own<T> {
    fn partial_cmp(&self, other: &Own<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Own<T> {
    fn cmp(&self, other: &Own<T>) -> Ordering {
        (self.name, self.version).cmp(&(other.name, other.version))
    }
}

impl<T> Hash for Own<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.name, self.version).hash(state);
    }
}
