//! The past of a simulation: its messages, jobs, bars and marks. Copies share their parts.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use haggle_agents::glimpse::{Stage, Work};
use haggle_agents::protocol::{ReservationMessage, Submission};
use haggle_agents::{Glimpse, Message};
use haggle_model::grid::{AttemptRecord, GridOutcome};
use haggle_model::observation::DisclosedItem;
use haggle_model::{
    ActorId, Cast, Job, JobClass, JobId, JobRecord, LostRun, MaintenanceRecord, MessageFault,
    Observation, ProcessorSet, ProviderId, ShareRecord, Sizing, TaskRun, Time,
};
use haggle_results::{Preceding, SettledJob};

use super::bars::{Bars, Look};
use super::layout::Layout;
use super::log::Log;
use crate::scene::MarkKind;

/// Messages and disclosures that are kept; older ones are forgotten.
pub(crate) const KEPT: usize = 2_000_000;

/// Messages whose contents are kept.
pub(crate) const CONTENTS: usize = 100_000;

/// Instants whose first messages are known.
const INSTANTS: usize = 4_000_000;

/// A message that was delivered, or that a fault has hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delivered {
    /// Number of messages that had been delivered by then, timers included.
    pub(crate) number: u64,
    pub(crate) time: Time,
    pub(crate) from: ActorId,
    pub(crate) to: ActorId,
    pub(crate) kind: &'static str,
    pub(crate) job: Option<JobId>,
    pub(crate) fault: Option<MessageFault>,
}

/// The last message that was delivered, which may be a timer.
#[derive(Clone, Debug)]
pub(crate) struct Last {
    pub(crate) time: Time,
    pub(crate) from: ActorId,
    pub(crate) to: ActorId,
    pub(crate) kind: &'static str,
    pub(crate) job: Option<JobId>,
    pub(crate) message: Said,
}

/// A message behind a lock, because a message with new settings can be moved to another thread and not be shared.
pub(crate) type Said = Arc<Mutex<Message>>;

/// An item that one actor has disclosed to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) time: Time,
    pub(crate) from: ActorId,
    pub(crate) to: ActorId,
    pub(crate) item: DisclosedItem,
    pub(crate) count: u32,
    pub(crate) job: Option<JobId>,
    /// The place of its message in the list of messages.
    pub(crate) message: usize,
}

/// A job that has arrived.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) job: Arc<Job>,
    pub(crate) user: ActorId,
    /// `None` = its user has not submitted it.
    pub(crate) class: Option<JobClass>,
    pub(crate) arrived: Time,
    /// Its end; `None` = it is not over.
    pub(crate) over: Option<Time>,
    /// Its place in the list of records; `None` = it has none yet.
    pub(crate) record: Option<u32>,
    /// The job that it follows.
    pub(crate) preceding: Option<Preceding>,
}

/// A record of something that is over.
#[derive(Clone, Debug)]
pub(crate) enum Record {
    /// A job of providers.
    Job(Arc<JobRecord>),
    /// A job of a grid.
    Settled(Arc<SettledJob>),
    /// A part that ended after its job.
    Late { job: JobId, attempt: i64, part: Arc<ShareRecord> },
}

/// Attempts of a job that is not over, or not settled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pieces {
    pub(crate) lost: Vec<LostRun>,
    pub(crate) runs: Vec<(ProviderId, TaskRun)>,
    pub(crate) attempts: Vec<Arc<AttemptRecord>>,
    pub(crate) sizing: Option<Sizing>,
}

/// Processors that could not be used for some time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Closed {
    pub(crate) kind: MarkKind,
    pub(crate) actor: ActorId,
    /// `None` = the whole actor.
    pub(crate) of: Option<(ProviderId, ProcessorSet)>,
    pub(crate) start: Time,
    /// `None` = it lasts.
    pub(crate) end: Option<Time>,
}

