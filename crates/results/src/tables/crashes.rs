//! The table `crashes`.

use super::{Actor, Seconds, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Crashes, crashes, optional: "One row a crash of an actor, in the order of the restarts, then the actors that were \
     still down. Only there if an actor crashed. Messages to it meanwhile are in `message_faults`, as `missed`.";

    /// A row of `crashes`. Times in seconds since the start of the run.
    CrashRow, CrashCells;

    actor: String = Actor, "actor", "", "the actor", Never;
    crash: f64 = Seconds, "crash_time", "s", "time of the crash", Never;
    restart: Option<f64> = Seconds, "restart_time", "s", "time of the restart", Empty("not in this run");
}
