//! A run: actors, the jobs that come, the network between them, and the loop.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use haggle_agents::{Actor, AnyActor, Effect, Message, Outbox, Phase, RunMessage};
use haggle_model::failures::Outage;
use haggle_model::{ActorId, Job, JobId, Observation, Span, Time};

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
    /// When the run stops, whatever still waits or runs; what happens at that very
    /// instant still does. `None` = when every job is over.
    pub horizon: Option<Time>,
    /// Latencies.
    pub network: Network,
    /// What comes first at one instant.
    pub order: EventOrder,
    /// What is on its way when the run begins: when it arrives, and at whom.
    pub initial: Vec<(Time, ActorId, Message)>,
    /// How many messages in a row may bring no job further.
    pub in_vain_max: u64,
}

/// How many messages in a row may bring no job further, for worlds that know no better: some
/// minutes of work. A grid of 1,000 resources that report every second sends as many in
/// ten days without an arrival or an end.
pub const IN_VAIN_MAX: u64 = 1_000_000_000;

/// The failures of a run. They may go on for ever: without a horizon, what is to
/// fail after every job is over does not happen.
pub struct Outages {
    /// Who makes resources fail.
    pub nature: ActorId,
    /// How many resources there are.
    pub resources: u64,
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
    /// Failures go on for ever, and no job gets on.
    #[error(
        "stuck at {time} s with jobs left ({jobs}): none of them has ended or saved any work while \
         every resource failed {OUTAGES_MAX} times in the mean; they may never be up together for as \
         long as a job needs; `horizon` says when to stop all the same"
    )]
    Stalled {
        /// The instant.
        time: Time,
        /// Jobs that are not over.
        jobs: u64,
    },
    /// The run goes on for longer than can be told.
    #[error(
        "the run has come to the end of time, after 73,000 years, with jobs left ({jobs}); are run \
         times, requested times and what checkpoints cost in the units they are meant in? `horizon` \
         says when to stop all the same"
    )]
    EndOfTime {
        /// Jobs that are not over.
        jobs: u64,
    },
    /// Messages go on and on, and no job gets on.
    #[error(
        "stuck at {time} s with jobs left ({jobs}): none has come, ended or been lost during \
         {messages} messages, the last one a `{kind}` to {actor}; longer periods, intervals and \
         latencies make fewer messages, and an earlier `horizon` ends them"
    )]
    InVain {
        /// The instant.
        time: Time,
        /// Jobs that are not over.
        jobs: u64,
        /// Messages since then.
        messages: u64,
        /// Who would have got the next message.
        actor: ActorId,
        /// The kind of that message.
        kind: &'static str,
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
    let World { mut actors, arrivals, outages, horizon, network, order, initial, in_vain_max } =
        world;
    let arrivals = Merged::new(arrivals)?;
    let mut clock = Clock::new(order);
    for (at, to, message) in initial {
        clock.schedule(at, message.phase(), Delivery { from: to, to, hops: 0, message });
    }
    let mut course = Course {
        clock,
        arrivals,
        outages,
        outages_in_vain: 0,
        in_vain: 0,
        in_vain_max,
        gone: false,
        horizon,
        last_words: last_words(&actors),
        told: None,
        over: JobSet::default(),
        network,
        recorder,
        stop,
        stats: RunStats::default(),
        jobs_over: 0,
    };
    course.admit_next()?;
    course.admit_outage();
    match driver {
        Driver::Sequential => course.finish(|now, delivery, out| {
            let Delivery { from, to, message, .. } = delivery;
            actors[to.index()].on_message(now, from, message, out);
        }),
        Driver::Actix => actix_driver::finish(course, actors),
    }
}

/// Whether a job comes to its user.
pub(crate) fn is_arrival(message: &Message) -> bool {
    matches!(message, Message::Run(RunMessage::JobDue(_)))
}

