//! Tasks of workflows that providers run: their user keeps the ledger of dependencies.
//!
//! ```text
//!  JobDue ─▶ waits for its parents ─▶ submitted ─▶ done ─▶ its children may be
//!                     └─▶ rejected, if one of them came to nothing
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use haggle_model::workflow::{Input, Staged, WorkflowCame};
use haggle_model::{ActorId, Job, JobId, Observation, Time};
use haggle_workflows::ledger::{Ledger, Member, WorkflowId};
use haggle_workflows::{TaskId, Workflow};
use serde::{Deserialize, Serialize};

use super::Turn;
use crate::Outbox;

/// The workflows that a user submits task by task.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Tasks(Ledger);

impl Tasks {
    /// None of these workflows has come yet.
    pub(super) fn new(workflows: &BTreeMap<WorkflowId, Arc<Workflow>>) -> Tasks {
        Tasks(Ledger::new(workflows))
    }

    /// A job has come. A job of no workflow in the ledger does not wait: if it is a task, the
    /// scheduler of a grid lets it wait.
    pub(super) fn take_in(&mut self, now: Time, job: &Job, out: &mut Outbox) -> Turn {
        let Some(task) = &job.task else { return Turn::At(now) };
        let workflow = WorkflowId { workload: job.workload, number: task.workflow };
        if let Some(graph) = self.0.unheard_of(workflow) {
            out.observe(Observation::WorkflowCame(WorkflowCame {
                workload: workflow.workload,
                number: workflow.number,
                tasks: graph.tasks().len() as u32,
                critical_path: graph.critical_path_by_work().length,
            }));
        }
        match self.0.submit(job.id, Member { workflow, task: TaskId(task.task) }) {
            Some(true) | None => Turn::At(now),
            Some(false) if self.0.is_barred(job.id) => Turn::Never,
            Some(false) => Turn::Later,
        }
    }

    /// A job is done. Returns the tasks that may be submitted now.
    pub(super) fn done(&mut self, job: JobId) -> Vec<JobId> {
        self.0.complete(job)
    }

    /// A job was not completed. Returns the tasks that will never be submitted.
    pub(super) fn failed(&mut self, job: JobId) -> Vec<JobId> {
        self.0.fail(job)
    }

    /// True if it still waits for its parents.
    pub(super) fn waits(&self, job: JobId) -> bool {
        self.0.is_blocked(job)
    }
}

/// A task is submitted to the only provider of its workflow: all its inputs are there, because the
/// storage is beside its user.
pub(super) fn staged_at(provider: ActorId, job: &Job) -> Option<Observation> {
    let needs = &job.task.as_ref()?.needs;
    let inputs = needs.iter().map(|&need| Input { need, from: provider, moved: None });
    let staged = Staged { job: job.id, at: provider, inputs: inputs.collect() };
    (!needs.is_empty()).then(|| Observation::Staged(Box::new(staged)))
}
