//! How messages reach their actors.

mod over_actix;

use haggle_agents::{Actor, AnyActor, Message, Outbox};
use haggle_model::{ActorId, Time};

use crate::clock::Delivery;
use over_actix::Hosts;

/// How messages reach their actors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Driver {
    /// A loop and a match: the fastest.
    #[default]
    Sequential,
    /// Each actor in an actix actor of its own.
    Actix,
}

/// The actors of a run, where they live.
pub(crate) enum Actors {
    Here(Vec<AnyActor>),
    Hosted(Hosts),
}

impl Actors {
    pub(crate) fn new(driver: Driver, actors: Vec<AnyActor>) -> Actors {
        match driver {
            Driver::Sequential => Actors::Here(actors),
            Driver::Actix => Actors::Hosted(Hosts::new(actors)),
        }
    }

    /// Puts another actor in the place of one.
    pub(crate) fn replace(&mut self, place: ActorId, actor: AnyActor) {
        match self {
            Actors::Here(actors) => actors[place.index()] = actor,
            Actors::Hosted(hosts) => hosts.replace(place, actor),
        }
    }

    /// Hands a message to its addressee, with `out` to be filled.
    #[inline(always)] // once a message, which is moved on the way
    pub(crate) fn deliver(&mut self, now: Time, delivery: Delivery<Message>, out: &mut Outbox) {
        let Delivery { from, to, message, .. } = delivery;
        match self {
            Actors::Here(actors) => actors[to.index()].on_message(now, from, message, out),
            Actors::Hosted(hosts) => hosts.deliver(now, from, to, message, out),
        }
    }
}
