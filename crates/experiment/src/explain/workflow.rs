//! Tasks of workflows: use of the time on the path to a task, from parent to parent.

use std::collections::BTreeMap;

use haggle_results::JobRow;
use haggle_results::critical::last_parent;
use haggle_results::reader::InputRow;
use serde::Serialize;

use super::spent::{Part, Spent, micros, seconds};
use super::{Chronicle, Story};

/// Place of a task in its workflow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InWorkflow {
    /// Number of the workflow in its workload.
    pub workflow: i64,
    /// Number of the task in the workflow.
    pub task: i64,
    /// Path to the task: each task waited for the one before it, its last completed parent. An
    /// application of phases waited for the last one of the level before. It
    /// begins with a task that waited for none, and ends with this one. It is empty if its parents
    /// were not all completed, or if it left while their outputs were in transit.
    pub path: Vec<Step>,
    /// The task that completed the workflow. The path to it is the actual critical path. `None` if
    /// not all tasks were completed.
    pub last: Option<Last>,
    /// Tasks of the workflow without success that had left before this one, in order of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Failed>,
}

/// A task without success whose parents were not the cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failed {
    /// Number of the task in the workflow.
    pub task: i64,
    /// Its number in the workload.
    pub job_id: i64,
    /// How it ended.
    pub outcome: String,
    /// When it left.
    pub left: f64,
}

/// A task on the path to another one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Number of the task in the workflow.
    pub task: i64,
    /// Its number in the workload.
    pub job_id: i64,
    /// When it could start: its parents were completed, or it was submitted. Its user may have been
    /// notified later.
    pub ready: f64,
    /// When it left.
    pub left: f64,
    /// Parts of its time from then on.
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

/// The path to a task.
pub(super) fn of(all: &Chronicle, job: &JobRow) -> Option<InWorkflow> {
    let (workflow, task) = job.in_workflow()?;
    let is_of_it = |it: &&JobRow| it.workload == job.workload && it.workflow == Some(workflow);
    let tasks: Vec<&JobRow> = all.jobs.iter().filter(is_of_it).collect();
    // A task that left before its parents were done has its departure as the ready time.
    let blocked = job.ready.is_some_and(|ready| ready > job.submit && ready >= job.left);
    // The needs of a task are known only if it was submitted to a provider.
    let needs = |it: &InputRow| it.job == job.job && it.made_by.is_some();
    let unknown = !all.is_on_grid(job)
        && !job.is_phased()
        && job.ready.is_some_and(|ready| ready > job.submit)
        && !all.inputs.iter().any(needs);
    let mut path = Vec::new();
    let mut next = (!blocked && !unknown).then_some(job);
    while let Some(it) = next {
        path.push(it);
        next = parent(all, it, &tasks);
    }
    path.reverse();
    let all_done = tasks.iter().all(|it| it.outcome == "completed");
    let last = tasks.iter().max_by_key(|it| (micros(it.left), it.task)).filter(|_| all_done);
    Some(InWorkflow {
        workflow,
        task,
        path: (0..path.len())
            .map(|at| step(all, path[at], at.checked_sub(1).map(|before| path[before])))
            .collect(),
        last: last.map(|it| Last { task: number(it), job_id: it.job_id, end: it.left }),
        failed: failed(job, &tasks),
    })
}

/// Tasks without success that had left a workflow before one of its tasks left.
fn failed(job: &JobRow, tasks: &[&JobRow]) -> Vec<Failed> {
    let came_to_nothing = |it: &&&JobRow| {
        let own = !["completed", "unfinished"].contains(&it.outcome.as_str());
        own && it.refusal.as_deref() != Some("parent_failed") && it.left <= job.left
    };
    let mut failed: Vec<&&JobRow> = tasks.iter().filter(came_to_nothing).collect();
    failed.sort_by_key(|it| (micros(it.left), it.task));
    let told = |it: &&JobRow| Failed {
        task: number(it),
        job_id: it.job_id,
        outcome: it.outcome.clone(),
        left: it.left,
    };
    failed.into_iter().map(told).collect()
}

/// Times at which data of a task were in transit to its provider, in order: for each placement,
/// until the last arrival.
pub(super) fn transfers(all: &Chronicle, job: &JobRow) -> Vec<(i64, i64)> {
    let mut times: BTreeMap<i64, i64> = BTreeMap::new();
    for (sent, arrived) in
        all.inputs.iter().filter(|it| it.job == job.job).filter_map(InputRow::moved)
    {
        let last = times.entry(micros(sent)).or_insert(0);
        *last = micros(arrived).max(*last);
    }
    times.into_iter().collect()
}

/// The last completed parent of a task.
fn parent<'a>(all: &Chronicle, job: &JobRow, tasks: &[&'a JobRow]) -> Option<&'a JobRow> {
    last_parent(job, tasks, &all.inputs, all.is_on_grid(job))
}

/// A task, and the parent for which it waited.
fn step(all: &Chronicle, job: &JobRow, parent: Option<&JobRow>) -> Step {
    let known = job.ready.map_or(job.submit, |ready| ready.max(job.submit));
    // A user learns later that a task at a provider has ended.
    let ready = parent.map_or(known, |it| it.left.max(job.submit)).min(known);
    let mut parts = match all.is_on_grid(job) {
        true => super::grid::parts(all, job),
        false if job.is_phased() => all.its_own(job).parts,
        false => super::provider::tell(all.its_own(job), all, job).parts,
    };
    // The time before it was ready belongs to the steps before.
    parts.retain(|it| it.part != Part::NotReady);
    // The time until the user was notified counts as placing.
    let unheard = micros(known) - micros(ready);
    match parts.iter_mut().find(|it| it.part == Part::Placing) {
        Some(placing) => placing.waiting = seconds(micros(placing.waiting) + unheard),
        None if unheard > 0 => {
            let placing = Spent { part: Part::Placing, waiting: seconds(unheard), running: 0.0 };
            parts.insert(0, placing);
        }
        None => {}
    }
    Step { task: number(job), job_id: job.job_id, ready, left: job.left, parts }
}

fn number(job: &JobRow) -> i64 {
    job.task.unwrap_or(0)
}

impl Story {
    /// True if it is a task of a workflow, which can start when its parents are completed.
    pub fn is_task(&self) -> bool {
        self.workflow.is_some()
    }

    /// True if it is an application of phases. As a task, it can start when its level begins.
    pub fn is_phased(&self) -> bool {
        self.shape == "phased"
    }
}
