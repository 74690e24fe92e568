//! The table `maintenance`.

use super::{Integer, Provider, Seconds, Word, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Maintenance, maintenance, optional: "One row a contiguous interval of processors that were closed for a window of `[[maintenance]]`, in the order in \
     which windows began; a window that had none, was refused when it was announced, or was to begin after the end of \
     the run, has one row. Only there if a window was announced. No failure is in it, and no window in `failures` and `outages`.";

    /// A row of `maintenance`. Times in seconds since the start of the run.
    MaintenanceRow, MaintenanceCells;

    provider: String = Provider, "provider", "", "where", Never;
    window: i64 = Integer, "window", "", "number of the window at that provider, from 1: in the order of `[[maintenance]]`, repetitions one by one", Never;
    announced: f64 = Seconds, "announcement_time", "s", "when the provider's scheduler heard of it: `notice` before it begins, or when the scheduler was back after that; 0 if it knew from the beginning", Never;
    start: f64 = Seconds, "starting_time", "s", "when it began, or was to", Never;
    end: f64 = Seconds, "finish_time", "s", "when it was over, or was to be; it may be after the end of the run", Never;
    processors: i64 = Integer, "requested_number_of_resources", "processors", "how many were to be closed", Never;
    closed: i64 = Integer, "closed", "processors", "how many were, in all rows of the window", Never;
    outcome: String = Word, "outcome", "", "`held` (all were closed), `short` (jobs that ran on, or processors that were down, left fewer, or what runs and may not be stopped held the others), `announced` (the run was over before it began) or `refused` (what was promised, or ran, was in the way)", Never;
    first: Option<i64> = Integer, "first_resource", "", "first processor of the interval, run-wide number", Empty("none was closed");
    last: Option<i64> = Integer, "last_resource", "", "last processor of the interval, included", Empty("none was closed");
    possible: Option<f64> = Seconds, "possible_time", "s", "of one that was refused, the first start, no earlier than its own, that nothing was in the way of which ran or was planned at its announcement", Empty("not refused, or announced too late, as the scheduler was down, or never possible");
}

impl MaintenanceRow {
    /// How many processors schedulers kept free for it: of one that has not begun, those that were to be closed.
    pub fn kept(&self) -> i64 {
        if self.is_ahead() { self.processors } else { self.closed }
    }

    /// Whether the run was over before it began.
    pub fn is_ahead(&self) -> bool {
        self.outcome == "announced"
    }

    /// First and last processor of the interval, run-wide numbers; `None` = none was closed.
    pub fn interval(&self) -> Option<(i64, i64)> {
        self.first.zip(self.last)
    }
}
