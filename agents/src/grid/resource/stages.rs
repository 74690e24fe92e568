//! The stages of a job at a resource: its data, its computing, its output.

use haggle_grids::make_room;
use haggle_model::AttemptOutcome;
use haggle_model::grid::KeptCheckpoint;
use haggle_model::network::Node;
use haggle_model::work::Work;
use haggle_model::{JobId, Span, Time};

use super::{GridResource, Purpose, Stage};
use crate::Outbox;
use crate::protocol::{
    CheckpointMessage, DataMessage, DispatchMessage, GridTimer, Moved, Saved, Transfer,
};

impl GridResource {
    /// Asks the network to move data, from one node to another.
    pub(super) fn transfer(
        &mut self,
        now: Time,
        (job, purpose): (JobId, Purpose),
        (from, to): (Node, Node),
        bytes: u64,
        out: &mut Outbox,
    ) {
        let node = self.node();
        // Numbers are never used again, so a late answer cannot be taken for that of a newer transfer.
        let number = self.transfers_started;
        self.transfers_started += 1;
        make_room(&mut self.transfers);
        self.transfers.insert(number, (job, purpose));
        if let Some(alone) = &mut self.alone {
            let service = if from == node { to } else { from };
            return alone.start_transfer(now, number, service, bytes);
        }
        let transfer = Box::new(Transfer { number, from, to, bytes });
        out.send(self.rules.home.network, DataMessage::Transfer(transfer));
    }

    /// Aborts the transfers of a job.
    pub(super) fn abort_transfers(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let network = self.rules.home.network;
        self.transfers.retain(|&number, &(other, _)| {
            match &mut self.alone {
                _ if other != job => {}
                Some(alone) => alone.abort_transfer(now, number),
                None => out.send(network, DataMessage::AbortTransfer { number }),
            }
            other != job
        });
    }

    pub(super) fn fetch_input(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let replica = &self.replicas[&job];
        // A job that starts from a checkpoint may have its input in it.
        let needed = replica.from == Work::ZERO || self.rules.restart_needs_input;
        // Without bytes there is no transfer: even an empty one would take the latency of its path.
        let bytes = if needed { replica.data.input } else { 0 };
        if bytes == 0 {
            return self.fetch_checkpoint(now, job, out);
        }
        let from = self.rules.home.storage_node;
        self.transfer(now, (job, Purpose::Input), (from, self.node()), bytes, out);
    }

    fn fetch_checkpoint(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let replica = &self.replicas[&job];
        if replica.from == Work::ZERO {
            return self.compute(now, job, out);
        }
        let bytes = replica.data.checkpoint;
        if bytes == 0 {
            return self.recover(now, job, out);
        }
        let from = self.rules.home.checkpoint_node;
        self.transfer(now, (job, Purpose::Recovery), (from, self.node()), bytes, out);
    }

    fn recover(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let time = self.rules.checkpoints.map_or(Span::ZERO, |it| it.recovery);
        if time == Span::ZERO {
            return self.compute(now, job, out);
        }
        self.set(now + time, GridTimer::Recovered { job }, out);
    }

    pub(super) fn compute(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        self.machine.start(now, job);
        let replica = self.replicas.get_mut(&job).expect("the caller has it");
        replica.stage = Stage::Computing;
        replica.started = Some(now);
        replica.since = now;
        self.arm(now, job, out);
    }

    pub(super) fn on_ends(&mut self, now: Time, out: &mut Outbox) {
        let mut completed = Vec::new();
        self.machine.take_completed(now, &mut completed);
        for job in completed {
            self.computed(now, job, out);
        }
    }

    fn computed(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        // Checkpoints that are under way are not needed any more.
        self.abort_transfers(now, job, out);
        self.stop(GridTimer::CheckpointDue { job }, out);
        let replica = self.replicas.get_mut(&job).expect("who computes is here");
        // The transfers were aborted above, so none of them ends any more.
        (replica.sending, replica.unsent) = (false, None);
        replica.computing += now - replica.since;
        let (number, bytes) = (replica.number, replica.data.output);
        // Without an output the job is done here, and one message reports both.
        let delivered = bytes == 0;
        if delivered {
            let length = replica.length;
            self.record(job, (now, now), AttemptOutcome::Completed, length, out);
        } else {
            replica.stage = Stage::Output;
            replica.since = now;
            match self.rules.home.storage {
                Some(storage) => out.send(storage, DataMessage::RoomRequest { job, bytes }),
                None => self.send_output(now, job, out),
            }
        }
        let message = DispatchMessage::Computed { job, number, delivered };
        out.send(self.rules.home.dispatcher, message);
    }

