//! A run: actors, the jobs that come, the network between them, and the loop.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};

use haggle_agents::{Actor, AnyActor, Effect, Message, Outbox, Phase};
use haggle_model::failures::Outage;
use haggle_model::{ActorId, Job, JobId, Observation, Time};

use crate::actix_driver;
use crate::clock::{Clock, Delivery, EventOrder, HOPS_MAX};
use crate::network::Network;

/// Whatever goes wrong outside: reading a workload, writing a record.
pub type OutsideError = Box<dyn Error + Send + Sync>;

/// The jobs of one workload, in order of submission.
pub type Arrivals = Box<dyn Iterator<Item = Result<Job, OutsideError>> + Send>;

/// Everything a run starts from.
pub struct World {
    /// The actors, by [`ActorId`].
    pub actors: Vec<AnyActor>,
    /// The jobs that come to each user; read one ahead, so that memory does not
    /// grow with the length of a log. The world numbers them in order of
    /// (submission, place in this list).
    pub arrivals: Vec<(ActorId, Arrivals)>,
    /// What fails when; read one ahead.
    pub outages: Option<Outages>,
    /// Latencies.
    pub network: Network,
    /// What comes first at one instant.
    pub order: EventOrder,
    /// What is on its way when the run begins: when it arrives, and at whom.
    pub initial: Vec<(Time, ActorId, Message)>,
    /// When the run ends; what is to happen later does not. `None` = when every job is over.
    pub horizon: Option<Time>,
}

/// The failures of a run. They may go on for ever: what is to fail after every
/// job is over does not happen.
pub struct Outages {
    /// Who makes resources fail.
    pub nature: ActorId,
    /// Number of a resource in nature's list and its outage, in order of failure.
    pub due: Box<dyn Iterator<Item = (usize, Outage)> + Send>,
}

/// Takes down what happens. Nothing it does can change the run.
pub trait Recorder {
    /// `message` from `from` reaches `to`.
    fn delivered(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError>;

    /// `actor` has put an observation into its outbox.
    fn observed(
        &mut self,
        now: Time,
        actor: ActorId,
        observation: Observation,
    ) -> Result<(), OutsideError>;
}

/// How messages reach their actors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Driver {
    /// A loop and a match: the fastest.
    #[default]
    Sequential,
    /// Each actor in an actix actor of its own.
    Actix,
}

/// Counts of a finished run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RunStats {
    /// Jobs that came from the workloads.
    pub jobs: u64,
    /// Messages delivered, wake-ups included.
    pub messages: u64,
    /// The instant of the last message.
    pub end: Time,
}

/// Why a run did not reach its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Actors keep answering each other without time passing.
    #[error(
        "actors kept answering each other at {time} s without time passing: more than {HOPS_MAX} \
         messages in a row, the last one a `{kind}` to {actor}; a latency above zero ends such a cycle"
    )]
    ZeroTimeCycle {
        /// The instant.
        time: Time,
        /// Who would have got the next message.
        actor: ActorId,
        /// The kind of that message.
        kind: &'static str,
    },
    /// A workload could not be read.
    #[error(transparent)]
    Workload(OutsideError),
    /// A workload is not in order of submission.
    #[error("job {number} is submitted at {submit} s, before the job ahead of it at {previous} s")]
    OutOfOrder {
        /// The job's number in its workload.
        number: i64,
        /// Its submission.
        submit: Time,
        /// The submission before.
        previous: Time,
    },
    /// The record could not be written.
    #[error(transparent)]
    Record(OutsideError),
    /// The stop flag was raised.
    #[error("interrupted")]
    Interrupted,
}

/// Delivers messages until none is left.
pub fn run(
    world: World,
    driver: Driver,
    recorder: &mut dyn Recorder,
    stop: &AtomicBool,
) -> Result<RunStats, RunError> {
    let mut actors = world.actors;
    let course =
        Course::new(World { actors: Vec::new(), ..world }, accountants(&actors), recorder, stop)?;
    match driver {
        Driver::Sequential => course.finish(|now, delivery, out| {
            let Delivery { from, to, message, .. } = delivery;
            actors[to.index()].on_message(now, from, message, out);
        }),
        Driver::Actix => actix_driver::finish(course, actors),
    }
}

