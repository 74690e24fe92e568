//! The course of a run: the next delivery, its effects, and the end of the run. Everything except the actors.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};

use haggle_agents::protocol::DataMessage;
use haggle_agents::{AnyActor, Effect, Message, Outbox, Phase, RunMessage};
use haggle_model::{ActorId, JobId, JobStories, MessageFault, Observation, Span, Time};
use haggle_workloads::failures::Outage;
use serde::{Deserialize, Serialize};

use crate::agenda::Agenda;
use crate::arrivals::Merged;
use crate::bounds::{Bounds, is_arrival, is_end_of_time, over};
use crate::branching::{crash_of, hash_pending, restart_of, written};
use crate::change::Change;
use crate::clock::{Delivery, MessageKey, Origin};
use crate::down::Down;
use crate::error::RunError;
use crate::host::Leaving;
use crate::input::Input;
use crate::network::{Fate, Hit, Network};
use crate::simulation::RunStats;
use crate::sink::Sink;
use crate::world::{Outages, World};

/// The state of a run around its actors. A copy or a snapshot continues in the same way, after its inputs
/// have been reopened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Course {
    agenda: Agenda,
    /// The next message, taken off the agenda but not delivered yet.
    ahead: Option<MessageKey>,
    arrivals: Merged,
    /// `None` when no outage is left.
    outages: Option<Failures>,
    bounds: Bounds,
    /// True if a resource or an actor has failed for ever.
    gone: bool,
    horizon: Option<Time>,
    /// Instant of the next change; no message at it or later is delivered before the change.
    change_at: Option<Time>,
    /// True if a change to come brings jobs.
    brings_jobs: bool,
    /// No message at this instant or later is delivered while this is set.
    pause: Option<Time>,
    /// Number of changes that have taken effect.
    changes: u32,
    /// The actors in the order in which they receive `RunOver`. The flag is true if the actor keeps
    /// accounts and always receives it.
    last_words: Vec<(ActorId, bool)>,
    /// Actors for which others may wait after a crash.
    bound: BTreeSet<ActorId>,
    ending: Ending,
    network: Network,
    down: Down,
    /// True if the last message had waited for its receiver to restart.
    waited: bool,
    stories: JobStories,
    stats: RunStats,
    /// The jobs that are over.
    over: JobSet,
    /// `None` if all actors are here.
    part: Option<Part>,
}

/// A part of a world. Only another part knows of the end of all jobs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Part {
    /// The actors that are here.
    here: BTreeSet<ActorId>,
    /// Messages to actors of other parts, in the order in which they were sent.
    left: Vec<Leaving>,
}

/// The failures of a run, and their position.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Failures {
    nature: ActorId,
    due: Input<(usize, Outage)>,
}

/// Observers of a run, and the flag that stops it. Neither is part of its state.
#[derive(Default)]
pub(crate) struct Observers<'a> {
    pub(crate) sinks: Vec<Box<dyn Sink + 'a>>,
    pub(crate) stop: Option<&'a AtomicBool>,
}

impl Observers<'_> {
    /// Checked for each message, because one message may take a minute of computing.
    fn stop(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

/// State of the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Ending {
    /// The run continues.
    Not,
    /// Number of actors that have received `RunOver` or need not receive it.
    Told(usize),
    /// It has ended.
    Over,
}

/// The facts about a message that are needed when its effects are carried out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cause {
    actor: ActorId,
    hops: u32,
    /// True if the next job of the workloads is admitted after it.
    arrival: bool,
}

impl From<&Delivery<Message>> for Cause {
    fn from(delivery: &Delivery<Message>) -> Cause {
        let arrival = is_arrival(&delivery.message) && delivery.origin != Origin::Outside;
        Cause { actor: delivery.to, hops: delivery.hops, arrival }
    }
}

impl Course {
    /// The course of `world`, and its actors.
    pub(crate) fn new(world: World) -> Result<(Course, Vec<AnyActor>), RunError> {
        Course::of(world, None)
    }

