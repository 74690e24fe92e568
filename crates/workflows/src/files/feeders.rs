//! Files with several writers: the writers whose data a reader receives.

use crate::{TaskId, Workflow};

/// Largest number of tasks examined for all readers of a workflow together. Published workflows of a
/// thousand tasks need some hundred. The bound protects against files that are made to take long.
const STEPS_MAX: usize = 20_000_000;

/// More than [`STEPS_MAX`] tasks would have to be examined.
pub(super) struct TooMany;

/// Searches from readers to their ancestors.
pub(super) struct Feeders<'w> {
    /// Tasks, and all edges except those that the search must find.
    workflow: &'w Workflow,
    /// For each task, the last search that reached it.
    met: Vec<u32>,
    search: u32,
    to_do: Vec<TaskId>,
    steps: usize,
}

impl<'w> Feeders<'w> {
    pub(super) fn new(workflow: &'w Workflow) -> Feeders<'w> {
        let met = vec![0; workflow.tasks().len()];
        Feeders { workflow, met, search: 0, to_do: Vec::new(), steps: 0 }
    }

    /// The latest ancestors of `reader` among `writers` (ascending): none of them is an ancestor of another.
    pub(super) fn of(
        &mut self,
        reader: TaskId,
        writers: &[TaskId],
    ) -> Result<Vec<TaskId>, TooMany> {
        // Every ancestor has a lower level, so no writer is found below the lowest one.
        let lowest = writers.iter().map(|&writer| self.workflow.level(writer)).min().unwrap_or(0);
        let mut found = Vec::new();
        // Ancestors of a writer are superseded on this path, so the search stops at writers.
        self.ancestors(&[reader], lowest, |task| {
            let is_writer = writers.binary_search(&task).is_ok();
            if is_writer {
                found.push(task);
            }
            !is_writer
        })?;
        if found.len() > 1 {
            // A writer found on another path may be an ancestor of one found before.
            let latest = found.clone();
            self.ancestors(&latest, lowest, |_| true)?;
            found.retain(|task| self.met[task.index()] != self.search);
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Visits the ancestors of tasks down to a level. It continues beyond an ancestor if `goes_on` returns true.
    fn ancestors(
        &mut self,
        tasks: &[TaskId],
        lowest: u32,
        mut goes_on: impl FnMut(TaskId) -> bool,
    ) -> Result<(), TooMany> {
        // The marks of earlier searches become invalid without being cleared.
        self.search += 1;
        self.to_do.extend(tasks);
        while let Some(task) = self.to_do.pop() {
            for parent in self.workflow.parents(task).iter().map(|link| link.task) {
                self.steps += 1;
                if self.steps > STEPS_MAX {
                    return Err(TooMany);
                }
                let is_new = self.met[parent.index()] != self.search;
                let level = self.workflow.level(parent);
                if !is_new || level < lowest {
                    continue;
                }
                self.met[parent.index()] = self.search;
                if goes_on(parent) && level > lowest {
                    self.to_do.push(parent);
                }
            }
        }
        Ok(())
    }
}
