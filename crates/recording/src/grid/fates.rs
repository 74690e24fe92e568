//! Fate of a job at the end of the run, derived from its attempts.

use haggle_model::AttemptOutcome;
use haggle_model::grid::{AttemptRecord, GridOutcome, JobFate, ReplicaFate, fate};

use super::Attempts;

/// The fate of a job; `None` if it was withdrawn.
pub(super) fn fate_of(attempts: &Attempts, outcome: &GridOutcome) -> Option<JobFate> {
    match outcome {
        GridOutcome::Done { .. } => Some(JobFate::Done),
        GridOutcome::Lost(_) => Some(JobFate::Lost),
        GridOutcome::Withdrawn(_) => None,
        GridOutcome::Open { wanted, replaced, .. } => {
            let fates = attempts.values().filter_map(|it| replica(it, replaced));
            Some(fate(false, *wanted, &Vec::from_iter(fates)))
        }
    }
}

/// The fate of an attempt; `None` if it was not needed any more.
fn replica(record: &AttemptRecord, replaced: &[u32]) -> Option<ReplicaFate> {
    match record.outcome {
        // The report of an attempt that completed in the last instant may be in transit.
        AttemptOutcome::Unfinished | AttemptOutcome::Completed => Some(ReplicaFate::Alive),
        // The last three cannot occur: jobs on a grid have no limit, are not spread, and are not stopped for others.
        AttemptOutcome::Cancelled
        | AttemptOutcome::Moved
        | AttemptOutcome::WalltimeReached
        | AttemptOutcome::GivenUp
        | AttemptOutcome::Preempted => None,
        AttemptOutcome::Failed | AttemptOutcome::Stranded => {
            Some(match replaced.contains(&record.number) {
                true => ReplicaFate::AwaitsRestart,
                false => ReplicaFate::Dead,
            })
        }
    }
}
