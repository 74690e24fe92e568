//! Nature: makes processors fail and gives them back.

use haggle_model::{ActorId, ProcessorSet, Time};

use crate::protocol::{Message, ResourceMessage, RunMessage, Timer};
use crate::{Actor, Outbox};

/// Tells the owners of resources when something of theirs fails and when it is back.
///
/// What fails when is decided before the run, whatever happens in it: nature is
/// told of each outage when it begins.
#[derive(Debug)]
pub struct Nature {
    /// What fails as one: whose it is, and which processors of theirs.
    resources: Vec<Vec<(ActorId, ProcessorSet)>>,
}

impl Nature {
    /// Nature for these resources, each one or several owners and the processors of
    /// theirs that fail together.
    pub fn new(resources: Vec<Vec<(ActorId, ProcessorSet)>>) -> Nature {
        Nature { resources }
    }

    fn on_outage(&mut self, resource: u32, restore: Time, out: &mut Outbox) {
        for (owner, processors) in &self.resources[resource as usize] {
            out.send(*owner, ResourceMessage::Failed { processors: processors.clone() });
        }
        if restore < Time::FOREVER {
            out.wake(restore, Timer::RestoreDue { resource });
        }
    }

    fn on_restore_due(&mut self, resource: u32, out: &mut Outbox) {
        for (owner, processors) in &self.resources[resource as usize] {
            out.send(*owner, ResourceMessage::Restored { processors: processors.clone() });
        }
    }
}

impl Actor for Nature {
    type Message = Message;

    fn on_message(&mut self, _now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        match message {
            Message::Run(RunMessage::OutageDue { resource, restore }) => {
                self.on_outage(resource, restore, out);
            }
            Message::Wake(Timer::RestoreDue { resource }) => self.on_restore_due(resource, out),
            // It holds nobody's jobs.
            Message::Run(RunMessage::RunOver) => {}
            _ => out.refuse(from),
        }
    }
}
