//! The table `outages`.

use super::{Integer, Provider, Real, Seconds, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Outages, outages, optional: "One row an outage of processors that failed together, in the order in which they were back and \
     all that was lost with them was known: of a grid, when the jobs that lost attempts are over. Only there \
     if a scenario has `[[failures]]`.";

    /// A row of `outages`. Times in seconds since the start of the run.
    OutageRow, OutageCells;

    provider: String = Provider, "provider", "", "where", Never;
    first: i64 = Integer, "first_resource", "", "first processor that failed, run-wide number", Never;
    last: i64 = Integer, "last_resource", "", "last processor that failed, included", Never;
    failed: f64 = Seconds, "failure_time", "s", "when they failed; 0 if they were down at the start", Never;
    restored: Option<f64> = Seconds, "restoration_time", "s", "when they were back", Empty("not in this run");
    jobs_lost: i64 = Integer, "jobs_lost", "jobs", "jobs that lost an attempt; of bags, that lost tasks", Never;
    work_lost: f64 = Real, "work_lost", "processor-seconds; MI", "Σ (failure_time - starting_time - saved_time - checkpointing_time) x processors of these attempts; of a grid, what these attempts computed and nothing that counts went on from, MI: all rows add up to `grid.work.lost_by_failure` of the summary", Never;
}
