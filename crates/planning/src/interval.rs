//! Consecutive phases, and the predictions of their times that planners use.

use std::fmt;

use haggle_model::Span;
use serde::{Deserialize, Serialize};

/// Consecutive phases on one set of machines, by their numbers from 1; both ends belong to the interval.
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

    /// Number of phases.
    pub const fn phases(self) -> usize {
        self.last + 1 - self.first
    }

    /// The interval up to `phase`, which must be one of its phases but not the last, and the rest.
    pub const fn split_after(self, phase: usize) -> (Interval, Interval) {
        (Interval::new(self.first, phase), Interval::new(phase + 1, self.last))
    }

    /// This interval and the phases of `next`, which must follow immediately.
    pub const fn joined(self, next: Interval) -> Interval {
        Interval::new(self.first, next.last)
    }
}

impl fmt::Debug for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}-{}]", self.first, self.last)
    }
}

/// A prediction of the times of phases of one application on machines of one cluster. The phases start at
/// the instant of the prediction, and loads do not change.
///
/// An oracle is a snapshot: equal queries always get equal answers. After loads have changed, a new
/// oracle must be made. Planners query the same intervals repeatedly, so an oracle with expensive
/// answers should cache them.
pub trait IntervalOracle {
    /// The machines that run an interval.
    type Schedule: Clone + PartialEq;

    /// Φ: the number of phases of the application, completed ones included; at least 1.
    fn phases(&self) -> usize;

    /// Time of `interval` on the best schedule for it, t\[a, b\] in the publication.
    fn least_time(&self, interval: Interval) -> Span;

    /// The schedule with that execution time.
    fn best_schedule(&self, interval: Interval) -> Self::Schedule;

    /// Time of `interval` on `schedule`, which may have been made for another interval or under other loads.
    fn time_on(&self, schedule: &Self::Schedule, interval: Interval) -> Span;
}
