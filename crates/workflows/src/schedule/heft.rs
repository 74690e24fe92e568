//! Heterogeneous Earliest Finish Time (Topcuoglu, Hariri and Wu 2002, section 4.2): tasks by upward
//! rank, each in the idle slot in which it ends first.

use std::cmp::Reverse;

use super::plan::Plan;
use super::{Problem, Schedule, ranks};
use crate::TaskId;

pub(super) fn schedule(problem: &Problem<'_>) -> Schedule {
    let ranks = ranks::upward(problem, &ranks::computation(problem));
    // A parent that takes no time has the rank of its child. The stable sort keeps it first, by the order of levels.
    let mut order: Vec<TaskId> = problem.workflow().order().to_vec();
    order.sort_by_key(|task| Reverse(ranks[task.index()]));
    let mut plan = Plan::new(problem);
    for task in order {
        let placement = plan.best(task, |placement| placement.end);
        plan.place(task, placement);
    }
    plan.schedule()
}
