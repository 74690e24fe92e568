//! Times at which jobs on a resource save their progress.

use haggle_grids::execution;
use haggle_model::AttemptOutcome;
use haggle_model::grid::CheckpointRecord;
use haggle_model::{ActorId, JobId, Span, Time};
use haggle_scheduling::checkpoints::{Expiry, Situation};

use super::{Checkpoints, GridResource, Purpose, Stage};
use crate::Outbox;
use crate::protocol::{DispatchMessage, GridTimer, Moved};

impl GridResource {
    /// The facts on which the interval until the next checkpoint of a job depends.
    pub(super) fn situation(
        &mut self,
        now: Time,
        job: JobId,
        checkpoints: &Checkpoints,
    ) -> Situation {
        let done = self.machine.progress(now, job).expect("who computes holds a slot");
        let length = self.replicas[&job].length;
        let (avail, sharers) = (self.machine.avail(), self.machine.sharers());
        Situation {
            now,
            execution: execution(length, avail, sharers),
            remaining: execution(length - done, avail, sharers),
            last_failure: self.history.last_failure(),
            mean_failure: self.history.mean_failure(now, checkpoints.mean_failure),
            cost: checkpoints.cost.of(length),
        }
    }

    /// Sets the timer for the first checkpoint of a job that computes from now on.
    pub(super) fn arm(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let Some(checkpoints) = self.rules.checkpoints else { return };
        if !self.replicas[&job].checkpointing {
            return;
        }
        let situation = self.situation(now, job, &checkpoints);
        let (state, first) = checkpoints.rule.start(&situation);
        let replica = self.replicas.get_mut(&job).expect("the caller has it");
        replica.interval = Some(state);
        self.set(now + first, GridTimer::CheckpointDue { job }, out);
    }

    pub(super) fn on_checkpointing(&mut self, now: Time, job: JobId, on: bool, out: &mut Outbox) {
        let Some(replica) = self.replicas.get_mut(&job) else { return };
        replica.checkpointing = on;
        // A job that does not compute now is armed when it goes on.
        let (armed, computes) = (replica.interval.is_some(), replica.stage == Stage::Computing);
        if !on {
            // A checkpoint that is being written is finished.
            replica.interval = None;
            self.stop(GridTimer::CheckpointDue { job }, out);
        } else if computes && !armed {
            self.arm(now, job, out);
        }
    }

    pub(super) fn on_checkpoint_due(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let Some(checkpoints) = self.rules.checkpoints else { return };
        let situation = self.situation(now, job, &checkpoints);
        let replica = self.replicas.get_mut(&job).expect("who has a timer is here");
        let state = replica.interval.as_mut().expect("a timer has a state");
        match checkpoints.rule.expire(state, &situation) {
            Expiry::Omit(again) => {
                replica.omitted += 1;
                self.set(now + again, GridTimer::CheckpointDue { job }, out);
            }
            Expiry::Write => self.write(now, job, None, out),
        }
    }

    /// A job gives its slot back, but keeps its share while its progress is saved.
    pub(super) fn on_leave(
        &mut self,
        now: Time,
        job: JobId,
        to: Option<ActorId>,
        out: &mut Outbox,
    ) {
        match self.replicas.get(&job).map(|replica| replica.stage) {
            Some(Stage::Computing) => self.write(now, job, None, out),
            // The checkpoint that it is writing goes with it.
            Some(Stage::Writing(None)) => {}
            // A job that does not compute yet, or does not compute any more, has no progress to take along.
            _ => return,
        }
        // After `write`, which pauses the job: only a paused job can give its slot back.
        self.machine.vacate(now, job);
        let replica = self.replicas.get_mut(&job).expect("it was there just now");
        replica.writing += now - replica.since;
        replica.stage = Stage::Leaving(to);
        replica.left = Some(now);
    }

    /// The progress of a leaving job is saved: its share is free for others.
    fn on_left(&mut self, now: Time, job: JobId, to: Option<ActorId>, out: &mut Outbox) {
        self.machine.release(now, job);
        let replica = self.replicas.get_mut(&job).expect("the caller has it");
        replica.written += 1;
        let (place, record) = replica.checkpoints.last_mut().expect("it has been writing one");
        let (place, done) = (*place, record.done);
        record.written = Some(now);
        // Without an address the progress goes to the server, and the job leaves when it is there.
        let Some(to) = to else { return self.send(now, job, place, out) };
        record.available = Some(now);
        replica.available += 1;
        let (number, from) = (replica.number, self.provider());
        // The job takes its newest checkpoint along, so older ones are not needed.
        self.abort_transfers(now, job, out);
        self.record_left(now, job, AttemptOutcome::Moved, out);
        out.send(to, DispatchMessage::Moved(Box::new(Moved { job, number, done, from })));
        out.send(self.rules.home.dispatcher, DispatchMessage::Left { job });
    }

