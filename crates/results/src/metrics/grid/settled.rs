//! Settled jobs of a grid: all of their attempts are known.

use std::sync::Arc;

use haggle_model::grid::{AttemptRecord, JobFate, KeptCheckpoint, Reach};
use haggle_model::work::{Fraction, Work};
use haggle_model::{AttemptOutcome, JobRecord, ProviderId, Span, Time};

/// A job of a grid for which no further event can come.
#[derive(Clone, Debug, PartialEq)]
pub struct SettledJob {
    /// The job's record for the other tables. It starts with the first attempt on which the result is
    /// built, and holds no processors of its own.
    pub record: JobRecord,
    /// Its attempts, by number.
    pub attempts: Vec<SettledAttempt>,
    /// Number of resources on which it computed.
    pub resources: u32,
    /// Its fate; `None` if it was withdrawn.
    pub fate: Option<JobFate>,
    /// Attempt that completed the job, if it is done.
    pub winner: Option<u32>,
    /// Its length: 1 s on the reference processor is 1 MI.
    pub length: Work,
    /// Share of a resource that it reserves as a session; `None` if resources are shared equally.
    pub share: Option<Fraction>,
    /// Space that its newest checkpoint takes at the checkpoint server until the job is over.
    pub space: Option<KeptCheckpoint>,
}

/// An attempt, and the part of it that counts.
#[derive(Clone, Debug, PartialEq)]
pub struct SettledAttempt {
    /// The attempt.
    pub record: Arc<AttemptRecord>,
    /// Point up to which the job is, or may be, built on this attempt; `None` = not at all.
    pub counts: Option<Reach>,
}

/// Loss of an attempt that failed with its resource: work on which nothing that counts is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptLoss {
    /// The resource.
    pub resource: ProviderId,
    /// Time of the failure.
    pub failure: Time,
    /// Work that was lost.
    pub work: Work,
}

impl AttemptLoss {
    /// The loss of an attempt of which `counts` is kept; `None` if it did not fail.
    pub fn of(record: &AttemptRecord, counts: Option<Reach>) -> Option<AttemptLoss> {
        // If nothing is built on the attempt, all of its work is lost.
        let from = counts.map_or(record.from, |reach| reach.done);
        (record.outcome == AttemptOutcome::Failed).then(|| AttemptLoss {
            resource: record.resource,
            failure: record.end,
            work: record.done - from,
        })
    }
}

impl SettledJob {
    /// The losses of its failed attempts.
    pub fn losses(&self) -> impl Iterator<Item = AttemptLoss> {
        self.attempts.iter().filter_map(|it| AttemptLoss::of(&it.record, it.counts))
    }

    /// Time for which the attempts that count waited in their slots for data or preparation, plus the
    /// time for which the winner's output was in transit.
    pub(crate) fn data_time(&self) -> Span {
        let count = self.attempts.iter().filter(|it| it.counts.is_some()).map(|it| &*it.record);
        // An attempt that never computed waited for as long as it held its slot.
        let before = count.map(|it| it.started.unwrap_or(it.left) - it.dispatched);
        let winner = self.records().find(|it| Some(it.number) == self.winner);
        let after = winner.map(|it| it.end - it.left);
        before.chain(after).fold(Span::ZERO, |sum, time| sum + time)
    }

    /// Its attempts, by number.
    pub(crate) fn records(&self) -> impl Iterator<Item = &AttemptRecord> {
        self.attempts.iter().map(|it| &*it.record)
    }
}