    /// The course of the part of `world` with the actors that are `here`. The other actors are returned, too.
    pub(crate) fn of(
        mut world: World,
        here: Option<BTreeSet<ActorId>>,
    ) -> Result<(Course, Vec<AnyActor>), RunError> {
        if let Some(here) = &here {
            world.outages = world.outages.filter(|outages| here.contains(&outages.nature));
            world.initial.retain(|(_, to, _)| here.contains(to));
            // A real network takes its place. Within a part, messages take no time and are not lost.
            world.network = Network::default();
            world.network.keep(here.clone());
        }
        let bounds = Bounds::of(&world);
        let World { actors, arrivals, outages, horizon, network, order, initial, .. } = world;
        let arrivals = Merged::new(arrivals, here.clone(), horizon)?;
        let mut agenda = Agenda::new(order, arrivals.begin());
        for (at, to, message) in initial {
            match message {
                // As a wake-up, which goes off without a setting: the actor has set no timer yet.
                Message::Wake(timer) => agenda.wake(at, to, timer, 0),
                message => agenda.schedule(at, message.phase(), Delivery::first(to, message)),
            }
        }
        let mut course = Course {
            agenda,
            ahead: None,
            arrivals,
            outages: outages.map(|Outages { nature, due, .. }| {
                let due = Input::new(due);
                Failures { nature, due }
            }),
            bounds,
            gone: false,
            horizon,
            change_at: None,
            brings_jobs: false,
            pause: None,
            changes: 0,
            last_words: last_words(&actors, here.as_ref()),
            bound: (0..)
                .map(ActorId)
                .zip(&actors)
                .filter(|(_, it)| it.is_bound())
                .map(|it| it.0)
                .collect(),
            ending: Ending::Not,
            network,
            down: Down::default(),
            waited: false,
            stories: JobStories::default(),
            stats: RunStats::default(),
            over: JobSet::default(),
            part: here.map(|here| Part { here, left: Vec::new() }),
        };
        // One of each kind is scheduled at a time; it admits the next one when it is due.
        course.admit_next()?;
        course.admit_outage();
        course.admit_crash();
        Ok((course, actors))
    }

    /// Opens the inputs of `world` at the positions at which the snapshot was made. Returns false if they
    /// are others.
    pub(crate) fn reopen(&mut self, world: World) -> bool {
        let World { arrivals, outages, mut network, .. } = world;
        let failures = match (&mut self.outages, outages) {
            (Some(failures), Some(outages)) => failures.due.reopen(outages.due),
            // All outages have been read.
            (None, _) => true,
            (Some(_), None) => false,
        };
        let crashes = match (self.network.crashes_mut(), network.take_crashes()) {
            (Some(crashes), Some(fresh)) => crashes.reopen(fresh),
            (None, None) => true,
            _ => false,
        };
        failures && crashes && self.arrivals.reopen(arrivals)
    }

    pub(crate) fn stats(&self) -> RunStats {
        self.stats
    }

    /// The instant at which the run stops, if it has one.
    pub(crate) fn horizon(&self) -> Option<Time> {
        self.horizon
    }

    /// True if no further message of an actor is delivered.
    pub(crate) fn is_ending(&self) -> bool {
        self.ending != Ending::Not
    }

    /// Counts a further job, and returns its number.
    pub(crate) fn take_number(&mut self) -> JobId {
        self.stats.jobs += 1;
        self.arrivals.take_number()
    }

    /// Schedules a message.
    pub(crate) fn schedule(&mut self, at: Time, phase: Phase, delivery: Delivery<Message>) {
        self.agenda.schedule(at, phase, delivery);
    }

    /// Schedules a message from another part, which is not before the last one.
    pub(crate) fn arrive(&mut self, at: Time, phase: Phase, delivery: Delivery<Message>) {
        self.put_back_ahead();
        self.schedule(at, phase, delivery);
    }

