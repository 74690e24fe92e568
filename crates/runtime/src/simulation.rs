//! A run, message by message.

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::AtomicBool;

use haggle_agents::glimpse::Census;
use haggle_agents::{AnyActor, Glimpse, Message, Outbox, RunMessage};
use haggle_model::{ActorId, JobId, Time, shared};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::change::{Change, ChangeError};
use crate::clock::Delivery;
use crate::course::{Cause, Course, Observers};
use crate::driver::{Actors, Driver};
use crate::error::RunError;
use crate::recovery::Journals;
use crate::sink::Sink;
use crate::world::World;

/// Counts of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunStats {
    /// Jobs that arrived from the workloads.
    pub jobs: u64,
    /// True if more jobs would have arrived when the run was stopped.
    pub cut_off: bool,
    /// Arrived jobs that are over; at the end of a run, all of them are.
    pub jobs_over: u64,
    /// Messages delivered, wake-ups included.
    pub messages: u64,
    /// Messages that never arrived.
    pub lost: u64,
    /// Messages that were duplicated on their way.
    pub doubled: u64,
    /// Number of repeated transmissions.
    pub resent: u64,
    /// Messages that their receivers refused as unexpected, without any change.
    pub refused: u64,
    /// The instant of the last message, or the end of a run that is over.
    pub end: Time,
}

/// One delivered message; all its effects have been carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Time of the delivery.
    pub time: Time,
    /// Sender of the message.
    pub from: ActorId,
    /// Receiver of the message.
    pub to: ActorId,
    /// Kind of the message, in the word of the table of messages.
    pub kind: &'static str,
    /// Job of the message, if any.
    pub job: Option<JobId>,
}

/// The state of a run between two messages, as plain data.
#[derive(Clone, Debug)]
pub struct Snapshot {
    course: Course,
    /// `None` = the actor has handled its last message and was dropped.
    actors: Vec<Option<AnyActor>>,
    journals: Journals,
}

/// A [`Snapshot`] that is written where it is.
#[derive(Serialize)]
#[serde(rename = "Snapshot")]
struct Written<'a> {
    course: &'a Course,
    actors: &'a [Option<AnyActor>],
    journals: &'a Journals,
}

/// A [`Snapshot`] that is read.
#[derive(Deserialize)]
#[serde(rename = "Snapshot")]
struct Read {
    course: Course,
    actors: Vec<Option<AnyActor>>,
    journals: Journals,
}

/// Values that actors share, such as workflows, are written once.
impl Serialize for Snapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Snapshot { course, actors, journals } = self;
        shared::once(|| Written { course, actors, journals }.serialize(serializer))
    }
}

impl<'de> Deserialize<'de> for Snapshot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Snapshot, D::Error> {
        let Read { course, actors, journals } = shared::once(|| Read::deserialize(deserializer))?;
        Ok(Snapshot { course, actors, journals })
    }
}

impl Snapshot {
    /// The snapshot as bytes, which only this build reads. `None` = an actor of another program cannot be written.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        postcard::to_stdvec(self).ok()
    }

    /// The snapshot that was written as these bytes; `None` = it is one of another build.
    pub fn from_bytes(bytes: &[u8]) -> Option<Snapshot> {
        postcard::from_bytes(bytes).ok()
    }

    /// The counts of the run so far.
    pub fn stats(&self) -> RunStats {
        self.course.stats()
    }
}

/// A snapshot cannot go on in this world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the snapshot is of another world: its jobs, failures, crashes or actors are others")]
pub struct OtherWorld;

/// A run of a world.
///
/// ```
/// use haggle_runtime::{Driver, Simulation, World};
/// let mut simulation = Simulation::new(World::default(), Driver::Sequential)?;
/// assert_eq!(simulation.step()?, None, "nobody is there");
/// # Ok::<(), haggle_runtime::RunError>(())
/// ```
pub struct Simulation<'a> {
    course: Course,
    actors: Actors,
    journals: Journals,
    /// Changes that have not taken effect, in order of their instants.
    changes: VecDeque<Change>,
    observers: Observers<'a>,
    out: Outbox,
}

