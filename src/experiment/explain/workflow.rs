//! Tasks of workflows: on what the way to one of them was spent, from parent to parent.

use haggle_results::JobRow;
use serde::Serialize;

use super::spent::{Part, Spent, micros};
use super::{Chronicle, Story};

/// What a task's place in its workflow tells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InWorkflow {
    /// Number of the workflow in its workload.
    pub workflow: i64,
    /// Number of the task in the workflow.
    pub task: i64,
    /// The way to the task: each waited for the one before it, which was the last of its parents to
    /// be done. It begins with a task that waited for none, and ends with this one; empty if its
    /// parents were not all done.
    pub path: Vec<Step>,
    /// The task by which the workflow was done: the way to that one is the critical path of the
    /// workflow as it was. `None` if not all of its tasks were done.
    pub last: Option<Last>,
}

/// A task on the way to another one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Number of the task in the workflow.
    pub task: i64,
    /// Its number in the workload.
    pub job_id: i64,
    /// When it might start: its parents were done, or it was submitted.
    pub ready: f64,
    /// When it left.
    pub left: f64,
    /// Its time from then on.
    pub parts: Vec<Spent>,
}

/// The last task of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Last {
    /// Number of the task in the workflow.
    pub task: i64,
    /// Its number in the workload.
    pub job_id: i64,
    /// When it was done.
    pub end: f64,
}

/// The way to a task.
pub(super) fn of(all: &Chronicle, job: &JobRow) -> Option<InWorkflow> {
    let (workflow, task) = job.task?;
    let is_of_it = |it: &&JobRow| {
        it.workload == job.workload && it.task.is_some_and(|(other, _)| other == workflow)
    };
    let tasks: Vec<&JobRow> = all.jobs.iter().filter(is_of_it).collect();
    let blocked = job.ready.is_some_and(|ready| ready > job.submit && ready >= job.left);
    let mut path = Vec::new();
    let mut next = (!blocked).then_some(job);
    while let Some(it) = next {
        path.push(it);
        next = parent(it, &tasks);
    }
    path.reverse();
    let all_done = tasks.iter().all(|it| it.outcome == "completed");
    let last = tasks.iter().max_by_key(|it| (micros(it.left), it.task)).filter(|_| all_done);
    Some(InWorkflow {
        workflow,
        task,
        path: path.into_iter().map(|it| step(all, it)).collect(),
        last: last.map(|it| Last { task: number(it), job_id: it.job_id, end: it.left }),
    })
}

/// The task that was done when this one might start. It was submitted before its parents were done,
/// so that it waited for none if it might start at once.
fn parent<'a>(job: &JobRow, tasks: &[&'a JobRow]) -> Option<&'a JobRow> {
    let ready = job.ready.filter(|&ready| ready > job.submit)?;
    let ended_then = tasks.iter().filter(|it| {
        it.outcome == "completed" && micros(it.left) == micros(ready) && it.job != job.job
    });
    ended_then.min_by_key(|it| it.task).copied()
}

fn step(all: &Chronicle, job: &JobRow) -> Step {
    let ready = job.ready.map_or(job.submit, |ready| ready.max(job.submit));
    let mut parts = super::grid::parts(all, job);
    parts.retain(|it| it.part != Part::NotReady);
    Step { task: number(job), job_id: job.job_id, ready, left: job.left, parts }
}

fn number(job: &JobRow) -> i64 {
    job.task.map_or(0, |(_, task)| task)
}

impl Story {
    /// Whether it is a task of a workflow, which may start when its parents are done.
    pub fn is_task(&self) -> bool {
        self.workflow.is_some()
    }
}