    /// Puts a message back that was taken off the agenda ahead of its instant, because an earlier one may be
    /// scheduled.
    pub(crate) fn put_back_ahead(&mut self) {
        if self.agenda.now() > self.stats.end {
            self.ahead.take().into_iter().for_each(|key| self.agenda.put_back(key));
            self.agenda.go_back(self.stats.end);
        }
    }

    /// The present instant.
    pub(crate) fn now(&self) -> Time {
        self.agenda.now()
    }

    /// The next message, if it was taken off the agenda.
    pub(crate) fn ahead(&self) -> Option<MessageKey> {
        self.ahead
    }

    /// Takes the next message, if it was taken off the agenda.
    pub(crate) fn take_ahead(&mut self) -> Option<MessageKey> {
        self.ahead.take()
    }

    /// True if the next message had waited for its receiver to restart.
    pub(crate) fn has_waited(&self) -> bool {
        self.waited
    }

    /// True if an actor has crashed and not restarted.
    pub(crate) fn is_down(&self, actor: ActorId) -> bool {
        self.down.is_down(actor)
    }

    pub(crate) fn network(&self) -> &Network {
        &self.network
    }

    /// True if no input has further items.
    pub(crate) fn has_read_all(&self) -> bool {
        let crashes = self.network.crashes_ref();
        let has_inputs = self.outages.is_some() || crashes.is_some() || self.change_at.is_some();
        !has_inputs && self.arrivals.has_read_all()
    }

    /// Counts a message that is lost when it would arrive.
    pub(crate) fn count_lost(&mut self) {
        self.stats.lost += 1;
    }

    /// True if another message may come before the next one, in its phase and instant.
    pub(crate) fn has_rivals(&self, key: MessageKey) -> bool {
        let delivery = self.agenda.message(key);
        let is_rival =
            |other: &Delivery<Message>| (other.from, other.to) != (delivery.from, delivery.to);
        self.agenda.any_due(delivery.message.phase(), is_rival)
    }

    /// Delays the next message, which was taken off the agenda.
    pub(crate) fn defer(&mut self, key: MessageKey) {
        let &Delivery { from, to, .. } = self.agenda.message(key);
        let keeps_order = self.network.keeps_order();
        self.agenda.defer(key, |other| keeps_order && (other.from, other.to) == (from, to));
    }

    /// Puts the next message back, which was taken off the agenda.
    pub(crate) fn put_back(&mut self, key: MessageKey) {
        self.agenda.put_back(key);
    }

    /// Lets an actor crash now, ahead of all messages, and restart after `down`.
    pub(crate) fn crash_ahead(&mut self, actor: ActorId, down: Span) {
        self.down.lose(actor);
        self.ahead = Some(self.agenda.keep(crash_of(actor)));
        let restart = restart_of(actor);
        self.agenda.schedule(self.agenda.now() + down, restart.message.phase(), restart);
    }

    /// Hashes the state, without counts of messages and the order of messages to different receivers.
    pub(crate) fn hash_state(&self, hasher: &mut impl Hasher) {
        let stats = self.stats;
        (self.agenda.now(), stats.jobs, stats.jobs_over, self.gone, self.waited).hash(hasher);
        (self.arrivals.count(), &self.over.0).hash(hasher);
        let ahead = self.ahead.map(|key| ((self.agenda.now(), 0, 0), self.agenda.message(key)));
        hash_pending(self.agenda.pending().into_iter().chain(ahead).collect(), hasher);
        self.down.hash_state(|key| self.agenda.message(key), hasher);
        written(&self.network).hash(hasher);
    }

    /// Time of the next delivery, or of the end of the run.
    pub(crate) fn next_time(&mut self) -> Result<Option<Time>, RunError> {
        match self.ending {
            Ending::Not if self.ahead.is_none() => self.ahead = self.next_due()?,
            Ending::Not | Ending::Told(_) => {}
            Ending::Over => return Ok(None),
        }
        Ok(match self.ahead {
            Some(_) => Some(self.agenda.now()),
            None if self.held().is_some() => None,
            None => Some(self.end()),
        })
    }

