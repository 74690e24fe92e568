//! Writers of a file that has several of them: those whose data a reader receives.

use crate::{TaskId, Workflow};

/// Most tasks that are looked at for all readers of a file together. Published workflows of a thousand
/// tasks take some hundred; the bound is there for files that are made to take long.
const STEPS_MAX: usize = 20_000_000;

/// More tasks would have to be looked at than [`STEPS_MAX`].
pub(super) struct TooMany;

/// Searches from readers to their ancestors.
pub(super) struct Feeders<'w> {
    /// Tasks and all edges but those that are sought.
    workflow: &'w Workflow,
    /// By task, the search that met it last.
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

    /// The latest ancestors of `reader` among `writers`, which ascend: no one of them is an ancestor of another.
    pub(super) fn of(
        &mut self,
        reader: TaskId,
        writers: &[TaskId],
    ) -> Result<Vec<TaskId>, TooMany> {
        let lowest = writers.iter().map(|&writer| self.workflow.level(writer)).min().unwrap_or(0);
        let mut found = Vec::new();
        // Ancestors of a writer are superseded, at least by this way.
        self.ancestors(&[reader], lowest, |task| {
            let is_writer = writers.binary_search(&task).is_ok();
            if is_writer {
                found.push(task);
            }
            !is_writer
        })?;
        if found.len() > 1 {
            // One that is met by another way may be an ancestor of one found before.
            let latest = found.clone();
            self.ancestors(&latest, lowest, |_| true)?;
            found.retain(|task| self.met[task.index()] != self.search);
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Meets the ancestors of some tasks down to a level; beyond one, if `goes_on` says so.
    fn ancestors(
        &mut self,
        tasks: &[TaskId],
        lowest: u32,
        mut goes_on: impl FnMut(TaskId) -> bool,
    ) -> Result<(), TooMany> {
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
