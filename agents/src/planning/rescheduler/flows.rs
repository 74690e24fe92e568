//! Workflows of applications and their levels.
//!
//! ```text
//!  submitted ─▶ waits for its level ─▶ between two intervals ─▶ runs one ─▶ over
//!                   └─▶ rejected, if an application that it needs was withdrawn    └─▶ next level
//! ```

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use haggle_model::workflow::WorkflowCame;
use haggle_model::{Job, JobId, Observation};
use haggle_workflows::ledger::{Ledger, Member, WorkflowId};
use haggle_workflows::{TaskId, Workflow};
use serde::{Deserialize, Serialize};

use crate::Outbox;

/// The workflows that a rescheduler receives.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Flows {
    ledger: Ledger,
    flows: BTreeMap<WorkflowId, Flow>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Flow {
    /// Levels that have not begun, the next one at the front.
    levels: VecDeque<Vec<TaskId>>,
    /// All applications by task, when the last one has come.
    jobs: Vec<JobId>,
    /// Applications of the current level that are not over.
    open: BTreeSet<JobId>,
    /// Applications of the level that are between two intervals.
    pending: BTreeSet<JobId>,
}

/// State of a job that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It belongs to no workflow.
    Alone,
    /// It is an application of a workflow.
    Member {
        /// True if an application that it needs was withdrawn.
        barred: bool,
        /// The workflow, if this is its last application to come.
        complete: Option<WorkflowId>,
    },
    /// It belongs to an unknown workflow, or its application has come before.
    Unknown,
}

impl Flows {
    /// None of these workflows has come yet.
    pub(super) fn new(workflows: &BTreeMap<WorkflowId, Arc<Workflow>>) -> Flows {
        let flow = |graph: &Arc<Workflow>| Flow {
            levels: graph.levels().map(<[TaskId]>::to_vec).collect(),
            jobs: Vec::new(),
            open: BTreeSet::new(),
            pending: BTreeSet::new(),
        };
        Flows {
            ledger: Ledger::new(workflows),
            flows: workflows.iter().map(|(&id, graph)| (id, flow(graph))).collect(),
        }
    }

    /// A job has come.
    pub(super) fn take_in(&mut self, job: &Job, out: &mut Outbox) -> Arrival {
        let Some(task) = &job.task else { return Arrival::Alone };
        let workflow = WorkflowId { workload: job.workload, number: task.workflow };
        if let Some(graph) = self.ledger.unheard_of(workflow) {
            out.observe(Observation::WorkflowCame(WorkflowCame {
                workload: workflow.workload,
                number: workflow.number,
                tasks: graph.tasks().len() as u32,
                critical_path: graph.critical_path_by_work().length,
            }));
        }
        let member = Member { workflow, task: TaskId(task.task) };
        // The task is unknown, or was submitted before.
        if self.ledger.submit(job.id, member).is_none() {
            return Arrival::Unknown;
        }
        let complete = self.ledger.is_complete(workflow).then_some(workflow);
        if let Some(flow) = complete.and_then(|workflow| self.flows.get_mut(&workflow)) {
            // The first level begins when the last application has come, so all numbers are known by then.
            flow.jobs = self.ledger.jobs(workflow);
        }
        Arrival::Member { barred: self.ledger.is_barred(job.id), complete }
    }

    /// The workflow of an application, if it belongs to one.
    pub(super) fn of(&self, job: JobId) -> Option<WorkflowId> {
        self.ledger.member(job).map(|member| member.workflow)
    }

    /// An application was not completed. Returns the applications that will never run because they need
    /// it.
    pub(super) fn failed(&mut self, job: JobId) -> Vec<JobId> {
        self.ledger.fail(job)
    }

    /// An application is over. Returns its workflow if its level is over by that.
    pub(super) fn over(&mut self, job: JobId) -> Option<WorkflowId> {
        let workflow = self.of(job)?;
        let flow = self.flows.get_mut(&workflow)?;
        flow.pending.remove(&job);
        // An application of a later level is not open yet, so its end begins no level.
        (flow.open.remove(&job) && flow.open.is_empty()).then_some(workflow)
    }

    /// The next level of a workflow with applications for which `is_here` is true begins. Returns these
    /// applications, which are between two intervals now.
    pub(super) fn begin_level(
        &mut self,
        workflow: WorkflowId,
        is_here: impl Fn(JobId) -> bool,
    ) -> Vec<JobId> {
        let Some(flow) = self.flows.get_mut(&workflow) else { return Vec::new() };
        // Levels whose applications have all ended before, for example by withdrawal, are skipped.
        while let Some(tasks) = flow.levels.pop_front() {
            let jobs = tasks.iter().filter_map(|task| flow.jobs.get(task.index()).copied());
            let here = Vec::from_iter(jobs.filter(|&job| is_here(job)));
            if !here.is_empty() {
                flow.open.extend(&here);
                flow.pending.extend(&here);
                return here;
            }
        }
        Vec::new()
    }

    /// An interval of an application has ended, and the application is not over. Returns its workflow,
    /// if it belongs to one.
    pub(super) fn pause(&mut self, job: JobId) -> Option<WorkflowId> {
        let workflow = self.of(job)?;
        self.flows.get_mut(&workflow)?.pending.insert(job);
        Some(workflow)
    }

    /// An interval of an application has begun.
    pub(super) fn begin(&mut self, job: JobId) {
        let flow = self.of(job).and_then(|workflow| self.flows.get_mut(&workflow));
        if let Some(flow) = flow {
            flow.pending.remove(&job);
        }
    }

    /// The applications of a workflow that are between two intervals.
    pub(super) fn pending(&self, workflow: WorkflowId) -> impl Iterator<Item = JobId> {
        self.flows.get(&workflow).into_iter().flat_map(|flow| &flow.pending).copied()
    }

    /// True if an application that is not over still waits for its level.
    pub(super) fn waits(&self, job: JobId) -> bool {
        let flow = self.of(job).and_then(|workflow| self.flows.get(&workflow));
        flow.is_some_and(|flow| !flow.open.contains(&job))
    }
}
