//! Critical Path on a Processor (Topcuoglu, Hariri and Wu 2002, section 4.3). The tasks of a critical
//! path run on the resource that is fastest for all of them, the others where they end first.

use super::plan::Plan;
use super::ranks::{self, Queue, Rank};
use super::{Problem, Schedule};
use crate::{TaskId, Workflow};

pub(super) fn schedule(problem: &Problem<'_>) -> Schedule {
    let workflow = problem.workflow();
    let computation = ranks::computation(problem);
    let downward = ranks::downward(problem, &computation);
    let upward = ranks::upward(problem, &computation);
    let priorities: Vec<Rank> = downward.iter().zip(&upward).map(|(down, up)| down + up).collect();
    let path = critical_path(workflow, &priorities);
    let mut is_critical = vec![false; priorities.len()];
    for &task in &path {
        is_critical[task.index()] = true;
    }
    let time_of_all = |resource: &u32| {
        path.iter().map(|&task| Rank::from(problem.time(task, *resource).as_micros())).sum::<Rank>()
    };
    // Of equally fast resources, the one with the lowest number is taken.
    let critical = problem.all().min_by_key(time_of_all).expect("there are resources");
    let mut plan = Plan::new(problem);
    let mut queue = Queue::new(problem, &priorities);
    while let Some(task) = queue.next() {
        let placement = if is_critical[task.index()] {
            plan.inserted(task, critical, plan.ready(task))
        } else {
            plan.best(task, |placement| placement.end)
        };
        plan.place(task, placement);
    }
    plan.schedule()
}

/// SET_CP: from the root with the highest priority, each time a child with the same priority. Among
/// several, the lowest number is taken.
fn critical_path(workflow: &Workflow, priorities: &[Rank]) -> Vec<TaskId> {
    let priority = |task: TaskId| priorities[task.index()];
    let highest = workflow.roots().map(priority).max().expect("a workflow has roots");
    let root = workflow.roots().find(|&task| priority(task) == highest);
    let next = |&task: &TaskId| {
        let mut children = workflow.children(task).iter().map(|link| link.task);
        // Ranks are whole numbers, so equal priorities are exactly equal.
        children.find(|&child| priority(child) == highest)
    };
    std::iter::successors(root, next).collect()
}
