//! Ready tasks, in the order in which they are placed.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use haggle_model::{JobId, Time};

use super::super::jobs::Turn;
use haggle_workflows::ledger::Group;
use serde::{Deserialize, Serialize};

/// A ready task.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ready {
    /// Arrival of its workflow, and its job.
    pub turn: Turn,
    /// Its largest parent set, if it is in one.
    pub group: Option<Group>,
    /// True if it is the root of its workflow.
    pub root: bool,
    /// Its remaining work, MI, if known.
    pub left: Option<f64>,
}

impl Ready {
    fn batch(&self) -> Batch {
        match self.group {
            Some(group) => Batch::Set(group, self.root),
            None => Batch::Alone(self.turn.1, self.root),
        }
    }
}

/// Tasks that are placed together: the ready tasks of a set, separately for roots; or a job that is no
/// task. The flag tells whether they are roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Batch {
    Set(Group, bool),
    Alone(JobId, bool),
}

impl Batch {
    pub(super) const fn group(self) -> Option<Group> {
        match self {
            Batch::Set(group, _) => Some(group),
            Batch::Alone(..) => None,
        }
    }

    const fn is_of_roots(self) -> bool {
        let (Batch::Set(_, root) | Batch::Alone(_, root)) = self;
        root
    }
}

/// Ready tasks. A change costs O(log n); the next task is found without examining the others.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ReadyTasks {
    tasks: BTreeMap<JobId, Ready>,
    /// Roots last, then in the turn of their first task.
    batches: BTreeSet<(bool, Turn, Batch)>,
    by_turn: BTreeSet<(Batch, Turn)>,
    by_length: BTreeSet<(Batch, Longest, Turn)>,
    /// Number of tasks with unknown length, by batch.
    unknown: BTreeMap<Batch, usize>,
}

/// Remaining work of a task, the largest first.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Longest(f64);

impl Longest {
    fn of(task: &Ready) -> Longest {
        // Tasks of unknown length come last.
        Longest(task.left.unwrap_or(0.0))
    }
}

impl Ord for Longest {
    fn cmp(&self, other: &Longest) -> Ordering {
        other.0.total_cmp(&self.0)
    }
}

impl PartialOrd for Longest {
    fn partial_cmp(&self, other: &Longest) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Longest {
    fn eq(&self, other: &Longest) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Longest {}

impl ReadyTasks {
    /// Returns whether no task is ready.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Adds a ready task; an earlier entry of it is replaced.
    pub fn insert(&mut self, task: Ready) {
        // First, because an earlier entry may be in another batch.
        self.remove(task.turn.1);
        let batch = task.batch();
        self.change_batch(batch, |all| {
            all.by_turn.insert((batch, task.turn));
        });
        self.by_length.insert((batch, Longest::of(&task), task.turn));
        if task.left.is_none() {
            *self.unknown.entry(batch).or_default() += 1;
        }
        self.tasks.insert(task.turn.1, task);
    }

    /// Removes a job that may not start any more, or no longer waits; no effect if it is not here.
    pub fn remove(&mut self, job: JobId) {
        let Some(task) = self.tasks.remove(&job) else { return };
        let batch = task.batch();
        self.change_batch(batch, |all| {
            all.by_turn.remove(&(batch, task.turn));
        });
        self.by_length.remove(&(batch, Longest::of(&task), task.turn));
        if task.left.is_none()
            && let Some(unknown) = self.unknown.get_mut(&batch)
        {
            *unknown -= 1;
            // Removed, so that `is_known` needs no count.
            if *unknown == 0 {
                self.unknown.remove(&batch);
            }
        }
    }

    /// The batches: those of sets in `begun` first, then others with parents, then roots. Each kind is in
    /// the turn of its first tasks.
    pub(super) fn batches<'a>(
        &'a self,
        begun: &'a BTreeSet<Group>,
    ) -> impl Iterator<Item = Batch> + 'a {
        // A set is in two batches if it has roots and others.
        let both = begun.iter().flat_map(|&group| [false, true].map(|root| (group, root)));
        let mut first: Vec<_> =
            both.filter_map(|(group, root)| self.place_of(Batch::Set(group, root))).collect();
        first.sort_unstable();
        let is_begun = |batch: Batch| batch.group().is_some_and(|group| begun.contains(&group));
        let others = self.batches.iter().copied().filter(move |&(_, _, batch)| !is_begun(batch));
        first.into_iter().chain(others).map(|(_, _, batch)| batch)
    }

    /// The tasks of a batch, the longest first; then in turn.
    pub(super) fn of(&self, batch: Batch) -> impl Iterator<Item = (Turn, Option<f64>)> {
        // The least key of the batch: the largest length comes first.
        let from = (batch, Longest(f64::INFINITY), (Time::ZERO, JobId(0)));
        let tasks = self.by_length.range(from..).take_while(move |(it, _, _)| *it == batch);
        tasks.map(|&(_, _, turn)| (turn, self.tasks[&turn.1].left))
    }

    /// Returns whether the remaining work of each task of a batch is known.
    pub(super) fn is_known(&self, batch: Batch) -> bool {
        !self.unknown.contains_key(&batch)
    }

    fn place_of(&self, batch: Batch) -> Option<(bool, Turn, Batch)> {
        let &(it, first) = self.by_turn.range((batch, (Time::ZERO, JobId(0)))..).next()?;
        (it == batch).then_some((batch.is_of_roots(), first, batch))
    }

    fn change_batch(&mut self, batch: Batch, change: impl FnOnce(&mut ReadyTasks)) {
        // The place of a batch depends on its first task, which the change may replace.
        if let Some(place) = self.place_of(batch) {
            self.batches.remove(&place);
        }
        change(self);
        if let Some(place) = self.place_of(batch) {
            self.batches.insert(place);
        }
    }
}
