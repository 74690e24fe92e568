//! Ranks of tasks (Topcuoglu, Hariri and Wu 2002, section 4.1), multiplied by the number of resources.

use super::Problem;
use crate::TaskId;

/// All sums of ranks fit: a rank is at most 2^62 µs on each of 2^32 resources.
pub(super) type Rank = i128;

/// The sum over all resources of the times of a task.
pub(super) fn computation(problem: &Problem<'_>) -> Vec<Rank> {
    let sum = |task| problem.all().map(|one| Rank::from(problem.time(task, one).as_micros())).sum();
    problem.workflow().ids().map(sum).collect()
}

/// rank_u (equation 2): the longest path from the start of a task to the end.
pub(super) fn upward(problem: &Problem<'_>, computation: &[Rank]) -> Vec<Rank> {
    let workflow = problem.workflow();
    let mut ranks = vec![0; computation.len()];
    // From the last level to the first, so that the ranks of all children are known.
    for &task in workflow.order().iter().rev() {
        let children = workflow.children(task).iter();
        let longest = children.map(|link| {
            problem.sending(task, link.bytes).total(problem.resources()) + ranks[link.task.index()]
        });
        ranks[task.index()] = computation[task.index()] + longest.max().unwrap_or(0);
    }
    ranks
}

/// rank_d (equation 4): the longest path from the beginning to the start of a task.
pub(super) fn downward(problem: &Problem<'_>, computation: &[Rank]) -> Vec<Rank> {
    let workflow = problem.workflow();
    let mut ranks = vec![0; computation.len()];
    // From the first level to the last, so that the ranks of all parents are known.
    for &task in workflow.order() {
        let longest = workflow.parents(task).iter().map(|link| {
            let parent = link.task.index();
            ranks[parent]
                + computation[parent]
                + problem.sending(link.task, link.bytes).total(problem.resources())
        });
        ranks[task.index()] = longest.max().unwrap_or(0);
    }
    ranks
}

/// Tasks whose parents are all placed, the highest priority first; of equal ones, the lowest number.
pub(super) struct Queue<'a, P> {
    problem: &'a Problem<'a>,
    priorities: &'a [P],
    ready: std::collections::BinaryHeap<(P, std::cmp::Reverse<TaskId>)>,
    waits_for: Vec<usize>,
}

impl<'a, P: Ord + Copy> Queue<'a, P> {
    pub(super) fn new(problem: &'a Problem<'a>, priorities: &'a [P]) -> Queue<'a, P> {
        let workflow = problem.workflow();
        let waits_for = workflow.ids().map(|task| workflow.parents(task).len()).collect();
        let entry = |task: TaskId| (priorities[task.index()], std::cmp::Reverse(task));
        let ready = workflow.roots().map(entry).collect();
        Queue { problem, priorities, ready, waits_for }
    }

    /// The next task. Its children no longer wait for it.
    pub(super) fn next(&mut self) -> Option<TaskId> {
        let (_, std::cmp::Reverse(task)) = self.ready.pop()?;
        for link in self.problem.workflow().children(task) {
            let child = link.task.index();
            self.waits_for[child] -= 1;
            if self.waits_for[child] == 0 {
                self.ready.push((self.priorities[child], std::cmp::Reverse(link.task)));
            }
        }
        Some(task)
    }
}
