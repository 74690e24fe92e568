//! A part of a world that runs on its own: its messages to the other actors leave, and theirs arrive from outside.
//!
//! A live run is a set of hosts, each on a machine with a clock of its own. A host has no clock and no
//! network. Its driver passes on each message that arrives, with the present time, and sends the messages that
//! leave. The same calls give the same messages and observations.
//!
//! # Time
//!
//! Own events of a host (timers, arriving jobs, failures) take place at their exact instants, even if the driver calls
//! later: only the messages that they cause leave later. A message that arrives is delivered after all own events
//! up to the present, and strictly after its own sending. No other message and no event of the past shares its instant.
//! Messages within a part take no time, whatever the network of the world is.
//!
//! All hosts of a world together are therefore a run of the world in which every message takes a certain time. A
//! [`Simulation`] with a network that [replays](crate::Network::replay) these times gives the same events.

use std::collections::BTreeSet;

use haggle_agents::{AnyActor, Glimpse, Message, Provider, RealWork, RunMessage};
use haggle_model::{ActorId, JobId, Span, Time};
use serde::{Deserialize, Serialize};

use crate::clock::Delivery;
use crate::driver::Driver;
use crate::error::RunError;
use crate::network::Network;
use crate::simulation::{OtherWorld, RunStats, Simulation, Snapshot};
use crate::sink::Sink;
use crate::world::World;

/// A message to an actor of another part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Leaving {
    /// Time at which it was sent.
    pub sent: Time,
    /// Its sender.
    pub from: ActorId,
    /// Its receiver.
    pub to: ActorId,
    /// The message.
    pub message: Message,
}

/// Reason why a host does not take a message. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// Its receiver is in another part, or does not exist.
    #[error("{to} is not here")]
    NotHere {
        /// The receiver.
        to: ActorId,
    },
    /// Its sender is here, or does not exist: its messages do not come from outside.
    #[error("{from} is no actor of another part")]
    NotFromOutside {
        /// The sender.
        from: ActorId,
    },
    /// It is a message of the world, of a machine, or of an actor to itself.
    #[error("a message `{kind}` is not sent from one part to another")]
    NotSent {
        /// Kind of the message.
        kind: &'static str,
    },
    /// The time of its sending is not a time of a run.
    #[error("the message was sent at {sent} s, which is no time of a run")]
    NoTime {
        /// Time of its sending.
        sent: Time,
    },
}

/// Some actors of a world, and their clock.
///
/// ```
/// use haggle_model::{ActorId, Time};
/// use haggle_runtime::{Host, World};
/// let mut host = Host::new(World::default(), [ActorId(0)].into())?;
/// host.advance(Time::from_secs(5))?;
/// assert!(host.take_leaving().is_empty(), "nobody is there");
/// # Ok::<(), haggle_runtime::RunError>(())
/// ```
pub struct Host<'a> {
    simulation: Simulation<'a>,
    /// Number of actors of the world.
    actors: u32,
}

