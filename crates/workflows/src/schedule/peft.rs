//! Predict Earliest Finish Time (Arabnejad and Barbosa 2014). Ready tasks are ordered by the mean of their
//! row of the optimistic cost table. Each is placed where the sum of its end and its optimistic cost is least.

use haggle_model::Span;

use super::plan::Plan;
use super::ranks::{Queue, Rank};
use super::{Problem, Schedule};
use crate::TaskId;

pub(super) fn schedule(problem: &Problem<'_>) -> Schedule {
    let table = optimistic_costs(problem);
    let row = |task: TaskId| &table[task.index() * problem.resources()..][..problem.resources()];
    let rank = |task| row(task).iter().map(|cost| Rank::from(cost.as_micros())).sum();
    let ranks: Vec<Rank> = problem.workflow().ids().map(rank).collect();
    let mut plan = Plan::new(problem);
    let mut queue = Queue::new(problem, &ranks);
    while let Some(task) = queue.next() {
        let costs = row(task);
        let placement =
            plan.best(task, |placement| placement.end + costs[placement.resource as usize]);
        plan.place(task, placement);
    }
    plan.schedule()
}

/// OCT (equation 6), one row for each task: the longest time from its end on a resource to the end of the
/// workflow. Every later task is assumed to have its best resource for itself.
pub(super) fn optimistic_costs(problem: &Problem<'_>) -> Vec<Span> {
    let workflow = problem.workflow();
    let resources = problem.resources();
    let mut table = vec![Span::ZERO; workflow.tasks().len() * resources];
    let mut rest = vec![Span::ZERO; resources];
    // Children first, because a row needs theirs.
    for &task in workflow.order().iter().rev() {
        rest.fill(Span::ZERO);
        for link in workflow.children(task) {
            let child = &table[link.task.index() * resources..][..resources];
            let on = |resource: u32| child[resource as usize] + problem.time(link.task, resource);
            let best = problem.all().map(on).min().expect("there are resources");
            let sending = problem.sending(task, link.bytes);
            for (rest, resource) in rest.iter_mut().zip(problem.all()) {
                // Data stay on their resource, or go to the best of all resources.
                let moved = best + sending.away(resource);
                let stayed = on(resource) + sending.home(resource);
                *rest = (*rest).max(moved.min(stayed));
            }
        }
        table[task.index() * resources..][..resources].copy_from_slice(&rest);
    }
    table
}
