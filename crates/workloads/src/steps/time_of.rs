//! The time of a job on which a step is based.

use haggle_model::{Job, Span};

haggle_model::words! {
    /// One of the two times of a job.
    pub enum TimeOf {
        /// The real run time.
        RunTime = "run-time",
        /// The time that its user requested.
        RequestedTime = "requested-time",
    }
}

impl TimeOf {
    /// That time; the run time if there is no requested time.
    pub(super) fn of(self, job: &Job) -> Span {
        let run_time = job.run_time.reveal_to_machine();
        match self {
            TimeOf::RequestedTime => job.requested_time.unwrap_or(run_time),
            TimeOf::RunTime => run_time,
        }
    }
}
