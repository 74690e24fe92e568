//! What has become of a job when the run ends, from what is known of its attempts.

use haggle_model::AttemptOutcome;
use haggle_model::grid::{AttemptRecord, GridOutcome, JobFate, ReplicaFate, fate};

use super::Attempts;

/// What has become of a job; `None` if it was withdrawn.
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

/// What has become of one attempt; `None` for one that was not needed any more.
fn replica(record: &AttemptRecord, replaced: &[u32]) -> Option<ReplicaFate> {
    match record.outcome {
        // Of one that was computed in the last instant the news may still be on its way.
        AttemptOutcome::Unfinished | AttemptOutcome::Completed => Some(ReplicaFate::Alive),
        // Nothing on a grid has a limit that it could reach.
        AttemptOutcome::Cancelled | AttemptOutcome::Moved | AttemptOutcome::WalltimeReached => None,
        AttemptOutcome::Failed | AttemptOutcome::Stranded => {
            Some(match replaced.contains(&record.number) {
                true => ReplicaFate::AwaitsRestart,
                false => ReplicaFate::Dead,
            })
        }
    }
}
