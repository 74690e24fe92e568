//! The kinds of tasks, by which tables and colours group them.

use std::collections::BTreeMap;

use haggle_workflows::{Task, Workflow};

/// Distinguishable colours, without black.
const COLOURS: usize = 6;

/// Name of a task's kind in tables.
pub(super) fn kind(task: &Task) -> &str {
    task.kind.as_deref().unwrap_or("-")
}

/// The kinds in the order of their first tasks, and the group of each task. The kinds with the most
/// tasks have groups of their own, and all others share one.
pub(super) fn groups(workflow: &Workflow) -> (Vec<String>, Vec<usize>) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut kinds: Vec<&str> = Vec::new();
    for task in workflow.tasks() {
        let count = counts.entry(kind(task)).or_insert(0);
        if *count == 0 {
            kinds.push(kind(task));
        }
        *count += 1;
    }
    let mut chosen = kinds.clone();
    if kinds.len() > COLOURS {
        chosen.sort_by_key(|kind| std::cmp::Reverse(counts[kind])); // stable
        // One colour is for all others.
        chosen.truncate(COLOURS - 1);
    }
    // Again in the order of the first tasks, which the sorting has lost.
    let own: Vec<&str> = kinds.iter().copied().filter(|kind| chosen.contains(kind)).collect();
    let numbers: BTreeMap<&str, usize> = own.iter().copied().zip(0..).collect();
    let others = own.len();
    let group = |task| numbers.get(kind(task)).copied().unwrap_or(others);
    let of_task = workflow.tasks().iter().map(group).collect();
    let mut names: Vec<String> = own.into_iter().map(str::to_owned).collect();
    if others < kinds.len() {
        names.push(format!("{} other kinds", kinds.len() - others));
    }
    (names, of_task)
}