/// The past of a simulation.
#[derive(Clone, Debug)]
pub(crate) struct Past {
    cast: Arc<Cast>,
    /// Number of messages that were delivered, timers included.
    pub(crate) number: u64,
    /// Time of the last one.
    now: Time,
    pub(crate) last: Option<Last>,
    /// The first message of each instant, and the instant.
    pub(crate) instants: Log<(u64, Time)>,
    pub(crate) messages: Log<Delivered>,
    /// The contents of the messages, at the same places. Fewer are kept.
    contents: Log<Option<Said>>,
    /// A message that a fault hits.
    hit: Option<Said>,
    pub(crate) told: Log<Told>,
    /// Jobs by number; `None` = it has not arrived.
    pub(crate) jobs: Log<Option<Known>>,
    pub(crate) arrived: u64,
    /// Number of jobs that are over.
    pub(crate) over: u64,
    pub(crate) records: Log<Record>,
    pub(crate) pieces: Arc<BTreeMap<JobId, Pieces>>,
    /// Start and completion that were told to the user of a reservation, until it is over or broken.
    granted: Arc<BTreeMap<JobId, (Time, Time)>>,
    /// Times for which processors could not be used, and that are over.
    pub(crate) closed: Log<Closed>,
    /// Bars of attempts that are over, of jobs that are over.
    pub(crate) bars: Bars,
    /// Processors that are down and since when, by provider.
    pub(crate) down: Arc<BTreeMap<ProviderId, Vec<(Time, ProcessorSet)>>>,
    /// Actors that are down, and since when.
    pub(crate) crashed: Arc<BTreeMap<ActorId, Time>>,
    /// Sum and number of the waiting times of jobs that have started and are over, µs.
    pub(crate) waiting: (i128, u64),
    /// Machines that have got a message since they were looked at, with the time of the last one.
    touched: Arc<BTreeMap<ActorId, Time>>,
    /// The knowledge of each machine after its last message.
    pub(crate) machines: Arc<BTreeMap<ActorId, Arc<Glimpse>>>,
}

impl Past {
    /// A run that has not begun.
    pub(crate) fn new(cast: &Arc<Cast>, layout: &Arc<Layout>) -> Past {
        Past {
            cast: Arc::clone(cast),
            number: 0,
            now: Time::ZERO,
            last: None,
            instants: Log::default(),
            messages: Log::default(),
            contents: Log::default(),
            hit: None,
            told: Log::default(),
            jobs: Log::default(),
            arrived: 0,
            over: 0,
            records: Log::default(),
            pieces: Arc::default(),
            granted: Arc::default(),
            closed: Log::default(),
            bars: Bars::new(layout, cast.providers.len()),
            down: Arc::default(),
            crashed: Arc::default(),
            waiting: (0, 0),
            touched: Arc::default(),
            machines: Arc::default(),
        }
    }

    /// The names of the run.
    pub(crate) fn cast(&self) -> &Arc<Cast> {
        &self.cast
    }

    /// Time of the last message.
    pub(crate) fn last_time(&self) -> Option<Time> {
        (self.number > 0).then_some(self.now)
    }

    /// Number of messages before the last `count` instants; `None` = no longer known.
    pub(crate) fn before_instants(&self, count: u64) -> Option<u64> {
        let place = (self.instants.len() as u64).saturating_sub(count) as usize;
        if place >= self.instants.len() {
            return Some(self.number);
        }
        self.instants.get(place).map(|(first, _)| first - 1)
    }

    /// The contents of the message at a place of the list; `None` = they are no longer kept.
    pub(crate) fn contents(&self, place: usize) -> Option<&Said> {
        self.contents.get(place)?.as_ref()
    }

    /// A message that a fault hits, of which a note follows.
    pub(crate) fn hit(&mut self, message: &Message) {
        self.hit = Some(Arc::new(Mutex::new(message.clone())));
    }

    /// Number of the messages that an actor has sent or received, of those that are kept.
    pub(crate) fn messages_of(&self, actor: ActorId) -> u64 {
        self.messages.iter().filter(|it| it.from == actor || it.to == actor).count() as u64
    }

    /// Counts a message of any kind.
    pub(crate) fn deliver(&mut self, now: Time, (from, to): (ActorId, ActorId), message: &Message) {
        self.number += 1;
        let (kind, job) = (message.kind(), message.job());
        let message = Arc::new(Mutex::new(message.clone()));
        self.last = Some(Last { time: now, from, to, kind, job, message });
        if self.instants.len() == 0 || now > self.now {
            self.instants.push((self.number, now));
            self.instants.keep(INSTANTS);
            self.now = now;
        }
        // The first actors are the machines.
        if to.index() < self.cast.providers.len() {
            Arc::make_mut(&mut self.touched).insert(to, now);
        }
    }

    /// Looks at the machines that have got a message since they were looked at. `look` gives the knowledge of an actor as of
    /// a time.
    pub(crate) fn look(&mut self, look: impl Fn(ActorId, Time) -> Option<Glimpse>) {
        if self.touched.is_empty() {
            return;
        }
        let machines = Arc::make_mut(&mut self.machines);
        for (&actor, &time) in self.touched.iter() {
            match look(actor, time) {
                Some(glimpse) => machines.insert(actor, Arc::new(glimpse)),
                None => machines.remove(&actor),
            };
        }
        self.touched = Arc::default();
    }

