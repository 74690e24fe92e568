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
        GridOutcome::Open { wanted, believed, restarts, .. } => {
            // A scheduler replaces what it has seen to fail as long as it believes fewer
            // alive than it wants; else that has been replaced already.
            let replaces = *restarts && (believed.len() as u64) < u64::from(*wanted);
            let fates: Vec<ReplicaFate> =
                attempts.values().filter_map(|it| replica(it, believed, replaces)).collect();
            Some(fate(false, *wanted, &fates))
        }
    }
}

/// What has become of one attempt; `None` for one that was not needed any more.
fn replica(
    record: &AttemptRecord,
    believed: &[(u32, bool)],
    replaces: bool,
) -> Option<ReplicaFate> {
    match record.outcome {
        // Of one that was computed in the last instant the news may still be on its way.
        AttemptOutcome::Unfinished | AttemptOutcome::Completed => Some(ReplicaFate::Alive),
        // Nothing on a grid has a limit that it could reach.
        AttemptOutcome::Cancelled | AttemptOutcome::Moved | AttemptOutcome::WalltimeReached => None,
        AttemptOutcome::Failed | AttemptOutcome::Stranded => {
            let believed = believed.iter().find(|(number, _)| *number == record.number);
            let awaits = believed.map_or(replaces, |&(_, may_be_noticed)| may_be_noticed);
            Some(if awaits { ReplicaFate::AwaitsRestart } else { ReplicaFate::Dead })
        }
    }
}
