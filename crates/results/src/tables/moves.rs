//! The table `moves`.

use super::{Actor, Integer, Seconds, table};
use crate::columns::Missing;
use crate::columns::Missing::{Empty, Never};

const GONE: Missing = Empty("it ended before its metascheduler was notified");
const NO_DATA: Missing =
    Empty("it has none to wait for, or ended before its metascheduler was notified");

table! {
    Moves, moves, optional: "One row a time that a metascheduler has taken back a waiting job and submitted it again, \
     to another provider or to the same one. Only there if a job was moved.";

    /// A row of `moves`. Times in seconds since the start of the run.
    MoveRow, MoveCells;

    time: f64 = Seconds, "time", "s", "time at which the other provider had accepted it", Never;
    actor: String = Actor, "actor", "", "the metascheduler that moved it", Never;
    job: i64 = Integer, "job", "", "the job's number in this run", Never;
    from: String = Actor, "sender", "", "the provider that gave it back", Never;
    to: String = Actor, "receiver", "", "the provider that queued it; it may be the same one", Never;
    processors_before: Option<i64> = Integer, "processors_before", "processors", "its size where it waited", GONE, at_least_one;
    finish_before: Option<f64> = Seconds, "planned_finish_time_before", "s", "completion planned when it was queued there", GONE;
    processors: Option<i64> = Integer, "processors", "processors", "its size now", GONE, at_least_one;
    finish: Option<f64> = Seconds, "planned_finish_time", "s", "completion planned now", GONE;
    ready: Option<f64> = Seconds, "ready_time", "s", "arrival of its data, before which it cannot start", NO_DATA;
    start_up: Option<f64> = Seconds, "start_up_time", "s", "time for which it holds its processors before it computes", GONE;
}
