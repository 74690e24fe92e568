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
    /// What fails as one, one after the other: whose it is, and which processors of theirs.
    owned: Vec<(ActorId, ProcessorSet)>,
    /// Where what belongs to each of them ends.
    ends: Vec<u32>,
}

impl Nature {
    /// Nature for these resources, each one or several owners and the processors of
    /// theirs that fail together.
    pub fn new(resources: Vec<Vec<(ActorId, ProcessorSet)>>) -> Nature {
        let mut nature = Nature { owned: Vec::new(), ends: Vec::with_capacity(resources.len()) };
        for owners in resources {
            nature.owned.extend(owners);
            nature.ends.push(nature.owned.len() as u32);
        }
        nature
    }

    /// Who owns what fails as one, and which processors of theirs.
    fn owners(&self, resource: u32) -> &[(ActorId, ProcessorSet)] {
        let start = resource.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.owned[start as usize..self.ends[resource as usize] as usize]
    }

    fn on_outage(&mut self, resource: u32, restore: Time, out: &mut Outbox) {
        for (owner, processors) in self.owners(resource) {
            out.send(*owner, ResourceMessage::Failed { processors: processors.clone() });
        }
        if restore < Time::FOREVER {
            out.wake(restore, Timer::RestoreDue { resource });
        }
    }

    fn on_restore_due(&mut self, resource: u32, out: &mut Outbox) {
        for (owner, processors) in self.owners(resource) {
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
