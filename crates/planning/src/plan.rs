//! Plans for one cluster: the phases after which an application moves, and the machines to which it
//! moves (Sanjay and Vadhiyar 2011, sections 4 and 5).
//!
//! A plan cuts the phases into intervals and runs each on a schedule of its own. Its cost is the sum of
//! the times of its intervals and, between two of them, a fixed time for rescheduling (equation 2). An
//! interval is valid if it takes longer than a threshold (equation 3). The threshold keeps an
//! application from moving too often.
//!
//! | planner | finds | questions |
//! |---|---|---|
//! | [`brute_force()`] | the optimum | 2^(Φ-1) plans |
//! | [`optimum_by_number`] | the optimum, by equation 4 | Φ³/6 steps |
//! | [`optimum`] | the optimum | Φ²/2 steps |
//! | [`incremental()`] | a plan, from the first phase to the last | 2Φ intervals |
//! | [`division()`] | a plan, from one interval to ever more | Φ²/2 intervals at most |
//! | [`genetic()`] | a plan, from a population of random ones | generations × population |

mod brute_force;
mod division;
mod dynamic;
mod genetic;
mod incremental;
mod method;

use haggle_model::Span;

use crate::{Interval, IntervalOracle};

pub use brute_force::brute_force;
pub use division::division;
pub use dynamic::{optimum, optimum_by_number};
pub use genetic::{Fitness, GeneticOptions, crossover, genetic, merge, split};
pub use incremental::{IncrementalOptions, Tail, incremental};
pub use method::Method;

/// The planning problem: the phases from `first` on, on the cluster behind the oracle.
#[derive(Debug)]
pub struct Problem<'a, O> {
    /// Predictions for the application on the cluster.
    pub oracle: &'a O,
    /// The first phase that is not over, at most the last one; 1 before the first run.
    pub first: usize,
    /// Time between two intervals: checkpoint, transfer and restart at their longest.
    pub rescheduling: Span,
    /// An interval is valid only if it takes longer than this; a negative threshold allows all intervals.
    pub threshold: Span,
}

/// Intervals in the order in which they run, with their machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan<S> {
    /// The intervals; at least one.
    pub parts: Vec<Part<S>>,
    /// Total time of all intervals and of all reschedulings between them.
    pub cost: Span,
    /// True if all intervals are valid. A planner that finds no valid plan returns an invalid one.
    pub valid: bool,
    /// Effort of the planner, in its own unit: plans, steps or intervals.
    pub examined: u64,
}

/// An interval with its machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part<S> {
    /// The phases.
    pub interval: Interval,
    /// The machines.
    pub schedule: S,
    /// Time of the phases on these machines.
    pub time: Span,
}

impl<S> Plan<S> {
    /// The phases after which the application is rescheduled.
    pub fn markers(&self) -> Vec<usize> {
        let ends = self.parts.iter().map(|part| part.interval.last);
        // The end of the last interval is that of the application, after which nothing moves.
        ends.take(self.parts.len() - 1).collect()
    }
}

impl<O: IntervalOracle> Problem<'_, O> {
    /// All remaining phases as one interval.
    pub fn whole(&self) -> Interval {
        Interval::new(self.first, self.oracle.phases())
    }

    /// True if an interval that takes `time` is valid (equation 3).
    pub fn allows(&self, time: Span) -> bool {
        time > self.threshold
    }

    /// The time of an interval, if it is valid.
    fn valid_time(&self, interval: Interval) -> Option<Span> {
        Some(self.oracle.least_time(interval)).filter(|&time| self.allows(time))
    }

    /// The intervals that end at `markers`, ascending phases before the last, and at the end.
    pub fn intervals<'m>(&self, markers: &'m [usize]) -> impl Iterator<Item = Interval> + 'm {
        let Interval { first, last } = self.whole();
        let firsts = std::iter::once(first).chain(markers.iter().map(|marker| marker + 1));
        let lasts = markers.iter().copied().chain([last]);
        firsts.zip(lasts).map(|(first, last)| Interval::new(first, last))
    }

    /// The plan that reschedules after the phases `markers`, ascending and before the last, and
    /// runs each interval on its best schedule.
    pub fn plan(&self, markers: &[usize]) -> Plan<O::Schedule> {
        self.plan_of(self.intervals(markers).map(|interval| self.best_part(interval)).collect())
    }

    fn best_part(&self, interval: Interval) -> Part<O::Schedule> {
        let schedule = self.oracle.best_schedule(interval);
        Part { interval, schedule, time: self.oracle.least_time(interval) }
    }

    fn plan_of(&self, parts: Vec<Part<O::Schedule>>) -> Plan<O::Schedule> {
        let times: Span = parts.iter().map(|part| part.time).sum();
        Plan {
            cost: times + self.rescheduling * (parts.len() as i64 - 1),
            valid: parts.iter().all(|part| self.allows(part.time)),
            parts,
            examined: 0,
        }
    }

    /// A lower bound of the cost of all plans: every phase on its own best schedule, and no
    /// rescheduling. Published gaps to "brute force" that grow with the cost of rescheduling are gaps
    /// to this bound.
    pub fn phase_sum(&self) -> Span {
        let Interval { first, last } = self.whole();
        (first..=last).map(|phase| self.oracle.least_time(Interval::new(phase, phase))).sum()
    }
}

impl<S> Plan<S> {
    fn examined(self, examined: u64) -> Plan<S> {
        Plan { examined, ..self }
    }
}
