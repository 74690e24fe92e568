//! The attempts on which an attempt is built: each started from a checkpoint of the one before it.

use std::collections::BTreeMap;

use haggle_model::grid::{AttemptRecord, Reach};

use super::Attempts;

/// An attempt, and the point up to which later attempts are built on it.
pub(super) type Link<'a> = (&'a AttemptRecord, Reach);

/// The chain from `tip`, which counts up to `reach`, back to the attempt that started from the
/// beginning; `None` if an attempt or its checkpoint is not on record.
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

/// The newest usable checkpoint and its attempt. Among checkpoints with equally much work, the one that
/// became available last.
pub(super) fn newest_checkpoint(attempts: &Attempts) -> Option<Link<'_>> {
    let checkpoints = attempts.values().flat_map(|it| it.checkpoints.iter().map(move |c| (it, c)));
    let usable = checkpoints.filter_map(|(it, checkpoint)| {
        let (done, computing) = (checkpoint.done, checkpoint.computing);
        Some(((done, checkpoint.available?), (it, Reach { done, computing })))
    });
    // The last of equal ones is that of the highest attempt, because attempts ascend.
    usable.max_by_key(|(newest, _)| *newest).map(|(_, link)| link)
}

/// For each attempt, the point up to which it counts. Attempts that do not count are missing.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept(BTreeMap<u32, Reach>);

impl Kept {
    /// Keeps the attempts of a chain. Where chains part, the longer reach counts.
    pub(super) fn keep(&mut self, links: &[Link<'_>]) {
        for &(record, reach) in links {
            let kept = self.0.entry(record.number).or_insert(reach);
            *kept = reach.max(*kept);
        }
    }

    /// The point up to which an attempt counts.
    pub(super) fn of(&self, record: &AttemptRecord) -> Option<Reach> {
        self.0.get(&record.number).copied()
    }
}
