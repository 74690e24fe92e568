//! One entry of the queue: a rigid job or a share of a bag.

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::bags::Batch;

/// A rigid job is a single task as wide as the job; the tasks of a share need
/// one processor each.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    /// Its place in the order of arrival at this queue.
    pub(super) sequence: u64,
    /// Processors of one task.
    pub(super) width: u32,
    /// Planned time of one task.
    pub(super) span: Span,
    /// Earliest start of a task.
    pub(super) earliest: Time,
    /// Waiting tasks by planned start; each start occurs once.
    pub(super) waiting: Vec<Batch>,
    /// Planned completion when it was accepted.
    pub(super) promised: Time,
    /// Completion of the whole bag, from the latest message.
    pub(super) bag_expected: Option<Time>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    Job,
    Share,
}

impl Entry {
    /// Work that waits in `batches`: at least one, in order of start.
    pub(super) fn new(
        kind: Kind,
        sequence: u64,
        width: u32,
        span: Span,
        earliest: Time,
        batches: &[Batch],
    ) -> Entry {
        let mut entry = Entry {
            kind,
            sequence,
            width,
            span,
            earliest,
            waiting: Vec::with_capacity(batches.len()),
            promised: Time::ZERO,
            bag_expected: None,
        };
        for batch in batches {
            entry.put(batch.start, batch.tasks);
        }
        entry.promised = entry.latest_planned().expect("one batch at least");
        entry
    }

    /// Latest completion of the waiting tasks.
    pub(super) fn latest_planned(&self) -> Option<Time> {
        self.waiting.last().map(|batch| batch.start + self.span)
    }

    /// Adds waiting tasks.
    pub(super) fn put(&mut self, start: Time, tasks: u32) {
        // Most batches come in order.
        if self.waiting.last().is_none_or(|last| last.start < start) {
            self.waiting.push(Batch { start, tasks });
            return;
        }
        match self.waiting.binary_search_by_key(&start, |batch| batch.start) {
            Ok(at) => self.waiting[at].tasks += tasks,
            Err(at) => self.waiting.insert(at, Batch { start, tasks }),
        }
    }

    /// Takes away some of the tasks planned for `start`.
    pub(super) fn take(&mut self, start: Time, tasks: u32) {
        let at = self.waiting.binary_search_by_key(&start, |batch| batch.start);
        let at = at.expect("only tasks that wait are taken");
        self.waiting[at].tasks -= tasks;
        if self.waiting[at].tasks == 0 {
            self.waiting.remove(at);
        }
    }

    /// Moves some of the tasks planned for `start` to an earlier start.
    pub(super) fn move_up(&mut self, start: Time, earlier: Time, tasks: u32) {
        let by_start = |batch: &Batch| batch.start;
        let old = self.waiting.binary_search_by_key(&start, by_start);
        let old = old.expect("only tasks that wait are moved");
        match self.waiting[..old].binary_search_by_key(&earlier, by_start) {
            // All tasks of the old batch move, so its entry is reused.
            Err(new) if self.waiting[old].tasks == tasks => {
                self.waiting[old].start = earlier;
                self.waiting[new..=old].rotate_right(1);
            }
            Err(new) => {
                self.waiting[old].tasks -= tasks;
                self.waiting.insert(new, Batch { start: earlier, tasks });
            }
            Ok(new) => {
                self.waiting[new].tasks += tasks;
                self.take(start, tasks);
            }
        }
    }
}
