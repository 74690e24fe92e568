//! The table `displacements`.

use super::{Integer, Provider, Seconds, Word, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Displacements, displacements, optional: "One row a time that a reservation lost its place, or its processors while it ran, in the order of `jobs` \
     and of time. Only there if one did. One whose row in `reservations` says that it is not broken has run in the \
     window that was granted (unless it ran on past what it had asked for, with `overrun = \"extend\"`), or had it until its user withdrew it or \
     the run stopped; any other is answered for here.";

    /// A row of `displacements`. Times in seconds since the start of the run.
    DisplacementRow, DisplacementCells;

    job: i64 = Integer, "job", "", "the job's number in this run", Never;
    provider: String = Provider, "provider", "", "who had granted its window", Never;
    time: f64 = Seconds, "time", "s", "when its scheduler knew that the place is lost", Never;
    cause: String = Word, "cause", "", "`failure`: processors failed; `overrun`: a job ran on past its plan; `maintenance`: processors are to be closed; `crash`: the scheduler was down at the planned start; `checkpoint`: its own checkpoints took longer than planned over links that others used", Never;
    answer: String = Word, "answer", "", "`moved`: it has another place in its window; `shrunk`: the same, on fewer processors; `postponed`: it waits for a place behind its window; `revoked`: it was given back; `late`: it started in its window and ended behind it, at this time", Never;
    processors: i64 = Integer, "processors", "processors", "those of its new place; of what was revoked, of the one it had", Never;
    span: f64 = Seconds, "planned_time", "s", "how long it is planned to take there", Never;
    planned_start: Option<f64> = Seconds, "planned_starting_time", "s", "start of its new place", Empty("revoked, or it waits for jobs without a limit");
}
