//! Which applications of a workflow run side by side.

use haggle_workflows::{Edge, TaskId, Workflow};
use thiserror::Error;

/// What the level of an application is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LevelRule {
    /// The number of applications on the longest way to it: all before it are in levels before its.
    #[default]
    LongestPath,
    /// The number on the shortest way to it, as published. For graphs only in which all ways to an
    /// application are of one length; in others it would have to run before what it waits for.
    BreadthFirst,
}

/// The shortest way to an application is not the only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("by breadth first, application {to} would not come after {from}; use the longest path")]
pub struct TooEarly {
    /// What has to come before.
    pub from: TaskId,
    /// What has a level that is not below.
    pub to: TaskId,
}

/// The applications of each level, the tasks of the workflow by their numbers, ascending.
/// Applications without predecessors are in the first level.
pub fn levels(workflow: &Workflow, rule: LevelRule) -> Result<Vec<Vec<usize>>, TooEarly> {
    let numbers = |tasks: &[TaskId]| tasks.iter().map(|task| task.index()).collect();
    match rule {
        LevelRule::LongestPath => Ok(workflow.levels().map(numbers).collect()),
        LevelRule::BreadthFirst => breadth_first(workflow),
    }
}

fn breadth_first(workflow: &Workflow) -> Result<Vec<Vec<usize>>, TooEarly> {
    let mut level = vec![0_usize; workflow.tasks().len()];
    for &task in workflow.order() {
        let parents = workflow.parents(task).iter().map(|link| level[link.task.index()] + 1);
        level[task.index()] = parents.min().unwrap_or(0);
    }
    let is_early = |edge: &Edge| level[edge.child.index()] <= level[edge.parent.index()];
    if let Some(Edge { parent: from, child: to, .. }) = workflow.edges().find(is_early) {
        return Err(TooEarly { from, to });
    }
    let deepest = level.iter().max().map_or(0, |deepest| deepest + 1);
    let mut levels = vec![Vec::new(); deepest];
    for (application, level) in level.into_iter().enumerate() {
        levels[level].push(application);
    }
    Ok(levels)
}