/// The actors that have something to file when the run is over.
fn accountants(actors: &[AnyActor]) -> VecDeque<ActorId> {
    let ids = (0..).map(ActorId).zip(actors);
    ids.filter(|(_, actor)| actor.keeps_accounts()).map(|(id, _)| id).collect()
}

/// The course of a run: everything but the actors.
pub(crate) struct Course<'a> {
    clock: Clock<Message>,
    arrivals: Merged,
    outages: Option<Outages>,
    network: Network,
    recorder: &'a mut dyn Recorder,
    stop: &'a AtomicBool,
    stats: RunStats,
    jobs_admitted: u64,
    jobs_over: u64,
    /// Whether the run goes on until every job is over.
    is_endless: bool,
    /// Who files accounts when nothing happens any more.
    accountants: VecDeque<ActorId>,
    /// Whether they have begun: nothing that is sent now arrives.
    is_over: bool,
}

/// How often, in messages, the stop flag is looked at.
const STOP_INTERVAL: u64 = 1024;

impl<'a> Course<'a> {
    fn new(
        world: World,
        accountants: VecDeque<ActorId>,
        recorder: &'a mut dyn Recorder,
        stop: &'a AtomicBool,
    ) -> Result<Course<'a>, RunError> {
        let World { arrivals, outages, network, order, initial, horizon, .. } = world;
        let arrivals = Merged::new(arrivals)?;
        let mut clock = Clock::new(order).until(horizon);
        for (at, to, message) in initial {
            clock.schedule(at, message.phase(), Delivery { from: to, to, hops: 0, message });
        }
        let mut course = Course {
            clock,
            arrivals,
            outages,
            network,
            recorder,
            stop,
            stats: RunStats::default(),
            jobs_admitted: 0,
            jobs_over: 0,
            is_endless: horizon.is_none(),
            accountants,
            is_over: false,
        };
        course.admit_next()?;
        course.admit_outage();
        Ok(course)
    }

    fn finish(
        mut self,
        mut deliver: impl FnMut(Time, Delivery<Message>, &mut Outbox),
    ) -> Result<RunStats, RunError> {
        let mut out = Outbox::default();
        while let Some(delivery) = self.take_next()? {
            let (to, hops) = (delivery.to, delivery.hops);
            let arrival = matches!(delivery.message, Message::JobDue(_));
            deliver(self.clock.now(), delivery, &mut out);
            self.carry_out(to, hops, arrival, &mut out)?;
        }
        Ok(self.stats)
    }

    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    pub(crate) fn into_stats(self) -> RunStats {
        self.stats
    }

    /// The next message to deliver, already in the record.
    pub(crate) fn take_next(&mut self) -> Result<Option<Delivery<Message>>, RunError> {
        let delivery = loop {
            let delivery = if self.is_over { None } else { self.clock.next_delivery() };
            let Some(delivery) = delivery else { return Ok(self.next_account()) };
            if !delivery.message.recurs() {
                break delivery;
            }
            // Nature has no end: without a horizon, what it would do to nobody's jobs is left out.
            if self.is_endless
                && self.jobs_admitted == self.jobs_over
                && self.arrivals.heads.is_empty()
            {
                continue;
            }
            if matches!(delivery.message, Message::OutageDue { .. }) {
                self.admit_outage();
            }
            break delivery;
        };
        if self.stats.messages.is_multiple_of(STOP_INTERVAL) && self.stop.load(Ordering::Relaxed) {
            return Err(RunError::Interrupted);
        }
        self.stats.messages += 1;
        self.stats.jobs += u64::from(matches!(delivery.message, Message::JobDue(_)));
        self.stats.end = self.clock.now();
        if delivery.hops > HOPS_MAX {
            return Err(RunError::ZeroTimeCycle {
                time: self.clock.now(),
                actor: delivery.to,
                kind: delivery.message.kind(),
            });
        }
        self.recorder
            .delivered(self.clock.now(), delivery.from, delivery.to, &delivery.message)
            .map_err(RunError::Record)?;
        Ok(Some(delivery))
    }

    /// When nothing happens any more, those who keep accounts file them, one by one.
    fn next_account(&mut self) -> Option<Delivery<Message>> {
        self.is_over = true;
        if !self.is_endless {
            self.clock.stop();
            self.stats.end = self.clock.now();
        }
        let to = self.accountants.pop_front()?;
        Some(Delivery { from: to, to, hops: 0, message: Message::RunOver })
    }

    /// Carries out what `actor` put into its outbox on a message that came after `hops`.
    pub(crate) fn carry_out(
        &mut self,
        actor: ActorId,
        hops: u32,
        arrival: bool,
        out: &mut Outbox,
    ) -> Result<(), RunError> {
        let now = self.clock.now();
        for effect in out.effects.drain(..) {
            let (at, to, message) = match effect {
                // Nature needs no network.
                Effect::Send { to, message } if message.phase() == Phase::Resource => {
                    (now, to, message)
                }
                Effect::Send { to, message } => (self.network.arrival(now, actor, to), to, message),
                Effect::Wake { at, message } => (at, actor, message),
            };
            let phase = message.phase();
            let delivery = Delivery { from: actor, to, hops: hops + 1, message };
            self.clock.schedule(at, phase, delivery);
        }
        for observation in out.observations.drain(..) {
            let over = matches!(observation, Observation::JobOver(_) | Observation::GridJobOver(_));
            self.jobs_over += u64::from(over);
            self.recorder.observed(now, actor, observation).map_err(RunError::Record)?;
        }
        if arrival {
            self.admit_next()?;
        }
        Ok(())
    }

    /// Puts the next outage on its way to nature.
    fn admit_outage(&mut self) {
        let Some(outages) = &mut self.outages else { return };
        let Some((resource, Outage { fail, restore })) = outages.due.next() else { return };
        let (nature, resource) = (outages.nature, resource as u32);
        let message = Message::OutageDue { resource, restore };
        let delivery = Delivery { from: nature, to: nature, hops: 0, message };
        self.clock.schedule(fail, Phase::Resource, delivery);
    }

    /// Puts the next job of the workloads on its way to its user.
    fn admit_next(&mut self) -> Result<(), RunError> {
        if let Some((user, job)) = self.arrivals.take_next()? {
            self.jobs_admitted += 1;
            let (at, message) = (job.submit, Message::JobDue(Box::new(job)));
            let delivery = Delivery { from: user, to: user, hops: 0, message };
            self.clock.schedule(at, Phase::Submission, delivery);
        }
        Ok(())
    }
}

