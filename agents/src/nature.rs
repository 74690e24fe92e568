//! Nature: makes processors fail and restores them.

use std::collections::BTreeMap;
use std::ops::Range;

use haggle_model::{ActorId, ProcessorSet, Time};
use serde::{Deserialize, Serialize};

use crate::glimpse::{Fact, FactKind, Glimpse};
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
    /// Places in `owned` that are down, by owner, each with the number of its outages under way. A change of failures may
    /// begin an outage before the last one of the same resource has ended.
    down: BTreeMap<ActorId, BTreeMap<u32, u32>>,
    /// Failures under way as they were sent, by owner; `None` if no resources have processors in common.
    sent: Option<BTreeMap<ActorId, Vec<ProcessorSet>>>,
}

impl Nature {
    /// Nature for these resources, which have no processors in common. Each has one or several owners, with their
    /// processors that fail together.
    pub fn new(resources: Vec<Vec<(ActorId, ProcessorSet)>>) -> Nature {
        let mut nature = Nature {
            owned: Vec::new(),
            ends: Vec::with_capacity(resources.len()),
            down: BTreeMap::new(),
            sent: None,
        };
        for owners in resources {
            nature.owned.extend(owners);
            nature.ends.push(nature.owned.len() as u32);
        }
        nature
    }

    /// Resources may have processors in common. Processors that have failed together come back together, as soon as none
    /// of them belongs to a resource that is down.
    pub fn overlapping(self) -> Nature {
        Nature { sent: Some(BTreeMap::new()), ..self }
    }

    /// Places in `owned` of a resource.
    fn places(&self, resource: u32) -> Range<u32> {
        let start = resource.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        start..self.ends[resource as usize]
    }

    fn on_outage(&mut self, resource: u32, restore: Time, out: &mut Outbox) {
        for place in self.places(resource) {
            let (owner, mut processors) = self.owned[place as usize].clone();
            let outages = self.down.entry(owner).or_default().entry(place).or_default();
            *outages += 1;
            if *outages > 1 {
                continue;
            }
            let Some(sent) = &mut self.sent else {
                out.send(owner, ResourceMessage::Failed { processors });
                continue;
            };
            let before = sent.entry(owner).or_default();
            before.iter().for_each(|down| processors.remove_all(&processors.intersection(down)));
            // One outage for each interval: the tables name an outage by its first and its last processor.
            for &(first, last) in processors.intervals() {
                let processors = ProcessorSet::range(first, last - first + 1);
                before.push(processors.clone());
                out.send(owner, ResourceMessage::Failed { processors });
            }
        }
        // Some resources are never repaired.
        if restore < Time::FOREVER {
            out.wake(restore, Timer::RestoreDue { resource });
        }
    }

    fn on_restore_due(&mut self, resource: u32, out: &mut Outbox) {
        for place in self.places(resource) {
            let (owner, processors) = &self.owned[place as usize];
            let down = self.down.entry(*owner).or_default();
            // Every restoration follows a failure of the same resource.
            let outages = down.entry(place).or_insert(1);
            *outages -= 1;
            if *outages > 0 {
                continue;
            }
            down.remove(&place);
            let Some(sent) = &mut self.sent else {
                out.send(*owner, ResourceMessage::Restored { processors: processors.clone() });
                continue;
            };
            let holds = |set: &ProcessorSet| {
                down.keys().any(|&other| self.owned[other as usize].1.intersects(set))
            };
            for processors in sent.entry(*owner).or_default().extract_if(.., |set| !holds(set)) {
                out.send(*owner, ResourceMessage::Restored { processors });
            }
        }
    }
}

impl Nature {
    /// Takes over the resources. Resources that are down keep their numbers.
    fn on_changed(&mut self, anew: AnyActor, from: ActorId, out: &mut Outbox) {
        match anew {
            AnyActor::Nature(anew) => {
                let (down, sent) = (std::mem::take(&mut self.down), self.sent.take());
                let as_sent = |(owner, places): (&ActorId, &BTreeMap<u32, u32>)| {
                    let sets = places.keys().map(|&place| self.owned[place as usize].1.clone());
                    (*owner, Vec::from_iter(sets))
                };
                // Without common processors, each failure was sent as its resource has it.
                let sent = anew
                    .sent
                    .as_ref()
                    .map(|_| sent.unwrap_or_else(|| down.iter().map(as_sent).collect()));
                *self = Nature { down, sent, ..anew };
            }
            _ => out.refuse(from),
        }
    }
}

impl Nature {
    /// The processors that it may let fail, by their owners.
    pub(crate) fn glimpse(&self) -> Glimpse {
        let mut processors: BTreeMap<ActorId, ProcessorSet> = BTreeMap::new();
        for (owner, set) in &self.owned {
            let known = processors.entry(*owner).or_default();
            let mut further = set.clone();
            // Two resources may share processors.
            further.remove_all(&set.intersection(known));
            known.insert_all(&further);
        }
        let fact = |(owner, set): (ActorId, ProcessorSet)| {
            Fact::about(owner, FactKind::Processors, f64::from(set.count()))
        };
        Glimpse::of_facts(processors.into_iter().map(fact).collect())
    }
}

impl Actor for Nature {
    type Message = Message;

    fn on_message(&mut self, _now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        match message {
            Message::Run(RunMessage::OutageDue { resource, restore })
                if self.ends.len() > resource as usize =>
            {
                self.on_outage(resource, restore, out);
            }
            Message::Wake(Timer::RestoreDue { resource })
                if self.ends.len() > resource as usize =>
            {
                self.on_restore_due(resource, out);
            }
            Message::Run(RunMessage::Changed(settings)) => {
                self.on_changed(settings.actor, from, out)
            }
            // Nature has no jobs to record.
            Message::Run(RunMessage::RunOver) => {}
            _ => out.refuse(from),
        }
    }
}
