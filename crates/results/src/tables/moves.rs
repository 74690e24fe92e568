//! The table `moves`.

use super::{Actor, Integer, Seconds, table};
use crate::columns::Missing;
use crate::columns::Missing::{Empty, Never};

const GONE: Missing = Empty("it was over before its metascheduler was told");
const NO_DATA: Missing =
    Empty("it has none to wait for, or was over before its metascheduler was told");

table! {
    Moves, moves, optional: "One row a time that a metascheduler has taken a job back that waited and submitted it again, to another \
     provider or to the same one. Only there if one did.";

    /// A row of `moves`. Times in seconds since the start of the run.
    MoveRow, MoveCells;

    time: f64 = Seconds, "time", "s", "when the other provider had accepted it", Never;
    actor: String = Actor, "actor", "", "the metascheduler that moved it", Never;
    job: i64 = Integer, "job", "", "the job's number in this run", Never;
    from: String = Actor, "sender", "", "the provider that gave it back", Never;
    to: String = Actor, "receiver", "", "the provider that queued it; the same one, where it was submitted again", Never;
    processors_before: Option<i64> = Integer, "processors_before", "processors", "its size where it waited", GONE;
    finish_before: Option<f64> = Seconds, "planned_finish_time_before", "s", "completion planned when it was queued there", GONE;
    processors: Option<i64> = Integer, "processors", "processors", "its size now", GONE;
    finish: Option<f64> = Seconds, "planned_finish_time", "s", "completion planned now", GONE;
    ready: Option<f64> = Seconds, "ready_time", "s", "when its data are there: it starts no earlier", NO_DATA;
    start_up: Option<f64> = Seconds, "start_up_time", "s", "for how long it will hold its processors before it computes", GONE;
}
