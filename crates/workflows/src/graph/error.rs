//! Reasons why a graph is no workflow.

use std::sync::Arc;

use thiserror::Error;

use super::TaskId;

/// Number of tasks of a cycle that a message names.
const NAMED_TASKS: usize = 8;

/// Reason why a graph is no workflow.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GraphError {
    /// There are no tasks.
    #[error("no task; a workflow has at least one")]
    NoTask,
    /// The number of tasks or edges exceeds the limit.
    #[error("more than {max} {what}", max = u32::MAX)]
    TooMany {
        /// Tasks or edges.
        what: &'static str,
    },
    /// Two tasks have one name.
    #[error("task \"{name}\" exists already; names are unique")]
    DuplicateName {
        /// The name.
        name: Arc<str>,
    },
    /// A task takes negative time.
    #[error("task \"{name}\": work is negative")]
    NegativeWork {
        /// The task.
        name: Arc<str>,
    },
    /// A task needs no processor.
    #[error("task \"{name}\" needs no processor; at least 1 is expected")]
    NoProcessor {
        /// The task.
        name: Arc<str>,
    },
    /// The sum of all work or bytes up to this task is not in range.
    #[error("task \"{name}\": with it, the workflow has more {what}")]
    TooLarge {
        /// The task, or the child of an edge.
        name: Arc<str>,
        /// The exceeded quantity and its limit.
        what: &'static str,
    },
    /// An edge leads to or from a task that does not exist.
    #[error("there is no task {task}")]
    UnknownTask {
        /// Its number.
        task: TaskId,
    },
    /// A task needs itself.
    #[error("task \"{name}\" is its own parent")]
    SelfEdge {
        /// The task.
        name: Arc<str>,
    },
    /// Two edges have the same ends.
    #[error(
        "there are two edges from \"{parent}\" to \"{child}\"; give one, with the sum of bytes"
    )]
    DoubleEdge {
        /// The parent.
        parent: Arc<str>,
        /// The child.
        child: Arc<str>,
    },
    /// Each of these tasks waits for the previous one, and the first waits for the last.
    #[error("cycle: {}", shown(.tasks))]
    Cycle {
        /// All tasks of one cycle, each parent before its child, from the lowest number on.
        tasks: Vec<Arc<str>>,
    },
}

fn shown(tasks: &[Arc<str>]) -> String {
    let mut text = String::new();
    for name in tasks.iter().take(NAMED_TASKS) {
        text.push_str(&format!("\"{name}\" -> "));
    }
    if tasks.len() > NAMED_TASKS {
        text.push_str(&format!("{} more tasks -> ", tasks.len() - NAMED_TASKS));
    }
    let first = tasks.first().map_or("", |name| name);
    text.push_str(&format!("\"{first}\"; remove one of these edges"));
    text
}