    /// Expects a change at this instant. A run without jobs goes on until then if a change brings jobs.
    pub(crate) fn expect(&mut self, change_at: Option<Time>, brings_jobs: bool) {
        (self.change_at, self.brings_jobs) = (change_at, brings_jobs);
    }

    /// Delivers no message at `before` or later, until this is set anew.
    pub(crate) fn pause(&mut self, before: Option<Time>) {
        self.pause = before;
    }

    /// True if jobs are not over, or have not arrived.
    pub(crate) fn has_jobs(&self) -> bool {
        self.jobs_left() > 0 || !self.arrivals.is_over()
    }

    /// True if jobs of the workloads have not arrived.
    pub(crate) fn awaits_jobs(&self) -> bool {
        !self.arrivals.is_over()
    }

    /// Instant before which no message is left, at which the run waits for a change or for the end of its pause.
    fn held(&self) -> Option<Time> {
        let hold = self.change_at.into_iter().chain(self.pause).min();
        let before_end = |hold: &Time| self.horizon.is_none_or(|horizon| *hold <= horizon);
        hold.filter(|hold| self.ending == Ending::Not && before_end(hold))
    }

    /// True if a change is due: the run can deliver no message before it.
    pub(crate) fn is_change_due(&self) -> bool {
        self.held().is_some_and(|held| self.change_at == Some(held))
            && self.pause.is_none_or(|pause| Some(pause) > self.change_at)
    }

    /// True if only jobs keep the run going, and none are left or expected.
    pub(crate) fn ends_without_jobs(&self) -> bool {
        self.horizon.is_none() && !self.has_jobs() && !self.brings_jobs
    }

    /// The last instant of which messages may be delivered.
    fn until(&self) -> Option<Time> {
        let hold = self.change_at.into_iter().chain(self.pause).map(|hold| hold - Span::TICK);
        self.horizon.into_iter().chain(hold).min()
    }

    /// Number of changes that have taken effect.
    pub(crate) fn changes(&self) -> u32 {
        self.changes
    }

    /// Takes over a change. All messages before its instant must have been delivered.
    pub(crate) fn change(&mut self, change: Change) -> Result<(), RunError> {
        let Change { at, actors, reseeded, horizon, network, arrivals, outages } = change;
        self.horizon = horizon;
        self.changes += 1;
        self.network.change(network, reseeded);
        self.bounds.change(horizon, outages.as_ref().map(|outages| outages.resources));
        for (actor, anew) in &actors {
            self.end_with(*actor, anew);
        }
        for (to, message) in Change::settings(actors, reseeded) {
            self.agenda.schedule(at, message.phase(), Delivery::first(to, message));
        }
        // The next job and the next outage are scheduled ahead, so they are withdrawn first.
        if let Some(arrivals) = arrivals {
            // Messages from outside belong to no input.
            let withdrawn = self.agenda.withdraw(|delivery| {
                is_arrival(&delivery.message) && delivery.origin != Origin::Outside
            });
            self.stats.jobs -= withdrawn as u64;
            self.arrivals.replace(arrivals, horizon)?;
            self.admit_next()?;
        }
        if let Some(Outages { nature, due, .. }) = outages {
            let is_outage = |delivery: &Delivery<Message>| {
                delivery.origin != Origin::Outside
                    && matches!(delivery.message, Message::Run(RunMessage::OutageDue { .. }))
            };
            self.agenda.withdraw(is_outage);
            self.outages = Some(Failures { nature, due: Input::new(due) });
            self.admit_outage();
        }
        Ok(())
    }

    /// Notes whether an actor that changes or is added must be notified of the end.
    fn end_with(&mut self, actor: ActorId, anew: &AnyActor) {
        let known = self.last_words.iter_mut().find(|(it, _)| *it == actor);
        match known {
            Some((_, keeps_accounts)) => *keeps_accounts |= anew.keeps_accounts(),
            // Users are last, and no user is added.
            None => self.last_words.insert(0, (actor, anew.keeps_accounts())),
        }
    }

