//! Ways in which messages reach their actors.

mod over_actix;

use std::borrow::Cow;

use haggle_agents::{Actor, AnyActor, Message, Outbox};
use haggle_model::{ActorId, Time};

use crate::clock::Delivery;
use over_actix::Hosts;

/// The way in which messages reach their actors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Driver {
    /// A loop and a match: the fastest.
    #[default]
    Sequential,
    /// Each actor in an actix actor of its own.
    Actix,
}

/// The actors of a run and their hosts.
pub(crate) enum Actors {
    /// `None` = it has handled its last message and was dropped.
    Here(Vec<Option<AnyActor>>),
    Hosted(Hosts),
}

impl Actors {
    pub(crate) fn new(driver: Driver, actors: Vec<Option<AnyActor>>) -> Actors {
        match driver {
            Driver::Sequential => Actors::Here(actors),
            Driver::Actix => Actors::Hosted(Hosts::new(actors)),
        }
    }

    /// The actors, or copies of them.
    pub(crate) fn copy(&self) -> Cow<'_, [Option<AnyActor>]> {
        match self {
            Actors::Here(actors) => Cow::Borrowed(actors),
            Actors::Hosted(hosts) => Cow::Owned(hosts.copy()),
        }
    }

    /// Passes an actor to `look`; `None` if there is no such actor, or it was dropped.
    pub(crate) fn look<T>(&self, place: ActorId, look: impl FnOnce(&AnyActor) -> T) -> Option<T> {
        match self {
            Actors::Here(actors) => actors.get(place.index())?.as_ref().map(look),
            Actors::Hosted(hosts) => hosts.copy_of(place).as_ref().map(look),
        }
    }

    /// Replaces an actor by another.
    pub(crate) fn replace(&mut self, place: ActorId, actor: AnyActor) {
        match self {
            Actors::Here(actors) => actors[place.index()] = Some(actor),
            Actors::Hosted(hosts) => hosts.replace(place, actor),
        }
    }

    /// Number of actors, with those that were dropped.
    pub(crate) fn count(&self) -> usize {
        match self {
            Actors::Here(actors) => actors.len(),
            Actors::Hosted(hosts) => hosts.count(),
        }
    }

    /// Adds an actor behind all others.
    pub(crate) fn push(&mut self, actor: AnyActor) {
        match self {
            Actors::Here(actors) => actors.push(Some(actor)),
            Actors::Hosted(hosts) => hosts.push(actor),
        }
    }

    /// Drops an actor after its last message, which frees memory for the final tables.
    pub(crate) fn dismiss(&mut self, place: ActorId) {
        // Actors in a system of their own are dropped with it.
        if let Actors::Here(actors) = self {
            actors[place.index()] = None;
        }
    }

    /// Delivers a message to its receiver, which fills `out`.
    #[inline(always)] // once a message, which is moved on the way
    pub(crate) fn deliver(&mut self, now: Time, delivery: Delivery<Message>, out: &mut Outbox) {
        let Delivery { from, to, message, .. } = delivery;
        match self {
            Actors::Here(actors) => {
                // A dismissed actor has handled its last message, and takes no other.
                if let Some(actor) = &mut actors[to.index()] {
                    actor.on_message(now, from, message, out);
                }
            }
            Actors::Hosted(hosts) => hosts.deliver(now, from, to, message, out),
        }
    }
}
