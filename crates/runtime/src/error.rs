//! Errors that end a run early.

use haggle_model::{ActorId, Time};

use crate::bounds::OUTAGES_MAX;
use crate::world::OutsideError;

/// Reason why a run did not reach its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Actors answer each other for ever without time passing.
    #[error(
        "actors kept answering each other at {time} s without time passing: more than {messages} \
         messages in a row, the last one a `{kind}` to {actor}; a latency above zero ends such a cycle"
    )]
    ZeroTimeCycle {
        /// The instant.
        time: Time,
        /// Number of messages that each caused the next.
        messages: u32,
        /// Receiver of the next message.
        actor: ActorId,
        /// The kind of that message.
        kind: &'static str,
    },
    /// A workload could not be read.
    #[error(transparent)]
    Workload(OutsideError),
    /// A workload is not in order of submission.
    #[error("job {number} is submitted at {submit} s, before the job ahead of it at {previous} s")]
    OutOfOrder {
        /// The job's number in its workload.
        number: i64,
        /// Its submission.
        submit: Time,
        /// The submission before.
        previous: Time,
    },
    /// Failures recur for ever without progress of any job.
    #[error(
        "stuck at {time} s with jobs left ({jobs}): none of them has ended or saved any work while \
         every resource failed {OUTAGES_MAX} times in the mean; they may never be up together for \
         as long as a job needs; `horizon` ends such a run"
    )]
    Stalled {
        /// The instant.
        time: Time,
        /// Jobs that are not over.
        jobs: u64,
    },
    /// The run would last longer than times can represent.
    #[error(
        "the run has come to the end of time, after 73,000 years, with jobs left ({jobs}); check \
         the units of run times, requested times and costs of checkpoints; `horizon` ends such a \
         run"
    )]
    EndOfTime {
        /// Jobs that are not over.
        jobs: u64,
    },
    /// Messages recur for ever without progress of any job.
    #[error(
        "stuck at {time} s with jobs left ({jobs}): none has come, ended or been lost during \
         {messages} messages, the last one a `{kind}` to {actor}; longer periods, intervals and \
         latencies make fewer messages, and an earlier `horizon` ends them"
    )]
    NoProgress {
        /// The instant.
        time: Time,
        /// Jobs that are not over.
        jobs: u64,
        /// Messages since then.
        messages: u64,
        /// Receiver of the next message.
        actor: ActorId,
        /// The kind of that message.
        kind: &'static str,
    },
    /// Plans are made again and again without progress of any job.
    #[error(
        "stuck at {time} s with jobs left ({jobs}): none has come, ended or saved any work while more than \
         {examined} plans, steps of plans and intervals were examined; a method that examines fewer, such as \
         `division`, takes less time, and an earlier `horizon` ends them"
    )]
    PlannedInVain {
        /// The instant.
        time: Time,
        /// Jobs that are not over.
        jobs: u64,
        /// Number of examined plans since then.
        examined: u64,
    },
    /// The record could not be written.
    #[error(transparent)]
    Record(OutsideError),
    /// The stop flag was raised.
    #[error("interrupted")]
    Interrupted,
}