    /// A message that has not been taken yet.
    pub(crate) fn message(&self, key: MessageKey) -> &Delivery<Message> {
        self.agenda.message(key)
    }

    /// Takes a message for delivery.
    pub(crate) fn take(&mut self, key: MessageKey) -> Delivery<Message> {
        self.agenda.take(key)
    }

    /// The next message to deliver, already recorded; `None` when the run is over.
    pub(crate) fn next(
        &mut self,
        observers: &mut Observers<'_>,
    ) -> Result<Option<MessageKey>, RunError> {
        if self.ending != Ending::Not {
            return self.tell_next(observers);
        }
        let next = match self.ahead.take() {
            Some(key) => Some(key),
            None => self.next_due()?,
        };
        let Some(key) = next else {
            if self.held().is_some() {
                return Ok(None);
            }
            self.close();
            return self.tell_next(observers);
        };
        if observers.stop() {
            // Kept, so that the run can continue later.
            self.ahead = Some(key);
            return Err(RunError::Interrupted);
        }
        self.note_change(key)?;
        let now = self.agenda.now();
        self.stats.messages += 1;
        self.stats.end = now;
        let jobs_left = self.jobs_left();
        let delivery = self.agenda.message(key);
        // Before the sinks: a message at which the run is given up is in no record.
        self.bounds.count_message(now, delivery, jobs_left)?;
        for sink in &mut observers.sinks {
            sink.delivered(now, delivery.from, delivery.to, &delivery.message)
                .map_err(RunError::Record)?;
        }
        Ok(Some(key))
    }

    fn jobs_left(&self) -> u64 {
        // An actor of another program may report a job twice, which the checks of a run find.
        self.stats.jobs.saturating_sub(self.stats.jobs_over)
    }

    /// End of the run if no message is due any more.
    fn end(&self) -> Time {
        self.horizon.unwrap_or(self.stats.end)
    }

    fn next_due(&mut self) -> Result<Option<MessageKey>, RunError> {
        // Messages that waited for a restart come before all others of the instant.
        if let Some(key) = self.next_released() {
            return Ok(Some(key));
        }
        loop {
            let Some(key) = self.agenda.next(self.until()) else { return Ok(None) };
            let jobs = self.jobs_left();
            let has_jobs = self.has_jobs() || self.brings_jobs || self.part.is_some();
            if is_end_of_time(self.agenda.now()) && has_jobs {
                return Err(RunError::EndOfTime { jobs });
            }
            // The cheap test first, because this is examined for every message.
            if self.bounds.are_all_stuck(jobs) && self.makes_no_progress() {
                return Ok(None);
            }
            let delivery = self.agenda.message(key);
            let recurs = delivery.message.recurs();
            // Recurring messages never end. Without remaining jobs and without a horizon, they are dropped.
            if recurs && !has_jobs && self.horizon.is_none() && !self.comes_back(delivery) {
                self.agenda.take(key);
                continue;
            }
            // A search of histories has let the receiver crash.
            if self.is_lost_at(delivery) {
                self.stats.lost += 1;
                self.agenda.take(key);
                continue;
            }
            if self.down.keeps(key, delivery) {
                let arrives = is_arrival(&delivery.message) && delivery.origin != Origin::Outside;
                self.agenda.hold(key);
                // The next arrival is admitted now: the receiver's restart must not delay later jobs.
                if arrives {
                    self.admit_next()?;
                }
                continue;
            }
            return Ok(Some(key));
        }
    }

    #[inline]
    fn is_lost_at(&self, delivery: &Delivery<Message>) -> bool {
        let &Delivery { from, to, ref message, .. } = delivery;
        self.down.loses(to) && !message.reaches_who_is_down() && self.network.may_lose(from, to)
    }