/// Who is told when that a run is over: users last, for what others hold of their jobs they
/// say more about.
fn last_words(actors: &[AnyActor]) -> Vec<(ActorId, bool)> {
    let is_user = |actor: &AnyActor| matches!(actor, AnyActor::User(_));
    let told = |(index, actor): (usize, &AnyActor)| {
        (is_user(actor), ActorId(index as u32), actor.keeps_accounts())
    };
    let mut told: Vec<_> = actors.iter().enumerate().map(told).collect();
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

/// The course of a run: everything but the actors.
pub(crate) struct Course<'a> {
    clock: Clock<Message>,
    arrivals: Merged,
    outages: Option<Outages>,
    /// Outages since a job last got on.
    outages_in_vain: u64,
    /// Messages since a job last came or got on.
    in_vain: u64,
    in_vain_max: u64,
    /// Whether something has failed that never comes back.
    gone: bool,
    horizon: Option<Time>,
    /// The actors in the order in which they are told that the run is over, each with whether
    /// it has something to file then, whatever it holds.
    last_words: Vec<(ActorId, bool)>,
    /// How many of them have been told; `None` while the run goes on.
    told: Option<usize>,
    /// Jobs that are over.
    over: JobSet,
    network: Network,
    recorder: &'a mut dyn Recorder,
    stop: &'a AtomicBool,
    stats: RunStats,
    jobs_over: u64,
}

/// How often every resource may fail, in the mean, without any job getting on. A run in
/// which this happens would hardly ever end: of 1,000 resources that are up for half of
/// the time, never all are.
const OUTAGES_MAX: u64 = 10_000;

/// No run lasts until here: a job without a limit is planned to.
const END_OF_TIME: Time = Time::from_micros(Span::FOREVER.as_micros());

/// Whether a part of a job has ended, or a try of it.
fn is_end(observation: &Observation) -> bool {
    matches!(
        observation,
        Observation::TasksOver { .. }
            | Observation::ShareOver(_)
            | Observation::RunLost { .. }
            | Observation::TryOver(_)
    )
}

/// Whether a job has got on by what need not be done again. One that starts and is lost, and
/// starts and is lost, does not.
fn gets_on(observation: &Observation) -> bool {
    match observation {
        Observation::TasksOver { .. } => true,
        Observation::RunLost { run, .. } => run.saved > Span::ZERO,
        Observation::TryOver(over) => over.available > 0,
        _ => false,
    }
}

