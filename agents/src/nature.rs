//! Nature: makes processors fail and restores them.

use haggle_model::{ActorId, ProcessorSet, Time};
use serde::{Deserialize, Serialize};

use crate::protocol::{Message, ResourceMessage, RunMessage, Timer};
use crate::{Actor, AnyActor, Outbox};

/// Notifies the owners of resources of failures and repairs.
///
/// All outages are decided before the run, so the run does not affect them. Nature receives a
/// message at the beginning of each outage.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Nature {
    /// Owners of each resource with their processors that fail together, one resource after the
    /// other.
    owned: Vec<(ActorId, ProcessorSet)>,
    /// The end of each resource in `owned`.
    ends: Vec<u32>,
}

impl Nature {
    /// Nature for these resources. Each has one or several owners, with their processors that fail
    /// together.
    pub fn new(resources: Vec<Vec<(ActorId, ProcessorSet)>>) -> Nature {
        let mut nature = Nature { owned: Vec::new(), ends: Vec::with_capacity(resources.len()) };
        for owners in resources {
            nature.owned.extend(owners);
            nature.ends.push(nature.owned.len() as u32);
        }
        nature
    }

    /// The owners of a resource, with their processors that fail together.
    fn owners(&self, resource: u32) -> &[(ActorId, ProcessorSet)] {
        let start = resource.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.owned[start as usize..self.ends[resource as usize] as usize]
    }

    fn on_outage(&mut self, resource: u32, restore: Time, out: &mut Outbox) {
        for (owner, processors) in self.owners(resource) {
            out.send(*owner, ResourceMessage::Failed { processors: processors.clone() });
        }
        // Some resources are never repaired.
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

impl Nature {
    /// Takes over the resources. Resources that are down keep their numbers.
    fn on_changed(&mut self, anew: AnyActor, from: ActorId, out: &mut Outbox) {
        match anew {
            AnyActor::Nature(anew) => *self = anew,
            _ => out.refuse(from),
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
            Message::Run(RunMessage::Changed(settings)) => {
                self.on_changed(settings.actor, from, out)
            }
            // Nature has no jobs to record.
            Message::Run(RunMessage::RunOver) => {}
            _ => out.refuse(from),
        }
    }
}
