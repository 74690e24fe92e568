//! The checkpoint server: the checkpoints from which jobs can be started again.

use std::collections::BTreeMap;

use haggle_model::{ActorId, JobId, Time};
use serde::{Deserialize, Serialize};

use crate::glimpse::{Fact, FactKind, Glimpse};
use crate::protocol::{CheckpointMessage, Message, RunMessage, Saved};
use crate::{Actor, Outbox};

/// Keeps the newest checkpoint of every job that is not done, and notifies the dispatcher of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CheckpointServer {
    dispatcher: ActorId,
    newest: BTreeMap<JobId, Saved>,
}

impl CheckpointServer {
    /// A server without checkpoints.
    pub fn new(dispatcher: ActorId) -> CheckpointServer {
        CheckpointServer { dispatcher, newest: BTreeMap::new() }
    }

    fn on_saved(&mut self, saved: Box<Saved>, out: &mut Outbox) {
        let newest = self.newest.entry(saved.job).or_insert(*saved);
        // Copies of a job save at different progress. The checkpoint with most progress counts; of
        // equal ones the later.
        let rank = |it: &Saved| (it.done, it.at, it.number);
        if rank(&saved) >= rank(newest) {
            *newest = *saved;
            out.send(self.dispatcher, CheckpointMessage::CheckpointAvailable(saved));
        }
    }
}

impl CheckpointServer {
    /// The newest checkpoint of each job.
    pub(crate) fn glimpse(&self) -> Glimpse {
        let fact = |saved: &Saved| Fact {
            job: Some(saved.job),
            at: Some(saved.at),
            ..Fact::own(FactKind::CheckpointSize, saved.bytes as f64)
        };
        Glimpse::of_facts(self.newest.values().map(fact).collect())
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
