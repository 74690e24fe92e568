//! Work and slot time by purpose.

use std::ops::AddAssign;

use haggle_model::AttemptOutcome;
use haggle_model::Span;
use haggle_model::grid::{AttemptRecord, Reach};
use haggle_model::work::Work;

/// Work, and the time in which it was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Computed {
    pub(super) work: Work,
    /// Microseconds.
    pub(super) time: i128,
}

impl Computed {
    /// Computing between two points of an attempt.
    fn between(from: Reach, to: Reach) -> Computed {
        Computed { work: to.done - from.done, time: micros(to.computing - from.computing) }
    }
}

impl AddAssign for Computed {
    fn add_assign(&mut self, other: Computed) {
        self.work += other.work;
        self.time += other.time;
    }
}

/// Part of an attempt that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counts {
    /// The job is done and is built on the attempt up to this point.
    Useful(Reach),
    /// The job may be done later, built on the attempt up to this point.
    InProgress(Reach),
}

/// All work and slot time of resources, by category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spent {
    pub(super) useful: Computed,
    pub(super) lost: Computed,
    pub(super) duplicate: Computed,
    pub(super) in_progress: Computed,
    /// Microseconds.
    pub(super) checkpoints: i128,
    /// Microseconds.
    pub(super) transfers: i128,
}

impl Spent {
    /// Divides an attempt, of which `counts` is kept, into categories.
    pub(super) fn of(record: &AttemptRecord, counts: Option<Counts>) -> Spent {
        let (start, end) = (Reach::start(record), Reach::end(record));
        let mut spent = Spent {
            checkpoints: micros(record.writing),
            transfers: micros(record.waiting()),
            ..Spent::default()
        };
        let reach = match counts {
            None => start,
            Some(Counts::Useful(reach)) => {
                spent.useful = Computed::between(start, reach);
                reach
            }
            Some(Counts::InProgress(reach)) => {
                spent.in_progress = Computed::between(start, reach);
                // The rest of the attempt, behind the point that counts, was in vain.
                reach
            }
        };
        *match record.outcome {
            AttemptOutcome::Failed | AttemptOutcome::Stranded | AttemptOutcome::Moved => {
                &mut spent.lost
            }
            // Of a completed attempt, something is left here only if another one was first.
            AttemptOutcome::Completed
            | AttemptOutcome::Cancelled
            | AttemptOutcome::WalltimeReached
            | AttemptOutcome::GivenUp
            | AttemptOutcome::Preempted
            | AttemptOutcome::Unfinished => &mut spent.duplicate,
        } = Computed::between(reach, end);
        spent
    }

    /// Work of all categories.
    pub(super) fn work(&self) -> Work {
        self.useful.work + self.lost.work + self.duplicate.work + self.in_progress.work
    }

    /// Slot time of all categories, microseconds.
    pub(super) fn slot_time(&self) -> i128 {
        let computing =
            self.useful.time + self.lost.time + self.duplicate.time + self.in_progress.time;
        computing + self.checkpoints + self.transfers
    }
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Spent) {
        self.useful += other.useful;
        self.lost += other.lost;
        self.duplicate += other.duplicate;
        self.in_progress += other.in_progress;
        self.checkpoints += other.checkpoints;
        self.transfers += other.transfers;
    }
}

fn micros(span: Span) -> i128 {
    i128::from(span.as_micros())
}
