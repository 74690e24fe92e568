//! The table `outages`.

use super::{Integer, Provider, Real, Seconds, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Outages, outages, optional: "One row an outage of processors that failed together, in the order in which they were \
     repaired and all lost work was known: of a grid, when the jobs that lost attempts have ended. Only there if a \
     scenario has `[[failures]]`.";

    /// A row of `outages`. Times in seconds since the start of the run.
    OutageRow, OutageCells;

    provider: String = Provider, "provider", "", "the provider, the cluster or the resource of a grid", Never;
    first: i64 = Integer, "first_resource", "", "first processor that failed, run-wide number", Never;
    last: i64 = Integer, "last_resource", "", "last processor that failed, included", Never;
    failed: f64 = Seconds, "failure_time", "s", "time of the failure; 0 if they were down at the start", Never;
    restored: Option<f64> = Seconds, "restoration_time", "s", "time of the repair", Empty("not in this run");
    jobs_lost: i64 = Integer, "jobs_lost", "jobs", "jobs that lost an attempt; bags that lost tasks", Never;
    work_lost: f64 = Real, "work_lost", "processor-seconds; MI", "Σ (failure_time - starting_time - saved_time - checkpointing_time) x processors of these attempts; of a grid, work of these attempts that no other counted attempt continued from, MI: all rows add up to `grid.work.lost_by_failure` of the summary", Never;
}
