//! The attempts that an attempt is built on: each started from a checkpoint of the one before it.

use std::collections::BTreeMap;

use haggle_model::Span;
use haggle_model::grid::{AttemptRecord, CheckpointRecord};
use haggle_model::work::Work;

use super::Attempts;

/// A point on the way of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reach {
    /// What had been done of the job.
    pub(super) done: Work,
    /// For how long the attempt had computed.
    pub(super) computing: Span,
}

impl Reach {
    /// Where an attempt began.
    pub(super) fn start(record: &AttemptRecord) -> Reach {
        Reach { done: record.from, computing: Span::ZERO }
    }

    /// Where an attempt ended.
    pub(super) fn end(record: &AttemptRecord) -> Reach {
        Reach { done: record.done, computing: record.computing }
    }

    /// The checkpoint of an attempt that holds so much; `None` if none could ever be used.
    fn saved(record: &AttemptRecord, done: Work) -> Option<Reach> {
        let is_it = |it: &&CheckpointRecord| it.available.is_some() && it.done == done;
        let checkpoint = record.checkpoints.iter().find(is_it)?;
        Some(Reach { done, computing: checkpoint.computing })
    }
}

/// An attempt, and how much of it those after it are built on.
pub(super) type Link<'a> = (&'a AttemptRecord, Reach);

/// From `tip`, which counts up to `reach`, back to the attempt that started from the beginning;
/// `None` if one of them or its checkpoint is not on record.
pub(super) fn chain<'a>(
    attempts: &'a Attempts,
    tip: &'a AttemptRecord,
    reach: Reach,
) -> Option<Vec<Link<'a>>> {
    let mut links = vec![(tip, reach)];
    let mut child = tip;
    while let Some(parent) = child.parent {
        let parent = attempts.get(parent)?;
        links.push((parent, Reach::saved(parent, child.from)?));
        child = parent;
    }
    Some(links)
}

/// The newest checkpoint that could be used: of those that hold the most, the one that
/// became available last, and its attempt.
pub(super) fn newest_checkpoint(attempts: &Attempts) -> Option<Link<'_>> {
    let checkpoints = attempts.values().flat_map(|it| it.checkpoints.iter().map(move |c| (it, c)));
    let usable = checkpoints.filter_map(|(it, checkpoint)| {
        let (done, computing) = (checkpoint.done, checkpoint.computing);
        Some(((done, checkpoint.available?), (it, Reach { done, computing })))
    });
    usable.max_by_key(|(newest, _)| *newest).map(|(_, link)| link)
}

/// How far each attempt counts, by number; those of which nothing does are missing.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept(BTreeMap<u32, Reach>);

impl Kept {
    /// Lets a chain count. Where chains part, the one that goes further does.
    pub(super) fn keep(&mut self, links: &[Link<'_>]) {
        for &(record, reach) in links {
            let kept = self.0.entry(record.number).or_insert(reach);
            *kept = reach.max(*kept);
        }
    }

    /// How far an attempt counts.
    pub(super) fn of(&self, record: &AttemptRecord) -> Option<Reach> {
        self.0.get(&record.number).copied()
    }
}
