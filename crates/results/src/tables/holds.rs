//! The table `holds`.

use super::{Actor, Integer, Seconds, Word, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Holds, holds, optional: "One row a part that a provider held for a transaction, in the order in which they were over or given up, then those that \
     were not when the run stopped. What was asked for and refused has none. Only there if something was held.";

    /// A row of `holds`. Times in seconds since the start of the run.
    HoldRow, HoldCells;

    job: i64 = Integer, "job", "", "the job's number in this run", Never;
    actor: String = Actor, "actor", "", "the metascheduler whose transaction it is", Never;
    agreement: i64 = Integer, "agreement", "", "the number by which it and the providers know it, as in `transactions`", Never;
    holder: String = Actor, "holder", "", "the provider of the part", Never;
    processors: i64 = Integer, "processors", "processors", "the part's processors", Never;
    since: f64 = Seconds, "holding_time", "s", "when the provider began to hold it", Never;
    planned: f64 = Seconds, "planned_starting_time", "s", "from when on it was to have its processors", Never;
    planned_finish: Option<f64> = Seconds, "planned_finish_time", "s", "until when, as last said", Empty("until more is said");
    lease_end: Option<f64> = Seconds, "lease_end_time", "s", "when it was to be given back unless more was said", Empty("held until more is said");
    carried_out: Option<f64> = Seconds, "carrying_out_time", "s", "when the provider heard that the part may begin", Empty("it did not");
    started: Option<f64> = Seconds, "starting_time", "s", "when it had its processors: planned_starting_time, or later where the provider was down then", Empty("it was given up before, or waited when the run stopped");
    end: Option<f64> = Seconds, "end_time", "s", "when it was over, or was given back", Empty("neither, when the run stopped");
    outcome: String = Word, "outcome", "", "`over`: it ran to its end or limit; `given_up`, whether or not it had begun; `open` when the run stopped", Never;
}
