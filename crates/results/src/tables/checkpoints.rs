//! The table `checkpoints`.

use super::{Integer, Provider, Real, Seconds, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Checkpoints, checkpoints, optional: "One row a checkpoint of an attempt, also those that were cut off or replaced \
     by a newer one; with `checkpoints = false` under `[results]` only those from which another attempt could have \
     started. On a grid each checkpoint has a row; at a provider only those that were sent to a `store` over shared \
     links: the times of all others follow from the start of the attempt.";

    /// A row of `checkpoints`. Times in seconds since the start of the run.
    CheckpointRow, CheckpointCells;

    job: i64 = Integer, "job", "", "the job's number in this run", Never;
    attempt: i64 = Integer, "attempt", "", "number of the attempt, from 1", Never, at_least_one;
    checkpoint: i64 = Integer, "checkpoint", "", "number of the checkpoint in the attempt, from 1", Never, at_least_one;
    provider: String = Provider, "provider", "", "provider, or resource of a grid, that wrote it", Never;
    requested: f64 = Seconds, "requested_time", "s", "time at which the job stopped to write it", Never;
    written: Option<f64> = Seconds, "written_time", "s", "time at which it was written, and the job continued", Empty("cut off");
    available: Option<f64> = Seconds, "available_time", "s", "time from which it could be used; at a provider, as soon as it was written", Empty("it never could");
    work_saved: f64 = Real, "work_saved", "processor-seconds; MI", "work of the job that was done: at a provider, in processor-seconds there, on a grid, in MI", Never;
    computing: f64 = Seconds, "computing_time", "s", "computing time of the attempt until then", Never;
}
