//! The tables `messages`, `message_counts`, `message_faults`.

use super::{Actor, Integer, Seconds, Word, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Messages, messages, required: "One row a delivered message (`messages = \"all\"`).";

    /// A row of `messages`. Times in seconds since the start of the run.
    MessageRow, MessageCells;

    time: f64 = Seconds, "time", "s", "when it was delivered", Never;
    sender: String = Actor, "sender", "", "the actor that sent it", Never;
    receiver: String = Actor, "receiver", "", "the actor that got it", Never;
    kind: String = Word, "kind", "", "what kind of message", Never;
    job: Option<i64> = Integer, "job", "", "the job it is about, number in this run", Empty("about no job");
}

table! {
    MessageCounts, message_counts, optional: "One row a (sender, receiver, kind), instead of `messages` (`messages = \"counts\"`).";

    /// A row of `message_counts`.
    MessageCountRow, MessageCountCells;

    sender: String = Actor, "sender", "", "the actor that sent them", Never;
    receiver: String = Actor, "receiver", "", "the actor that got them", Never;
    kind: String = Word, "kind", "", "what kind of message", Never;
    count: i64 = Integer, "count", "messages", "how many were delivered", Never;
}

table! {
    MessageFaults, message_faults, optional: "One row a message that was lost or doubled on its way, or refused where it arrived (`messages = \"all\"`). Only there if one was.";

    /// A row of `message_faults`. Times in seconds since the start of the run.
    MessageFaultRow, MessageFaultCells;

    time: f64 = Seconds, "time", "s", "when it was sent; of one that was refused, when it arrived", Never;
    sender: String = Actor, "sender", "", "the actor that sent it", Never;
    receiver: String = Actor, "receiver", "", "the actor it was sent to", Never;
    kind: String = Word, "kind", "", "what kind of message", Never;
    job: Option<i64> = Integer, "job", "", "the job it is about, number in this run", Empty("about no job");
    fault: String = Word, "fault", "", "`lost` by chance, `parted` (lost between actors that were parted), `missed` (its receiver was down), `doubled` or `refused` (it arrived, its receiver did not expect it, and it changed nothing)", Never;
    resent: i64 = Integer, "resent", "times", "how often it was sent again because of that, and in the end it arrived, once; 0 = never: `messages` does not have what was lost, and has twice what was doubled, unless `transport = \"reliable\"` dropped the copy", Never;
}
