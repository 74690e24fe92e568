//! An oracle from a table of times for each phase on each of a few schedules: for measured times, and
//! for examples by hand.

use haggle_model::Span;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Interval, IntervalOracle};

/// Times of phases, schedule by schedule. The time of an interval is the sum of the times of its phases
/// on the schedule with the least sum; of equal ones, the first is taken.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Table {
    phases: usize,
    /// For each schedule, the time of the first n phases, n from 0 to Φ.
    until: Vec<Vec<Span>>,
}

/// Reason why a table is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TableError {
    /// There is no schedule.
    #[error("a table has at least one schedule")]
    NoSchedule,
    /// The rows differ in their number of phases, or have no phase.
    #[error("every schedule has times for the same phases, at least one")]
    Phases,
    /// A time is negative.
    #[error("no phase takes a negative time")]
    NegativeTime,
}

impl Table {
    /// A table with a row for each schedule, each with the times of all phases in order.
    pub fn new(rows: &[Vec<Span>]) -> Result<Table, TableError> {
        let phases = rows.first().ok_or(TableError::NoSchedule)?.len();
        if phases == 0 || rows.iter().any(|row| row.len() != phases) {
            return Err(TableError::Phases);
        }
        if rows.iter().flatten().any(|&time| time < Span::ZERO) {
            return Err(TableError::NegativeTime);
        }
        Ok(Table { phases, until: rows.iter().map(|row| sums(row)).collect() })
    }

    /// Number of schedules.
    pub fn schedules(&self) -> usize {
        self.until.len()
    }

    fn time(&self, schedule: usize, interval: Interval) -> Span {
        self.until[schedule][interval.last] - self.until[schedule][interval.first - 1]
    }
}

fn sums(times: &[Span]) -> Vec<Span> {
    let mut sum = Span::ZERO;
    let sums = times.iter().map(|&time| {
        sum += time;
        sum
    });
    std::iter::once(Span::ZERO).chain(sums).collect()
}

impl IntervalOracle for Table {
    /// The number of the row, from 0.
    type Schedule = usize;

    fn phases(&self) -> usize {
        self.phases
    }

    fn least_time(&self, interval: Interval) -> Span {
        self.time(self.best_schedule(interval), interval)
    }

    fn best_schedule(&self, interval: Interval) -> usize {
        (0..self.until.len())
            // The first of equal ones is the minimum, as the type promises.
            .min_by_key(|&schedule| self.time(schedule, interval))
            .expect("a table has a schedule")
    }

    fn time_on(&self, &schedule: &usize, interval: Interval) -> Span {
        self.time(schedule, interval)
    }
}
