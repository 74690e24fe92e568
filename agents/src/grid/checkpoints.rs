//! The checkpoint server: where jobs can be started from again.

use std::collections::BTreeMap;

use haggle_model::{ActorId, JobId, Time};

use crate::protocol::{CheckpointMessage, Message, RunMessage, Saved};
use crate::{Actor, Outbox};

/// Keeps the newest checkpoint of every job that is not done, and tells the dispatcher.
#[derive(Debug)]
pub struct CheckpointServer {
    dispatcher: ActorId,
    newest: BTreeMap<JobId, Saved>,
}

impl CheckpointServer {
    /// Without checkpoints.
    pub fn new(dispatcher: ActorId) -> CheckpointServer {
        CheckpointServer { dispatcher, newest: BTreeMap::new() }
    }

    fn on_saved(&mut self, saved: Box<Saved>, out: &mut Outbox) {
        let newest = self.newest.entry(saved.job).or_insert(*saved);
        // Copies of a job save at different places; only what is further counts, and of what
        // is as far the later one.
        let rank = |it: &Saved| (it.done, it.at, it.number);
        if rank(&saved) >= rank(newest) {
            *newest = *saved;
            out.send(self.dispatcher, CheckpointMessage::CheckpointAvailable(saved));
        }
    }
}

impl Actor for CheckpointServer {
    type Message = Message;

    fn on_message(&mut self, _now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        match message {
            Message::Checkpoint(CheckpointMessage::Saved(saved)) => self.on_saved(saved, out),
            Message::Checkpoint(CheckpointMessage::Forget { job }) => {
                self.newest.remove(&job);
            }
            Message::Run(RunMessage::RunOver) => {}
            _ => out.refuse(from),
        }
    }
}
