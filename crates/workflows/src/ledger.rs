//! Ledger of the tasks of workflows: waiting tasks, ready ones, those that are done, and those that never
//! will be.
//!
//! The scheduler of a grid keeps such a ledger; so does a user that submits workflows to providers.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{ParentSets, TaskId, Workflow};
use haggle_model::JobId;
use haggle_model::shared;
use serde::{Deserialize, Serialize};

/// A workflow, and its parent sets, which do not change while it runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Flow {
    #[serde(with = "shared")]
    graph: Arc<Workflow>,
    /// Number of tasks that are not submitted yet.
    to_come: usize,
    sets: ParentSets,
    /// Number of unfinished tasks, by parent set.
    open: Vec<u32>,
    /// The jobs of submitted tasks, by task.
    jobs: Vec<Option<JobId>>,
    done: Vec<bool>,
    /// Number of unfinished parents, by task.
    missing: Vec<u32>,
    /// True if an ancestor has failed, by task.
    barred: Vec<bool>,
}

/// The tasks of workflows and their open dependencies. A change costs O(children).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Ledger {
    flows: BTreeMap<WorkflowId, Flow>,
    tasks: BTreeMap<JobId, Member>,
}

/// A workflow of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct WorkflowId {
    /// The workload it came from.
    pub workload: u16,
    /// Its number there, counted from 0.
    pub number: u32,
}

/// A task as part of its workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Member {
    /// Its workflow.
    pub workflow: WorkflowId,
    /// Its task in the workflow.
    pub task: TaskId,
}

/// A group of tasks that work for the same successors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Group {
    /// The parent set of this number of a workflow.
    Set(WorkflowId, u32),
    /// A task without a successor, which is in no parent set.
    Final(WorkflowId, TaskId),
}

impl Ledger {
    /// A ledger of these workflows; none of their tasks is submitted yet.
    pub fn new(workflows: &BTreeMap<WorkflowId, Arc<Workflow>>) -> Ledger {
        let flow = |graph: &Arc<Workflow>| {
            let sets = graph.parent_sets();
            Flow {
                to_come: graph.tasks().len(),
                open: (0..sets.len()).map(|set| sets.parents(set).len() as u32).collect(),
                sets,
                jobs: vec![None; graph.tasks().len()],
                done: vec![false; graph.tasks().len()],
                missing: graph.ids().map(|task| graph.parents(task).len() as u32).collect(),
                barred: vec![false; graph.tasks().len()],
                graph: Arc::clone(graph),
            }
        };
        let flows = workflows.iter().map(|(&id, graph)| (id, flow(graph))).collect();
        Ledger { flows, tasks: BTreeMap::new() }
    }

    /// A task is submitted as this job. Returns whether it may start, which requires that all its parents
    /// are done. Returns `None` if there is no such task, or if it is submitted already.
    pub fn submit(&mut self, job: JobId, member: Member) -> Option<bool> {
        let flow = self.flows.get_mut(&member.workflow)?;
        let place = flow.jobs.get_mut(member.task.index())?;
        if place.is_some() || self.tasks.contains_key(&job) {
            return None;
        }
        *place = Some(job);
        flow.to_come -= 1;
        self.tasks.insert(job, member);
        Some(flow.missing[member.task.index()] == 0)
    }

    /// A workflow without submitted tasks; `None` if it has some, or does not exist.
    pub fn unheard_of(&self, workflow: WorkflowId) -> Option<&Workflow> {
        let flow = self.flows.get(&workflow)?;
        (flow.to_come == flow.jobs.len()).then_some(&*flow.graph)
    }

    /// A task is done. Returns the submitted tasks that may start now, by number.
    pub fn complete(&mut self, job: JobId) -> Vec<JobId> {
        let Some(&Member { workflow, task }) = self.tasks.get(&job) else { return Vec::new() };
        let flow = self.flows.get_mut(&workflow).expect("its task was submitted");
        // An end that is reported twice counts once.
        if std::mem::replace(&mut flow.done[task.index()], true) {
            return Vec::new();
        }
        for set in flow.sets_of(task) {
            flow.open[set] -= 1;
        }
        let mut released = Vec::new();
        for child in flow.graph.children(task) {
            let missing = &mut flow.missing[child.task.index()];
            *missing -= 1;
            if *missing == 0 {
                // A child that is not submitted yet is not released: it may start when it is submitted.
                released.extend(flow.jobs[child.task.index()]);
            }
        }
        released
    }