    /// A job stops to write a checkpoint, and goes to `then` after that.
    fn write(&mut self, now: Time, job: JobId, then: Option<ActorId>, out: &mut Outbox) {
        let done = self.machine.pause(now, job);
        let replica = self.replicas.get_mut(&job).expect("the caller has it");
        replica.computing += now - replica.since;
        replica.stage = Stage::Writing(then);
        replica.since = now;
        let record = CheckpointRecord {
            requested: now,
            done,
            computing: replica.computing,
            written: None,
            available: None,
        };
        replica.checkpoints.push((replica.requested, record));
        replica.requested += 1;
        let cost = self
            .rules
            .checkpoints
            .map_or(Span::ZERO, |checkpoints| checkpoints.cost.of(replica.length));
        // A job that leaves writes before its checkpoint is due.
        self.stop(GridTimer::CheckpointDue { job }, out);
        self.set(now + cost, GridTimer::Written { job }, out);
    }

    pub(super) fn on_written(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let Some(replica) = self.replicas.get_mut(&job) else { return };
        let number = replica.number;
        if let Stage::Leaving(to) = replica.stage {
            return self.on_left(now, job, to, out);
        }
        let Stage::Writing(then) = replica.stage else { return };
        replica.writing += now - replica.since;
        replica.since = now;
        replica.written += 1;
        let (place, record) = replica.checkpoints.last_mut().expect("it has been writing one");
        let (place, done) = (*place, record.done);
        record.written = Some(now);
        if let Some(to) = then {
            record.available = Some(now);
            replica.available += 1;
            let moved = Moved { job, number, done, from: self.provider() };
            self.machine.release(now, job);
            self.abort_transfers(now, job, out);
            self.record(job, (now, now), AttemptOutcome::Moved, done, out);
            out.send(to, DispatchMessage::Moved(Box::new(moved)));
            out.send(self.rules.home.dispatcher, DispatchMessage::Left { job });
            return;
        }
        replica.stage = Stage::Computing;
        self.machine.resume(now, job);
        self.arm_again(now, job, out);
        self.send(now, job, place, out);
    }

    /// Sends a checkpoint to its server, after the one under way. If several wait for that, only
    /// the newest is worth sending.
    fn send(&mut self, now: Time, job: JobId, place: u32, out: &mut Outbox) {
        let replica = self.replicas.get_mut(&job).expect("the caller has it");
        let bytes = replica.data.checkpoint;
        if replica.sending {
            if let Some(older) = replica.unsent.replace(place)
                && !self.rules.records_all
            {
                replica.checkpoints.retain(|&(place, _)| place != older);
            }
            return;
        }
        match bytes {
            0 => {
                self.saved(now, job, place, 0, out);
                if self.replicas[&job].stage == Stage::Leaving(None) {
                    self.suspended(now, job, out);
                }
            }
            _ => {
                replica.sending = true;
                let ends = (self.node(), self.rules.home.checkpoint_node);
                self.transfer(now, (job, Purpose::Checkpoint(place)), ends, bytes, out);
            }
        }
    }

    /// A checkpoint has arrived, so the next one may be sent.
    pub(super) fn sent(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let replica = self.replicas.get_mut(&job).expect("the caller has it");
        replica.sending = false;
        if let Some(place) = replica.unsent.take() {
            return self.send(now, job, place, out);
        }
        let all_written = replica.checkpoints.last().is_some_and(|(_, it)| it.written.is_some());
        // A checkpoint that arrives while the last one is still being written does not end the stay.
        if replica.stage == Stage::Leaving(None) && all_written {
            self.suspended(now, job, out);
        }
    }

    /// A suspended job has left: its progress is at the server, from which any resource may fetch
    /// it.
    fn suspended(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        self.record_left(now, job, AttemptOutcome::Moved, out);
        out.send(self.rules.home.dispatcher, DispatchMessage::Suspended { job });
    }

    /// Sets the timer for the checkpoint after the one that has been written.
    fn arm_again(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let Some(checkpoints) = self.rules.checkpoints else { return };
        let replica = &self.replicas[&job];
        if !replica.checkpointing {
            return;
        }
        // Checkpointing was switched off and on again while the job wrote.
        if replica.interval.is_none() {
            return self.arm(now, job, out);
        }
        let situation = self.situation(now, job, &checkpoints);
        let replica = self.replicas.get_mut(&job).expect("it was there just now");
        let state = replica.interval.as_mut().expect("a timer has a state");
        let next = checkpoints.rule.written(state, &situation);
        self.set(now + next, GridTimer::CheckpointDue { job }, out);
    }

    pub(super) fn on_move(&mut self, now: Time, job: JobId, to: ActorId, out: &mut Outbox) {
        let replica = self.replicas.get(&job);
        match replica.map(|replica| replica.stage) {
            Some(Stage::Computing) => self.write(now, job, Some(to), out),
            // The job goes after the checkpoint that it is writing.
            Some(Stage::Writing(_)) => {
                self.replicas.get_mut(&job).expect("it was there").stage = Stage::Writing(Some(to));
            }
            _ => {}
        }
    }
}
