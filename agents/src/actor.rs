//! The interface of actors, and the closed set of actors.

use std::fmt;

use dyn_clone::DynClone;
use haggle_model::{ActorId, Observation, Time};
use serde::{Deserialize, Serialize};

use crate::glimpse::Glimpse;
use crate::grid::{CheckpointServer, Dispatcher, GridResource, InformationService, Storage};
use crate::planning::{Cluster, Rescheduler, ResourceUpdates};
use crate::{
    Acceptor, Coallocator, DataNetwork, Message, Metascheduler, Nature, Negotiator, Provider,
    Reallocator, Timer, Transactor, User,
};

/// A receiver of messages with a state of its own.
///
/// A driver hands it a message with the time and an empty outbox, then carries out the effects in
/// order and records the observations. An actor changes in no other way.
pub trait Actor {
    /// The messages it takes.
    type Message;

    /// `from` has sent `message`, and it arrives `now`.
    fn on_message(
        &mut self,
        now: Time,
        from: ActorId,
        message: Self::Message,
        out: &mut Outbox<Self::Message>,
    );
}

/// An effect that an actor requests.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect<M = Message> {
    /// Deliver `message` to `to`, after the latency between the two.
    Send {
        /// The addressee.
        to: ActorId,
        /// The message.
        message: M,
    },
    /// Wake the actor itself at `at`. A wake-up cannot be stopped.
    Wake {
        /// Must not be before now.
        at: Time,
        /// Purpose of the wake-up.
        timer: Timer,
    },
    /// Let a timer of the actor go off at `at`. An earlier setting of the same timer is replaced.
    Set {
        /// Must not be before now.
        at: Time,
        /// The timer to set.
        timer: Timer,
    },
    /// Stop a timer of the actor.
    Stop {
        /// The timer to stop.
        timer: Timer,
    },
}

/// The effects and observations of an actor, in order.
#[derive(Clone, Debug)]
pub struct Outbox<M = Message> {
    /// Messages and wake-ups.
    pub effects: Vec<Effect<M>>,
    /// Facts for the record.
    pub observations: Vec<Observation>,
    /// Number of plans, steps of plans and intervals examined. These may take far longer than all
    /// messages do.
    pub examined: u64,
}

impl<M> Default for Outbox<M> {
    fn default() -> Self {
        Outbox { effects: Vec::new(), observations: Vec::new(), examined: 0 }
    }
}

impl<M> Outbox<M> {
    /// Sends `message` to `to`.
    pub fn send(&mut self, to: ActorId, message: impl Into<M>) {
        self.effects.push(Effect::Send { to, message: message.into() });
    }

    /// Records an observation.
    pub fn observe(&mut self, observation: Observation) {
        self.observations.push(observation);
    }

    /// Adds to the number of plans, steps of plans or intervals examined.
    pub fn examine(&mut self, count: u64) {
        self.examined += count;
    }

    /// Wakes the actor itself at `at`. The wake-up cannot be stopped, so it costs less than a
    /// timer.
    pub fn wake(&mut self, at: Time, timer: impl Into<Timer>) {
        self.effects.push(Effect::Wake { at, timer: timer.into() });
    }

    /// Sets a timer, which is identified by its name and ids. It goes off once, at the time of the
    /// last setting. Within that instant it has the place of the first message that set it to that
    /// time.
    pub fn set(&mut self, at: Time, timer: impl Into<Timer>) {
        self.effects.push(Effect::Set { at, timer: timer.into() });
    }

    /// Stops a timer, if it is set.
    pub fn stop(&mut self, timer: impl Into<Timer>) {
        self.effects.push(Effect::Stop { timer: timer.into() });
    }
}

impl Outbox {
    /// Records that the message of `from` is not expected now. The message changes nothing.
    pub fn refuse(&mut self, from: ActorId) {
        self.observe(Observation::MessageRefused { from });
    }
}

