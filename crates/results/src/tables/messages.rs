//! The tables `messages`, `message_counts`, `message_faults`.

use super::{Actor, Integer, Seconds, Word, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Messages, messages, required: "One row a delivered message (`messages = \"all\"`).";

    /// A row of `messages`. Times in seconds since the start of the run.
    MessageRow, MessageCells;

    time: f64 = Seconds, "time", "s", "delivery", Never, also_before_run;
    sender: String = Actor, "sender", "", "the actor that sent it", Never;
    receiver: String = Actor, "receiver", "", "the actor that received it", Never;
    kind: String = Word, "kind", "", "kind of the message", Never;
    job: Option<i64> = Integer, "job", "", "the job it is about, number in this run", Empty("about no job");
}

table! {
    MessageCounts, message_counts, optional: "One row a (sender, receiver, kind), instead of `messages` (`messages = \"counts\"`).";

    /// A row of `message_counts`.
    MessageCountRow, MessageCountCells;

    sender: String = Actor, "sender", "", "the actor that sent them", Never;
    receiver: String = Actor, "receiver", "", "the actor that received them", Never;
    kind: String = Word, "kind", "", "kind of the message", Never;
    count: i64 = Integer, "count", "messages", "number of delivered messages", Never, at_least_one, large;
}

table! {
    MessageFaults, message_faults, optional: "One row a message that was lost or doubled in transit, or refused on \
     arrival (`messages = \"all\"`). Only there if a message was.";

    /// A row of `message_faults`. Times in seconds since the start of the run.
    MessageFaultRow, MessageFaultCells;

    time: f64 = Seconds, "time", "s", "time of sending; of a refused message, of its arrival", Never, also_before_run;
    sender: String = Actor, "sender", "", "the actor that sent it", Never;
    receiver: String = Actor, "receiver", "", "the actor it was sent to", Never;
    kind: String = Word, "kind", "", "kind of the message", Never;
    job: Option<i64> = Integer, "job", "", "the job it is about, number in this run", Empty("about no job");
    fault: String = Word, "fault", "", "`lost` by chance, `parted` (lost between actors in different groups of a partition), `missed` (its receiver was down), `doubled` or `refused` (it arrived, but its receiver did not expect it and ignored it)", Never;
    resent: i64 = Integer, "resent", "times", "number of times that it was sent again because of the fault, until it arrived, once; 0 = never. `messages` has no lost messages, and doubled messages twice, unless `transport = \"reliable\"` dropped the copy", Never;
}