impl<'a> Simulation<'a> {
    /// `world` at time zero, before its first message.
    ///
    /// # Errors
    /// If the first job of a workload cannot be read.
    pub fn new(mut world: World, driver: Driver) -> Result<Simulation<'a>, RunError> {
        let journals = Journals::new(std::mem::take(&mut world.blueprints));
        let changes = std::mem::take(&mut world.changes).into();
        let (course, actors) = Course::new(world)?;
        let actors = actors.into_iter().map(Some).collect();
        Ok(Simulation::of(course, journals, Actors::new(driver, actors), changes))
    }

    /// The part of `world` with the actors that are `here`, see [`Host`](crate::Host).
    pub(crate) fn part(
        mut world: World,
        here: BTreeSet<ActorId>,
    ) -> Result<Simulation<'a>, RunError> {
        world.blueprints.clear();
        let is_here = |actor: &ActorId| here.contains(actor);
        let kept = Vec::from_iter((0..world.actors.len() as u32).map(|it| is_here(&ActorId(it))));
        let (course, actors) = Course::of(world, Some(here))?;
        let actors = actors.into_iter().zip(kept).map(|(actor, kept)| kept.then_some(actor));
        let actors = Actors::new(Driver::Sequential, actors.collect());
        Ok(Simulation::of(course, Journals::default(), actors, VecDeque::new()))
    }

    fn of(
        course: Course,
        journals: Journals,
        actors: Actors,
        changes: VecDeque<Change>,
    ) -> Simulation<'a> {
        let (observers, out) = (Observers::default(), Outbox::default());
        let mut simulation = Simulation { course, actors, journals, changes, observers, out };
        simulation.expect();
        simulation
    }

    /// The run of `snapshot`, which goes on as the run of which it was made would have. `world` is the world
    /// of that run: its inputs are read again up to their positions. Sinks are not part of a snapshot.
    ///
    /// # Errors
    /// If the inputs of `world` are shorter than those of the run, or of other actors.
    pub fn restore(
        mut world: World,
        driver: Driver,
        snapshot: Snapshot,
    ) -> Result<Simulation<'a>, OtherWorld> {
        let Snapshot { mut course, actors, journals } = snapshot;
        let journals = journals.with(std::mem::take(&mut world.blueprints));
        let changes = world.skip_changes(course.changes());
        if actors.len() != world.actors.len() || !course.reopen(world) {
            return Err(OtherWorld);
        }
        Ok(Simulation::of(course, journals, Actors::new(driver, actors), changes))
    }

    /// A copy of the state between two messages.
    ///
    /// ```
    /// use haggle_runtime::{Driver, Simulation, World};
    /// let mut simulation = Simulation::new(World::default(), Driver::Sequential)?;
    /// simulation.advance(1_000)?;
    /// let snapshot = simulation.snapshot();
    /// let mut other = Simulation::restore(World::default(), Driver::Actix, snapshot)?;
    /// assert_eq!(simulation.run()?, other.run()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn snapshot(&self) -> Snapshot {
        let (course, journals) = (self.course.clone(), self.journals.clone());
        Snapshot { course, actors: self.actors.copy().into_owned(), journals }
    }

    /// As [`Snapshot::to_bytes`], without a copy if the driver is sequential.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        postcard::to_stdvec(self).ok()
    }

    /// Lets `sink` observe everything from now on, after the sinks that observe already.
    pub fn listen(&mut self, sink: impl Sink + 'a) {
        self.observers.sinks.push(Box::new(sink));
    }

    /// Stops with [`RunError::Interrupted`] soon after `flag` is set. After it is cleared, the run can continue.
    pub fn stop_on(&mut self, flag: &'a AtomicBool) {
        self.observers.stop = Some(flag);
    }

    /// The instant of the last message, or the end of a run that is over.
    pub fn now(&self) -> Time {
        self.stats().end
    }

    /// The counts so far.
    pub fn stats(&self) -> RunStats {
        self.course.stats()
    }

    /// Time of the next delivery or, if no message is left, of the end of the run. `None` after the end.
    ///
    /// # Errors
    /// If the run cannot continue, see [`RunError`].
    pub fn peek(&mut self) -> Result<Option<Time>, RunError> {
        loop {
            let next = self.course.next_time()?;
            if next.is_some() || !self.take_change()? {
                return Ok(next);
            }
        }
    }

    /// Delivers the next message; `None` when the run is over. The last messages notify actors of the end.
    ///
    /// # Errors
    /// If the run cannot continue, see [`RunError`].
    pub fn step(&mut self) -> Result<Option<Step>, RunError> {
        self.deliver_next(|time, &Delivery { from, to, ref message, .. }| {
            let (kind, job) = (message.kind(), message.job());
            Step { time, from, to, kind, job }
        })
    }

    /// The knowledge of an actor between two messages, as plain data. `None` if there is no such actor, or if
    /// it was dropped after its last message.
    ///
    /// ```
    /// use haggle_agents::{AnyActor, Nature};
    /// use haggle_model::ActorId;
    /// use haggle_runtime::{Driver, Simulation, World};
    /// let actors = vec![AnyActor::Nature(Nature::new(Vec::new()))];
    /// let simulation = Simulation::new(World { actors, ..World::default() }, Driver::Sequential)?;
    /// assert!(simulation.glimpse(ActorId(0)).is_some_and(|nature| nature.facts.is_empty()));
    /// assert!(simulation.glimpse(ActorId(1)).is_none());
    /// # Ok::<(), haggle_runtime::RunError>(())
    /// ```
    pub fn glimpse(&self, actor: ActorId) -> Option<Glimpse> {
        self.glimpse_at(actor, self.now())
    }

    /// As [`Simulation::glimpse`], as it was at `time`, which is not before the last message to the actor.
    pub fn glimpse_at(&self, actor: ActorId, time: Time) -> Option<Glimpse> {
        self.look(actor, |actor| actor.glimpse(time))
    }

    /// The machine of an actor and the jobs that run there, between two messages; `None` = it has no machine.
    pub fn census(&self, actor: ActorId) -> Option<Census> {
        let now = self.now();
        self.look(actor, |actor| actor.census(now)).flatten()
    }

    /// Passes an actor to `look`; `None` if there is no such actor.
    pub(crate) fn look<T>(&self, actor: ActorId, look: impl FnOnce(&AnyActor) -> T) -> Option<T> {
        self.actors.look(actor, look)
    }

    pub(crate) fn course(&self) -> &Course {
        &self.course
    }

    pub(crate) fn parts_mut(&mut self) -> (&mut Course, &mut Observers<'a>) {
        (&mut self.course, &mut self.observers)
    }

    pub(crate) fn copied_actors(&self) -> Cow<'_, [Option<AnyActor>]> {
        self.actors.copy()
    }

    /// A run that goes on from `snapshot`, and reads no input.
    pub(crate) fn continued(snapshot: Snapshot) -> Simulation<'a> {
        let Snapshot { course, actors, journals } = snapshot;
        Simulation::of(course, journals, Actors::new(Driver::Sequential, actors), VecDeque::new())
    }

    pub(crate) fn course_mut(&mut self) -> &mut Course {
        &mut self.course
    }

    /// Delivers all messages that are due at `time` or before it.
    ///
    /// # Errors
    /// If the run cannot continue, see [`RunError`].
    pub fn step_until(&mut self, time: Time) -> Result<(), RunError> {
        while self.peek()?.is_some_and(|next| next <= time) {
            self.deliver_next(|_, _| ())?;
        }
        Ok(())
    }

    /// Delivers up to `messages` messages. Returns false if the run was over before.
    ///
    /// # Errors
    /// If the run cannot continue, see [`RunError`].
    pub fn advance(&mut self, messages: u64) -> Result<bool, RunError> {
        for _ in 0..messages {
            if self.deliver_next(|_, _| ())?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Delivers up to `messages` messages that are due at `time` or before it. Returns false if no such message
    /// is left.
    ///
    /// # Errors
    /// If the run cannot continue, see [`RunError`].
    pub fn advance_until(&mut self, time: Time, messages: u64) -> Result<bool, RunError> {
        for _ in 0..messages {
            if self.peek()?.is_none_or(|next| next > time) {
                return Ok(false);
            }
            self.deliver_next(|_, _| ())?;
        }
        Ok(true)
    }

    /// Delivers no message at `before` or later: [`Simulation::peek`] returns `None` there. `None` ends the pause.
    pub fn pause(&mut self, before: Option<Time>) {
        self.course.pause(before);
    }

    /// True if jobs are not over, or have not arrived.
    pub fn has_jobs(&self) -> bool {
        self.course.has_jobs()
    }

    /// Changes the world at an instant, beside the changes that the world has from the start.
    ///
    /// # Errors
    /// If the instant is not after the time of the next message, or another change is due then.
    pub fn change(&mut self, change: Change) -> Result<(), ChangeError> {
        let (at, now) = (change.at, self.peek()?.unwrap_or(self.now()));
        if at <= now {
            return Err(ChangeError::TooLate { at, now });
        }
        let place = self.changes.partition_point(|other| other.at < at);
        if self.changes.get(place).is_some_and(|other| other.at == at) {
            return Err(ChangeError::Taken { at });
        }
        self.changes.insert(place, change);
        self.expect();
        Ok(())
    }

    fn expect(&mut self) {
        let brings_jobs = self.changes.iter().any(|change| change.arrivals.is_some());
        self.course.expect(self.changes.front().map(|change| change.at), brings_jobs);
    }

    /// Lets the next change take effect, if it is due. Returns false if none is.
    #[cold]
    fn take_change(&mut self) -> Result<bool, RunError> {
        // A change of a run that is over must not lengthen it.
        if self.course.is_change_due() && self.course.ends_without_jobs() {
            self.changes.clear();
            self.expect();
            return Ok(true);
        }
        let due = self.course.is_change_due().then(|| self.changes.pop_front()).flatten();
        let Some(mut change) = due else { return Ok(false) };
        self.expect();
        let known = self.actors.count();
        for (_, added) in change.actors.extract_if(.., |(actor, _)| actor.index() >= known) {
            self.actors.push(added);
        }
        self.course.change(change)?;
        Ok(true)
    }

    /// Delivers messages until none is left.
    ///
    /// # Errors
    /// If the run does not reach its end, see [`RunError`].
    pub fn run(&mut self) -> Result<RunStats, RunError> {
        while self.deliver_next(|_, _| ())?.is_some() {}
        Ok(self.stats())
    }

    /// Delivers the next message, and returns the result of `note` on it.
    fn deliver_next<T>(
        &mut self,
        note: impl FnOnce(Time, &Delivery<Message>) -> T,
    ) -> Result<Option<T>, RunError> {
        let key = loop {
            match self.course.next(&mut self.observers)? {
                Some(key) => break key,
                None if self.take_change()? => {}
                None => return Ok(None),
            }
        };
        let (now, delivery) = (self.now(), self.course.message(key));
        let (noted, cause) = (note(now, delivery), Cause::from(delivery));
        // Recorded before the delivery: a restarted actor must be rebuilt before it takes this message.
        if let Some(recovered) = self.journals.write(now, delivery) {
            self.actors.replace(delivery.to, recovered);
        }
        // Read before the delivery takes the message.
        let last = matches!(delivery.message, Message::Run(RunMessage::RunOver));
        let to = delivery.to;
        self.actors.deliver(now, self.course.take(key), &mut self.out);
        if last {
            self.actors.dismiss(to);
        }
        // After the actor has returned, so that its effects cannot reach it during the message.
        self.course.carry_out(cause, &mut self.out, &mut self.observers)?;
        Ok(Some(noted))
    }
}

/// As [`Simulation::snapshot`], without a copy if the driver is sequential.
impl Serialize for Simulation<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Simulation { course, journals, .. } = self;
        let actors = &self.actors.copy();
        shared::once(|| Written { course, actors, journals }.serialize(serializer))
    }
}

/// Delivers messages until none is left, or `stop` is raised.
///
/// # Errors
/// If the run does not reach its end, see [`RunError`].
pub fn run(
    world: World,
    driver: Driver,
    sink: &mut dyn Sink,
    stop: &AtomicBool,
) -> Result<RunStats, RunError> {
    let mut simulation = Simulation::new(world, driver)?;
    simulation.listen(sink);
    simulation.stop_on(stop);
    simulation.run()
}
