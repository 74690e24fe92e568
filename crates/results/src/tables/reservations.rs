//! The table `reservations`.

use super::{Integer, Provider, Seconds, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Reservations, reservations, optional: "One row a reservation that a provider granted, in the order of `jobs`. Only \
     there if a reservation was granted.";

    /// A row of `reservations`. Times in seconds since the start of the run.
    ReservationRow, ReservationCells;

    job: i64 = Integer, "job", "", "the job's number in this run", Never;
    provider: String = Provider, "provider", "", "the provider that granted it", Never;
    granted: f64 = Seconds, "granted_time", "s", "time of the grant", Never;
    ready: Option<f64> = Seconds, "ready_time", "s", "earliest start granted", Empty("at once");
    deadline: Option<f64> = Seconds, "deadline", "s", "latest completion granted", Empty("best effort");
    processors: i64 = Integer, "processors", "processors", "processors granted; of a moldable job, its user may have accepted another number than requested", Never, at_least_one;
    span: f64 = Seconds, "planned_time", "s", "planned time of the job there", Never;
    planned_start: f64 = Seconds, "planned_starting_time", "s", "start planned when it was granted; it may move in the window", Never;
    distance: Option<f64> = Seconds, "distance_time", "s", "distance of the interval that its user accepted from the requested window", Empty("in the window");
    fixed: Option<f64> = Seconds, "fixed_time", "s", "time at which its start was fixed", Empty("it never was, or the window left no freedom");
    fixed_start: Option<f64> = Seconds, "fixed_starting_time", "s", "the fixed start", Empty("as `fixed_time`");
    broken: bool = Integer, "broken", "", "1 if failures, or jobs that ran longer, left no room in the window, or if the job ended behind it because of its checkpoints, else 0; `displacements` has the cause and the answer", Never;
}
