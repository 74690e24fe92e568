//! Restarted actors are rebuilt from their configuration and the journal of the messages they took.
//!
//! An actor's state is a function of its messages. They can therefore be its durable record, written
//! down before they have any effect: a write-ahead log. The effects of the first delivery have been
//! carried out, so those of the replay are dropped. In a simulation, the rebuilt state equals the state
//! before, so a run could simply keep the actor. The recovery proves that no state is lost.

use std::collections::BTreeMap;
use std::fmt;

use haggle_agents::protocol::RunMessage;
use haggle_agents::{Actor, AnyActor, Message, Outbox};
use haggle_model::{ActorId, Time};
use serde::{Deserialize, Serialize};

use crate::clock::Delivery;

/// Largest number of messages in a journal. Each restart replays all of them, so an actor that crashes
/// often would dominate the cost of the run. Beyond this number, the actor keeps its state.
const MESSAGES_MAX: usize = 2_000;

/// Builds an actor as it was when the run began.
pub struct Blueprint(Box<dyn Fn() -> AnyActor + Send>);

impl Blueprint {
    /// An actor that `build` builds.
    pub fn new(build: impl Fn() -> AnyActor + Send + 'static) -> Blueprint {
        Blueprint(Box::new(build))
    }

    /// The actor, before its first message.
    pub fn build(&self) -> AnyActor {
        (self.0)()
    }
}

impl fmt::Debug for Blueprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Blueprint")
    }
}

/// The journals of the actors that are rebuilt.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Journals(BTreeMap<ActorId, Journal>);

#[derive(Debug, Serialize, Deserialize)]
struct Journal {
    /// `None` in a copy or a snapshot, which gets the blueprints of its world.
    #[serde(skip)]
    blueprint: Option<Blueprint>,
    taken: Vec<(Time, ActorId, Message)>,
}

impl Journals {
    pub(crate) fn new(blueprints: BTreeMap<ActorId, Blueprint>) -> Journals {
        let empty = |it| Journal { blueprint: Some(it), taken: Vec::new() };
        Journals(blueprints.into_iter().map(|(actor, it)| (actor, empty(it))).collect())
    }

    /// The journals of a snapshot, with these blueprints.
    pub(crate) fn with(mut self, mut blueprints: BTreeMap<ActorId, Blueprint>) -> Journals {
        for (actor, journal) in &mut self.0 {
            journal.blueprint = blueprints.remove(actor);
        }
        self
    }

    /// Records the message that an actor is about to take. For a restart, returns the actor rebuilt
    /// from the messages before it.
    #[inline]
    pub(crate) fn write(&mut self, now: Time, delivery: &Delivery<Message>) -> Option<AnyActor> {
        if self.0.is_empty() {
            return None;
        }
        self.write_down(now, delivery)
    }

    #[cold]
    fn write_down(&mut self, now: Time, delivery: &Delivery<Message>) -> Option<AnyActor> {
        let journal = self.0.get_mut(&delivery.to)?;
        if journal.taken.len() >= MESSAGES_MAX {
            // Without a journal the actor keeps its state when it restarts.
            self.0.remove(&delivery.to);
            return None;
        }
        let restarts = delivery.message == Message::Run(RunMessage::Restarted);
        // Replayed before the restart is recorded: the rebuilt actor takes the restart as an ordinary delivery.
        let recovered = restarts.then(|| journal.replay()).flatten();
        journal.taken.push((now, delivery.from, delivery.message.clone()));
        recovered
    }
}

impl Journal {
    /// The actor rebuilt from its messages. Without a blueprint it keeps its state.
    fn replay(&self) -> Option<AnyActor> {
        let (mut actor, mut out) = (self.blueprint.as_ref()?.build(), Outbox::default());
        for (now, from, message) in &self.taken {
            actor.on_message(*now, *from, message.clone(), &mut out);
            out.effects.clear();
            out.observations.clear();
        }
        Some(actor)
    }
}

impl Clone for Journal {
    fn clone(&self) -> Journal {
        Journal { blueprint: None, taken: self.taken.clone() }
    }
}
