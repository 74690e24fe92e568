//! The table `reservations`.

use super::{Integer, Provider, Seconds, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Reservations, reservations, optional: "One row a reservation that a provider granted, in the order of `jobs`. Only there if one was.";

    /// A row of `reservations`. Times in seconds since the start of the run.
    ReservationRow, ReservationCells;

    job: i64 = Integer, "job", "", "the job's number in this run", Never;
    provider: String = Provider, "provider", "", "who granted it", Never;
    granted: f64 = Seconds, "granted_time", "s", "when", Never;
    ready: Option<f64> = Seconds, "ready_time", "s", "earliest start granted", Empty("at once");
    deadline: Option<f64> = Seconds, "deadline", "s", "latest completion granted", Empty("best effort");
    processors: i64 = Integer, "processors", "processors", "processors granted; of a moldable job, the user may have taken another number than it asked for", Never;
    span: f64 = Seconds, "planned_time", "s", "how long the job is planned to take there", Never;
    planned_start: f64 = Seconds, "planned_starting_time", "s", "start planned when it was granted; it may move in the window", Never;
    distance: Option<f64> = Seconds, "distance_time", "s", "how far the interval that its user took is from the window that was asked for", Empty("in the window");
    fixed: Option<f64> = Seconds, "fixed_time", "s", "when its start was fixed", Empty("it never was, or the window left no freedom");
    fixed_start: Option<f64> = Seconds, "fixed_starting_time", "s", "that start", Empty("as `fixed_time`");
    broken: bool = Integer, "broken", "", "1 if failures, or jobs that ran on, left no room in the window, or if the job ended behind it because of its checkpoints, else 0; why and what was done is in `displacements`", Never;
}
