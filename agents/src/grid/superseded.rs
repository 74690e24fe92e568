//! Copies of jobs that are done: nobody needs them any more, and they may not know yet.

use haggle_model::JobId;
use haggle_model::grid::GridJobRecord;
use haggle_scheduling::grid::ResourceId;

/// Copies that go on until the next round.
#[derive(Debug, Default)]
pub(super) struct Superseded {
    pub(super) copies: Vec<(JobId, ResourceId)>,
    /// Jobs that are done: of those with copies, the last attempts are not known before the round.
    pub(super) over: Vec<GridJobRecord>,
}

impl Superseded {
    /// Whether copies of the job go on.
    pub(super) fn has(&self, job: JobId) -> bool {
        self.copies.iter().any(|&(other, _)| other == job)
    }
}
