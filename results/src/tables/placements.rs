//! The table `placements`.

use super::{Code, Integer, Seconds, table};
use crate::columns::Missing::Never;

table! {
    /// A row of `placements`. Times in seconds since the start of the run.
    PLACEMENTS, PlacementRow, PlacementCells;

    job: i64 = Integer, "job", "", "the job's number in this run", Never;
    attempt: i64 = Integer, "attempt", "", "number of the attempt, from 1", Never;
    provider: String = Code, "provider", "", "whose processors", Never;
    first: i64 = Integer, "first_resource", "", "first processor of the interval, run-wide number", Never;
    last: i64 = Integer, "last_resource", "", "last processor of the interval, included", Never;
    start: f64 = Seconds, "starting_time", "s", "from when", Never;
    end: f64 = Seconds, "finish_time", "s", "until when", Never;
}
