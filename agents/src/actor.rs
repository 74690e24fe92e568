//! How an actor is driven, and the set of actors there are.

use std::fmt;

use haggle_model::{ActorId, Observation, Time};

use crate::grid::{CheckpointServer, Dispatcher, GridResource, InformationService, Storage};
use crate::planning::{Cluster, Rescheduler, ResourceUpdates};
use crate::{
    Acceptor, Coallocator, DataNetwork, Message, Metascheduler, Nature, Negotiator, Provider,
    Reallocator, Timer, Transactor, User,
};

/// Something that takes messages.
///
/// To drive one: hand it a message with the time and an empty outbox, then
/// carry out the effects in order and file the observations. Nothing else
/// changes an actor.
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

/// What an actor wants to happen.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect<M = Message> {
    /// Deliver `message` to `to`, after the latency between the two.
    Send {
        /// The addressee.
        to: ActorId,
        /// The message.
        message: M,
    },
    /// Wake the actor itself at `at`, whatever else it does until then.
    Wake {
        /// Not before now.
        at: Time,
        /// What for.
        timer: Timer,
    },
    /// Let a timer of the actor go off at `at`, and no longer when it was to go off before.
    Set {
        /// Not before now.
        at: Time,
        /// Which.
        timer: Timer,
    },
    /// Let a timer of the actor not go off.
    Stop {
        /// Which.
        timer: Timer,
    },
}

/// Where an actor puts what it wants to happen, in order.
#[derive(Clone, Debug)]
pub struct Outbox<M = Message> {
    /// Messages and wake-ups.
    pub effects: Vec<Effect<M>>,
    /// Facts for the record.
    pub observations: Vec<Observation>,
    /// How many plans, steps of plans and intervals were examined, which may take far longer than
    /// all messages do.
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

    /// Files an observation.
    pub fn observe(&mut self, observation: Observation) {
        self.observations.push(observation);
    }

    /// Notes that so many plans, steps of plans or intervals were examined.
    pub fn examine(&mut self, count: u64) {
        self.examined += count;
    }

    /// Wakes the actor itself at `at`, once more and for good: for what nobody takes back, which
    /// costs less than a timer that can be stopped.
    pub fn wake(&mut self, at: Time, timer: impl Into<Timer>) {
        self.effects.push(Effect::Wake { at, timer: timer.into() });
    }

    /// Sets a timer, which is known by its name and ids: it goes off once, when it was set to go
    /// off last. Among all that happens at that instant it has the place of the first message
    /// that set it to it.
    pub fn set(&mut self, at: Time, timer: impl Into<Timer>) {
        self.effects.push(Effect::Set { at, timer: timer.into() });
    }

    /// Stops a timer, if it is set.
    pub fn stop(&mut self, timer: impl Into<Timer>) {
        self.effects.push(Effect::Stop { timer: timer.into() });
    }
}

impl Outbox {
    /// Notes that `from` has just said what the actor does not expect of it now. It changes
    /// nothing, and is counted.
    pub fn refuse(&mut self, from: ActorId) {
        self.observe(Observation::MessageRefused { from });
    }
}

/// Any of the actors of a run; a match is cheaper than a pointer to a method.
#[derive(Debug)]
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
    /// Remembers votes and decisions for those who get parts of jobs.
    Acceptor(Box<Acceptor>),
    /// Places moldable jobs, and moves those that wait.
    Reallocator(Box<Reallocator>),
    /// Plans and runs applications of many phases on its machines.
    Cluster(Box<Cluster>),
    /// Reschedules applications of many phases over clusters.
    Rescheduler(Box<Rescheduler>),
    /// Tells clusters of their loads.
    ResourceUpdates(Box<ResourceUpdates>),
    /// Makes processors fail.
    Nature(Nature),
    /// Computes jobs of a grid.
    GridResource(Box<GridResource>),
    /// Sends jobs of a grid to resources.
    Dispatcher(Box<Dispatcher>),
    /// Tells the dispatcher of resources.
    InformationService(Box<InformationService>),
    /// Keeps checkpoints.
    CheckpointServer(CheckpointServer),
    /// Moves data.
    DataNetwork(Box<DataNetwork>),
    /// Keeps outputs.
    Storage(Box<Storage>),
    /// Whatever somebody else makes of it.
    Other(Box<OtherActor>),
}

/// An actor of one's own among those there are: it talks in their messages, and wakes itself
/// with [`Timer::Other`].
pub type OtherActor = dyn Actor<Message = Message> + Send;

impl fmt::Debug for OtherActor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OtherActor")
    }
}

impl AnyActor {
    /// Whether others may wait for it to come back when it has crashed, even if no job is left.
    pub fn is_bound(&self) -> bool {
        match self {
            AnyActor::Transactor(_) | AnyActor::Acceptor(_) => true,
            AnyActor::Provider(provider) => provider.transacts(),
            _ => false,
        }
    }

    /// Whether it has something to file when the run is over, see
    /// [`RunMessage::RunOver`](crate::RunMessage::RunOver).
    pub fn keeps_accounts(&self) -> bool {
        matches!(
            self,
            AnyActor::GridResource(_)
                | AnyActor::Dispatcher(_)
                | AnyActor::Storage(_)
                | AnyActor::Other(_)
        )
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
