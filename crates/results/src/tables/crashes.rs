//! The table `crashes`.

use super::{Actor, Seconds, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Crashes, crashes, optional: "One row a crash of an actor, in the order in which they restarted, then those that were still down. \
     Only there if one crashed. What was said to it meanwhile is in `message_faults`, as `missed`.";

    /// A row of `crashes`. Times in seconds since the start of the run.
    CrashRow, CrashCells;

    actor: String = Actor, "actor", "", "the actor", Never;
    crash: f64 = Seconds, "crash_time", "s", "when it crashed", Never;
    restart: Option<f64> = Seconds, "restart_time", "s", "when it restarted", Empty("not in this run");
}
