//! Builds a workflow from tasks and edges in any order.

use std::sync::Arc;

use haggle_model::Span;
use rustc_hash::FxHashMap;

use super::{Adjacency, Edge, GraphError, Link, Task, TaskId, Workflow};

/// Largest total of bytes of a workflow; sums stay in range.
const BYTES_MAX: u64 = 1 << 62;

/// Collects tasks and edges. An error in one of them is returned at once, so that a reader can add the
/// place. An error of the whole graph is returned by [`Builder::build`].
#[derive(Clone, Debug, Default)]
pub struct Builder {
    name: String,
    tasks: Vec<Task>,
    edges: Vec<Edge>,
    numbers: FxHashMap<Arc<str>, TaskId>, // looked up only
    work: Span,
    bytes: u64,
}

impl Builder {
    /// A workflow of this name without tasks.
    pub fn new(name: impl Into<String>) -> Builder {
        Builder { name: name.into(), ..Builder::default() }
    }

    /// Adds a task and returns its number; numbers ascend from 0.
    pub fn task(&mut self, task: Task) -> Result<TaskId, GraphError> {
        let name = || Arc::clone(&task.name);
        // The number of all tasks must fit 32 bits, too.
        let number = u32::try_from(self.tasks.len()).ok().filter(|&number| number < u32::MAX);
        let id = TaskId(number.ok_or(GraphError::TooMany { what: "tasks" })?);
        if self.numbers.contains_key(&task.name) {
            return Err(GraphError::DuplicateName { name: name() });
        }
        if task.work < Span::ZERO {
            return Err(GraphError::NegativeWork { name: name() });
        }
        if task.processors == 0 {
            return Err(GraphError::NoProcessor { name: name() });
        }
        // Both summands are at most a quarter of the range, so the sum cannot overflow.
        if task.work.is_forever() || (self.work + task.work).is_forever() {
            let what = "work than 73,000 years";
            return Err(GraphError::TooLarge { name: name(), what });
        }
        self.work += task.work;
        let bytes = [task.input, task.output, task.checkpoint];
        self.bytes = sum(self.bytes, bytes, &task.name)?;
        self.numbers.insert(name(), id);
        self.tasks.push(task);
        Ok(id)
    }

    /// The tasks so far, by number.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Adds bytes that a task reads from storage and writes to it.
    pub fn stored(&mut self, task: TaskId, input: u64, output: u64) -> Result<(), GraphError> {
        let place = task.index();
        let task = self.tasks.get_mut(place).ok_or(GraphError::UnknownTask { task })?;
        self.bytes = sum(self.bytes, [input, output], &task.name)?;
        // Both are parts of a sum that is in range, so they cannot overflow.
        task.input += input;
        task.output += output;
        Ok(())
    }

    /// The number of the task with this name.
    pub fn id(&self, name: &str) -> Option<TaskId> {
        self.numbers.get(name).copied()
    }

    /// Makes `child` wait for `parent` and receive `bytes` from it.
    pub fn edge(&mut self, parent: TaskId, child: TaskId, bytes: u64) -> Result<(), GraphError> {
        if let Some(task) = [parent, child].into_iter().find(|id| id.index() >= self.tasks.len()) {
            return Err(GraphError::UnknownTask { task });
        }
        let name = &self.tasks[child.index()].name;
        if parent == child {
            return Err(GraphError::SelfEdge { name: Arc::clone(name) });
        }
        // Adjacency lists keep places of edges in 32 bits.
        if self.edges.len() >= u32::MAX as usize {
            return Err(GraphError::TooMany { what: "edges" });
        }
        self.bytes = sum(self.bytes, [bytes], name)?;
        self.edges.push(Edge { parent, child, bytes });
        Ok(())
    }

    /// Builds the workflow. It is an error if there is no task, a cycle, or two edges between the same two tasks.
    pub fn build(self) -> Result<Workflow, GraphError> {
        let Builder { name, tasks, edges, .. } = self;
        if tasks.is_empty() {
            return Err(GraphError::NoTask);
        }
        let named = |id: TaskId| Arc::clone(&tasks[id.index()].name);
        // Turning sorts the neighbours of each task.
        let parents = Adjacency::of_edges(tasks.len(), &edges).turned();
        // All edges are in `parents` now, and large graphs need the memory.
        drop(edges);
        let children = parents.turned();
        for parent in (0..tasks.len() as u32).map(TaskId) {
            // Neighbours are sorted, so that double edges are adjacent.
            let neighbours = children.of(parent).windows(2);
            if let Some(two) = neighbours.into_iter().find(|two| two[0].task == two[1].task) {
                let (parent, child) = (named(parent), named(two[0].task));
                return Err(GraphError::DoubleEdge { parent, child });
            }
        }
        let level = levels(&children, &parents).map_err(|cycle| {
            let tasks = cycle.into_iter().map(named).collect();
            GraphError::Cycle { tasks }
        })?;
        let (order, level_starts) = by_level(&level);
        Ok(Workflow { name, tasks, children, parents, order, level, level_starts })
    }
}

