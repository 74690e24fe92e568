//! Policies straight from their definitions: slow, and nothing in common with the fast ones.

use haggle_model::{Span, Time};
use haggle_workflows::TaskId;
use haggle_workflows::schedule::{Placement, Problem, Schedule, StaticAlgorithm};

/// Of tasks that are placed.
type Placed = Vec<Option<Placement>>;

pub(crate) fn schedule(policy: StaticAlgorithm, problem: &Problem<'_>) -> Schedule {
    let placed = match policy {
        StaticAlgorithm::Heft => heft(problem),
        StaticAlgorithm::Cpop => cpop(problem),
        StaticAlgorithm::Peft => peft(problem),
        StaticAlgorithm::MinMin | StaticAlgorithm::MaxMin | StaticAlgorithm::Sufferage => {
            batches(policy, problem)
        }
        StaticAlgorithm::Random => unreachable!("nothing is defined but its draws"),
    };
    Schedule::new(placed.into_iter().map(|placed| placed.expect("all are placed")).collect())
}

/// Means times the number of resources.
fn mean_time(problem: &Problem<'_>, task: TaskId) -> i128 {
    problem.all().map(|resource| i128::from(problem.time(task, resource).as_micros())).sum()
}

/// From any resource to one that is no other's number.
fn mean_transfer(problem: &Problem<'_>, parent: TaskId, bytes: u64) -> i128 {
    let from = problem.all().map(|from| problem.transfer(parent, bytes, from, u32::MAX));
    from.map(|transfer| i128::from(transfer.as_micros())).sum()
}

fn rank_u(problem: &Problem<'_>, task: TaskId) -> i128 {
    let children = problem.workflow().children(task).iter();
    let rest =
        children.map(|link| mean_transfer(problem, task, link.bytes) + rank_u(problem, link.task));
    mean_time(problem, task) + rest.max().unwrap_or(0)
}

fn rank_d(problem: &Problem<'_>, task: TaskId) -> i128 {
    let parents = problem.workflow().parents(task).iter();
    let before = parents.map(|link| {
        rank_d(problem, link.task)
            + mean_time(problem, link.task)
            + mean_transfer(problem, link.task, link.bytes)
    });
    before.max().unwrap_or(0)
}

fn ready(problem: &Problem<'_>, placed: &Placed, task: TaskId, resource: u32) -> Time {
    let parents = problem.workflow().parents(task).iter();
    let arrivals = parents.map(|link| {
        let parent = placed[link.task.index()].expect("parents come first");
        parent.end + problem.transfer(link.task, link.bytes, parent.resource, resource)
    });
    arrivals.chain([problem.released(task)]).max().expect("a time")
}

/// In the first idle slot that is long enough: slots lie between the tasks that take time, and
/// behind them all.
fn inserted(problem: &Problem<'_>, placed: &Placed, task: TaskId, resource: u32) -> Placement {
    let mut busy: Vec<Placement> =
        placed.iter().flatten().chain(problem.taken()).copied().collect();
    busy.retain(|one| one.resource == resource && one.start < one.end);
    busy.sort_by_key(|one| one.start);
    let starts = std::iter::once(Time::ZERO).chain(busy.iter().map(|one| one.end));
    let ends = busy.iter().map(|one| one.start).chain([Time::FOREVER]);
    let (ready, time) = (ready(problem, placed, task, resource), problem.time(task, resource));
    let mut slots = starts.zip(ends).filter(|(start, end)| start < end);
    let slot = slots.find(|&(start, end)| start.max(ready) + time <= end);
    let start = slot.expect("the last slot is endless").0.max(ready);
    Placement { resource, start, end: start + time }
}

fn first_end(problem: &Problem<'_>, placed: &Placed, task: TaskId) -> Placement {
    let all = problem.all().map(|resource| inserted(problem, placed, task, resource));
    all.min_by_key(|placement| (placement.end, placement.resource)).expect("resources")
}

fn nothing(problem: &Problem<'_>) -> Placed {
    vec![None; problem.workflow().tasks().len()]
}

fn heft(problem: &Problem<'_>) -> Placed {
    let mut order: Vec<TaskId> = problem.workflow().ids().collect();
    let level = |task: TaskId| problem.workflow().level(task);
    order.sort_by_key(|&task| (-rank_u(problem, task), level(task), task));
    let mut placed = nothing(problem);
    for task in order {
        placed[task.index()] = Some(first_end(problem, &placed, task));
    }
    placed
}

