//! The table `placements`.

use super::{Integer, Provider, Seconds, part, table};
use crate::columns::Missing::Never;

table! {
    Placements, placements, required: "One row a contiguous interval of processors that an attempt held exclusively, \
     as in a Gantt chart. Attempts on a grid have none: they share the processor of their resource, and its slots are \
     not numbered. `attempts` has the time in which an attempt held a slot (`queued_time`, `slot_left_time`), and \
     figures lay attempts side by side.";

    /// A row of `placements`. Times in seconds since the start of the run.
    PlacementRow, PlacementCells;

    job: i64 = Integer, "job", "", "the job's number in this run", Never;
    attempt: i64 = Integer, "attempt", "", "number of the attempt, from 1", Never, at_least_one;
    provider: String = Provider, "provider", "", "provider of the processors", Never;
    first: i64 = Integer, "first_resource", "", "first processor of the interval, run-wide number", Never;
    last: i64 = Integer, "last_resource", "", "last processor of the interval, included", Never;
    start: f64 = Seconds, "starting_time", "s", "beginning", Never, also_before_run;
    end: f64 = Seconds, "finish_time", "s", "end", Never;
}

part! {
    Placements, placements;

    /// Time for which processors were held. Times in seconds since the start of the run.
    PlacementTimes;

    provider: String = Provider, "provider";
    first: i64 = Integer, "first_resource";
    last: i64 = Integer, "last_resource";
    start: f64 = Seconds, "starting_time";
    end: f64 = Seconds, "finish_time";
}
