//! Settles a job that is over: its outcome, and the part of each attempt that counts.

use std::collections::BTreeSet;
use std::sync::Arc;

use haggle_model::AttemptOutcome;
use haggle_model::grid::{AttemptRecord, GridJobRecord, GridOutcome, JobFate, Reach};
use haggle_model::work::{Speed, Work};
use haggle_model::{Job, JobOutcome, JobRecord, Time};
use haggle_results::{SettledAttempt, SettledJob};

use super::chain::{Kept, Link, chain, newest_checkpoint};
use super::fates::fate_of;
use super::{Attempts, GridError};

/// Derives the outcome of a job from its record and its attempts.
pub(super) fn settle(record: GridJobRecord, attempts: Attempts) -> Result<SettledJob, GridError> {
    let fate = fate_of(&attempts, &record.outcome);
    let tips = tips(&record, &attempts, fate)?;
    let chains: Vec<Vec<Link<'_>>> = tips
        .into_iter()
        .map(|(tip, reach)| chain(&attempts, tip, reach))
        .collect::<Option<_>>()
        .ok_or(GridError::NoCheckpoint { job: i64::from(record.job.id.0) })?;
    let mut kept = Kept::default();
    chains.iter().for_each(|links| kept.keep(links));
    let length = length(&record.job);
    if fate == Some(JobFate::Done) {
        let counted = |it| kept.of(it).map(|reach: Reach| reach.done - it.from);
        let useful: Work = attempts.values().filter_map(counted).sum();
        if useful != length {
            let (length, useful) = (length.as_parts(), useful.as_parts());
            return Err(GridError::Length { job: i64::from(record.job.id.0), length, useful });
        }
    }
    let (winner, keeps) = match record.outcome {
        GridOutcome::Done { winner, .. } => (Some(winner), true),
        GridOutcome::Open { .. } => (None, true),
        GridOutcome::Lost(_) | GridOutcome::Withdrawn(_) => (None, false),
    };
    let space =
        attempts.values().filter_map(|it| it.kept.as_deref()).min_by_key(|it| it.since).copied();
    let shown = shown(&chains);
    let resources = attempts.values().filter(|it| it.started.is_some()).map(|it| it.resource);
    let resources = resources.collect::<BTreeSet<_>>().len() as u32;
    let share = record.share;
    let record = job_record(record, fate, shown, &attempts);
    let settled = |record: Arc<AttemptRecord>| SettledAttempt { counts: kept.of(&record), record };
    Ok(SettledJob {
        record,
        attempts: attempts.into_records().map(settled).collect(),
        resources,
        fate,
        winner,
        length,
        share,
        space: space.filter(|_| keeps),
    })
}

/// A job's length: 1 s on the reference processor is 1 MI.
fn length(job: &Job) -> Work {
    Speed::from_mips(1).over(job.run_time.reveal_to_machine())
}

/// The last attempts on which a job is built, or may be, each with the point up to which it counts.
fn tips<'a>(
    record: &GridJobRecord,
    attempts: &'a Attempts,
    fate: Option<JobFate>,
) -> Result<Vec<Link<'a>>, GridError> {
    match record.outcome {
        GridOutcome::Done { winner, .. } => {
            let winner = attempts.get(winner).filter(|it| it.outcome == AttemptOutcome::Completed);
            let winner = winner.ok_or(GridError::NoWinner { job: i64::from(record.job.id.0) })?;
            Ok(vec![(winner, Reach::end(winner))])
        }
        GridOutcome::Lost(_) | GridOutcome::Withdrawn(_) => Ok(Vec::new()),
        GridOutcome::Open { .. } => {
            // An attempt that completed in the last instant is alive, because its report may be in transit.
            let alive = |it: &&AttemptRecord| {
                matches!(it.outcome, AttemptOutcome::Unfinished | AttemptOutcome::Completed)
            };
            let alive = attempts.values().filter(alive).map(|it| (it, Reach::end(it)));
            let waits = fate == Some(JobFate::WaitingForRestart);
            Ok(alive.chain(newest_checkpoint(attempts).filter(|_| waits)).collect())
        }
    }
}

/// The first start in a chain of attempts, and the last attempt of that chain. Of several chains, the
/// one that started first; chains that have not started come last.
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
        // No attempt can complete the job any more, although its scheduler does not know this yet.
        GridOutcome::Open { .. } if fate == Some(JobFate::Lost) => JobOutcome::Failed,
        GridOutcome::Open { .. } => JobOutcome::Unfinished,
    };
    // A job that waits for a restart runs nowhere, though a part of it is saved.
    let runs = shown.filter(|_| matches!(fate, Some(JobFate::Done | JobFate::Active)));
    let last = runs.map(|(_, it)| it).or_else(|| attempts.values().next_back());
    JobRecord {
        provider: last.map(|it| it.resource),
        queued: last.map(|it| it.dispatched),
        start: runs.and_then(|(start, _)| start),
        ..JobRecord::never_queued(job, class, outcome, end)
    }
}
