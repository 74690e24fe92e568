//! The table `failures`.

use super::{Integer, Provider, Seconds, Word, table};
use crate::columns::Missing::Never;

table! {
    Failures, failures, required: "One row a contiguous interval of processors that fail or are repaired together, in \
     order of time; processors that are down at the start fail at time 0. Only the header if a scenario has no \
     `[[failures]]`.";

    /// A row of `failures`. Times in seconds since the start of the run.
    FailureRow, FailureCells;

    time: f64 = Seconds, "time", "s", "time of the event", Never;
    provider: String = Provider, "provider", "", "the provider, the cluster or the resource of a grid", Never;
    first: i64 = Integer, "first_resource", "", "first processor of the interval, run-wide number", Never;
    last: i64 = Integer, "last_resource", "", "last processor of the interval, included", Never;
    event: String = Word, "event", "", "`failed` or `restored`", Never;
}