fn sum<const N: usize>(so_far: u64, bytes: [u64; N], name: &Arc<str>) -> Result<u64, GraphError> {
    let sum = bytes.into_iter().try_fold(so_far, u64::checked_add);
    let what = "data than 4.6e18 bytes";
    let too_large = || GraphError::TooLarge { name: Arc::clone(name), what };
    sum.filter(|&sum| sum <= BYTES_MAX).ok_or_else(too_large)
}

impl Adjacency {
    /// The children of each task, in the order of the edges.
    fn of_edges(tasks: usize, edges: &[Edge]) -> Adjacency {
        let link = |edge: &Edge| (edge.parent, Link { task: edge.child, bytes: edge.bytes });
        Adjacency::of_links(tasks, edges.len(), || edges.iter().map(link))
    }

    /// The same edges from their other ends, ascending.
    fn turned(&self) -> Adjacency {
        let tasks = self.starts.len() - 1;
        Adjacency::of_links(tasks, self.links.len(), || {
            (0..tasks as u32).map(TaskId).flat_map(|from| {
                let turned = move |link: &Link| (link.task, Link { task: from, ..*link });
                self.of(from).iter().map(turned)
            })
        })
    }

    fn of_links<I: Iterator<Item = (TaskId, Link)>>(
        tasks: usize,
        count: usize,
        links: impl Fn() -> I,
    ) -> Adjacency {
        // A counting sort: it is linear and keeps the order of the links of a task.
        let mut starts = vec![0_u32; tasks + 1];
        for (task, _) in links() {
            starts[task.index() + 1] += 1;
        }
        for task in 0..tasks {
            starts[task + 1] += starts[task];
        }
        let mut next = starts.clone();
        let mut placed = vec![Link { task: TaskId(0), bytes: 0 }; count];
        for (task, link) in links() {
            placed[next[task.index()] as usize] = link;
            next[task.index()] += 1;
        }
        Adjacency { starts, links: placed }
    }
}

/// The level of each task, or the tasks of a cycle.
fn levels(children: &Adjacency, parents: &Adjacency) -> Result<Vec<u32>, Vec<TaskId>> {
    let tasks = (0..children.starts.len() as u32 - 1).map(TaskId);
    let mut waits_for: Vec<usize> = tasks.clone().map(|task| parents.of(task).len()).collect();
    let mut level = vec![0; waits_for.len()];
    let mut ready: Vec<TaskId> = tasks.filter(|task| waits_for[task.index()] == 0).collect();
    let mut done = 0;
    // Any order will do: a task becomes ready after all its parents have raised its level.
    while let Some(task) = ready.pop() {
        done += 1;
        for child in children.of(task).iter().map(|link| link.task.index()) {
            level[child] = level[child].max(level[task.index()] + 1);
            waits_for[child] -= 1;
            if waits_for[child] == 0 {
                ready.push(TaskId(child as u32));
            }
        }
    }
    if done == level.len() { Ok(level) } else { Err(cycle(&waits_for, parents)) }
}

/// A cycle among the tasks that wait for each other for ever.
fn cycle(waits_for: &[usize], parents: &Adjacency) -> Vec<TaskId> {
    let waits = |task: &TaskId| waits_for[task.index()] > 0;
    let tasks = (0..waits_for.len() as u32).map(TaskId);
    let mut task = tasks.into_iter().find(waits).expect("not all tasks are done");
    // A task that waits has a parent that waits, so the way back reaches some task twice.
    let mut place = vec![None; waits_for.len()];
    let mut way = Vec::new();
    while place[task.index()].is_none() {
        place[task.index()] = Some(way.len());
        way.push(task);
        let mut before = parents.of(task).iter().map(|link| link.task);
        task = before.find(waits).expect("it waits for a parent");
    }
    let start = place[task.index()].expect("it was passed before");
    let mut cycle = way.split_off(start);
    cycle.reverse();
    // The message must not depend on the task at which the search began.
    let lowest = cycle.iter().enumerate().min_by_key(|&(_, &task)| task).map_or(0, |(at, _)| at);
    cycle.rotate_left(lowest);
    cycle
}

/// All tasks ascending by (level, number), and the start of each level with the end of the last one.
fn by_level(level: &[u32]) -> (Vec<TaskId>, Vec<usize>) {
    let levels = level.iter().max().map_or(0, |&deepest| deepest as usize + 1);
    let mut starts = vec![0; levels + 1];
    for &level in level {
        starts[level as usize + 1] += 1;
    }
    for level in 0..levels {
        starts[level + 1] += starts[level];
    }
    let mut next = starts.clone();
    let mut order = vec![TaskId(0); level.len()];
    for (task, &level) in level.iter().enumerate() {
        let place = &mut next[level as usize];
        order[*place] = TaskId(task as u32);
        *place += 1;
    }
    (order, starts)
}
