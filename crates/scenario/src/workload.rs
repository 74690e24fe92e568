//! Workloads of a scenario as values of the model: each type of the file that describes one has a method
//! `to_model`.

use haggle_model::job::{HiddenRunTime, JobOrigin, Lot};
use haggle_model::{Job, JobId, JobShape, Time};

use super::file::InlineJob;
use super::quantity::TimeSpan;

mod applications;
mod independent_jobs;
mod iterative;
mod law;
mod lublin;
mod rules;
mod step;
mod synthetic_month;
mod workflows;

pub(crate) use step::step_problem;
pub use workflows::{RunBy, WorkflowModel, WorkflowsError};
pub(crate) use workflows::{TASKS_MAX, read_file as read_workflow};

impl InlineJob {
    /// The job, numbered by its place in the list, from 1.
    pub fn to_model(&self, number: i64) -> Job {
        Job {
            id: JobId(0),
            workload: 0,
            number,
            lot: Lot::default(),
            submit: instant(self.submit),
            shape: JobShape::Rigid,
            processors: self.processors,
            requested_time: self.requested.map(|requested| requested.0),
            run_time: HiddenRunTime::new(self.run.0),
            ready: self.ready.map(instant),
            deadline: self.deadline.map(instant),
            reservation: None,
            phases: None,
            iterative: None,
            task: None,
            initial: None,
            key: self.key.unwrap_or(0),
            // -1 is unknown, as in logs.
            origin: JobOrigin { user: self.user.unwrap_or(-1), ..JobOrigin::UNKNOWN },
        }
    }
}

/// Instant at this distance from time zero.
pub(crate) fn instant(span: TimeSpan) -> Time {
    Time::ZERO + span.0
}

/// A length of time in seconds, the unit in which times are drawn.
fn seconds(span: TimeSpan) -> f64 {
    span.0.as_secs_f64()
}
