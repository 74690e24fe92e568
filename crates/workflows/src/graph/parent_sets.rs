//! Parent sets: PS(c) is the set of all direct parents of the task c (Chtepen 2011, section
//! 5.4.1.2). Equal sets of several children are one set.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::{TaskId, Workflow};

/// The distinct parent sets of a workflow, numbered from 0 in the order of their first children.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParentSets {
    parents: Vec<Vec<TaskId>>,
    children: Vec<Vec<TaskId>>,
    /// Parent set of each task; none for a root.
    of: Vec<Option<u32>>,
}

impl ParentSets {
    /// Number of distinct sets; zero if all tasks are roots.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// True if all tasks are roots.
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// The members of a set, ascending.
    pub fn parents(&self, set: usize) -> &[TaskId] {
        &self.parents[set]
    }

    /// The tasks with this parent set, ascending.
    pub fn children(&self, set: usize) -> &[TaskId] {
        &self.children[set]
    }

    /// The set of all parents of a task; `None` for a root.
    pub fn of(&self, child: TaskId) -> Option<usize> {
        self.of[child.index()].map(|set| set as usize)
    }

    /// The sets by number: members and children.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[TaskId], &[TaskId])> {
        let members = self.parents.iter().map(Vec::as_slice);
        members.zip(self.children.iter().map(Vec::as_slice))
    }
}

impl Workflow {
    /// The distinct parent sets; linear in the edges.
    pub fn parent_sets(&self) -> ParentSets {
        let mut sets = ParentSets { parents: Vec::new(), children: Vec::new(), of: Vec::new() };
        let mut numbers: FxHashMap<Vec<TaskId>, u32> = FxHashMap::default(); // looked up only
        for child in self.ids() {
            // Parents are ascending, so equal sets are equal lists.
            let parents: Vec<TaskId> = self.parents(child).iter().map(|link| link.task).collect();
            if parents.is_empty() {
                sets.of.push(None);
                continue;
            }
            let next = sets.parents.len() as u32;
            let number = *numbers.entry(parents).or_insert_with_key(|parents| {
                sets.parents.push(parents.clone());
                sets.children.push(Vec::new());
                next
            });
            sets.children[number as usize].push(child);
            sets.of.push(Some(number));
        }
        sets
    }
}
