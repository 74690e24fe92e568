//! The course of a run: what is delivered next, what comes of it, and when it ends. Everything
//! but the actors.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use haggle_agents::protocol::DataMessage;
use haggle_agents::{AnyActor, Effect, Message, Outbox, Phase, RunMessage};
use haggle_model::failures::Outage;
use haggle_model::{ActorId, JobId, JobStories, MessageFault, Observation, Time};

use crate::agenda::Agenda;
use crate::arrivals::Merged;
use crate::bounds::{Bounds, is_arrival, is_end_of_time, over};
use crate::clock::{Delivery, MessageKey};
use crate::down::Down;
use crate::error::RunError;
use crate::network::{Fate, Hit, Network};
use crate::simulation::RunStats;
use crate::sink::Sink;
use crate::world::{Outages, World};

/// What goes on around the actors.
pub(crate) struct Course<'a> {
    agenda: Agenda,
    /// What has been taken off the agenda and is not delivered yet.
    ahead: Option<MessageKey>,
    arrivals: Merged,
    /// As long as some are left.
    outages: Option<Outages>,
    bounds: Bounds,
    /// Whether something has failed that never comes back.
    gone: bool,
    horizon: Option<Time>,
    /// The actors in the order in which they are told that the run is over, each with whether
    /// it has something to file then, whatever it holds.
    last_words: Vec<(ActorId, bool)>,
    /// Those for whom others may wait when they have crashed.
    bound: BTreeSet<ActorId>,
    ending: Ending,
    network: Network,
    down: Down,
    /// Whether what was taken last had waited for its receiver to restart.
    waited: bool,
    stories: JobStories,
    sinks: Vec<&'a mut dyn Sink>,
    stop: Option<&'a AtomicBool>,
    stats: RunStats,
    /// Which jobs are over.
    over: JobSet,
}

/// How far a run is with its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// It goes on.
    Not,
    /// So many actors have been told that it is over, or need not be.
    Told(usize),
    /// It has ended.
    Over,
}

/// What has to be known of a message when its effects are carried out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cause {
    actor: ActorId,
    hops: u32,
    arrival: bool,
}

impl From<&Delivery<Message>> for Cause {
    fn from(delivery: &Delivery<Message>) -> Cause {
        let arrival = is_arrival(&delivery.message);
        Cause { actor: delivery.to, hops: delivery.hops, arrival }
    }
}

impl<'a> Course<'a> {
    /// The course of `world`, and its actors.
    pub(crate) fn new(world: World) -> Result<(Course<'a>, Vec<AnyActor>), RunError> {
        let bounds = Bounds::of(&world);
        let World { actors, arrivals, outages, horizon, network, order, initial, .. } = world;
        let mut agenda = Agenda::new(order);
        for (at, to, message) in initial {
            match message {
                Message::Wake(timer) => agenda.wake(at, to, timer, 0),
                message => agenda.schedule(at, message.phase(), Delivery::first(to, message)),
            }
        }
        let mut course = Course {
            agenda,
            ahead: None,
            arrivals: Merged::new(arrivals, horizon)?,
            outages,
            bounds,
            gone: false,
            horizon,
            last_words: last_words(&actors),
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
            sinks: Vec::new(),
            stop: None,
            stats: RunStats::default(),
            over: JobSet::default(),
        };
        course.admit_next()?;
        course.admit_outage();
        course.admit_crash();
        Ok((course, actors))
    }

    pub(crate) fn listen(&mut self, sink: &'a mut dyn Sink) {
        self.sinks.push(sink);
    }

    pub(crate) fn stop_on(&mut self, flag: &'a AtomicBool) {
        self.stop = Some(flag);
    }

    pub(crate) fn stats(&self) -> RunStats {
        self.stats
    }

    /// When something happens next: a message is delivered, or the run ends.
    pub(crate) fn next_time(&mut self) -> Result<Option<Time>, RunError> {
        match self.ending {
            Ending::Not if self.ahead.is_none() => self.ahead = self.next_due()?,
            Ending::Not | Ending::Told(_) => {}
            Ending::Over => return Ok(None),
        }
        let time = if self.ahead.is_some() { self.agenda.now() } else { self.end() };
        Ok(Some(time))
    }

    /// A message that has not been taken.
    pub(crate) fn message(&self, key: MessageKey) -> &Delivery<Message> {
        self.agenda.message(key)
    }

    /// Takes a message that is to be delivered.
    pub(crate) fn take(&mut self, key: MessageKey) -> Delivery<Message> {
        self.agenda.take(key)
    }

