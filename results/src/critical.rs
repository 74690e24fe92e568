//! Critical paths of workflows as they were: for which of its parents each task waited.

use std::cmp::Reverse;

use crate::JobRow;
use crate::reader::InputRow;

/// The parent for which a task waited: the last of them to be done. It was submitted before its parents were done, so that
/// it waited for none if it might start at once. On providers, `inputs` tell which parents a task had; on a grid, the
/// instant tells which one it waited for.
pub fn last_parent<'a>(
    job: &JobRow,
    tasks: &[&'a JobRow],
    inputs: &[InputRow],
    on_grid: bool,
) -> Option<&'a JobRow> {
    let ready = job.ready.filter(|&ready| ready > job.submit)?;
    if !on_grid {
        let made = inputs.iter().filter(|it| it.job == job.job).filter_map(|it| it.made_by);
        let parents = made.filter_map(|made| tasks.iter().find(|it| it.task == Some(made)));
        return parents.max_by_key(|it| (micros(it.left), Reverse(it.task))).copied();
    }
    let ended_then = tasks.iter().filter(|it| {
        it.outcome == "completed" && micros(it.left) == micros(ready) && it.job != job.job
    });
    ended_then.min_by_key(|it| it.task).copied()
}

/// The critical path of a workflow as it was, from its first task on; none if not all of its tasks were done.
pub fn critical_path<'a>(
    tasks: &[&'a JobRow],
    inputs: &[InputRow],
    on_grid: impl Fn(&JobRow) -> bool,
) -> Vec<&'a JobRow> {
    let all_done = tasks.iter().all(|it| it.outcome == "completed");
    let last = tasks.iter().max_by_key(|it| (micros(it.left), it.task)).filter(|_| all_done);
    let mut path: Vec<&JobRow> = Vec::new();
    let mut next = last.copied();
    while let Some(it) = next {
        path.push(it);
        next = last_parent(it, tasks, inputs, on_grid(it));
    }
    path.reverse();
    path
}

/// Instants are the same to a microsecond.
fn micros(seconds: f64) -> i64 {
    (seconds * 1e6).round() as i64
}
