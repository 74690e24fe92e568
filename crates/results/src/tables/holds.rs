//! The table `holds`.

use super::{Actor, Integer, Seconds, Word, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Holds, holds, optional: "One row a part that a provider held for a transaction, in the order in which parts ended \
     or were given up. Parts that were still held when the run stopped come last. Refused requests have no row. Only \
     there if a part was held.";

    /// A row of `holds`. Times in seconds since the start of the run.
    HoldRow, HoldCells;

    job: i64 = Integer, "job", "", "the job's number in this run", Never;
    actor: String = Actor, "actor", "", "the metascheduler of the transaction", Never;
    agreement: i64 = Integer, "agreement", "", "number of the agreement between it and the providers, as in `transactions`", Never, large;
    holder: String = Actor, "holder", "", "the provider of the part", Never;
    processors: i64 = Integer, "processors", "processors", "the part's processors", Never, at_least_one;
    since: f64 = Seconds, "holding_time", "s", "time from which the provider held it", Never;
    planned: f64 = Seconds, "planned_starting_time", "s", "planned start on its processors", Never;
    planned_finish: Option<f64> = Seconds, "planned_finish_time", "s", "planned end, by the last message", Empty("until a further message");
    lease_end: Option<f64> = Seconds, "lease_end_time", "s", "end of the lease: it is given back without a further message", Empty("held until a further message");
    carried_out: Option<f64> = Seconds, "carrying_out_time", "s", "time at which the provider was notified that the part may begin", Empty("it did not");
    started: Option<f64> = Seconds, "starting_time", "s", "time at which it got its processors: planned_starting_time, or later if the provider was down then", Empty("it was given up before, or waited when the run stopped");
    end: Option<f64> = Seconds, "end_time", "s", "time at which it ended or was given back", Empty("neither, when the run stopped");
    outcome: String = Word, "outcome", "", "`over`: it ran to its end or limit; `given_up`, whether or not it had begun; `failed`: it lost its processors or its place; `open` when the run stopped", Never;
}