    /// The next message to deliver, already in the record; `None` when the run is over.
    pub(crate) fn next(&mut self) -> Result<Option<MessageKey>, RunError> {
        if self.ending != Ending::Not {
            return self.tell_next();
        }
        let next = match self.ahead.take() {
            Some(key) => Some(key),
            None => self.next_due()?,
        };
        let Some(key) = next else {
            self.close();
            return self.tell_next();
        };
        if self.is_stopped() {
            self.ahead = Some(key);
            return Err(RunError::Interrupted);
        }
        let now = self.agenda.now();
        self.stats.messages += 1;
        self.stats.end = now;
        let jobs_left = self.jobs_left();
        let delivery = self.agenda.message(key);
        self.bounds.count_message(now, delivery, jobs_left)?;
        for sink in &mut self.sinks {
            sink.delivered(now, delivery.from, delivery.to, &delivery.message)
                .map_err(RunError::Record)?;
        }
        Ok(Some(key))
    }

    /// Looked at for each message, for one may stand for a minute's work.
    fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    fn jobs_left(&self) -> u64 {
        self.stats.jobs - self.stats.jobs_over
    }

    /// When the run ends, if nothing more is due.
    fn end(&self) -> Time {
        self.horizon.unwrap_or(self.stats.end)
    }

    fn next_due(&mut self) -> Result<Option<MessageKey>, RunError> {
        if let Some(key) = self.next_released() {
            return Ok(Some(key));
        }
        loop {
            let Some(key) = self.agenda.next(self.horizon) else { return Ok(None) };
            let jobs = self.jobs_left();
            let has_jobs = jobs > 0 || !self.arrivals.is_over();
            if is_end_of_time(self.agenda.now()) && has_jobs {
                return Err(RunError::EndOfTime { jobs });
            }
            if self.bounds.are_all_stuck(jobs) && self.goes_on_in_vain() {
                return Ok(None);
            }
            let delivery = self.agenda.message(key);
            let recurs = delivery.message.recurs();
            // Nature has no end: what it would do to nobody's jobs is left out.
            if recurs && !has_jobs && self.horizon.is_none() && !self.comes_back(delivery) {
                self.agenda.take(key);
                continue;
            }
            if self.down.keeps(key, delivery) {
                let arrives = is_arrival(&delivery.message);
                self.agenda.hold(key);
                if arrives {
                    self.admit_next()?;
                }
                continue;
            }
            if !recurs {
                return Ok(Some(key));
            }
            let to = delivery.to;
            match delivery.message {
                Message::Run(RunMessage::OutageDue { restore, .. }) => {
                    self.gone |= restore == Time::FOREVER;
                    self.bounds.count_outage(self.agenda.now(), jobs)?;
                    self.admit_outage();
                }
                Message::Run(RunMessage::Crashed) => {
                    self.bounds.count_outage(self.agenda.now(), jobs)?;
                    self.down.crash(to);
                    self.admit_crash();
                }
                Message::Run(RunMessage::Restarted) => self.down.restart(to),
                _ => {}
            }
            return Ok(Some(key));
        }
    }

    /// What waited for an actor that is back, and still holds.
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

    /// Whether somebody restarts who is bound to others, and comes back to them.
    fn comes_back(&self, delivery: &Delivery<Message>) -> bool {
        matches!(delivery.message, Message::Run(RunMessage::Restarted))
            && self.bound.contains(&delivery.to)
            && self.down.is_down(delivery.to)
    }

    /// Whether what comes next only comes because time goes by, as rounds of a scheduler do. In the
    /// instant in which a job ends others may still be told so.
    #[cold]
    fn goes_on_in_vain(&self) -> bool {
        let may_change = self.horizon.is_some() || self.outages.is_some();
        !may_change && self.arrivals.is_over() && self.agenda.now() > self.stats.end
    }

    /// Nothing more happens. If jobs are left, because the horizon is reached or what
    /// they need never comes back, whoever holds them is asked to say so.
    fn close(&mut self) {
        let end = self.end();
        let on_their_way = self.agenda.stop(end);
        let arrivals = on_their_way.iter().filter(|delivery| is_arrival(&delivery.message));
        let not_arrived = arrivals.count() as u64;
        self.stats.jobs -= not_arrived;
        self.stats.cut_off = not_arrived > 0 || !self.arrivals.is_over();
        self.stats.end = end;
        self.ending = Ending::Told(0);
        self.outages = None;
        self.waited = true;
        // What has arrived is there, though who waits for it has not heard.
        let counts = |message: &Message| {
            is_arrival(message) || matches!(message, Message::Data(DataMessage::Transferred { .. }))
        };
        self.down.close(|key| counts(&self.agenda.message(key).message));
    }

