//! Settles a job that is over: what its tries were for, and its row in `jobs`.

use std::collections::BTreeSet;

use haggle_model::grid::{GridJobRecord, GridOutcome, JobFate, KeptCheckpoint, TryEnd, TryRecord};
use haggle_model::work::{Speed, Work};
use haggle_model::{Job, JobOutcome, JobRecord, Time};

use super::chain::{Kept, Link, Reach, chain, newest_checkpoint};
use super::fates::fate_of;
use super::spent::{Counts, Spent};
use super::totals::{DoneTimes, Totals};
use super::{GridViolation, Tries};

/// A job of a grid of which nothing more will be heard.
#[derive(Clone, Debug, PartialEq)]
pub struct SettledJob {
    /// Its story as the other tables tell it: it started when the first try did that it was
    /// done by, and held no processor of its own.
    pub record: JobRecord,
    /// Its tries.
    pub tries: u32,
    /// Resources on which it computed.
    pub resources: u32,
}

/// Adds a job to `totals`.
pub(super) fn settle(
    record: GridJobRecord,
    tries: &Tries,
    totals: &mut Totals,
) -> Result<SettledJob, GridViolation> {
    let fate = fate_of(tries, &record.outcome);
    let tips = tips(&record, tries, fate)?;
    let chains: Vec<Vec<Link<'_>>> = tips
        .into_iter()
        .map(|(tip, reach)| chain(tries, tip, reach))
        .collect::<Option<_>>()
        .ok_or(GridViolation::NoCheckpoint { job: record.job.number })?;
    let mut kept = Kept::default();
    chains.iter().for_each(|links| kept.keep(links));
    let is_done = fate == Some(JobFate::Done);
    let mut spent = Spent::default();
    for it in tries.values() {
        let count = if is_done { Counts::Useful } else { Counts::InProgress };
        spent += totals.spent_by(it, kept.of(it).map(count));
    }
    let length = length(&record.job);
    if is_done && spent.useful.work != length {
        let (length, useful) = (length.as_parts(), spent.useful.work.as_parts());
        return Err(GridViolation::Length { job: record.job.number, length, useful });
    }
    let first_start = tries.values().filter_map(|it| it.started).min();
    if let Some(share) = record.share.filter(|_| !tries.is_empty()) {
        totals.sessions.accepted(share, tries.values());
    }
    totals.workflows.job_over(&record, length, tries.values());
    totals.job_over(fate, length, first_start.map(|start| start - record.job.submit));
    totals.checkpoint_space += checkpoint_space(&record.outcome, tries);
    let shown = shown(&chains);
    if let (true, Some((start, winner)), Some(first)) = (is_done, shown, first_start) {
        let win = winner.left - start.unwrap_or(winner.left);
        totals.job_done(DoneTimes { win, first: winner.left - first });
    }
    let resources = tries.values().filter(|it| it.started.is_some()).map(|it| it.resource);
    Ok(SettledJob {
        tries: tries.len() as u32,
        resources: resources.collect::<BTreeSet<_>>().len() as u32,
        record: job_record(record, fate, shown, tries),
    })
}

/// The room that a job's newest checkpoint takes until the job is over × time, byte microseconds.
fn checkpoint_space(outcome: &GridOutcome, tries: &Tries) -> i128 {
    let (GridOutcome::Done { end, .. } | GridOutcome::Open { end, .. }) = *outcome else {
        return 0;
    };
    let first = tries.values().filter_map(|it| it.kept).min_by_key(|it| it.since);
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

/// The tries that a job is built on, or may be, each up to where it counts.
fn tips<'a>(
    record: &GridJobRecord,
    tries: &'a Tries,
    fate: Option<JobFate>,
) -> Result<Vec<Link<'a>>, GridViolation> {
    match record.outcome {
        GridOutcome::Done { winner, .. } => {
            let winner = tries.get(winner).filter(|it| it.ending == TryEnd::Computed);
            let winner = winner.ok_or(GridViolation::NoWinner { job: record.job.number })?;
            Ok(vec![(winner, Reach::end(winner))])
        }
        GridOutcome::Lost(_) | GridOutcome::Withdrawn(_) => Ok(Vec::new()),
        GridOutcome::Open { .. } => {
            let alive = |it: &&TryRecord| matches!(it.ending, TryEnd::Open | TryEnd::Computed);
            let alive = tries.values().filter(alive).map(|it| (it, Reach::end(it)));
            let waits = fate == Some(JobFate::WaitingForRestart);
            Ok(alive.chain(newest_checkpoint(tries).filter(|_| waits)).collect())
        }
    }
}

/// When the first try of a chain began to compute, and the chain's last one. Of several
/// chains the one that started first, those that have not started last.
fn shown<'a>(chains: &[Vec<Link<'a>>]) -> Option<(Option<Time>, &'a TryRecord)> {
    let of_chain = |links: &Vec<Link<'a>>| Some((links.last()?.0.started, links.first()?.0));
    let order = |&(start, _): &(Option<Time>, &TryRecord)| (start.is_none(), start);
    chains.iter().filter_map(of_chain).min_by_key(order)
}

fn job_record(
    record: GridJobRecord,
    fate: Option<JobFate>,
    shown: Option<(Option<Time>, &TryRecord)>,
    tries: &Tries,
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
    let last = runs.map(|(_, it)| it).or_else(|| tries.values().next_back());
    JobRecord {
        provider: last.map(|it| it.resource),
        queued: last.map(|it| it.dispatched),
        start: runs.and_then(|(start, _)| start),
        ..JobRecord::never_queued(job, class, outcome, end)
    }
}