    /// Takes account of a failure, crash or restart that is delivered now.
    fn note_change(&mut self, key: MessageKey) -> Result<(), RunError> {
        let &Delivery { to, origin, ref message, .. } = self.agenda.message(key);
        let Message::Run(message) = message else { return Ok(()) };
        let (now, jobs) = (self.agenda.now(), self.jobs_left());
        match *message {
            RunMessage::OutageDue { restore, .. } => {
                // Set when the outage happens, because the run may end before a drawn one.
                self.gone |= restore == Time::FOREVER;
                self.bounds.count_outage(now, jobs)?;
                if origin != Origin::Outside {
                    self.admit_outage();
                }
            }
            RunMessage::Crashed => {
                self.bounds.count_outage(now, jobs)?;
                self.down.crash(to);
                self.admit_crash();
            }
            RunMessage::Restarted => self.down.restart(to),
            RunMessage::JobDue(_)
            | RunMessage::RunOver
            | RunMessage::Changed(_)
            | RunMessage::WorkOver { .. } => {}
        }
        Ok(())
    }

    /// The next message that waited for a restarted actor and is still valid.
    #[inline]
    fn next_released(&mut self) -> Option<MessageKey> {
        self.waited = false;
        while let Some(key) = self.down.take_released() {
            if self.agenda.holds(key) {
                self.waited = true;
                return Some(key);
            }
            self.agenda.take(key);
        }
        None
    }

    /// True if the message restarts an actor for which others may wait. The same holds for an actor that a search of
    /// histories let crash, since a history is judged when all of its actors are up.
    fn comes_back(&self, delivery: &Delivery<Message>) -> bool {
        let to = delivery.to;
        matches!(delivery.message, Message::Run(RunMessage::Restarted))
            && self.down.is_down(to)
            && (self.bound.contains(&to) || self.down.loses(to))
    }

    /// True if only recurring events such as scheduling rounds are left, and nothing can change any
    /// more. False in the instant in which a job ends, because other actors may still be notified of
    /// it.
    #[cold]
    fn makes_no_progress(&self) -> bool {
        let may_change = self.horizon.is_some() || self.outages.is_some() || self.brings_jobs;
        let may_change = may_change || self.part.is_some();
        !may_change && self.arrivals.is_over() && self.agenda.now() > self.stats.end
    }

    /// Stops the delivery of scheduled messages. If jobs are left, the actors that hold them must
    /// report them. Jobs are left if the horizon is reached, or if a resource that they need has failed
    /// for ever.
    fn close(&mut self) {
        let end = self.end();
        let on_their_way = self.agenda.stop(end);
        let arrivals = on_their_way.iter().filter(|delivery| is_arrival(&delivery.message));
        let not_arrived = arrivals.count() as u64;
        // A job that is admitted but has not arrived at its user belongs to no record.
        self.stats.jobs -= not_arrived;
        self.stats.cut_off = not_arrived > 0 || !self.arrivals.is_over();
        self.stats.end = end;
        self.ending = Ending::Told(0);
        self.outages = None;
        // Arrivals that are released now must not admit further jobs.
        self.waited = true;
        // Data that have arrived count, even if their receiver was down and not notified.
        let counts = |message: &Message| {
            is_arrival(message) || matches!(message, Message::Data(DataMessage::Transferred { .. }))
        };
        self.down.close(|key| counts(&self.agenda.message(key).message));
    }

    fn tell_next(&mut self, observers: &mut Observers<'_>) -> Result<Option<MessageKey>, RunError> {
        let Ending::Told(told) = &mut self.ending else { return Ok(None) };
        if let Some(key) = self.down.take_released() {
            return Ok(Some(key));
        }
        // Only a horizon or a failure for ever may leave jobs unfinished. Anything else is a bug and
        // must stay visible.
        let may_be_left = self.horizon.is_some() || self.gone;
        let jobs_left = self.stats.jobs > self.stats.jobs_over;
        while let Some(&(to, keeps_accounts)) = self.last_words.get(*told) {
            // Before the message is returned, so that the next call goes on with the next actor.
            *told += 1;
            if keeps_accounts || may_be_left && jobs_left {
                let message = Message::Run(RunMessage::RunOver);
                return Ok(Some(self.agenda.keep(Delivery::first(to, message))));
            }
        }
        // Before the sinks, whose error must not repeat the last messages.
        self.ending = Ending::Over;
        let stats = self.stats;
        let mut sinks = observers.sinks.iter_mut();
        sinks.try_for_each(|sink| sink.over(&stats)).map_err(RunError::Record)?;
        Ok(None)
    }

