//! The table `bookings`.

use super::{Actor, Integer, Seconds, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Bookings, bookings, optional: "One row a part of a place at which a metascheduler with `coallocation` or `mapping` booked a job, in the order of \
     `jobs` and of time: the first place, and each that it moved to while it waited on several providers. Only there if \
     a job was on several. A job that is on one provider is moved up by its queue as any other, which is not told here.";

    /// A row of `bookings`. Times in seconds since the start of the run.
    BookingRow, BookingCells;

    job: i64 = Integer, "job", "", "the job's number in this run", Never;
    number: i64 = Integer, "number", "", "which of its places, from 1", Never;
    time: f64 = Seconds, "time", "s", "when all providers were ready for it", Never;
    asked_by: Option<String> = Actor, "asked_by", "", "the provider with idle processors that had asked to have the job moved", Empty("its first place");
    holder: String = Actor, "holder", "", "the provider of the part", Never;
    processors: i64 = Integer, "processors", "processors", "the part's processors", Never;
    start: f64 = Seconds, "planned_starting_time", "s", "planned start, the same for all parts", Never;
    finish: Option<f64> = Seconds, "planned_finish_time", "s", "planned completion, the same for all parts", Empty("no limit");
}
