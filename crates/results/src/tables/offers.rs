//! The table `offers`.

use super::{Actor, Integer, Real, Seconds, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Offers, offers, required: "One row an offer of a provider for a bag, also those that were not accepted. Only the \
     header if no bags are composed from offers.";

    /// A row of `offers`. Times in seconds since the start of the run.
    OfferRow, OfferCells;

    time: f64 = Seconds, "time", "s", "time at which it was made", Never;
    sender: String = Actor, "sender", "", "the provider", Never;
    receiver: String = Actor, "receiver", "", "the metascheduler", Never;
    job: i64 = Integer, "job", "", "the bag, number in this run", Never;
    tasks: i64 = Integer, "tasks", "tasks", "number of its tasks in the offer", Never, at_least_one;
    completion: f64 = Seconds, "completion", "s", "offered completion", Never;
    bag_tasks: i64 = Integer, "bag_tasks", "tasks", "tasks of the whole bag", Never, at_least_one;
    task_time: f64 = Seconds, "task_time", "s", "the user's estimate for a task on the reference processor", Never;
    deadline: Option<f64> = Seconds, "deadline", "s", "latest completion its user wishes", Empty("as early as possible");
    true_power: f64 = Real, "true_power", "processors", "the provider's computing power in reference processors, disclosed or not", Never;
    true_load: f64 = Real, "true_load", "processor-seconds", "its planned work left, disclosed or not", Never;
}
