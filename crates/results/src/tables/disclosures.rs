//! The table `disclosures`.

use super::{Actor, Integer, Seconds, Word, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Disclosures, disclosures, required: "One row a piece of information that one actor gave another.";

    /// A row of `disclosures`. Times in seconds since the start of the run.
    DisclosureRow, DisclosureCells;

    time: f64 = Seconds, "time", "s", "when it arrived", Never;
    sender: String = Actor, "sender", "", "the actor it was about", Never;
    receiver: String = Actor, "receiver", "", "the actor that learned it", Never;
    item: String = Word, "item", "", "what was told: of providers `estimate`, `offer`, `power`, `load`, `free_slots`, `queue`, `change`, `expected_completion`, `interval`; of metaschedulers `bag_completion`; of grids `resource_status`, `progress`, `traffic`; of a job `job`, `bag`, `job_status`, `refusal`", Never;
    count: i64 = Integer, "count", "items", "how many items", Never;
    job: Option<i64> = Integer, "job", "", "the job it was about, number in this run", Empty("about no job");
}
