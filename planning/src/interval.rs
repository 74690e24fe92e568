//! Phases in a row, and what a planner may ask about them.

use std::fmt;

use haggle_model::Span;
use serde::{Deserialize, Serialize};

/// Phases that run one after the other on one set of machines, by their numbers from 1; both ends
/// belong to it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Interval {
    /// Its first phase, at least 1.
    pub first: usize,
    /// Its last phase, not before the first.
    pub last: usize,
}

impl Interval {
    /// The phases `first` to `last`.
    pub const fn new(first: usize, last: usize) -> Interval {
        Interval { first, last }
    }

    /// How many phases there are.
    pub const fn phases(self) -> usize {
        self.last + 1 - self.first
    }

    /// What lies up to `phase`, which is one of these but not the last, and what lies behind it.
    pub const fn split_after(self, phase: usize) -> (Interval, Interval) {
        (Interval::new(self.first, phase), Interval::new(phase + 1, self.last))
    }

    /// This and the phases of `next`, which follow immediately.
    pub const fn joined(self, next: Interval) -> Interval {
        Interval::new(self.first, next.last)
    }
}

impl fmt::Debug for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}-{}]", self.first, self.last)
    }
}

/// A prediction of execution times: how long phases of one application take on machines of one
/// cluster, if they start at the instant of the prediction and loads stay as they are then.
///
/// An oracle is a snapshot: it always gives the same answer to the same question. After loads have
/// changed a new oracle is made. Planners ask about the same intervals again and again, so an
/// oracle whose answers are expensive should keep them.
pub trait IntervalOracle {
    /// The machines that run an interval.
    type Schedule: Clone + PartialEq;

    /// Φ: the number of phases of the application, completed ones included; at least 1.
    fn phases(&self) -> usize;

    /// How long `interval` takes on the best schedule for it, t\[a, b\] in the publication.
    fn least_time(&self, interval: Interval) -> Span;

    /// The schedule with that execution time.
    fn best_schedule(&self, interval: Interval) -> Self::Schedule;

    /// How long `interval` takes on `schedule`, which may have been made for another interval or
    /// under other loads.
    fn time_on(&self, schedule: &Self::Schedule, interval: Interval) -> Span;
}