/// The workloads as one, in order of (submission, place in the list).
struct Merged {
    sources: Vec<(ActorId, Arrivals)>,
    /// The next job of each source that has one.
    heads: BinaryHeap<Reverse<Head>>,
    count: u32,
}

/// Ordered by submission, then source: a source has one head at a time.
struct Head {
    submit: Time,
    source: usize,
    job: Job,
}

impl Merged {
    fn new(sources: Vec<(ActorId, Arrivals)>) -> Result<Merged, RunError> {
        let mut merged = Merged { heads: BinaryHeap::new(), count: 0, sources };
        for source in 0..merged.sources.len() {
            merged.pull(source, Time::ZERO)?;
        }
        Ok(merged)
    }

    fn pull(&mut self, source: usize, previous: Time) -> Result<(), RunError> {
        if let Some(job) = self.sources[source].1.next() {
            let job = job.map_err(RunError::Workload)?;
            if job.submit < previous {
                let Job { number, submit, .. } = job;
                return Err(RunError::OutOfOrder { number, submit, previous });
            }
            self.heads.push(Reverse(Head { submit: job.submit, source, job }));
        }
        Ok(())
    }

    fn take_next(&mut self) -> Result<Option<(ActorId, Job)>, RunError> {
        let Some(Reverse(head)) = self.heads.pop() else {
            return Ok(None);
        };
        self.pull(head.source, head.submit)?;
        let id = JobId(self.count);
        self.count += 1;
        Ok(Some((self.sources[head.source].0, Job { id, ..head.job })))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Head) -> bool {
        (self.submit, self.source) == (other.submit, other.source)
    }
}

impl Eq for Head {}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Head) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Head {
    fn cmp(&self, other: &Head) -> std::cmp::Ordering {
        (self.submit, self.source).cmp(&(other.submit, other.source))
    }
}
