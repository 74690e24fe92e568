//! The table `failures`.

use super::{Integer, Provider, Seconds, Word, table};
use crate::columns::Missing::Never;

table! {
    Failures, failures, required: "One row a contiguous interval of processors that fail together or are back, in order of time; \
     those that are down at the start fail at time 0. Only the header if a scenario has no \
     `[[failures]]`.";

    /// A row of `failures`. Times in seconds since the start of the run.
    FailureRow, FailureCells;

    time: f64 = Seconds, "time", "s", "when", Never;
    provider: String = Provider, "provider", "", "where", Never;
    first: i64 = Integer, "first_resource", "", "first processor concerned, run-wide number", Never;
    last: i64 = Integer, "last_resource", "", "last processor concerned, included", Never;
    event: String = Word, "event", "", "`failed` or `restored`", Never;
}