impl<'a> Course<'a> {
    fn finish(
        mut self,
        mut deliver: impl FnMut(Time, Delivery<Message>, &mut Outbox),
    ) -> Result<RunStats, RunError> {
        let mut out = Outbox::default();
        while let Some(delivery) = self.take_next()? {
            let (to, hops) = (delivery.to, delivery.hops);
            let arrival = is_arrival(&delivery.message);
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
        if self.told.is_some() {
            return self.tell_next();
        }
        let Some(delivery) = self.next_delivery()? else {
            return self.close();
        };
        // At each message, for one may stand for a minute's work.
        if self.stop.load(Ordering::Relaxed) {
            return Err(RunError::Interrupted);
        }
        self.stats.messages += 1;
        self.stats.end = self.clock.now();
        if delivery.hops > HOPS_MAX {
            return Err(RunError::ZeroTimeCycle {
                time: self.clock.now(),
                actor: delivery.to,
                kind: delivery.message.kind(),
            });
        }
        self.count_message(&delivery)?;
        self.recorder
            .delivered(self.clock.now(), delivery.from, delivery.to, &delivery.message)
            .map_err(RunError::Record)?;
        Ok(Some(delivery))
    }

    /// Ends a run in which messages go on and on, and nothing else.
    fn count_message(&mut self, delivery: &Delivery<Message>) -> Result<(), RunError> {
        let arrives = is_arrival(&delivery.message);
        self.in_vain = if arrives { 0 } else { self.in_vain + 1 };
        if self.in_vain <= self.in_vain_max {
            return Ok(());
        }
        Err(RunError::InVain {
            time: self.clock.now(),
            jobs: self.stats.jobs - self.jobs_over,
            messages: self.in_vain_max,
            actor: delivery.to,
            kind: delivery.message.kind(),
        })
    }

    fn next_delivery(&mut self) -> Result<Option<Delivery<Message>>, RunError> {
        loop {
            if let Some(horizon) = self.horizon
                && self.clock.next_time().is_some_and(|next| next > horizon)
            {
                return Ok(None);
            }
            let Some(delivery) = self.clock.next_delivery() else { return Ok(None) };
            let jobs_left = self.stats.jobs - self.jobs_over;
            let jobs_come = !self.arrivals.heads.is_empty();
            if self.clock.now() >= END_OF_TIME && (jobs_left > 0 || jobs_come) {
                return Err(RunError::EndOfTime { jobs: jobs_left });
            }
            if !delivery.message.recurs() {
                return Ok(Some(delivery));
            }
            // Nature has no end: what it would do to nobody's jobs is left out.
            if jobs_left == 0 && !jobs_come && self.horizon.is_none() {
                continue;
            }
            if let Message::Run(RunMessage::OutageDue { restore, .. }) = delivery.message {
                self.gone |= restore == Time::FOREVER;
                self.count_outage(jobs_left)?;
                self.admit_outage();
            }
            return Ok(Some(delivery));
        }
    }

    /// Ends a run without a horizon in which failures go on and on, and nothing else.
    fn count_outage(&mut self, jobs: u64) -> Result<(), RunError> {
        self.outages_in_vain = if jobs == 0 { 0 } else { self.outages_in_vain + 1 };
        let resources = self.outages.as_ref().map_or(1, |outages| outages.resources.max(1));
        if self.horizon.is_none() && self.outages_in_vain > OUTAGES_MAX.saturating_mul(resources) {
            return Err(RunError::Stalled { time: self.clock.now(), jobs });
        }
        Ok(())
    }

    /// Nothing more happens. If jobs are left, because the horizon is reached or what
    /// they need never comes back, whoever holds them is asked to say so.
    fn close(&mut self) -> Result<Option<Delivery<Message>>, RunError> {
        let end = self.horizon.unwrap_or(self.stats.end);
        let on_their_way = self.clock.stop(end);
        let arrivals = on_their_way.iter().filter(|delivery| is_arrival(&delivery.message));
        self.stats.jobs -= arrivals.count() as u64;
        self.stats.end = end;
        self.told = Some(0);
        self.tell_next()
    }

    fn tell_next(&mut self) -> Result<Option<Delivery<Message>>, RunError> {
        let told = self.told.get_or_insert(0);
        // Without a reason to, none can be left but by a mistake, which is to be seen.
        let may_be_left = self.horizon.is_some() || self.gone;
        while let Some(&(to, keeps_accounts)) = self.last_words.get(*told) {
            *told += 1;
            if keeps_accounts || may_be_left && self.stats.jobs > self.jobs_over {
                let message = Message::Run(RunMessage::RunOver);
                return Ok(Some(Delivery { from: to, to, hops: 0, message }));
            }
        }
        Ok(None)
    }

    fn observe(&mut self, actor: ActorId, observation: Observation) -> Result<(), RunError> {
        let over = match &observation {
            Observation::JobOver(record) => Some(record.job.id),
            Observation::GridJobOver(record) => Some(record.job.id),
            _ => None,
        };
        // At the end, users say of each job on their desks that it is unfinished: of those of
        // which others have said more, that is no news.
        if over.is_some_and(|job| !self.over.insert(job)) && self.told.is_some() {
            return Ok(());
        }
        let over = over.is_some();
        self.jobs_over += u64::from(over);
        if over || is_end(&observation) {
            self.in_vain = 0;
        }
        if over || gets_on(&observation) {
            self.outages_in_vain = 0;
        }
        self.recorder.observed(self.clock.now(), actor, observation).map_err(RunError::Record)
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
        if self.told.is_some() {
            out.effects.clear();
        }
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
            self.observe(actor, observation)?;
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
        let message = Message::Run(RunMessage::OutageDue { resource, restore });
        let delivery = Delivery { from: nature, to: nature, hops: 0, message };
        self.clock.schedule(fail, Phase::Resource, delivery);
    }

    /// Puts the next job of the workloads on its way to its user.
    fn admit_next(&mut self) -> Result<(), RunError> {
        if let Some((user, job)) = self.arrivals.take_next()? {
            self.stats.jobs += 1;
            let (at, message) = (job.submit, Message::Run(RunMessage::JobDue(Arc::new(job))));
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
