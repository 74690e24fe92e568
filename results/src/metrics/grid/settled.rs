//! A job of a grid when all is known of it.

use std::sync::Arc;

use haggle_model::grid::{AttemptRecord, JobFate, KeptCheckpoint, Reach};
use haggle_model::work::{Fraction, Work};
use haggle_model::{AttemptOutcome, JobRecord, ProviderId, Span, Time};

/// A job of a grid of which nothing more will be heard.
#[derive(Clone, Debug, PartialEq)]
pub struct SettledJob {
    /// Its story as the other tables tell it: it started when the first attempt did that it was
    /// done by, and held no processor of its own.
    pub record: JobRecord,
    /// Its attempts, by number.
    pub attempts: Vec<SettledAttempt>,
    /// Resources on which it computed.
    pub resources: u32,
    /// What became of it; `None` if it was withdrawn.
    pub fate: Option<JobFate>,
    /// Of one that is done, the attempt that did it.
    pub winner: Option<u32>,
    /// Its length: 1 s on the reference processor is 1 MI.
    pub length: Work,
    /// The share of a resource that it reserves as a session; `None` where shares are equal.
    pub share: Option<Fraction>,
    /// The room that its newest checkpoint takes at the checkpoint server until it is over.
    pub space: Option<KeptCheckpoint>,
}

/// An attempt, and how far it counts.
#[derive(Clone, Debug, PartialEq)]
pub struct SettledAttempt {
    /// The attempt.
    pub record: Arc<AttemptRecord>,
    /// Up to where the job is built on it, or may be; `None` = not at all.
    pub counts: Option<Reach>,
}

/// What it cost that an attempt failed with its resource: what it computed, and nothing that counts
/// goes on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptLoss {
    /// The resource.
    pub resource: ProviderId,
    /// When it failed.
    pub failure: Time,
    /// What was lost.
    pub work: Work,
}

impl AttemptLoss {
    /// What an attempt cost of which so much counts; `None` if it did not fail.
    pub fn of(record: &AttemptRecord, counts: Option<Reach>) -> Option<AttemptLoss> {
        let from = counts.map_or(record.from, |reach| reach.done);
        (record.outcome == AttemptOutcome::Failed).then(|| AttemptLoss {
            resource: record.resource,
            failure: record.end,
            work: record.done - from,
        })
    }
}

impl SettledJob {
    /// What its attempts cost that failed.
    pub fn losses(&self) -> impl Iterator<Item = AttemptLoss> {
        self.attempts.iter().filter_map(|it| AttemptLoss::of(&it.record, it.counts))
    }

    /// For how long the attempts that count waited for data in their slots, or to be prepared, and the output of the last
    /// was on its way.
    pub(crate) fn data_time(&self) -> Span {
        let count = self.attempts.iter().filter(|it| it.counts.is_some()).map(|it| &*it.record);
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
