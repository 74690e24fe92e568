//! Min-min, max-min and sufferage (Maheswaran et al. 1999), one task at a time (Casanova et al. 2000). They
//! are applied to the tasks of a level together, level by level (Blythe et al. 2005).
//!
//! In each step, the completion time of each task of the level is computed on each resource, after the
//! tasks placed there. A rule chooses a task, which is placed where it completes first. Ties of
//! resources are broken by the earliest availability, then by the lowest number; ties of tasks by the
//! lowest number.

use std::collections::BTreeSet;

use haggle_model::Time;

use super::plan::{Plan, Ready};
use super::{Placement, Problem, Schedule};
use crate::TaskId;

/// Rule by which the next task of a level is chosen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// The task with the least earliest completion time.
    MinMin,
    /// The task with the greatest earliest completion time.
    MaxMin,
    /// The task with the largest difference between second and earliest completion time.
    Sufferage,
}

pub(super) fn schedule(problem: &Problem<'_>, rule: Rule) -> Schedule {
    let mut batch = Batch::new(problem, rule);
    for level in problem.workflow().levels() {
        batch.level(level);
    }
    batch.plan.schedule()
}

/// A completion time with its tie-breaks: availability and number of the resource.
type Completion = (Time, Time, u32);

struct Batch<'a> {
    rule: Rule,
    plan: Plan<'a>,
    /// Resources of each class by time of availability. Only the first ones of a class can be best.
    available: Vec<BTreeSet<(Time, u32)>>,
    /// Tasks of the level by the rule, the next one first.
    order: BTreeSet<(i64, TaskId)>,
    waiting: Vec<Option<Waiting>>,
    /// For each resource: the tasks for which it is the best or second, and possibly some that now have others.
    suitors: Vec<Vec<TaskId>>,
}

/// A task of the level.
#[derive(Clone, Copy)]
struct Waiting {
    ready: Ready,
    key: i64,
    best: u32,
    second: Option<u32>,
}

impl<'a> Batch<'a> {
    fn new(problem: &'a Problem<'a>, rule: Rule) -> Batch<'a> {
        let classes = problem.all().map(|resource| problem.class_of(resource)).max();
        let mut available = vec![BTreeSet::new(); classes.map_or(0, |last| last + 1)];
        let plan = Plan::new(problem);
        for resource in problem.all() {
            available[problem.class_of(resource)].insert((plan.available(resource), resource));
        }
        let waiting = vec![None; problem.workflow().tasks().len()];
        let suitors = vec![Vec::new(); problem.resources()];
        Batch { rule, plan, available, order: BTreeSet::new(), waiting, suitors }
    }

    fn level(&mut self, tasks: &[TaskId]) {
        for &task in tasks {
            let ready = self.plan.ready(task);
            self.enter(task, ready, [None, None]);
        }
        while let Some((key, task)) = self.order.pop_first() {
            let Waiting { ready, best, .. } = self.waiting[task.index()].expect("it waits");
            if self.rule == Rule::MinMin {
                // Completion times only grow, so the least one is final once it is up to date.
                self.enter(task, ready, [None, None]);
                let now = self.waiting[task.index()].expect("it was entered");
                if now.key != key {
                    // The task stands at its new place in the order.
                    continue;
                }
                self.order.remove(&(now.key, task));
                self.assign(task, now.best, now.ready);
                continue;
            }
            self.assign(task, best, ready);
            // After the assignment, which has changed the completion times on this resource.
            self.turn_away(best);
        }
        for suitors in &mut self.suitors {
            suitors.clear();
        }
    }

    /// Inserts a task at its present place in the order. Resources of which it was a suitor before
    /// (`of`) know it already.
    fn enter(&mut self, task: TaskId, ready: Ready, of: [Option<u32>; 2]) {
        let [best, second] = self.completions(task, ready);
        let best = best.expect("there are resources");
        let key = match self.rule {
            Rule::MinMin => best.0.as_micros(),
            // The order ascends, so the greatest value comes first.
            Rule::MaxMin => -best.0.as_micros(),
            // On a single resource, no task loses anything.
            Rule::Sufferage => -second.map_or(0, |second| (second.0 - best.0).as_micros()),
        };
        let second = second.map(|second| second.2);
        self.waiting[task.index()] = Some(Waiting { ready, key, best: best.2, second });
        self.order.insert((key, task));
        if self.rule != Rule::MinMin {
            for resource in [Some(best.2), second].into_iter().flatten() {
                if !of.contains(&Some(resource)) {
                    self.suitors[resource as usize].push(task);
                }
            }
        }
    }

    fn assign(&mut self, task: TaskId, resource: u32, ready: Ready) {
        self.waiting[task.index()] = None;
        let class = &mut self.available[self.plan.problem.class_of(resource)];
        // The placement changes the key of the entry, so it is removed before and inserted after.
        class.remove(&(self.plan.available(resource), resource));
        let placement = self.plan.appended(task, resource, ready);
        self.plan.place(task, placement);
        class.insert((self.plan.available(resource), resource));
    }

    /// Updates the tasks after the completion times on one resource have changed.
    fn turn_away(&mut self, resource: u32) {
        for task in std::mem::take(&mut self.suitors[resource as usize]) {
            // The task has been placed since it became a suitor.
            let Some(Waiting { ready, key, best, second }) = self.waiting[task.index()] else {
                continue;
            };
            let other = match (best == resource, second == Some(resource)) {
                (true, _) => second,
                (_, true) => Some(best),
                // The task has other resources by now.
                _ => continue,
            };
            self.order.remove(&(key, task));
            self.enter(task, ready, [other, None]);
        }
    }

    /// The two earliest completion times of a task.
    fn completions(&self, task: TaskId, ready: Ready) -> [Option<Completion>; 2] {
        let mut least = [None; 2];
        let mut see = |resource: u32, since: Time| {
            let Placement { end, .. } = self.plan.appended(task, resource, ready);
            let completion = Some((end, since, resource));
            if least[0].is_none() || completion < least[0] {
                least = [completion, least[0]];
            } else if least[1].is_none() || completion < least[1] {
                least[1] = completion;
            }
        };
        // The data may arrive earlier on this resource than on others of its class.
        let home = ready.home();
        see(home, self.plan.available(home));
        for class in &self.available {
            // Resources of a class take equal times, so only its first two can be best and second.
            for &(since, resource) in class.iter().filter(|&&(_, one)| one != home).take(2) {
                see(resource, since);
            }
        }
        least
    }
}
