//! Rules from outside: who builds worlds in code can give these actors rules that are not ours.
//!
//! Orders of queues, placements, grid schedulers and predictions of lengths each have a variant `Own`. What a rule is
//! given and has to return is said there; it must depend on nothing else, or runs are not the same again.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A rule of one's own, by its name. Two of one name are taken for the same.
#[derive(Clone, Copy)]
pub struct Own<T> {
    /// What it is called.
    pub name: &'static str,
    /// The rule.
    pub rule: T,
}

impl<T> fmt::Debug for Own<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Own").field(&self.name).finish()
    }
}

impl<T> PartialEq for Own<T> {
    fn eq(&self, other: &Own<T>) -> bool {
        self.name == other.name
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
        self.name.cmp(other.name)
    }
}

impl<T> Hash for Own<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}