/// The ready task with the highest priority.
fn next(
    problem: &Problem<'_>,
    placed: &Placed,
    priority: impl Fn(TaskId) -> i128,
) -> Option<TaskId> {
    let workflow = problem.workflow();
    let is_placed = |task: TaskId| placed[task.index()].is_some();
    let is_ready = |&task: &TaskId| {
        !is_placed(task) && workflow.parents(task).iter().all(|link| is_placed(link.task))
    };
    workflow.ids().filter(is_ready).min_by_key(|&task| (-priority(task), task))
}

fn cpop(problem: &Problem<'_>) -> Placed {
    let workflow = problem.workflow();
    let priority = |task| rank_u(problem, task) + rank_d(problem, task);
    let mut critical: Vec<TaskId> = Vec::new();
    critical.extend(workflow.roots().min_by_key(|&task| (-priority(task), task)));
    loop {
        let last = *critical.last().expect("there is a root");
        let children = workflow.children(last).iter().map(|link| link.task);
        let same = children.filter(|&child| priority(child) == priority(critical[0])).min();
        match same {
            Some(child) => critical.push(child),
            None => break,
        }
    }
    let time =
        |resource: u32| -> Span { critical.iter().map(|&task| problem.time(task, resource)).sum() };
    let best = problem.all().min_by_key(|&resource| (time(resource), resource)).expect("resources");
    let mut placed = nothing(problem);
    while let Some(task) = next(problem, &placed, priority) {
        let placement = match critical.contains(&task) {
            true => inserted(problem, &placed, task, best),
            false => first_end(problem, &placed, task),
        };
        placed[task.index()] = Some(placement);
    }
    placed
}

pub(crate) fn optimistic_cost(problem: &Problem<'_>, task: TaskId, resource: u32) -> Span {
    let children = problem.workflow().children(task).iter();
    let rest = children.map(|link| {
        let on = problem.all().map(|other| {
            optimistic_cost(problem, link.task, other)
                + problem.time(link.task, other)
                + problem.transfer(task, link.bytes, resource, other)
        });
        on.min().expect("resources")
    });
    rest.max().unwrap_or(Span::ZERO)
}

fn peft(problem: &Problem<'_>) -> Placed {
    let cost = |task, resource| optimistic_cost(problem, task, resource);
    let rank = |task| problem.all().map(|one| i128::from(cost(task, one).as_micros())).sum();
    let mut placed = nothing(problem);
    while let Some(task) = next(problem, &placed, rank) {
        let all = problem.all().map(|resource| inserted(problem, &placed, task, resource));
        let best = all.min_by_key(|placement| {
            (placement.end + cost(task, placement.resource), placement.resource)
        });
        placed[task.index()] = best;
    }
    placed
}

fn batches(policy: StaticAlgorithm, problem: &Problem<'_>) -> Placed {
    let mut placed = nothing(problem);
    for level in problem.workflow().levels() {
        let mut waiting = level.to_vec();
        while !waiting.is_empty() {
            let completions = |task: TaskId| {
                let mut all: Vec<(Time, Time, u32, Time)> = problem
                    .all()
                    .map(|resource| {
                        let ends = placed
                            .iter()
                            .flatten()
                            .chain(problem.taken())
                            .filter(|one| one.resource == resource && one.start < one.end);
                        let free = ends.map(|one| one.end).max().unwrap_or(Time::ZERO);
                        let start = free.max(ready(problem, &placed, task, resource));
                        (start + problem.time(task, resource), free, resource, start)
                    })
                    .collect();
                all.sort();
                all
            };
            let key = |task: TaskId| {
                let all = completions(task);
                let second = all.get(1).map_or(Span::ZERO, |second| second.0 - all[0].0);
                let first = all[0].0.as_micros();
                match policy {
                    StaticAlgorithm::MinMin => first,
                    StaticAlgorithm::MaxMin => -first,
                    _ => -second.as_micros(),
                }
            };
            let task = *waiting.iter().min_by_key(|&&task| (key(task), task)).expect("some wait");
            let (end, _, resource, start) = completions(task)[0];
            placed[task.index()] = Some(Placement { resource, start, end });
            waiting.retain(|&other| other != task);
        }
    }
    placed
}
