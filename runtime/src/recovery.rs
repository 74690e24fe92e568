//! Actors that are made anew when they restart: from their configuration and the journal of what they took.
//!
//! An actor is a function of its messages, so its durable record can be these, each written down
//! before anything comes of it: a write-ahead log. What it put out when it took them first has been
//! carried out, and is thrown away. In a simulation the state of a restarted actor is the one that it
//! had, so a run may as well keep the actor; that nothing is lost by it is what a recovery shows.

use std::collections::BTreeMap;

use haggle_agents::protocol::RunMessage;
use haggle_agents::{Actor, AnyActor, Message, Outbox};
use haggle_model::{ActorId, Time};

use crate::clock::Delivery;

/// Messages up to which a journal is kept. Each restart takes all of it again, so what crashes often
/// would spend its run on that; after that many the actor keeps its state.
const MESSAGES_MAX: usize = 2_000;

/// Makes an actor as it was when the run began.
pub type Blueprint = Box<dyn Fn() -> AnyActor + Send>;

/// The journals of the actors that are made anew.
#[derive(Default)]
pub(crate) struct Journals(BTreeMap<ActorId, Journal>);

struct Journal {
    blueprint: Blueprint,
    taken: Vec<(Time, ActorId, Message)>,
}

impl Journals {
    pub(crate) fn new(blueprints: BTreeMap<ActorId, Blueprint>) -> Journals {
        let empty = |blueprint| Journal { blueprint, taken: Vec::new() };
        Journals(blueprints.into_iter().map(|(actor, it)| (actor, empty(it))).collect())
    }

    /// Writes down what an actor is about to take. One that restarts is handed out as it is made
    /// anew, without that.
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
            self.0.remove(&delivery.to);
            return None;
        }
        let restarts = delivery.message == Message::Run(RunMessage::Restarted);
        let recovered = restarts.then(|| journal.replay());
        journal.taken.push((now, delivery.from, delivery.message.clone()));
        recovered
    }
}

impl Journal {
    fn replay(&self) -> AnyActor {
        let (mut actor, mut out) = ((self.blueprint)(), Outbox::default());
        for (now, from, message) in &self.taken {
            actor.on_message(*now, *from, message.clone(), &mut out);
            out.effects.clear();
            out.observations.clear();
        }
        actor
    }
}