impl<'a> Host<'a> {
    /// The part of `world` with the actors that are `here`. Jobs arrive at users that are here, and resources fail if
    /// nature is here: its messages reach resources of this part alone. Crashes and changes of the world are left out.
    ///
    /// # Errors
    /// If the first job of a workload cannot be read.
    pub fn new(world: World, here: BTreeSet<ActorId>) -> Result<Host<'a>, RunError> {
        let actors = world.actors.len() as u32;
        Ok(Host { simulation: Simulation::part(world, here)?, actors })
    }

    /// The host of `snapshot`, which goes on as the host of which it was made. `world` is the world of that host.
    ///
    /// # Errors
    /// If the snapshot is of another world.
    pub fn restore(mut world: World, snapshot: Snapshot) -> Result<Host<'a>, OtherWorld> {
        let actors = world.actors.len() as u32;
        world.changes.clear();
        world.blueprints.clear();
        world.network = Network::default();
        Ok(Host { simulation: Simulation::restore(world, Driver::Sequential, snapshot)?, actors })
    }

    /// A copy of the state between two calls.
    pub fn snapshot(&self) -> Snapshot {
        self.simulation.snapshot()
    }

    /// Lets `sink` observe everything from now on.
    pub fn listen(&mut self, sink: impl Sink + 'a) {
        self.simulation.listen(sink);
    }

    /// The time of the last event.
    pub fn now(&self) -> Time {
        self.simulation.now()
    }

    /// The counts so far.
    pub fn stats(&self) -> RunStats {
        self.simulation.stats()
    }

    /// The knowledge of an actor; `None` if it is not here.
    pub fn glimpse(&self, actor: ActorId) -> Option<Glimpse> {
        self.simulation.glimpse(actor)
    }

    /// True if further jobs arrive at users that are here. The end of a job may be known to another part alone, so
    /// [`Host::stats`] of all parts together tell whether all jobs are over.
    pub fn awaits_jobs(&self) -> bool {
        self.simulation.course().awaits_jobs()
    }

    /// True if the actor is here.
    pub fn is_here(&self, actor: ActorId) -> bool {
        self.simulation.course().is_here(actor) && actor.0 < self.actors
    }

    /// Time of the next own event; `None` if there is none.
    ///
    /// # Errors
    /// If the host cannot continue, see [`RunError`].
    pub fn next_event(&mut self) -> Result<Option<Time>, RunError> {
        self.simulation.pause(Some(Time::FOREVER));
        self.simulation.peek()
    }

    /// Lets all own events up to `present` happen.
    ///
    /// # Errors
    /// If the host cannot continue, see [`RunError`].
    pub fn advance(&mut self, present: Time) -> Result<(), RunError> {
        self.simulation.pause(Some(Time::FOREVER.min(present + Span::TICK)));
        self.simulation.step_until(present)
    }

    /// Delivers a message of another part that arrives at the `present` time. Returns the time of its delivery.
    ///
    /// # Errors
    /// The outer error if the host cannot continue, the inner one if it does not take the message.
    pub fn receive(
        &mut self,
        present: Time,
        message: Leaving,
    ) -> Result<Result<Time, HostError>, RunError> {
        if let Err(error) = self.expects(&message) {
            return Ok(Err(error));
        }
        let Leaving { sent, from, to, message } = message;
        let delivery = Delivery { from, ..Delivery::first(to, message) };
        self.deliver(present.max(sent + Span::TICK), delivery).map(Ok)
    }

    /// Delivers a message at the first instant from `at` on without an event. Returns the instant.
    fn deliver(&mut self, mut at: Time, delivery: Delivery<Message>) -> Result<Time, RunError> {
        loop {
            self.advance(at)?;
            // An event at the very instant has happened: the message comes after it.
            match self.now() < at {
                true => break,
                false => at = self.now() + Span::TICK,
            }
        }
        let phase = delivery.message.phase();
        self.simulation.course_mut().arrive(at, phase, delivery);
        self.advance(at)?;
        Ok(at)
    }

    /// The attempts that a real machine has to run for a provider that is here.
    pub fn real_work(&self, provider: ActorId) -> Vec<RealWork> {
        self.of_provider(provider, Provider::real_work)
    }

    /// The attempt of a job that began at `start` on the real machine of a provider that is here; `None` if it is over.
    pub fn real_attempt(&self, provider: ActorId, job: JobId, start: Time) -> Option<RealWork> {
        self.of_provider(provider, |it| it.real_attempt(job, start))
    }

    /// Number of starts and ends of attempts at a provider that is here. As long as it stays, so does
    /// [`Host::real_work`].
    pub fn real_changes(&self, provider: ActorId) -> u64 {
        self.of_provider(provider, Provider::real_changes)
    }

    fn of_provider<T: Default>(&self, provider: ActorId, get: impl Fn(&Provider) -> T) -> T {
        let get = |actor: &AnyActor| match actor {
            AnyActor::Provider(provider) => get(provider),
            _ => T::default(),
        };
        // An actor of another part is there, too, but never starts anything.
        self.simulation.look(provider, get).unwrap_or_default()
    }

    /// Delivers a message of a real machine to its provider at the `present` time. Returns the time of its delivery.
    ///
    /// # Errors
    /// If the host cannot continue, see [`RunError`].
    pub fn report(
        &mut self,
        present: Time,
        provider: ActorId,
        message: impl Into<Message>,
    ) -> Result<Time, RunError> {
        self.deliver(present, Delivery::first(provider, message.into()))
    }

    fn expects(&self, message: &Leaving) -> Result<(), HostError> {
        let &Leaving { sent, from, to, ref message } = message;
        if !self.is_here(to) {
            return Err(HostError::NotHere { to });
        }
        if self.is_here(from) || from.0 >= self.actors {
            return Err(HostError::NotFromOutside { from });
        }
        // A year before the run at most: a start state begins before time zero.
        let first = Time::ZERO - Span::FOREVER;
        if sent < first || sent >= Time::ZERO + Span::FOREVER {
            return Err(HostError::NoTime { sent });
        }
        match message {
            Message::Run(_) | Message::Resource(_) | Message::Wake(_) => {
                Err(HostError::NotSent { kind: message.kind() })
            }
            _ => Ok(()),
        }
    }

    /// Lets all actors of this part crash: until they restart, only their machines go on.
    ///
    /// # Errors
    /// If the host cannot continue, see [`RunError`].
    pub fn crash(&mut self) -> Result<Time, RunError> {
        self.tell(self.now() + Span::TICK, || RunMessage::Crashed)
    }

    /// Lets all actors of this part restart at the `present` time, after the events of their machines up to then.
    /// Returns the time of the restart.
    ///
    /// # Errors
    /// If the host cannot continue, see [`RunError`].
    pub fn restart(&mut self, present: Time) -> Result<Time, RunError> {
        let at = present.max(self.now() + Span::TICK);
        self.advance(at - Span::TICK)?;
        self.tell(at, || RunMessage::Restarted)
    }

    fn tell(&mut self, at: Time, message: impl Fn() -> RunMessage) -> Result<Time, RunError> {
        for actor in self.schedulers() {
            let message = Message::Run(message());
            let phase = message.phase();
            self.simulation.course_mut().arrive(at, phase, Delivery::first(actor, message));
        }
        self.advance(at)?;
        Ok(at)
    }

    /// The actors that crash with their process. Nature does not.
    fn schedulers(&self) -> Vec<ActorId> {
        let actors = (0..self.actors).map(ActorId);
        let crashes = |actor: &ActorId| {
            let crashes = |it: &AnyActor| !matches!(it, AnyActor::Nature(_));
            self.simulation.look(*actor, crashes).unwrap_or(false)
        };
        actors.filter(crashes).collect()
    }

    /// Takes the messages to other parts, in the order in which they were sent.
    pub fn take_leaving(&mut self) -> Vec<Leaving> {
        self.simulation.course_mut().take_left()
    }

    /// True if there are messages to other parts.
    pub fn has_leaving(&self) -> bool {
        self.simulation.course().has_left()
    }
}
