//! Many checkpoints at once.
//!
//! A job that has its resource to itself, and a rule that does not change its mind, repeat the
//! same few steps for hours: compute for an interval, write, send the checkpoint away while
//! computing on. All of that is counted in whole microseconds and whole parts of work, so a
//! thousand rounds come to exactly a thousand times one round, and are done in one step. The
//! last round before something else may happen goes step by step again: it leaves behind
//! what all others would have overtaken.

use haggle_model::{Span, Time};
use haggle_scheduling::grid::Expiry;

use super::{GridResource, Stage};
use crate::grid::message::GridTimer;

impl GridResource {
    /// Skips the checkpoints of which nothing will be left to see, if all that is to happen
    /// before `last` is one job's routine.
    pub(super) fn skip_routine(&mut self, last: Time) {
        let Some(checkpoints) = self.rules.checkpoints.filter(|_| !self.rules.records_all) else {
            return;
        };
        // Nobody else computes, and nothing is under way.
        let Some((due, timer)) = self.alone.as_ref().and_then(|alone| alone.only_timer()) else {
            return;
        };
        let GridTimer::CheckpointDue { job, generation } = timer else { return };
        let counts = |it: &&super::Replica| it.timer == generation && it.stage == Stage::Computing;
        let Some(replica) = self.replicas.get(&job).filter(counts) else { return };
        if due >= last || self.machine.sharers() > 1 || !self.transfers.is_empty() {
            return;
        }
        let (length, requested) = (replica.length, replica.requested);
        let bytes = self.data(replica.workload).checkpoint;
        let situation = self.situation(due, job, &checkpoints);
        let Some(routine) = checkpoints.rule.routine(&situation) else { return };
        let (pause, sent) = match (routine.each, &self.alone) {
            (Expiry::Write, Some(alone)) => {
                let to = self.rules.home.checkpoint_node;
                (checkpoints.cost.of(length), alone.transfer_time(to, bytes))
            }
            _ => (Span::ZERO, Span::ZERO),
        };
        if sent >= routine.interval {
            return;
        }
        let times = |time: Span, round: Span| time.as_micros() / round.as_micros();
        let round = pause + routine.interval;
        // The job does not end before `last`: the resource wakes up for that.
        let skipped = times(last - due, round)
            .min(times(routine.until - due, round) + 1)
            .min(i64::from(u32::MAX - requested))
            - 1;
        if skipped < 1 {
            return;
        }
        let count = u32::try_from(skipped).expect("no more than a job may have");
        if let Some(alone) = &mut self.alone {
            alone.put_off(round * skipped);
        }
        if routine.each != Expiry::Write {
            self.replicas.get_mut(&job).expect("it was there just now").omitted += count;
            return;
        }
        // To stop as often and as long as this is to stop once for the sum.
        self.machine.pause(due, job);
        self.machine.resume(due + pause * skipped, job);
        let replica = self.replicas.get_mut(&job).expect("it was there just now");
        replica.computing += due - replica.since + routine.interval * (skipped - 1);
        replica.writing += pause * skipped;
        replica.since = due + round * (skipped - 1) + pause;
        replica.requested += count;
        replica.written += count;
        replica.available += count;
    }
}
