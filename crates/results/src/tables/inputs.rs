//! The table `inputs`.

use super::{Actor, Integer, Seconds, table};
use crate::columns::Missing;
use crate::columns::Missing::{Empty, Never};

const NOT_MOVED: Missing = Empty("it was there already, or has no bytes");

table! {
    Inputs, inputs, optional: "One row an input of a task of a workflow: data that a parent has made, or that the task \
     reads from the storage. Rows have the order in which tasks were submitted to providers, or were withdrawn while \
     their inputs were in transit. Inputs that were at the provider already, or have no bytes, were not transferred. \
     If a provider refuses a task, there are rows for the next one, too. Only there if a task that needs an input was \
     submitted to a provider.";

    /// A row of `inputs`. Times in seconds since the start of the run.
    InputRow, InputCells;

    job: i64 = Integer, "job", "", "the job's number in this run: the task", Never;
    made_by: Option<i64> = Integer, "made_by", "", "the parent that made it: its number in the workflow, as `task` in `jobs`", Empty("it comes from the storage");
    bytes: i64 = Integer, "bytes", "bytes", "its size", Never, large;
    from: String = Actor, "sender", "", "its origin: the provider of the parent, or the actor that receives the jobs of its user, which is beside the storage", Never;
    to: String = Actor, "receiver", "", "the provider to which the task was, or should have been, submitted", Never;
    sent: Option<f64> = Seconds, "sent_time", "s", "beginning of its transfer, after its task had been placed", NOT_MOVED;
    arrived: Option<f64> = Seconds, "arrival_time", "s", "sent_time + latency + bytes / bandwidth, or later where transfers share links (`sharing` of `[network]`)", Empty("it was there already, or has no bytes; with `sent_time`: it was cut off because its task was withdrawn or the run ended");
}

impl InputRow {
    /// Beginning and end of its transfer; `None` if there was no data to transfer, or the transfer was cut off.
    pub fn moved(&self) -> Option<(f64, f64)> {
        self.sent.zip(self.arrived)
    }
}
