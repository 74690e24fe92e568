//! Critical paths of workflows as they ran: the parent for which each task waited.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::JobRow;
use crate::reader::InputRow;

/// The parent for which a task waited: the last of its parents to be done. A task is submitted before
/// its parents are done, so it waited for none if it could start at its submission. On providers,
/// `inputs` has the parents of a task. On a grid, the parent is found by the instant of its end. So is
/// the application whose end began the level of an application of phases.
pub fn last_parent<'a>(
    job: &JobRow,
    tasks: &[&'a JobRow],
    inputs: &[InputRow],
    on_grid: bool,
) -> Option<&'a JobRow> {
    let ready = job.ready.filter(|&ready| ready > job.submit)?;
    if !on_grid && !job.is_phased() {
        let made = inputs.iter().filter(|it| it.job == job.job).filter_map(|it| it.made_by);
        let parents = made.filter_map(|made| tasks.iter().find(|it| it.task == Some(made)));
        // Of parents that were done at the same time, the first one counts.
        return parents.max_by_key(|it| (micros(it.left), Reverse(it.task))).copied();
    }
    let ended_then = tasks.iter().filter(|it| {
        it.outcome == "completed" && micros(it.left) == micros(ready) && it.job != job.job
    });
    // Of tasks that were done together, the lowest number, so that the path is always the same.
    ended_then.min_by_key(|it| it.task).copied()
}

/// The critical path of a workflow as it ran, from its first task on; empty if not all of its tasks
/// were done.
pub fn critical_path<'a>(
    tasks: &[&'a JobRow],
    inputs: &[InputRow],
    on_grid: impl Fn(&JobRow) -> bool,
) -> Vec<&'a JobRow> {
    let all_done = tasks.iter().all(|it| it.outcome == "completed");
    let last = tasks.iter().max_by_key(|it| (micros(it.left), it.task)).filter(|_| all_done);
    let mut path: Vec<&JobRow> = Vec::new();
    let mut next = last.copied();
    // On a grid, a task without length may end when it begins. Following instants could then lead in
    // a circle, so the path ends before a task that it already has.
    let mut seen = BTreeSet::new();
    while let Some(it) = next.filter(|it| seen.insert(it.job)) {
        path.push(it);
        next = last_parent(it, tasks, inputs, on_grid(it));
    }
    path.reverse();
    path
}

/// Microseconds, in which equal instants have equal values.
fn micros(seconds: f64) -> i64 {
    (seconds * 1e6).round() as i64
}
