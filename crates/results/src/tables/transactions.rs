//! The table `transactions`.

use super::{Actor, Integer, Real, Seconds, Word, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Transactions, transactions, optional: "One row a transaction: a try of a metascheduler with a `protocol` to get \
     all parts of a job, in the order in which transactions were opened. Its columns add up to the sums of the \
     summary. Only there if a transaction was opened.";

    /// A row of `transactions`. Times in seconds since the start of the run.
    TransactionRow, TransactionCells;

    job: i64 = Integer, "job", "", "the job's number in this run", Never;
    number: i64 = Integer, "number", "", "number of the try, from 1", Never, at_least_one;
    actor: String = Actor, "actor", "", "the metascheduler of the transaction", Never;
    agreement: i64 = Integer, "agreement", "", "number of the agreement between it and the providers", Never, large;
    parts: i64 = Integer, "parts", "", "number of providers that were asked for a part", Never, at_least_one;
    opened: f64 = Seconds, "opening_time", "s", "its beginning", Never;
    decided: Option<f64> = Seconds, "decision_time", "s", "time of the decision that all carry out their parts", Empty("it was not");
    end: Option<f64> = Seconds, "end_time", "s", "time at which its metascheduler knew that all had agreed, or that it had failed", Empty("it was open when the run stopped");
    outcome: String = Word, "outcome", "", "`agreed`; `failed`: before a decision; `broken`: decided, but a provider could no longer carry out its part; `open` when the run stopped", Never;
    time_to_agreement: Option<f64> = Seconds, "time_to_agreement", "s", "end_time - opening_time of the first try of its job", Empty("not agreed on");
    messages: i64 = Integer, "messages", "", "messages of the protocol about it, to acceptors and from them too", Never, large;
    in_doubt: f64 = Seconds, "in_doubt_time", "part-seconds", "Σ time in which its parts were held while its metascheduler was down, or after their provider had been down", Never;
    held_in_vain: f64 = Real, "held_in_vain", "processor-seconds", "Σ processors x time of its parts that were given up, held or begun", Never;
    orphans: i64 = Integer, "orphans", "", "its parts that ran to their end although it was not agreed on", Never;
    orphan_work: f64 = Real, "orphan_work", "processor-seconds", "Σ processors x time of these", Never;
    partial: bool = Integer, "partial", "", "1 if some of its parts ran, even partly, and others did not; else 0", Never;
}