    fn observe(
        &mut self,
        actor: ActorId,
        observation: &mut Observation,
        observers: &mut Observers<'_>,
    ) -> Result<(), RunError> {
        if let Some(job) = over(observation) {
            // At the end, users report all jobs on their desks as unfinished. If another actor has
            // reported a job before, this report is dropped.
            if !self.over.insert(job) && self.ending != Ending::Not {
                return Ok(());
            }
            self.stats.jobs_over += 1;
        }
        self.stats.refused += u64::from(matches!(observation, Observation::MessageRefused { .. }));
        self.bounds.observe(observation);
        self.stories.complete(observation);
        let now = self.agenda.now();
        for sink in &mut observers.sinks {
            sink.observed(now, actor, observation).map_err(RunError::Record)?;
        }
        Ok(())
    }

    /// Carries out the effects that an actor put into its outbox on `cause`.
    pub(crate) fn carry_out(
        &mut self,
        cause: Cause,
        out: &mut Outbox,
        observers: &mut Observers<'_>,
    ) -> Result<(), RunError> {
        let Cause { actor, hops, arrival } = cause;
        // Messages that this one causes are one further in the chain of the instant.
        let hops = hops + 1;
        let now = self.agenda.now();
        if self.ending != Ending::Not {
            // After the end, only observations count: messages of actors are no longer delivered.
            out.effects.clear();
        }
        for effect in out.effects.drain(..) {
            let (to, message) = match effect {
                Effect::Send { to, message } => (to, message),
                Effect::Wake { at, timer } => {
                    self.agenda.wake(at, actor, timer, hops);
                    continue;
                }
                Effect::Set { at, timer } => {
                    self.agenda.set(at, actor, timer, hops);
                    continue;
                }
                Effect::Stop { timer } => {
                    self.agenda.unset(actor, timer);
                    continue;
                }
            };
            let phase = message.phase();
            let delivery = Delivery { from: actor, to, hops, origin: Origin::Run, message };
            // Events of resources do not use the network.
            let fate = match phase {
                // Nature is in every part, so the part of the resource has the same event.
                Phase::Resource if !self.is_here(to) => continue,
                Phase::Resource => Fate::Arrives(now),
                _ => self.network.fate(now, actor, to),
            };
            match fate {
                Fate::Arrives(at) => self.agenda.schedule(at, phase, delivery),
                Fate::Leaves => self.leave(delivery),
                Fate::Hit(hit) => self.go_wrong(*hit, delivery, observers)?,
            }
        }
        let examined = std::mem::take(&mut out.examined);
        // Most messages cause no observation.
        if !out.observations.is_empty() {
            for mut observation in out.observations.drain(..) {
                self.observe(actor, &mut observation, observers)?;
                // After the sinks, because the story of a job takes the observation over.
                self.stories.keep(observation);
            }
        }
        if examined > 0 {
            self.bounds.count_examined(now, examined, self.jobs_left())?;
        }
        // If this arrival waited for a restart, the next job has been admitted already.
        if arrival && !self.waited {
            self.admit_next()?;
        }
        Ok(())
    }

    /// Keeps a message until it is taken to another part.
    #[cold]
    fn leave(&mut self, delivery: Delivery<Message>) {
        let (sent, Delivery { from, to, message, .. }) = (self.agenda.now(), delivery);
        let part = self.part.get_or_insert_default();
        part.left.push(Leaving { sent, from, to, message });
    }

    /// Takes the messages to other parts.
    pub(crate) fn take_left(&mut self) -> Vec<Leaving> {
        self.part.as_mut().map(|part| std::mem::take(&mut part.left)).unwrap_or_default()
    }

