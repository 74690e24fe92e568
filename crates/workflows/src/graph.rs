//! A workflow as a graph, compact enough for a million tasks. The neighbours of a task are a slice, in
//! both directions, and no function is recursive.

mod builder;
mod error;
mod parent_sets;
mod paths;

use std::fmt;
use std::sync::Arc;

use haggle_model::Span;
use serde::{Deserialize, Serialize};

pub use builder::Builder;
pub use error::GraphError;
pub use parent_sets::ParentSets;
pub use paths::Path;

/// The number of a task in its workflow, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TaskId(pub u32);

impl TaskId {
    /// Its place in [`Workflow::tasks`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A unit of work that a workflow runs once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Unique in its workflow.
    pub name: Arc<str>,
    /// Tasks of one kind run one program, such as `mProject`.
    pub kind: Option<Arc<str>>,
    /// Run time on one processor set of the reference machine (speed 1).
    pub work: Span,
    /// Processors that it needs at once, at least 1.
    pub processors: u32,
    /// Bytes that it reads from storage, beside what its parents send.
    pub input: u64,
    /// Bytes that it writes to storage, beside what its children receive.
    pub output: u64,
    /// Bytes of a checkpoint.
    pub checkpoint: u64,
}

impl Task {
    /// A task of one processor without data in storage.
    pub fn new(name: impl Into<Arc<str>>, work: Span) -> Task {
        let name = name.into();
        Task { name, kind: None, work, processors: 1, input: 0, output: 0, checkpoint: 0 }
    }
}

/// The other end of an edge, as one of its ends sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The other task.
    pub task: TaskId,
    /// Bytes from parent to child.
    pub bytes: u64,
}

/// The child needs data of the parent and starts after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The first task.
    pub parent: TaskId,
    /// The second task.
    pub child: TaskId,
    /// Bytes that the parent writes and the child reads.
    pub bytes: u64,
}

/// A directed acyclic graph of at least one task, without double edges. The sums of all work and of all
/// bytes are in range, and so are the sums along any path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workflow {
    name: String,
    tasks: Vec<Task>,
    children: Adjacency,
    parents: Adjacency,
    /// Tasks ascending by (level, number).
    order: Vec<TaskId>,
    /// Level of each task, by number.
    level: Vec<u32>,
    /// Start of each level in `order`, and the end of the last one.
    level_starts: Vec<usize>,
}

/// The neighbours of all tasks in one direction (compressed sparse rows), ascending by number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Adjacency {
    starts: Vec<u32>,
    links: Vec<Link>,
}

impl Adjacency {
    fn of(&self, task: TaskId) -> &[Link] {
        let [start, end] = [self.starts[task.index()], self.starts[task.index() + 1]];
        &self.links[start as usize..end as usize]
    }
}

impl Workflow {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All tasks, by number.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// A task of this workflow.
    pub fn task(&self, task: TaskId) -> &Task {
        &self.tasks[task.index()]
    }

    /// The numbers of all tasks, ascending.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = TaskId> + DoubleEndedIterator + use<> {
        // The builder counts tasks in 32 bits.
        (0..self.tasks.len() as u32).map(TaskId)
    }

    /// Number of edges.
    pub fn edge_count(&self) -> usize {
        self.children.links.len()
    }

    /// All edges, ascending by (parent, child).
    pub fn edges(&self) -> impl Iterator<Item = Edge> {
        self.ids().flat_map(|parent| {
            let edge = move |&Link { task: child, bytes }| Edge { parent, child, bytes };
            self.children(parent).iter().map(edge)
        })
    }

    /// Tasks that need data of this task, ascending by number.
    pub fn children(&self, task: TaskId) -> &[Link] {
        self.children.of(task)
    }

    /// Tasks whose data this task needs, ascending by number.
    pub fn parents(&self, task: TaskId) -> &[Link] {
        self.parents.of(task)
    }

    /// Tasks without parents, ascending.
    pub fn roots(&self) -> impl Iterator<Item = TaskId> {
        self.ids().filter(|&task| self.parents(task).is_empty())
    }

    /// Tasks without children, ascending.
    pub fn finals(&self) -> impl Iterator<Item = TaskId> {
        self.ids().filter(|&task| self.children(task).is_empty())
    }

    /// A topological order: each task comes after all its parents. Ascending by (level, number).
    pub fn order(&self) -> &[TaskId] {
        &self.order
    }

    /// The level of a task: the number of edges on the longest way from a root to it.
    pub fn level(&self, task: TaskId) -> u32 {
        self.level[task.index()]
    }

    /// The tasks of each level, ascending.
    pub fn levels(&self) -> impl ExactSizeIterator<Item = &[TaskId]> {
        self.level_starts.windows(2).map(|ends| &self.order[ends[0]..ends[1]])
    }

    /// The largest number of tasks in a level.
    pub fn width(&self) -> usize {
        self.levels().map(<[TaskId]>::len).max().unwrap_or(0)
    }

    /// The sum of all work.
    pub fn work(&self) -> Span {
        self.tasks.iter().map(|task| task.work).sum()
    }

    /// The sum of bytes over all edges.
    pub fn edge_bytes(&self) -> u64 {
        self.children.links.iter().map(|link| link.bytes).sum()
    }

    /// Mean number of busy processors of the reference machine with unlimited processors and instant
    /// transfers: all work divided by that of the critical path. 1 if there is no work.
    pub fn average_parallelism(&self) -> f64 {
        let path = self.critical_path_by_work().length;
        if path == Span::ZERO { 1.0 } else { self.work().as_secs_f64() / path.as_secs_f64() }
    }
}
