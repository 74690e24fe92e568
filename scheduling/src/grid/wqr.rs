//! Workqueue with replication (Chtepen 2011, section 2.2, after Silva, Cirne and
//! Brasileiro, Euro-Par 2003).

use super::scheduler::{GridScheduler, Restart, Round};
use super::view::{Detection, View};

/// Sends jobs in order of arrival to random resources; when none waits any more,
/// copies of those that run go to the resources that are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wqr {
    /// Replicas of a job, the first one included.
    pub max: u32,
}

/// Two replicas of a job at most.
impl Default for Wqr {
    fn default() -> Wqr {
        Wqr { max: 2 }
    }
}

impl GridScheduler for Wqr {
    fn detection(&self) -> Detection {
        Detection::None
    }

    fn round(&mut self, view: &mut View, round: &mut Round<'_>) {
        // Jobs with fewer replicas come first. What gets one moves to the next shelf.
        for replicas in 0..self.max {
            let mut after = None;
            while view.resources().any_available()
                && let Some(turn) = view.jobs().next_with(replicas, after)
            {
                after = Some(turn);
                let copies = &view.job(turn.1).replicas;
                if let Some(resource) = view.resources().random(copies, round.draw) {
                    round.dispatch(view, turn.1, resource, Restart::FromBeginning);
                }
            }
        }
    }
}