    /// An actor gets its last message. Its jobs are reported as unfinished.
    pub(crate) fn leaves(&mut self, actor: ActorId) {
        if self.touched.contains_key(&actor) {
            Arc::make_mut(&mut self.touched).remove(&actor);
        }
        if self.machines.contains_key(&actor) {
            Arc::make_mut(&mut self.machines).remove(&actor);
        }
    }

    pub(crate) fn arrived(&mut self, now: Time, user: ActorId, job: &Arc<Job>) {
        let place = job.id.0 as usize;
        while self.jobs.len() <= place {
            self.jobs.push(None);
        }
        self.arrived += 1;
        if let Some(slot) = self.jobs.get_mut(place) {
            let job = Arc::clone(job);
            *slot = Some(Known {
                job,
                user,
                class: None,
                arrived: now,
                over: None,
                record: None,
                preceding: None,
            });
        }
    }

    pub(crate) fn submitted(&mut self, submission: &Submission) {
        let unknown = self.job(submission.job.id).is_some_and(|known| known.class.is_none());
        if let Some(known) = self.job_mut(submission.job.id).filter(|_| unknown) {
            known.class = Some(submission.class);
        }
    }

    /// Notes what the user of a reservation is told about its start.
    pub(crate) fn reserved(&mut self, message: &ReservationMessage) {
        let granted = Arc::make_mut(&mut self.granted);
        match *message {
            ReservationMessage::Granted { job, start, completion }
            | ReservationMessage::Shrunk { job, start, completion, .. } => {
                granted.insert(job, (start, completion));
            }
            ReservationMessage::Fixed { job, start } => {
                if let Some(planned) = granted.get_mut(&job) {
                    *planned = (start, start + (planned.1 - planned.0));
                }
            }
            ReservationMessage::Expired { job }
            | ReservationMessage::Broken { job }
            | ReservationMessage::Revoked { job, .. } => {
                granted.remove(&job);
            }
            _ => {}
        }
    }

    /// The planned start and end of work that has not begun: those of its machine, or those of its reservation.
    pub(crate) fn plan(&self, work: &Work) -> Option<(Time, Time)> {
        let is_idle = work.held.is_empty() && work.stage != Stage::Lost;
        let own = work.start.zip(work.end).or_else(|| self.granted.get(&work.job).copied());
        own.filter(|_| is_idle)
    }

    /// A job that has arrived.
    pub(crate) fn job(&self, job: JobId) -> Option<&Known> {
        self.jobs.get(job.0 as usize)?.as_ref()
    }

    fn job_mut(&mut self, job: JobId) -> Option<&mut Known> {
        self.jobs.get_mut(job.0 as usize)?.as_mut()
    }

    /// The record of a job that is over.
    pub(crate) fn record(&self, job: JobId) -> Option<&Record> {
        self.records.get(self.job(job)?.record? as usize)
    }

    pub(crate) fn message(
        &mut self,
        time: Time,
        (from, to): (ActorId, ActorId),
        kind: &'static str,
        job: Option<JobId>,
        fault: Option<MessageFault>,
    ) {
        self.messages.push(Delivered { number: self.number, time, from, to, kind, job, fault });
        self.messages.keep(KEPT);
        // A message that is refused is the last one that was delivered.
        let delivered = self.last.as_ref().map(|it| Arc::clone(&it.message));
        self.contents.push(self.hit.take().or(delivered));
        self.contents.keep(CONTENTS);
    }

    pub(crate) fn told(
        &mut self,
        time: Time,
        (from, to): (ActorId, ActorId),
        item: DisclosedItem,
        count: u32,
        job: Option<JobId>,
    ) {
        let message = self.messages.len().saturating_sub(1);
        self.told.push(Told { time, from, to, item, count, job, message });
        self.told.keep(KEPT);
    }

    pub(crate) fn crashed(&mut self, now: Time, actor: ActorId) {
        Arc::make_mut(&mut self.crashed).entry(actor).or_insert(now);
    }

    pub(crate) fn restarted(&mut self, now: Time, actor: ActorId) {
        if let Some(start) = Arc::make_mut(&mut self.crashed).remove(&actor) {
            let kind = MarkKind::Crash;
            self.closed.push(Closed { kind, actor, of: None, start, end: Some(now) });
        }
    }

