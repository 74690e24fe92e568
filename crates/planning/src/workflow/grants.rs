//! The order in which applications get machines.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use haggle_model::Span;
use serde::{Deserialize, Serialize};

/// A decision about applications between two intervals: each proposes, the longest one is granted its
/// proposal, and the proposals that have lapsed by that are made again.
///
/// The decision does not know machines. Its caller reports the proposals that have lapsed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "A: Ord + Deserialize<'de>"))]
pub struct Grants<A> {
    /// Applications that have to propose.
    asked: BTreeSet<A>,
    /// Predicted time to the end of each application that has proposed.
    remaining: BTreeMap<A, Span>,
    /// The same, the longest last; of equal ones, the first application last.
    by_length: BTreeSet<(Span, Reverse<A>)>,
}

/// The next step of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<A> {
    /// This application has to propose.
    Propose(A),
    /// The proposal of this application is granted.
    Grant(A),
    /// No application is left.
    Over,
}

impl<A: Ord + Copy> Grants<A> {
    /// A decision about these applications, none of which has proposed.
    pub fn new(applications: impl IntoIterator<Item = A>) -> Grants<A> {
        Grants {
            asked: applications.into_iter().collect(),
            remaining: BTreeMap::new(),
            by_length: BTreeSet::new(),
        }
    }

    /// Another application takes part. It has not proposed.
    pub fn join(&mut self, application: A) {
        self.asked.insert(application);
    }

    /// The next step. An application is granted its proposal only if no other one has to propose.
    pub fn step(&self) -> Step<A> {
        match (self.asked.first(), self.by_length.last()) {
            // Proposals come first, because a later one may have the longest remaining time.
            (Some(&application), _) => Step::Propose(application),
            (None, Some(&(_, Reverse(application)))) => Step::Grant(application),
            (None, None) => Step::Over,
        }
    }

    /// An application proposes; `remaining` is its predicted time to its end.
    pub fn propose(&mut self, application: A, remaining: Span) {
        // A proposal that is not due is ignored: its application may have left.
        if self.asked.remove(&application) {
            self.remaining.insert(application, remaining);
            self.by_length.insert((remaining, Reverse(application)));
        }
    }

    /// The proposal of an application is not valid any more, so it has to propose again. Returns whether
    /// it had proposed.
    pub fn lapse(&mut self, application: A) -> bool {
        let lapsed = self.forget(application);
        if lapsed {
            self.asked.insert(application);
        }
        lapsed
    }

    /// An application has its machines, finds none, or is withdrawn.
    pub fn leave(&mut self, application: A) {
        self.asked.remove(&application);
        self.forget(application);
    }

    fn forget(&mut self, application: A) -> bool {
        let remaining = self.remaining.remove(&application);
        remaining.is_some_and(|it| self.by_length.remove(&(it, Reverse(application))))
    }
}
