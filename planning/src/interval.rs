//! Phases in a row, and what a planner may ask about them.

use std::fmt;

use haggle_model::Span;

/// Phases that run one after the other on one set of machines, by their numbers from 1; both ends
/// belong to it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

/// What a planner knows of an application and of one cluster, both as they are when it plans: how
/// long phases would take on which machines, from now on and under the loads of now.
///
/// An oracle answers the same question in the same way as long as it lives. When loads have
/// changed, there is a new oracle. Planners ask often and about the same intervals, so an oracle
/// to which an answer is dear keeps it.
pub trait IntervalOracle {
    /// Machines, and whatever else is decided when phases are placed.
    type Schedule: Clone + PartialEq;

    /// Φ: how many phases the application has, those that are over included.
    fn phases(&self) -> usize;

    /// How long `interval` takes on the best schedule for it, t\[a, b\] in the publication.
    fn least_time(&self, interval: Interval) -> Span;

    /// The schedule on which it takes as long as that.
    fn best_schedule(&self, interval: Interval) -> Self::Schedule;

    /// How long `interval` takes on `schedule`, which may have been made for another interval or
    /// under other loads.
    fn time_on(&self, schedule: &Self::Schedule, interval: Interval) -> Span;
}
