//! The table `bookings`.

use super::{Actor, Integer, Seconds, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Bookings, bookings, optional: "One row a part of a place at which a metascheduler with `coallocation` or `mapping` \
     booked a job, in the order of `jobs` and of time. The places are the first one, and each one that the job moved \
     to while it waited on several providers. If a provider broke an agreement on the job, they are the places of the \
     last agreement. Only there if a job was on several providers. The queue of a provider \
     moves a job on one provider alone to an earlier start without a row here.";

    /// A row of `bookings`. Times in seconds since the start of the run.
    BookingRow, BookingCells;

    job: i64 = Integer, "job", "", "the job's number in this run", Never;
    number: i64 = Integer, "number", "", "number of the place, from 1", Never, at_least_one;
    time: f64 = Seconds, "time", "s", "time at which all providers were ready for it", Never;
    asked_by: Option<String> = Actor, "asked_by", "", "the provider with idle processors that had requested the move", Empty("its first place");
    holder: String = Actor, "holder", "", "the provider of the part", Never;
    processors: i64 = Integer, "processors", "processors", "the part's processors", Never, at_least_one;
    start: f64 = Seconds, "planned_starting_time", "s", "planned start, the same for all parts", Never;
    finish: Option<f64> = Seconds, "planned_finish_time", "s", "planned completion, the same for all parts", Empty("no limit");
}
