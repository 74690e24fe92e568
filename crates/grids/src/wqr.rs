//! Workqueue with replication (Chtepen 2011, section 2.2, after Silva, Cirne and
//! Brasileiro, Euro-Par 2003).

use serde::{Deserialize, Serialize};

use super::scheduler::{GridScheduler, Restart, Round};
use super::view::{Detection, View};

/// Sends jobs in order of arrival to random resources. When no job waits, the remaining resources get
/// copies of running jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wqr {
    /// Replicas of a job, including the first one.
    pub max: u32,
}

/// At most two replicas of a job.
impl Default for Wqr {
    fn default() -> Wqr {
        Wqr { max: 2 }
    }
}

#[typetag::serde]
impl GridScheduler for Wqr {
    fn detection(&self) -> Detection {
        Detection::None
    }

    fn round(&mut self, view: &mut View, round: &mut Round<'_>) {
        // Jobs with fewer replicas come first. A job that gets one moves to the next shelf.
        for replicas in 0..self.max {
            let mut after = None;
            while view.resources().any_available()
                && let Some(turn) = view.jobs().next_with(replicas, after)
            {
                after = Some(turn);
                let copies = &view.job(turn.1).replicas;
                // If all available resources have a copy, the next job may still find one.
                if let Some(resource) = view.resources().random(copies, round.draw) {
                    round.dispatch(view, turn.1, resource, Restart::FromBeginning);
                }
            }
        }
    }
}
