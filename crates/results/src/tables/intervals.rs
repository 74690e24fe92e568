//! The table `intervals`.

use super::{Actor, Integer, Provider, Seconds, Word, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Intervals, intervals, optional: "One row an interval of an application of phases, in the order of their ends. Only \
     there with `[plans]`.";

    /// A row of `intervals`. Times in seconds since the start of the run.
    IntervalRow, IntervalCells;

    job: i64 = Integer, "job", "", "the application's number in this run", Never;
    interval: i64 = Integer, "interval", "", "number of the interval, from 1, with lost ones", Never, at_least_one;
    provider: String = Provider, "provider", "", "the cluster that ran it", Never;
    first: i64 = Integer, "first_phase", "", "its first phase, from 1", Never, at_least_one;
    last: i64 = Integer, "last_phase", "", "its last phase, included", Never, at_least_one;
    how: String = Word, "move", "", "move to its machines: `start` (it is the first interval, or no checkpoint was saved), `stay` (the same machines), `within` (other machines of the same cluster), `between` (from another cluster)", Never;
    from: Option<String> = Actor, "sender", "", "the cluster that it left", Empty("it left none");
    processors: i64 = Integer, "processors", "processors", "its machines; `placements` has their numbers", Never, at_least_one;
    ordered: f64 = Seconds, "ordered_time", "s", "time at which its machines were taken, and the transfer of its checkpoint began", Never;
    start: Option<f64> = Seconds, "starting_time", "s", "beginning of computing", Empty("it never did");
    end: f64 = Seconds, "finish_time", "s", "its end", Never;
    predicted_move: f64 = Seconds, "predicted_move_time", "s", "prediction of its cluster for starting_time - ordered_time", Never;
    predicted: f64 = Seconds, "predicted_time", "s", "prediction of its cluster for finish_time - starting_time, from the loads reported by its monitor", Never;
    outcome: String = Word, "outcome", "", "`done`; `lost`: a machine failed, and its phases are run again; `open`: the run stopped before", Never;
}