    fn tell_next(&mut self) -> Result<Option<MessageKey>, RunError> {
        let Ending::Told(told) = &mut self.ending else { return Ok(None) };
        if let Some(key) = self.down.take_released() {
            return Ok(Some(key));
        }
        // Without a reason to, none can be left but by a mistake, which is to be seen.
        let may_be_left = self.horizon.is_some() || self.gone;
        let jobs_left = self.stats.jobs > self.stats.jobs_over;
        while let Some(&(to, keeps_accounts)) = self.last_words.get(*told) {
            *told += 1;
            if keeps_accounts || may_be_left && jobs_left {
                let message = Message::Run(RunMessage::RunOver);
                return Ok(Some(self.agenda.keep(Delivery::first(to, message))));
            }
        }
        self.ending = Ending::Over;
        let stats = self.stats;
        self.sinks.iter_mut().try_for_each(|sink| sink.over(&stats)).map_err(RunError::Record)?;
        Ok(None)
    }

    fn observe(&mut self, actor: ActorId, observation: &mut Observation) -> Result<(), RunError> {
        if let Some(job) = over(observation) {
            // At the end, users say of each job on their desks that it is unfinished: of those
            // of which others have said more, that is no news.
            if !self.over.insert(job) && self.ending != Ending::Not {
                return Ok(());
            }
            self.stats.jobs_over += 1;
        }
        self.stats.refused += u64::from(matches!(observation, Observation::MessageRefused { .. }));
        self.bounds.observe(observation);
        self.stories.complete(observation);
        let now = self.agenda.now();
        for sink in &mut self.sinks {
            sink.observed(now, actor, observation).map_err(RunError::Record)?;
        }
        Ok(())
    }

    /// Carries out what an actor put into its outbox on `cause`.
    pub(crate) fn carry_out(&mut self, cause: Cause, out: &mut Outbox) -> Result<(), RunError> {
        let Cause { actor, hops, arrival } = cause;
        let hops = hops + 1;
        let now = self.agenda.now();
        if self.ending != Ending::Not {
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
            let delivery = Delivery { from: actor, to, hops, if_set: false, message };
            // Nature needs no network.
            let fate = match phase {
                Phase::Resource => Fate::Arrives(now),
                _ => self.network.fate(now, actor, to),
            };
            match fate {
                Fate::Arrives(at) => self.agenda.schedule(at, phase, delivery),
                Fate::Hit(hit) => self.go_wrong(*hit, delivery)?,
            }
        }
        let examined = std::mem::take(&mut out.examined);
        // Most messages give nothing to see.
        if !out.observations.is_empty() {
            for mut observation in out.observations.drain(..) {
                self.observe(actor, &mut observation)?;
                self.stories.keep(observation);
            }
        }
        if examined > 0 {
            self.bounds.count_examined(now, examined, self.jobs_left())?;
        }
        // The next job came when this one would have, if it waited.
        if arrival && !self.waited {
            self.admit_next()?;
        }
        Ok(())
    }

    /// Says what goes wrong with a message, which may arrive all the same.
    #[cold]
    fn go_wrong(&mut self, hit: Hit, delivery: Delivery<Message>) -> Result<(), RunError> {
        let (now, Delivery { from, to, message, .. }) = (self.agenda.now(), &delivery);
        for &(fault, resent) in &hit.faults {
            for sink in &mut self.sinks {
                sink.fault(now, *from, *to, message, fault, resent).map_err(RunError::Record)?;
            }
            self.stats.resent += resent;
            self.stats.doubled += u64::from(fault == MessageFault::Doubled);
        }
        self.stats.lost += u64::from(hit.arrivals.is_empty());
        let phase = message.phase();
        for at in hit.arrivals {
            self.agenda.schedule(at, phase, delivery.clone());
        }
        Ok(())
    }

    /// Puts the next outage on its way to nature.
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

    /// Puts the next crash on its way to its actor, and the restart after it.
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

    /// Puts the next job of the workloads on its way to its user.
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

/// Who is told when that a run is over: users last, for what others hold of their jobs they
/// say more about.
fn last_words(actors: &[AnyActor]) -> Vec<(ActorId, bool)> {
    let told = (0..).zip(actors).map(|(index, actor)| {
        let is_user = matches!(actor, AnyActor::User(_));
        (is_user, ActorId(index), actor.keeps_accounts())
    });
    let mut told = Vec::from_iter(told);
    told.sort_by_key(|&(is_user, actor, _)| (is_user, actor));
    told.into_iter().map(|(_, actor, keeps_accounts)| (actor, keeps_accounts)).collect()
}

/// A set of jobs, a bit each.
#[derive(Debug, Default)]
struct JobSet(Vec<u64>);

impl JobSet {
    /// Adds a job; false if it is in already.
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
