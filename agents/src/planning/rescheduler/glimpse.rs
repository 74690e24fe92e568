//! The knowledge of a rescheduler: its applications, and the cluster of each.

use super::Rescheduler;
use crate::glimpse::{self, Glimpse};

impl Rescheduler {
    /// Its applications.
    pub(crate) fn glimpse(&self) -> Glimpse {
        let asks = self.round.as_ref().map(|round| round.job);
        let mut jobs = self.desk.glimpse(|job, entry| {
            let stage = match entry.stage.interval {
                Some(_) if self.ordered == Some(job) => glimpse::Stage::Sent,
                Some(_) => glimpse::Stage::Placed,
                None if asks == Some(job) => glimpse::Stage::Asking,
                None if self.flows.waits(job) => glimpse::Stage::Blocked,
                None => glimpse::Stage::Waiting,
            };
            let at = entry.stage.at.filter(|_| entry.stage.interval.is_some());
            (stage, at.into_iter().collect())
        });
        for work in &mut jobs {
            work.since = self.desk.get(work.job).and_then(|entry| entry.stage.queued);
        }
        Glimpse::of_jobs(jobs)
    }
}
