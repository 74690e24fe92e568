//! The table `disclosures`.

use super::{Actor, Integer, Seconds, Word, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Disclosures, disclosures, required: "One row a piece of information that one actor disclosed to another.";

    /// A row of `disclosures`. Times in seconds since the start of the run.
    DisclosureRow, DisclosureCells;

    time: f64 = Seconds, "time", "s", "arrival", Never;
    sender: String = Actor, "sender", "", "the actor that it was about", Never;
    receiver: String = Actor, "receiver", "", "the actor that received it", Never;
    item: String = Word, "item", "", "kind of information: of providers `estimate`, `offer`, `power`, `load`, `free_slots`, `queue`, `change`, `expected_completion`, `interval`; of metaschedulers `bag_completion`; of grids `resource_status`, `progress`, `traffic`; of a job `job`, `bag`, `job_status`, `refusal`", Never;
    count: i64 = Integer, "count", "items", "number of items", Never;
    job: Option<i64> = Integer, "job", "", "the job it was about, number in this run", Empty("about no job");
}
