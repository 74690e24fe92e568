//! Longest paths.

use haggle_model::Span;

use super::{TaskId, Workflow};

/// A path from a root to a final task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Each is a parent of the next one.
    pub tasks: Vec<TaskId>,
    /// The times of its tasks, and of the transfers between them.
    pub length: Span,
}

impl Workflow {
    /// The critical path: the longest of all paths from a root to a final task. A task takes `time`,
    /// and the bytes of an edge take `transfer`, both at least zero. Of equally long paths, one whose
    /// tasks have low numbers is returned.
    pub fn critical_path(
        &self,
        time: impl Fn(TaskId) -> Span,
        transfer: impl Fn(u64) -> Span,
    ) -> Path {
        let mut to_end = vec![Span::ZERO; self.tasks.len()];
        let mut next: Vec<Option<TaskId>> = vec![None; self.tasks.len()];
        for &task in self.order.iter().rev() {
            let mut rest = Span::ZERO;
            for link in self.children(task) {
                let length = transfer(link.bytes) + to_end[link.task.index()];
                // Children ascend, so the lowest number wins a tie; a rest of no length also has a next task.
                if length > rest || next[task.index()].is_none() {
                    rest = length;
                    next[task.index()] = Some(link.task);
                }
            }
            to_end[task.index()] = time(task) + rest;
        }
        let mut longest = TaskId(0);
        for root in self.roots() {
            // Task 0, the initial value, need not be a root; the first root then replaces it.
            let is_first = !self.parents(longest).is_empty();
            if is_first || to_end[root.index()] > to_end[longest.index()] {
                longest = root;
            }
        }
        let tasks = std::iter::successors(Some(longest), |task| next[task.index()]).collect();
        Path { tasks, length: to_end[longest.index()] }
    }

    /// The critical path on the reference machine if transfers take no time.
    pub fn critical_path_by_work(&self) -> Path {
        self.critical_path(|task| self.task(task).work, |_| Span::ZERO)
    }
}