    /// A task has failed. Returns its submitted descendants that were not barred before, by number of task.
    /// None of them may ever start.
    pub fn fail(&mut self, job: JobId) -> Vec<JobId> {
        let Some(&Member { workflow, task }) = self.tasks.get(&job) else { return Vec::new() };
        let flow = self.flows.get_mut(&workflow).expect("its task was submitted");
        let mut open = vec![task];
        let mut found = Vec::new();
        while let Some(task) = open.pop() {
            for child in flow.graph.children(task) {
                // Descendants that were barred before have barred theirs, and are not reported again.
                if !std::mem::replace(&mut flow.barred[child.task.index()], true) {
                    open.push(child.task);
                    found.push(child.task);
                }
            }
        }
        found.sort_unstable();
        found.into_iter().filter_map(|task| flow.jobs[task.index()]).collect()
    }

    /// Returns whether a job is a task that may never start, because an ancestor has failed.
    pub fn is_barred(&self, job: JobId) -> bool {
        self.member(job)
            .is_some_and(|member| self.flows[&member.workflow].barred[member.task.index()])
    }

    /// Returns whether a job is a task whose parents are not all done.
    pub fn is_blocked(&self, job: JobId) -> bool {
        self.member(job)
            .is_some_and(|member| self.flows[&member.workflow].missing[member.task.index()] > 0)
    }

    /// The tasks of a workflow that are submitted, by number.
    pub fn jobs(&self, workflow: WorkflowId) -> Vec<JobId> {
        self.flows
            .get(&workflow)
            .into_iter()
            .flat_map(|flow| &flow.jobs)
            .flatten()
            .copied()
            .collect()
    }

    /// Returns whether all tasks of a workflow are submitted.
    pub fn is_complete(&self, workflow: WorkflowId) -> bool {
        self.flows.get(&workflow).is_some_and(|flow| flow.to_come == 0)
    }

    /// The submitted parents of a task, by number; none for a job that is no task.
    pub fn parents(&self, job: JobId) -> Vec<JobId> {
        let Some(Member { workflow, task }) = self.member(job) else { return Vec::new() };
        let flow = &self.flows[&workflow];
        let parents = flow.graph.parents(task).iter();
        parents.filter_map(|link| flow.jobs[link.task.index()]).collect()
    }

    /// The task of a job, if it is one.
    pub fn member(&self, job: JobId) -> Option<Member> {
        self.tasks.get(&job).copied()
    }

    /// Returns whether a job is a task without parents, or no task at all.
    pub fn is_root(&self, job: JobId) -> bool {
        self.member(job)
            .is_none_or(|member| self.flows[&member.workflow].graph.parents(member.task).is_empty())
    }

    /// The parent sets of a task, each with its size; a final task forms a set of its own.
    pub fn groups(&self, job: JobId) -> Vec<(Group, usize)> {
        let Some(Member { workflow, task }) = self.member(job) else { return Vec::new() };
        let flow = &self.flows[&workflow];
        if flow.graph.children(task).is_empty() {
            return vec![(Group::Final(workflow, task), 1)];
        }
        let sized = |set| (Group::Set(workflow, set as u32), flow.sets.parents(set).len());
        flow.sets_of(task).into_iter().map(sized).collect()
    }

    /// Number of unfinished tasks of a set; `None` if it is a root alone, which is not balanced.
    pub fn unfinished(&self, group: Group) -> Option<usize> {
        let (workflow, count, first, open) = match group {
            Group::Final(workflow, task) => {
                let is_open = !self.flows[&workflow].done[task.index()];
                (workflow, 1, task, usize::from(is_open))
            }
            Group::Set(workflow, set) => {
                let flow = &self.flows[&workflow];
                let members = flow.sets.parents(set as usize);
                (workflow, members.len(), members[0], flow.open[set as usize] as usize)
            }
        };
        // It counts for a set of one member only, which is the first one.
        let is_root = self.flows[&workflow].graph.parents(first).is_empty();
        (count > 1 || !is_root).then_some(open)
    }
}

impl Flow {
    /// The parent sets of a task, by number.
    fn sets_of(&self, task: TaskId) -> Vec<usize> {
        let children = self.graph.children(task);
        let mut sets: Vec<usize> =
            children.iter().filter_map(|child| self.sets.of(child.task)).collect();
        // Children with the same parents share a set.
        sets.sort_unstable();
        sets.dedup();
        sets
    }
}

#[cfg(test)]
mod tests {
    use crate::{Builder, Task};
    use haggle_model::Span;

    use super::*;

    const ID: WorkflowId = WorkflowId { workload: 0, number: 0 };