    /// There is room for the output.
    pub(super) fn send_output(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let Some(replica) = self.replicas.get(&job) else { return };
        // Room that is no longer needed, or was given twice, starts no transfer.
        let is_on_its_way = self.transfers.values().any(|it| *it == (job, Purpose::Output));
        if replica.stage != Stage::Output || is_on_its_way {
            return;
        }
        let bytes = replica.data.output;
        let to = self.rules.home.storage_node;
        self.transfer(now, (job, Purpose::Output), (self.node(), to), bytes, out);
    }

    pub(super) fn on_transferred(&mut self, now: Time, number: u32, out: &mut Outbox) {
        // The arrival of a transfer that was aborted in the same instant is ignored.
        let Some((job, purpose)) = self.transfers.remove(&number) else { return };
        let Some(replica) = self.replicas.get_mut(&job) else { return };
        let (data, moved) = (replica.data, &mut replica.moved);
        match purpose {
            Purpose::Input => {
                moved.input += data.input;
                self.deliveries.input(data.input);
                self.fetch_checkpoint(now, job, out);
            }
            Purpose::Recovery => {
                moved.recovery += data.checkpoint;
                self.deliveries.recovery(data.checkpoint);
                self.recover(now, job, out);
            }
            Purpose::Move(from) => {
                moved.input += data.input;
                moved.recovery += data.checkpoint;
                self.deliveries.moved(from, data);
                self.recover(now, job, out);
            }
            Purpose::Checkpoint(place) => {
                moved.checkpoints += data.checkpoint;
                self.deliveries.checkpoints(1, data.checkpoint);
                self.saved(now, job, place, data.checkpoint, out);
                // After `saved`, because a leaving job ends its stay here and its checkpoint must be recorded before.
                self.sent(now, job, out);
            }
            Purpose::Output => {
                moved.output += data.output;
                self.deliveries.output(data.output);
                let replica = &self.replicas[&job];
                let (left, length) = (replica.since, replica.length);
                self.record(job, (left, now), AttemptOutcome::Completed, length, out);
                out.send(self.rules.home.dispatcher, DispatchMessage::Delivered { job });
            }
        }
    }

    /// A checkpoint has arrived where it can be used.
    pub(super) fn saved(
        &mut self,
        now: Time,
        job: JobId,
        place: u32,
        bytes: u64,
        out: &mut Outbox,
    ) {
        let replica = self.replicas.get_mut(&job).expect("the caller has it");
        let found = replica.checkpoints.binary_search_by_key(&place, |&(place, _)| place);
        let (_, checkpoint) = &mut replica.checkpoints[found.expect("it has been written")];
        checkpoint.available = Some(now);
        replica.available += 1;
        replica.kept = replica.kept.or(Some(KeptCheckpoint { since: now, bytes }));
        let saved = Saved { job, number: replica.number, done: checkpoint.done, at: now, bytes };
        // A checkpoint that was overtaken before it was reported is never the start of another
        // attempt.
        let newest = replica.untold.is_none_or(|(_, it)| it.done <= saved.done);
        let overtaken = match newest {
            true => replica.untold.replace((place, saved)).map(|(place, _)| place),
            false => Some(place),
        };
        if let Some(overtaken) = overtaken
            && !self.rules.records_all
        {
            replica.checkpoints.retain(|&(place, _)| place != overtaken);
        }
        if self.alone.is_none() {
            self.tell(job, out);
        }
    }

    /// Reports the newest usable checkpoint of a job.
    pub(super) fn tell(&mut self, job: JobId, out: &mut Outbox) {
        let replica = self.replicas.get_mut(&job).expect("the caller has it");
        if let Some((_, saved)) = replica.untold.take() {
            out.send(self.rules.home.checkpoints, CheckpointMessage::Saved(Box::new(saved)));
        }
    }

    /// A job for which a slot is kept is ready at the resource from which it comes.
    pub(super) fn on_moved(&mut self, now: Time, moved: &Moved, out: &mut Outbox) {
        let Moved { job, number, done, from } = *moved;
        // A sender outside this grid has no node in its network.
        let Some(sender) = self.rules.seats.number(from) else { return };
        let Some(replica) = self.replicas.get_mut(&job) else { return };
        if replica.stage != Stage::Expected {
            return;
        }
        let done = done.min(replica.length);
        replica.stage = Stage::Waiting;
        (replica.from, replica.parent) = (done, Some(number));
        let (length, data) = (replica.length, replica.data);
        // The remaining work is known now, so the slot is reserved anew.
        self.machine.release(now, job);
        let reserved = self.machine.reserve(now, job, length, done, data.share);
        assert_eq!(reserved, Ok(()), "the slot was just given back");
        let bytes = data.input + data.checkpoint;
        match bytes {
            0 => self.recover(now, job, out),
            _ => {
                let ends = (Node::Resource(sender as usize), self.node());
                self.transfer(now, (job, Purpose::Move(from)), ends, bytes, out);
            }
        }
    }
}
