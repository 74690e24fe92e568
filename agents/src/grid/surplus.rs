//! Copies of jobs that are done: they are not needed any more, but may not be cancelled yet.

use haggle_grids::ResourceId;
use haggle_model::JobId;
use haggle_model::grid::GridJobRecord;
use serde::{Deserialize, Serialize};

/// Copies that go on until the next round.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Surplus {
    pub(super) copies: Vec<(JobId, ResourceId)>,
    /// Records of jobs that are done and have copies: their last attempts are unknown before the
    /// round.
    pub(super) over: Vec<GridJobRecord>,
}

impl Surplus {
    /// True if copies of the job go on.
    pub(super) fn has(&self, job: JobId) -> bool {
        self.copies.iter().any(|&(other, _)| other == job)
    }
}
