//! Settles a job that is over: what its attempts were for, and its row in `jobs`.

use std::collections::BTreeSet;
use std::sync::Arc;

use haggle_model::AttemptOutcome;
use haggle_model::grid::{AttemptRecord, GridJobRecord, GridOutcome, JobFate, KeptCheckpoint};
use haggle_model::work::{Speed, Work};
use haggle_model::{Job, JobOutcome, JobRecord, Time};

use super::chain::{Kept, Link, Reach, chain, newest_checkpoint};
use super::fates::fate_of;
use super::spent::{Counts, Spent};
use super::totals::{DoneTimes, Totals};
use super::{Attempts, GridViolation};

/// A job of a grid of which nothing more will be heard.
#[derive(Clone, Debug, PartialEq)]
pub struct SettledJob {
    /// Its story as the other tables tell it: it started when the first attempt did that it was
    /// done by, and held no processor of its own.
    pub record: JobRecord,
    /// Its attempts, by number.
    pub attempts: Vec<Arc<AttemptRecord>>,
    /// Resources on which it computed.
    pub resources: u32,
}

/// Adds a job to `totals`.
pub(super) fn settle(
    record: GridJobRecord,
    attempts: Attempts,
    totals: &mut Totals,
) -> Result<SettledJob, GridViolation> {
    let fate = fate_of(&attempts, &record.outcome);
    let tips = tips(&record, &attempts, fate)?;
    let chains: Vec<Vec<Link<'_>>> = tips
        .into_iter()
        .map(|(tip, reach)| chain(&attempts, tip, reach))
        .collect::<Option<_>>()
        .ok_or(GridViolation::NoCheckpoint { job: record.job.number })?;
    let mut kept = Kept::default();
    chains.iter().for_each(|links| kept.keep(links));
    let is_done = fate == Some(JobFate::Done);
    let mut spent = Spent::default();
    for it in attempts.values() {
        let count = if is_done { Counts::Useful } else { Counts::InProgress };
        spent += totals.spent_by(it, kept.of(it).map(count));
    }
    let length = length(&record.job);
    if is_done && spent.useful.work != length {
        let (length, useful) = (length.as_parts(), spent.useful.work.as_parts());
        return Err(GridViolation::Length { job: record.job.number, length, useful });
    }
    let first_start = attempts.values().filter_map(|it| it.started).min();
    if let Some(share) = record.share.filter(|_| !attempts.is_empty()) {
        totals.sessions.accepted(share, attempts.values());
    }
    totals.workflows.job_over(&record, length, attempts.values());
    totals.job_over(fate, length, first_start.map(|start| start - record.job.submit));
    totals.checkpoint_space += checkpoint_space(&record.outcome, &attempts);
    let shown = shown(&chains);
    if let (true, Some((start, winner)), Some(first)) = (is_done, shown, first_start) {
        let win = winner.left - start.unwrap_or(winner.left);
        totals.job_done(DoneTimes { win, first: winner.left - first });
    }
    let resources = attempts.values().filter(|it| it.started.is_some()).map(|it| it.resource);
    Ok(SettledJob {
        resources: resources.collect::<BTreeSet<_>>().len() as u32,
        record: job_record(record, fate, shown, &attempts),
        attempts: attempts.into_records(),
    })
}

/// The room that a job's newest checkpoint takes until the job is over × time, byte microseconds.
fn checkpoint_space(outcome: &GridOutcome, attempts: &Attempts) -> i128 {
    let (GridOutcome::Done { end, .. } | GridOutcome::Open { end, .. }) = *outcome else {
        return 0;
    };
    let first = attempts.values().filter_map(|it| it.kept).min_by_key(|it| it.since);
    let space = |kept: KeptCheckpoint| {
        let time = end.max(kept.since) - kept.since;
        i128::from(kept.bytes) * i128::from(time.as_micros())
    };
    first.map_or(0, space)
}

/// A job's length: 1 s on the reference processor is 1 MI.
fn length(job: &Job) -> Work {
    Speed::from_mips(1).over(job.run_time.reveal_to_machine())
}

/// The attempts that a job is built on, or may be, each up to where it counts.
fn tips<'a>(
    record: &GridJobRecord,
    attempts: &'a Attempts,
    fate: Option<JobFate>,
) -> Result<Vec<Link<'a>>, GridViolation> {
    match record.outcome {
        GridOutcome::Done { winner, .. } => {
            let winner = attempts.get(winner).filter(|it| it.outcome == AttemptOutcome::Completed);
            let winner = winner.ok_or(GridViolation::NoWinner { job: record.job.number })?;
            Ok(vec![(winner, Reach::end(winner))])
        }
        GridOutcome::Lost(_) | GridOutcome::Withdrawn(_) => Ok(Vec::new()),
        GridOutcome::Open { .. } => {
            let alive = |it: &&AttemptRecord| {
                matches!(it.outcome, AttemptOutcome::Unfinished | AttemptOutcome::Completed)
            };
            let alive = attempts.values().filter(alive).map(|it| (it, Reach::end(it)));
            let waits = fate == Some(JobFate::WaitingForRestart);
            Ok(alive.chain(newest_checkpoint(attempts).filter(|_| waits)).collect())
        }
    }
}

/// When the first attempt of a chain began to compute, and the chain's last one. Of several
/// chains the one that started first, those that have not started last.
fn shown<'a>(chains: &[Vec<Link<'a>>]) -> Option<(Option<Time>, &'a AttemptRecord)> {
    let of_chain = |links: &Vec<Link<'a>>| Some((links.last()?.0.started, links.first()?.0));
    let order = |&(start, _): &(Option<Time>, &AttemptRecord)| (start.is_none(), start);
    chains.iter().filter_map(of_chain).min_by_key(order)
}

fn job_record(
    record: GridJobRecord,
    fate: Option<JobFate>,
    shown: Option<(Option<Time>, &AttemptRecord)>,
    attempts: &Attempts,
) -> JobRecord {
    let GridJobRecord { job, class, outcome, .. } = record;
    let end = outcome.end();
    let outcome = match outcome {
        GridOutcome::Done { .. } => JobOutcome::Completed,
        GridOutcome::Lost(_) => JobOutcome::Failed,
        GridOutcome::Withdrawn(_) => JobOutcome::Cancelled,
        GridOutcome::Open { .. } if fate == Some(JobFate::Lost) => JobOutcome::Failed,
        GridOutcome::Open { .. } => JobOutcome::Unfinished,
    };
    // Who waits for a restart runs nowhere, though part of it is saved.
    let runs = shown.filter(|_| matches!(fate, Some(JobFate::Done | JobFate::Active)));
    let last = runs.map(|(_, it)| it).or_else(|| attempts.values().next_back());
    JobRecord {
        provider: last.map(|it| it.resource),
        queued: last.map(|it| it.dispatched),
        start: runs.and_then(|(start, _)| start),
        ..JobRecord::never_queued(job, class, outcome, end)
    }
}