/// Any of the actors of a run; a match is cheaper than a pointer to a method.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum AnyActor {
    /// Submits jobs.
    User(Box<User>),
    /// Owns processors.
    Provider(Box<Provider>),
    /// Places jobs.
    Metascheduler(Box<Metascheduler>),
    /// Places bags of tasks by bargaining.
    Negotiator(Box<Negotiator>),
    /// Spreads rigid jobs over providers.
    Coallocator(Box<Coallocator>),
    /// Gets parts of rigid jobs by a protocol of the scenario's choice.
    Transactor(Box<Transactor>),
    /// Keeps votes and decisions for the coordinators of transactions.
    Acceptor(Box<Acceptor>),
    /// Places moldable jobs, and moves those that wait.
    Reallocator(Box<Reallocator>),
    /// Plans and runs applications of many phases on its machines.
    Cluster(Box<Cluster>),
    /// Reschedules applications of many phases over clusters.
    Rescheduler(Box<Rescheduler>),
    /// Notifies clusters of their loads.
    ResourceUpdates(Box<ResourceUpdates>),
    /// Makes processors fail.
    Nature(Nature),
    /// Computes jobs of a grid.
    GridResource(Box<GridResource>),
    /// Sends jobs of a grid to resources.
    Dispatcher(Box<Dispatcher>),
    /// Notifies the dispatcher of the state of resources.
    InformationService(Box<InformationService>),
    /// Keeps checkpoints.
    CheckpointServer(CheckpointServer),
    /// Moves data.
    DataNetwork(Box<DataNetwork>),
    /// Keeps outputs.
    Storage(Box<Storage>),
    /// An actor defined outside this crate.
    Other(Box<dyn OtherActor>),
}

/// An actor defined outside this crate: it exchanges [`Message`]s, and wakes itself with
/// [`Timer::Other`]. A snapshot of a run contains its state, by the name of its type.
#[typetag::serde]
pub trait OtherActor: Actor<Message = Message> + DynClone + fmt::Debug + Send {
    /// Its knowledge, for a viewer; nothing by default.
    fn glimpse(&self, _now: Time) -> Glimpse {
        Glimpse::default()
    }
}

dyn_clone::clone_trait_object!(OtherActor);

impl AnyActor {
    /// True if others may wait for it to restart after a crash, even if no job is left.
    pub fn is_bound(&self) -> bool {
        match self {
            AnyActor::Transactor(_) | AnyActor::Acceptor(_) => true,
            AnyActor::Provider(provider) => provider.transacts() || provider.repeats(),
            AnyActor::Negotiator(negotiator) => negotiator.repeats(),
            AnyActor::Coallocator(coallocator) => coallocator.repeats(),
            _ => false,
        }
    }

    /// True if it has something to record at the end of the run, see
    /// [`RunMessage::RunOver`](crate::RunMessage::RunOver).
    pub fn keeps_accounts(&self) -> bool {
        match self {
            AnyActor::GridResource(_)
            | AnyActor::Dispatcher(_)
            | AnyActor::Storage(_)
            | AnyActor::Other(_) => true,
            AnyActor::Provider(provider) => provider.has_maintenance(),
            _ => false,
        }
    }
}

impl Actor for AnyActor {
    type Message = Message;

    #[inline] // once a message, which would be moved once more
    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        match self {
            AnyActor::User(user) => user.on_message(now, from, message, out),
            AnyActor::Provider(provider) => provider.on_message(now, from, message, out),
            AnyActor::Metascheduler(metascheduler) => {
                metascheduler.on_message(now, from, message, out);
            }
            AnyActor::Negotiator(negotiator) => negotiator.on_message(now, from, message, out),
            AnyActor::Coallocator(coallocator) => coallocator.on_message(now, from, message, out),
            AnyActor::Transactor(transactor) => transactor.on_message(now, from, message, out),
            AnyActor::Acceptor(acceptor) => acceptor.on_message(now, from, message, out),
            AnyActor::Reallocator(reallocator) => reallocator.on_message(now, from, message, out),
            AnyActor::Cluster(cluster) => cluster.on_message(now, from, message, out),
            AnyActor::Rescheduler(rescheduler) => rescheduler.on_message(now, from, message, out),
            AnyActor::ResourceUpdates(updates) => updates.on_message(now, from, message, out),
            AnyActor::Nature(nature) => nature.on_message(now, from, message, out),
            AnyActor::GridResource(resource) => resource.on_message(now, from, message, out),
            AnyActor::Dispatcher(dispatcher) => dispatcher.on_message(now, from, message, out),
            AnyActor::InformationService(service) => service.on_message(now, from, message, out),
            AnyActor::CheckpointServer(server) => server.on_message(now, from, message, out),
            AnyActor::DataNetwork(network) => network.on_message(now, from, message, out),
            AnyActor::Storage(storage) => storage.on_message(now, from, message, out),
            AnyActor::Other(other) => other.on_message(now, from, message, out),
        }
    }
}