    pub(crate) fn observe(&mut self, now: Time, observation: &Observation) {
        match observation {
            Observation::JobOver(record) => self.job_over(record),
            Observation::GridJobOver(record) => {
                let end = match record.outcome {
                    GridOutcome::Open { .. } => record.outcome.end().max(now),
                    _ => now,
                };
                self.end(record.job.id, end, record.class);
            }
            Observation::TasksOver { job, provider, run } => {
                self.piece(*job, |it| it.runs.push((*provider, run.clone())));
            }
            Observation::RunLost { job, run } => self.piece(*job, |it| it.lost.push(run.clone())),
            Observation::AttemptOver(record) => {
                self.piece(record.job, |it| it.attempts.push(Arc::clone(record)));
            }
            Observation::JobSized { job, sizing, .. } => {
                self.piece(*job, |it| it.sizing = Some(*sizing));
            }
            Observation::JobFollows { job, after: number, held: is_held } => {
                if let Some(known) = self.job_mut(*job) {
                    known.preceding = Some(Preceding { number: *number, is_held: *is_held });
                }
            }
            Observation::ProcessorsFailed { provider, processors } => {
                let down = Arc::make_mut(&mut self.down).entry(*provider).or_default();
                down.push((now, processors.clone()));
            }
            Observation::ProcessorsRestored { provider, processors } => {
                self.restored(now, *provider, processors);
            }
            Observation::Maintenance(record) => self.maintenance(record),
            _ => {}
        }
    }

    /// Notes something about a job that is not over.
    fn piece(&mut self, job: JobId, note: impl FnOnce(&mut Pieces)) {
        // A part may end after its job, whose record has its own attempts.
        if self.job(job).is_some_and(|known| known.record.is_none()) {
            note(Arc::make_mut(&mut self.pieces).entry(job).or_default());
        }
    }

    fn file(&mut self, job: JobId, end: Time, class: JobClass, record: Record) {
        let place = self.records.len() as u32;
        self.records.push(record);
        if let Some(known) = self.job_mut(job) {
            known.record = Some(place);
        }
        self.end(job, end, class);
        if self.pieces.contains_key(&job) {
            Arc::make_mut(&mut self.pieces).remove(&job);
        }
        if self.granted.contains_key(&job) {
            Arc::make_mut(&mut self.granted).remove(&job);
        }
    }

    /// A job is over, or was over before.
    fn end(&mut self, job: JobId, end: Time, class: JobClass) {
        let Some(known) = self.job_mut(job) else { return };
        known.class = Some(class);
        if known.over.is_none() {
            known.over = Some(end);
            self.over += 1;
        }
    }

    fn count_waiting(&mut self, record: &JobRecord) {
        if let Some(waiting) = record.waiting_time() {
            self.waiting.0 += i128::from(waiting.as_micros());
            self.waiting.1 += 1;
        }
    }

    fn job_over(&mut self, record: &JobRecord) {
        // The books report a job that was never sent to its grid as a job of the grid.
        self.count_waiting(record);
        let (job, end, class) = (record.job.id, record.end, record.class);
        self.bars.job_over(record);
        self.file(job, end, class, Record::Job(Arc::new(record.clone())));
    }

    pub(crate) fn settled(&mut self, job: &SettledJob) {
        self.count_waiting(&job.record);
        let (id, end, class) = (job.record.job.id, job.record.end, job.record.class);
        job.attempts.iter().for_each(|it| self.bars.slot(&job.record.job, &it.record));
        self.file(id, end, class, Record::Settled(Arc::new(job.clone())));
    }

    pub(crate) fn late_part(&mut self, job: &Job, attempt: i64, part: &ShareRecord) {
        let record = match self.record(job.id) {
            Some(Record::Job(record)) => Some(Arc::clone(record)),
            _ => None,
        };
        let look = record.map_or_else(|| Look::of(job, None), |it| Look::of_record(&it));
        self.bars.late_part(job, look, attempt, part);
        let job = job.id;
        self.records.push(Record::Late { job, attempt, part: Arc::new(part.clone()) });
    }

    fn restored(&mut self, now: Time, provider: ProviderId, processors: &ProcessorSet) {
        let all = Arc::make_mut(&mut self.down).entry(provider).or_default();
        let mut over = Vec::new();
        for (start, down) in all.iter_mut() {
            let back = down.intersection(processors);
            if !back.is_empty() {
                down.remove_all(&back);
                over.push((*start, back));
            }
        }
        all.retain(|(_, down)| !down.is_empty());
        for (start, back) in over {
            self.closed.push(Closed {
                kind: MarkKind::Failure,
                actor: ActorId(provider.0),
                of: Some((provider, back)),
                start,
                end: Some(now),
            });
        }
    }

    fn maintenance(&mut self, record: &MaintenanceRecord) {
        let Some(closed) = record.closed() else { return };
        self.closed.push(Closed {
            kind: MarkKind::Maintenance,
            actor: ActorId(record.provider.0),
            of: Some((record.provider, closed.clone())),
            start: record.start,
            end: Some(record.end),
        });
    }
}