    /// The 17 tasks of micro-example M-1; the jobs have the numbers of their tasks.
    fn ledger(done: &[u32]) -> Ledger {
        const EDGES: [(u32, &[u32]); 12] = [
            (0, &[1, 2, 3, 4]),
            (1, &[5, 6, 7, 8]),
            (2, &[9]),
            (3, &[9]),
            (4, &[9, 10, 11]),
            (5, &[16]),
            (6, &[12]),
            (7, &[12]),
            (8, &[12]),
            (9, &[13, 14]),
            (10, &[13, 14]),
            (11, &[15]),
        ];
        let mut builder = Builder::new("example");
        let task = |number: u32| Task::new(number.to_string(), Span::from_secs(1));
        let ids: Vec<TaskId> = (0..17).map(|it| builder.task(task(it)).expect("a task")).collect();
        let last = [12, 13, 14, 15].map(|parent| (parent, &[16_u32][..]));
        for (parent, children) in EDGES.into_iter().chain(last) {
            for &child in children {
                builder.edge(ids[parent as usize], ids[child as usize], 0).expect("an edge");
            }
        }
        let mut ledger =
            Ledger::new(&BTreeMap::from([(ID, Arc::new(builder.build().expect("a graph")))]));
        for &task in &ids {
            let may_start = ledger.submit(JobId(task.0), Member { workflow: ID, task });
            assert_eq!(may_start, Some(task.0 == 0));
        }
        for &task in done {
            ledger.complete(JobId(task));
        }
        ledger
    }

    /// Running parent sets by their members, and tasks that are ready, micro-example M-2.
    fn check(done: &[u32], running: &[u32], sets: &[&[u32]], ready: &[u32]) {
        let ledger = ledger(done);
        let mut all_of: BTreeMap<Group, Vec<u32>> = BTreeMap::new();
        for &task in running {
            for (group, _) in ledger.groups(JobId(task)) {
                all_of.entry(group).or_default().push(task);
            }
        }
        all_of.retain(|&group, tasks| ledger.unfinished(group) == Some(tasks.len()));
        let mut found: Vec<Vec<u32>> = all_of.into_values().collect();
        found.sort_by_key(|jobs| (jobs.len(), jobs[0]));
        assert_eq!(found, sets);
        let is_ready = |task: &u32| {
            !done.contains(task) && !running.contains(task) && !ledger.is_blocked(JobId(*task))
        };
        assert_eq!((0..17).filter(is_ready).collect::<Vec<_>>(), ready);
    }

    #[test]
    fn sets_of_which_all_run_are_balanced() {
        check(&[0], &[1, 2, 3, 4], &[&[1], &[4], &[2, 3, 4]], &[]);
        check(&[0, 1, 4], &[2, 3, 6, 7, 10], &[&[2, 3]], &[5, 8, 11]);
        check(&[0, 1, 2, 3, 4], &[5, 6, 7, 8, 9, 10, 11], &[&[11], &[9, 10], &[6, 7, 8]], &[]);
        let most: Vec<u32> = (0..12).collect();
        check(&most, &[12, 13, 14, 15], &[&[12, 13, 14, 15]], &[]);
        check(&[], &[0], &[], &[]);
    }

    #[test]
    fn a_task_is_released_by_its_last_parent() {
        let mut ledger = ledger(&[0]);
        assert_eq!(ledger.complete(JobId(2)), []);
        assert_eq!(ledger.complete(JobId(4)), [10, 11].map(JobId));
        assert_eq!(ledger.complete(JobId(4)), []);
        assert_eq!(ledger.complete(JobId(3)), [JobId(9)]);
        assert_eq!(ledger.submit(JobId(99), Member { workflow: ID, task: TaskId(3) }), None);
        let all = ledger.groups(JobId(16));
        assert_eq!(all, [(Group::Final(ID, TaskId(16)), 1)]);
    }

    /// Task 2 needs only the root; tasks 9, 13, 14 and 16 need task 2.
    #[test]
    fn descendants_of_what_came_to_nothing_are_barred_once() {
        let mut ledger = ledger(&[0]);
        assert_eq!(ledger.fail(JobId(2)), [9, 13, 14, 16].map(JobId));
        assert_eq!(ledger.fail(JobId(9)), []);
        assert_eq!(ledger.fail(JobId(11)), [JobId(15)]);
        let barred = Vec::from_iter((0..17).filter(|&task| ledger.is_barred(JobId(task))));
        assert_eq!(barred, [9, 13, 14, 15, 16]);
    }
}
