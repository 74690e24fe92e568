//! A provider's part in coordinated rescheduling: it receives the completions of whole bags, and
//! reports when its own plan has moved up (Netto 2009, section 7.3).

use haggle_model::{ActorId, JobId, Time};
use haggle_scheduling::{Holder, Slot};
use serde::{Deserialize, Serialize};

use super::Bargains;
use super::shares::Share;
use crate::protocol::ShareMessage;
use crate::provider::core::Turn;

/// A share whose bag is rescheduled in step with its other shares.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Coordinated {
    metascheduler: ActorId,
    holder: Holder,
    /// Slot of the share, or time at which the share was over.
    at: Result<Slot, Time>,
}

impl Bargains {
    /// The metascheduler has sent the expected completion of the whole bag, with its commit.
    pub(super) fn expect(
        &mut self,
        turn: &mut Turn<'_>,
        job: JobId,
        slot: Slot,
        expected: Option<Time>,
    ) {
        let Some(expected) = expected else { return };
        let Some(share) = turn.core.pieces.get::<Share>(slot) else { return };
        let metascheduler = share.metascheduler;
        let bargainer = turn.core.scheduler.bags();
        let own = bargainer.latest_completion(slot).unwrap_or(expected);
        bargainer.bag_expected(slot, expected.max(own));
        let holder = Holder::new(own, expected.max(own), turn.core.config.bargaining.catches_up);
        self.coordinated.insert(job, Coordinated { metascheduler, holder, at: Ok(slot) });
        if own > expected {
            // Nothing was held, and the offer is not valid any more.
            self.report(turn, metascheduler, vec![(job, own)]);
        }
    }

    /// The whole bag is expected to be complete at `completion`.
    pub(in crate::provider::services) fn on_bag_completion(
        &mut self,
        turn: &mut Turn<'_>,
        from: ActorId,
        job: JobId,
        completion: Time,
    ) -> bool {
        // The message may arrive after the end of the share.
        let Some(coordinated) = self.coordinated.get_mut(&job) else { return true };
        if coordinated.metascheduler != from {
            return false;
        }
        let bargainer = turn.core.scheduler.bags();
        let latest = match coordinated.at {
            Ok(slot) => {
                bargainer.bag_expected(slot, completion);
                bargainer.latest_completion(slot).expect("the share is there")
            }
            Err(over) => over,
        };
        let metascheduler = coordinated.metascheduler;
        if let Some(news) = coordinated.holder.on_bag_completion(completion, latest) {
            self.report(turn, metascheduler, vec![(job, news)]);
        }
        self.forget_if_settled(job);
        true
    }

    /// All ends of this instant have happened, some of them early: waiting work moves up.
    pub(in crate::provider::services) fn on_reschedule(&mut self, turn: &mut Turn<'_>) {
        turn.core.scheduler.bags().reschedule(turn.now);
        turn.plan_changed();
        self.report_completions(turn);
    }

    /// Reports, after a rescheduling, the bags whose last task is here and ends earlier.
    fn report_completions(&mut self, turn: &mut Turn<'_>) {
        let bargainer = turn.core.scheduler.bags();
        let mut news: Vec<(ActorId, Vec<(JobId, Time)>)> = Vec::new();
        let mut settled = Vec::new();
        for (&job, coordinated) in &mut self.coordinated {
            let latest = match coordinated.at {
                Ok(slot) => bargainer.latest_completion(slot).expect("the share is there"),
                Err(over) => over,
            };
            if let Some(completion) = coordinated.holder.after_rescheduling(latest) {
                let to = coordinated.metascheduler;
                match news.iter_mut().find(|(metascheduler, _)| *metascheduler == to) {
                    Some((_, entries)) => entries.push((job, completion)),
                    None => news.push((to, vec![(job, completion)])),
                }
            }
            if coordinated.at.is_err_and(|over| over == coordinated.holder.reported()) {
                settled.push(job);
            }
        }
        for (metascheduler, entries) in news {
            self.report(turn, metascheduler, entries);
        }
        for job in settled {
            self.coordinated.remove(&job);
        }
    }

    /// All tasks of a share are over.
    pub(super) fn coordinated_share_over(&mut self, job: JobId, end: Time) {
        if let Some(coordinated) = self.coordinated.get_mut(&job) {
            coordinated.at = Err(end);
            self.forget_if_settled(job);
        }
    }

    /// Drops a share that is over and whose end has been reported.
    fn forget_if_settled(&mut self, job: JobId) {
        let settled = |it: &Coordinated| it.at.is_err_and(|over| over == it.holder.reported());
        if self.coordinated.get(&job).is_some_and(settled) {
            self.coordinated.remove(&job);
        }
    }

    fn report(&self, turn: &mut Turn<'_>, to: ActorId, entries: Vec<(JobId, Time)>) {
        turn.out.send(to, ShareMessage::NewCompletionTimes { entries });
    }
}
