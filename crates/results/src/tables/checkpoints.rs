//! The table `checkpoints`.

use super::{Integer, Provider, Real, Seconds, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Checkpoints, checkpoints, optional: "One row a checkpoint of an attempt, those included that were cut off or given up for a newer one; \
     with `checkpoints = false` under `[results]` only those from which another attempt could have started. On a grid each has one; at a provider those \
     that went to a `store` over links that others share, for when any other was written follows from when its attempt started.";

    /// A row of `checkpoints`. Times in seconds since the start of the run.
    CheckpointRow, CheckpointCells;

    job: i64 = Integer, "job", "", "the job's number in this run", Never;
    attempt: i64 = Integer, "attempt", "", "number of the attempt, from 1", Never;
    checkpoint: i64 = Integer, "checkpoint", "", "number of the checkpoint in the attempt, from 1", Never;
    provider: String = Provider, "provider", "", "where it was written", Never;
    requested: f64 = Seconds, "requested_time", "s", "when the job stopped to write it", Never;
    written: Option<f64> = Seconds, "written_time", "s", "when it was written, and the job went on", Empty("cut off");
    available: Option<f64> = Seconds, "available_time", "s", "when it could be used: at a provider, as soon as it was written", Empty("it never could");
    work_saved: f64 = Real, "work_saved", "processor-seconds; MI", "what had been done of the job: at a provider, in processor-seconds there, on a grid, in MI", Never;
    computing: f64 = Seconds, "computing_time", "s", "for how long the attempt had computed by then", Never;
}
