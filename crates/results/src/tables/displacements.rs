//! The table `displacements`.

use super::{Integer, Provider, Seconds, Word, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Displacements, displacements, optional: "One row a time that a reservation lost its place, or its processors while \
     it ran, in the order of `jobs` and of time. Only there if a reservation did. A reservation that is not `broken` \
     in `reservations` has run in the granted window, or longer than requested with `overrun = \"extend\"`. Otherwise \
     it had the window until its user withdrew it or the run stopped. Every other reservation has a row here.";

    /// A row of `displacements`. Times in seconds since the start of the run.
    DisplacementRow, DisplacementCells;

    job: i64 = Integer, "job", "", "the job's number in this run", Never;
    provider: String = Provider, "provider", "", "the provider that had granted its window", Never;
    time: f64 = Seconds, "time", "s", "time at which its scheduler knew of the loss", Never;
    cause: String = Word, "cause", "", "`failure`: processors failed; `overrun`: a job ran longer than planned; `maintenance`: processors must be closed; `crash`: the scheduler was down at the planned start; `checkpoint`: its own checkpoints took longer than planned over shared links", Never;
    answer: String = Word, "answer", "", "`moved`: it has another place in its window; `shrunk`: as moved, on fewer processors; `postponed`: it waits for a place behind its window; `revoked`: it was given back; `late`: it started in its window and ended behind it, at this time", Never;
    processors: i64 = Integer, "processors", "processors", "processors of its new place; if it was revoked, of its old place", Never, at_least_one;
    span: f64 = Seconds, "planned_time", "s", "its planned time there", Never;
    planned_start: Option<f64> = Seconds, "planned_starting_time", "s", "start of its new place", Empty("revoked, or it waits for jobs without a limit");
}
