//! Workloads of a scenario as values of the model: each type of the file that describes one has a method
//! `to_model`.

use std::sync::Arc;

use haggle_model::job::{HiddenRunTime, JobOrigin, Lot};
use haggle_model::{Demand, Following, Job, JobId, JobShape, Span, Time};

use super::file::InlineJob;
use super::quantity::TimeSpan;

mod applications;
mod independent_jobs;
mod iterative;
mod law;
mod log_reading;
mod lublin;
mod rules;
mod step;
mod synthetic_month;
mod workflows;

pub(crate) use step::step_problem;
pub use workflows::{RunBy, WorkflowModel, WorkflowsError};
pub(crate) use workflows::{TASKS_MAX, read_file as read_workflow};

/// Jobs of a list, in order of submission. The first one of the list has the number `first`.
pub fn listed_jobs(jobs: &[InlineJob], first: i64) -> Vec<Job> {
    let mut followers = vec![0; jobs.len() + 1];
    for &place in jobs.iter().filter_map(|job| job.after.as_ref()).flatten() {
        // A check refuses places without a job.
        if let Some(count) = followers.get_mut(place as usize) {
            *count += 1;
        }
    }
    let number = |place: usize| first + place as i64 - 1;
    let made = (1_usize..).zip(jobs).map(|(place, listed)| {
        let mut job = listed.to_model(number(place));
        let followers = followers[place];
        if listed.after.is_some() || followers > 0 {
            job.following = Some(Arc::new(Following {
                after: listed.after.iter().flatten().map(|&it| number(it as usize)).collect(),
                on: listed.on.unwrap_or_default(),
                think: listed.think.map_or(Span::ZERO, |think| think.0),
                followers,
            }));
        }
        job
    });
    let mut made = Vec::from_iter(made);
    // The list may be in any order. Numbers and equal times keep this order.
    made.sort_by_key(|job| job.submit);
    made
}

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
            following: None,
            // A check refuses wishes that cannot be divided.
            demand: self
                .wishes()
                .and_then(|it| Demand::new(self.processors, it).ok())
                .map(Box::new),
            initial: None,
            key: self.key.unwrap_or(0),
            // -1 is unknown, as in logs.
            origin: JobOrigin {
                user: self.user.unwrap_or(-1),
                group: self.group.unwrap_or(-1),
                queue: self.queue.unwrap_or(-1),
                partition: self.partition.unwrap_or(-1),
                executable: self.application.unwrap_or(-1),
                ..JobOrigin::UNKNOWN
            },
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
