//! Levels of a workflow: sets of applications that run side by side.

use haggle_workflows::{Edge, TaskId, Workflow};
use thiserror::Error;

/// Definition of the level of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LevelRule {
    /// The number of applications on the longest path to it. All its predecessors are in earlier levels.
    #[default]
    LongestPath,
    /// The number on the shortest path to it, as published. Valid only if all paths to an application
    /// have the same length. Otherwise it would run before its predecessors.
    BreadthFirst,
}

/// An application has paths of different lengths, and would run before a predecessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("by breadth first, application {to} would not come after {from}; use the longest path")]
pub struct TooEarly {
    /// The predecessor.
    pub from: TaskId,
    /// The application whose level is not above that of the predecessor.
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
