//! The attempts that an attempt is built on: each started from a checkpoint of the one before it.

use std::collections::BTreeMap;

use haggle_model::grid::{AttemptRecord, Reach};

use super::Attempts;

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
