//! The table `maintenance`.

use super::{Integer, Provider, Seconds, Word, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Maintenance, maintenance, optional: "One row a contiguous interval of processors that were closed for a window of \
     `[[maintenance]]`, in the order in which windows began. A window has a single row if it closed no processor, was \
     refused when it was announced, or should have begun after the end of the run. Only there if a window was \
     announced. It contains no failures, and `failures` and `outages` contain no windows.";

    /// A row of `maintenance`. Times in seconds since the start of the run.
    MaintenanceRow, MaintenanceCells;

    provider: String = Provider, "provider", "", "the provider", Never;
    window: i64 = Integer, "window", "", "number of the window at that provider, from 1: in the order of `[[maintenance]]`, repetitions one by one", Never, at_least_one;
    announced: f64 = Seconds, "announcement_time", "s", "time of its announcement to the provider's scheduler: `notice` before it begins, or the restart of the scheduler after that; 0 if it was known from the beginning", Never;
    start: f64 = Seconds, "starting_time", "s", "its beginning, real or planned", Never;
    end: f64 = Seconds, "finish_time", "s", "its end, real or planned; it may be after the end of the run", Never;
    processors: i64 = Integer, "requested_number_of_resources", "processors", "processors that should be closed", Never;
    closed: i64 = Integer, "closed", "processors", "processors that were closed, in all rows of the window", Never;
    outcome: String = Word, "outcome", "", "`held` (all were closed), `short` (fewer were closed: jobs that overran or may not be stopped held the others, or they were down), `announced` (the run ended before it began) or `refused` (promises or running jobs were in the way)", Never;
    first: Option<i64> = Integer, "first_resource", "", "first processor of the interval, run-wide number", Empty("none was closed");
    last: Option<i64> = Integer, "last_resource", "", "last processor of the interval, included", Empty("none was closed");
    possible: Option<f64> = Seconds, "possible_time", "s", "of a refused window, the first start, no earlier than its own, at which it overlaps no job that ran or was planned at its announcement", Empty("not refused, or announced too late because the scheduler was down, or never possible");
}

impl MaintenanceRow {
    /// Processors that schedulers kept free for it; for a window that has not begun, the planned number.
    pub fn kept(&self) -> i64 {
        if self.is_ahead() { self.processors } else { self.closed }
    }

    /// Returns whether the run ended before it began.
    pub fn is_ahead(&self) -> bool {
        self.outcome == "announced"
    }

    /// First and last processor of the interval, run-wide numbers; `None` = none was closed.
    pub fn interval(&self) -> Option<(i64, i64)> {
        self.first.zip(self.last)
    }
}