    /// True if there is a message to another part.
    pub(crate) fn has_left(&self) -> bool {
        self.part.as_ref().is_some_and(|part| !part.left.is_empty())
    }

    /// True if the actor is not in another part.
    pub(crate) fn is_here(&self, actor: ActorId) -> bool {
        self.part.as_ref().is_none_or(|part| part.here.contains(&actor))
    }

    /// Records the faults of a message, which may still arrive.
    #[cold]
    fn go_wrong(
        &mut self,
        hit: Hit,
        delivery: Delivery<Message>,
        observers: &mut Observers<'_>,
    ) -> Result<(), RunError> {
        let (now, Delivery { from, to, message, .. }) = (self.agenda.now(), &delivery);
        for &(fault, resent) in &hit.faults {
            for sink in &mut observers.sinks {
                sink.fault(now, *from, *to, message, fault, resent).map_err(RunError::Record)?;
            }
            self.stats.resent += resent;
            self.stats.doubled += u64::from(fault == MessageFault::Doubled);
        }
        // With a reliable transport a message may have faults and still arrive.
        self.stats.lost += u64::from(hit.arrivals.is_empty());
        let phase = message.phase();
        for at in hit.arrivals {
            self.agenda.schedule(at, phase, delivery.clone());
        }
        Ok(())
    }

    /// Schedules the next outage for nature.
    fn admit_outage(&mut self) {
        let Some(outages) = &mut self.outages else { return };
        let Some((resource, Outage { fail, restore })) = outages.due.next() else {
            self.outages = None;
            return;
        };
        let (nature, resource) = (outages.nature, resource as u32);
        let message = Message::Run(RunMessage::OutageDue { resource, restore });
        let delivery = Delivery::first(nature, message);
        self.agenda.schedule(fail, Phase::Resource, delivery);
    }

    /// Schedules the next crash of an actor, and the restart after it.
    fn admit_crash(&mut self) {
        let Some(crashes) = self.network.crashes_mut() else { return };
        let Some((to, Outage { fail, restore })) = crashes.take_next(self.agenda.now()) else {
            return;
        };
        let delivery = |message| Delivery::first(to, Message::Run(message));
        self.agenda.schedule(fail, Phase::Resource, delivery(RunMessage::Crashed));
        match restore {
            Time::FOREVER => self.gone = true,
            _ => self.agenda.schedule(restore, Phase::Recovery, delivery(RunMessage::Restarted)),
        }
    }

    /// Schedules the arrival of the next job of the workloads at its user.
    fn admit_next(&mut self) -> Result<(), RunError> {
        if let Some((user, job)) = self.arrivals.take_next()? {
            self.stats.jobs += 1;
            let (at, message) = (job.submit, Message::Run(RunMessage::JobDue(job)));
            let delivery = Delivery::first(user, message);
            self.agenda.schedule(at, Phase::Submission, delivery);
        }
        Ok(())
    }
}

/// The actors in the order in which they receive `RunOver`, each with whether it keeps accounts. Users
/// are last, because other actors report more about the jobs that they hold.
fn last_words(actors: &[AnyActor], here: Option<&BTreeSet<ActorId>>) -> Vec<(ActorId, bool)> {
    let here = |actor| here.is_none_or(|here| here.contains(&actor));
    let told = (0..).map(ActorId).zip(actors).filter(|it| here(it.0)).map(|(number, actor)| {
        let is_user = matches!(actor, AnyActor::User(_));
        (is_user, number, actor.keeps_accounts())
    });
    let mut told = Vec::from_iter(told);
    told.sort_by_key(|&(is_user, actor, _)| (is_user, actor));
    told.into_iter().map(|(_, actor, keeps_accounts)| (actor, keeps_accounts)).collect()
}

/// A set of jobs with one bit each.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct JobSet(Vec<u64>);

impl JobSet {
    /// Adds a job. Returns false if it was in the set already.
    fn insert(&mut self, job: JobId) -> bool {
        let (word, bit) = (job.0 as usize / 64, 1 << (job.0 % 64));
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        let is_new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        is_new
    }
}
