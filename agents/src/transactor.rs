//! Metaschedulers that get parts of a rigid job from several providers, by a protocol of the
//! scenario's choice.
//!
//! ```text
//!               opened             all agree                 all parts are over
//!  job ──▶ waiting ──▶ trying ─────────────────▶ placed ──────────────────────▶ over
//!             ▲          │ failed, or broken
//!             └──────────┘ after a while, if it may be tried again
//! ```
//!
//! It knows only the addresses of its providers: each gets an equal part of a job, and decides
//! itself whether it has room. Jobs are tried side by side.

mod glimpse;
mod placed;

use std::collections::{BTreeMap, BTreeSet};

use haggle_agreements::back_off::BackOff;
use haggle_agreements::protocol::Verdict;
use haggle_agreements::seat::{Act, carry_out};
use haggle_model::law::Law;
use haggle_model::random::Stream;
use haggle_model::{
    ActorId, AgreementEvent, AgreementId, JobId, JobShape, Observation, Refusal, Span, Time,
};
use haggle_scheduling::coallocation::{divide, with_overhead};
use rand::Rng;
use serde::{Deserialize, Serialize};

use self::placed::Placed;
use crate::desk::Desk;
use crate::overhead::Overheads;
use crate::protocol::transaction::{Ask, Room};
use crate::protocol::{
    Message, RunMessage, Submission, SubmissionMessage, Timer, TransactionMessage,
};
use crate::transaction::{Acts, Coordinates, Seated, Transaction};
use crate::{Actor, AnyActor, Outbox, Settings};

/// A metascheduler of that kind as a scenario describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransactorConfig {
    /// Its own address: an agreement is identified by it and a number.
    pub me: ActorId,
    /// The providers among which jobs are divided.
    pub providers: Vec<ActorId>,
    /// The protocol.
    pub transaction: Transaction,
    /// Longest delay of a start behind the first possible one, if the protocol searches for a
    /// start.
    pub window: Span,
    /// Largest priority key of urgent jobs; `None` = no job is urgent.
    pub urgent: Option<i64>,
    /// Number of tries of a job before it is given back.
    pub trials: u32,
    /// Rule for the time between two tries.
    pub back_off: BackOff,
    /// Law of the percentage by which a job takes longer on several providers than on one.
    pub overhead: Law,
    /// Limit of that percentage.
    pub overhead_max: u32,
    /// Speed of the processors of all its providers; 1 = the reference processor.
    pub speed: f64,
    /// Longest time of a message between it and a provider.
    pub latency_max: Span,
    /// Seed of overheads, which are drawn for each job by its lot.
    pub seed: u64,
}

/// Gets parts of jobs from several providers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Transactor {
    config: TransactorConfig,
    overheads: Overheads,
    /// For waits between tries.
    stream: Stream,
    desk: Desk<Stage>,
    seat: Seated<dyn Coordinates>,
    /// Jobs by the agreements in which they are tried or placed.
    jobs: BTreeMap<u64, JobId>,
    /// Agreements that were open when it crashed, as long as their outcome is unknown.
    in_doubt: BTreeSet<u64>,
    /// The first provider that gets a remaining processor when a job is divided.
    first: usize,
    started: bool,
}

/// Progress of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Stage {
    /// Percentage by which it takes longer on several providers.
    overhead: u32,
    /// The first provider that gets a remaining processor.
    first: usize,
    /// Number of tries.
    tries: u32,
    /// True if a provider has fewer processors than its part needs.
    too_wide: bool,
    place: Option<Placed>,
}

impl Transactor {
    /// The protocol that it follows.
    pub fn protocol(&self) -> &Transaction {
        &self.config.transaction
    }

    /// A metascheduler that has seen no job, and draws from `stream`.
    ///
    /// # Panics
    /// If the law of overheads cannot be drawn from. Scenarios are checked for that.
    pub fn new(config: TransactorConfig, stream: Stream) -> Transactor {
        Transactor {
            overheads: Overheads::new(&config.overhead, config.overhead_max, config.seed),
            stream,
            desk: Desk::default(),
            seat: config.transaction.coordinator(config.me),
            jobs: BTreeMap::new(),
            in_doubt: BTreeSet::new(),
            // Metaschedulers begin with different providers.
            first: config.me.index() % config.providers.len().max(1),
            started: false,
            config,
        }
    }

    fn on_submitted(
        &mut self,
        now: Time,
        submitter: ActorId,
        submission: Submission,
        out: &mut Outbox,
    ) -> bool {
        let job = &submission.job;
        let id = job.id;
        let refusal = submission.unfit_for(JobShape::Rigid);
        let overhead = self.overheads.of(job);
        let stage = Stage { overhead, first: self.first, tries: 0, too_wide: false, place: None };
        if self.desk.take_in(submitter, submission, stage).is_none() {
            return false;
        }
        // Each job begins one provider further, so the remaining processors do not always go to the same providers.
        self.first = (self.first + 1) % self.config.providers.len().max(1);
        match refusal {
            Some(reason) => self.desk.refuse(id, reason, out),
            None => self.try_once(now, id, out),
        }
        true
    }

    /// Requests all parts of a job.
    fn try_once(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let Some(entry) = self.desk.get_mut(job).filter(|entry| entry.stage.place.is_none()) else {
            return;
        };
        entry.stage.tries += 1;
        let (description, stage) = (&entry.submission.job, &entry.stage);
        let parts = divide(description.processors, self.config.providers.len(), stage.first);
        // A job in one part has no communication between providers.
        let overhead = if parts.len() > 1 { stage.overhead } else { 0 };
        // A booking of no time would hold nothing.
        let requested = description.requested_time.unwrap_or(Span::FOREVER);
        let requested = requested.at_speed(self.config.speed).max(Span::TICK);
        let lead = self.config.transaction.lead(self.config.latency_max, parts.len());
        let from = (now + lead).max(description.ready.unwrap_or(now));
        let searches = matches!(self.config.transaction, Transaction::Negotiation(_));
        let ask = |processors| Ask {
            job,
            processors,
            span: with_overhead(requested, overhead),
            from: if self.config.transaction.traits().immediate { now } else { from },
            until: searches.then_some(from + self.config.window),
            run_time: description.run_time,
            overhead,
            urgent: self.config.urgent.is_some_and(|most| description.key <= most),
        };
        let parts = parts.into_iter().map(|(place, count)| (self.config.providers[place], count));
        let parts: Vec<(ActorId, Ask)> = parts.map(|(who, count)| (who, ask(count))).collect();
        let asked: Vec<ActorId> = parts.iter().map(|&(who, _)| who).collect();
        let mut acts = Acts::new();
        let Some(number) = self.seat.open(now, parts, &mut acts) else { return };
        let id = AgreementId { coordinator: self.config.me, number };
        // Before the acts are carried out, because a verdict may be among them.
        entry.stage.place = Some(Placed::new(id, (now, from), asked.clone(), self.config.speed));
        self.jobs.insert(number, job);
        self.observe(number, job, AgreementEvent::Opened { asked }, out);
        self.carry_out(now, job, acts, out);
    }

    fn observe(&self, number: u64, job: JobId, event: AgreementEvent, out: &mut Outbox) {
        let id = AgreementId { coordinator: self.config.me, number };
        out.observe(Observation::Agreement { id, job, event });
    }

    /// Carries out the acts of the machine, most likely for this job.
    fn carry_out(&mut self, now: Time, likely: JobId, acts: Acts<Verdict<Room>>, out: &mut Outbox) {
        carry_out(acts, |act, acts| match act {
            Act::Send { to, message } => {
                let id = message.id();
                let job = self.jobs.get(&id.number).copied().unwrap_or(likely);
                let event = AgreementEvent::Sent(message.kind());
                out.observe(Observation::Agreement { id, job, event });
                let message = Box::new(message);
                out.send(to, TransactionMessage::Said { job, message });
            }
            // A verdict may add acts, which are carried out in the same pass.
            Act::Tell(verdict) => self.on_verdict(now, verdict, acts, out),
        });
        self.look_at_doubts(now, out);
    }

    fn on_verdict(
        &mut self,
        now: Time,
        verdict: Verdict<Room>,
        acts: &mut Acts<Verdict<Room>>,
        out: &mut Outbox,
    ) {
        let number = verdict.number();
        // The job ended before, for example because its parts were over.
        let Some(&job) = self.jobs.get(&number) else { return };
        self.in_doubt.remove(&number);
        match verdict {
            Verdict::Decided { .. } => {
                self.observe(number, job, AgreementEvent::Decided, out);
            }
            Verdict::Agreed { terms, .. } => self.on_agreed(now, number, job, &terms, acts, out),
            Verdict::Failed { .. } => self.on_failed(now, number, AgreementEvent::Failed, out),
            Verdict::Broken { .. } => self.on_failed(now, number, AgreementEvent::Broken, out),
        }
    }

    /// A try has failed: the job is tried again after a while, or refused.
    fn on_failed(&mut self, now: Time, number: u64, event: AgreementEvent, out: &mut Outbox) {
        let Some(job) = self.jobs.remove(&number) else { return };
        self.observe(number, job, event, out);
        let Some(entry) = self.desk.get_mut(job) else { return };
        entry.stage.place = None;
        let tries = entry.stage.tries;
        // In this order: a withdrawn job is not refused, and a job that is too wide is not tried again.
        if entry.withdrawn {
            self.desk.cancel(now, job, out);
        } else if entry.stage.too_wide {
            self.desk.refuse(job, Refusal::TooWide, out);
        } else if tries < self.config.trials {
            let wait = self.config.back_off.wait(tries, self.stream.next_u64());
            out.set(now + wait, Timer::TryAgain { job });
        } else {
            self.desk.refuse(job, Refusal::NoAgreement, out);
        }
    }

    /// A provider could never hold its part. All tries divide a job alike, so this try is the last.
    /// The message may arrive after the end of the job.
    fn on_too_wide(&mut self, now: Time, job: JobId, out: &mut Outbox) -> bool {
        let Some(entry) = self.desk.get_mut(job) else { return true };
        let place = entry.stage.place.as_ref();
        // All providers have agreed, so none can find its part too wide.
        if place.is_some_and(|placed| placed.agreed) {
            return false;
        }
        entry.stage.too_wide = true;
        match place.map(|placed| placed.id.number) {
            // The job waits for its next try, which would fail in the same way.
            None => {
                out.stop(Timer::TryAgain { job });
                self.desk.refuse(job, Refusal::TooWide, out);
            }
            // Other protocols fail by themselves as soon as a provider has no room.
            Some(number) if self.config.transaction.traits().awaits_room => {
                let mut acts = Acts::new();
                self.seat.close(now, number, &mut acts);
                self.carry_out(now, job, acts, out);
            }
            Some(_) => {}
        }
        true
    }

    /// An agreement that was open at a crash and has ended since without a verdict has failed.
    fn look_at_doubts(&mut self, now: Time, out: &mut Outbox) {
        let over = |number: &u64| !self.seat.is_open(*number);
        let over: Vec<u64> = self.in_doubt.iter().copied().filter(over).collect();
        for number in over {
            self.in_doubt.remove(&number);
            self.on_failed(now, number, AgreementEvent::Failed, out);
        }
    }

    fn on_withdrawn(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) {
        if !self.desk.withdraw_unless_agreed(from, job, out) {
            return;
        }
        let Some(entry) = self.desk.get(job) else { return };
        match &entry.stage.place {
            None => {
                out.stop(Timer::TryAgain { job });
                self.desk.cancel(now, job, out);
            }
            Some(placed) => {
                let mut acts = Acts::new();
                self.seat.close(now, placed.id.number, &mut acts);
                self.carry_out(now, job, acts, out);
            }
        }
    }

    fn on_transaction(
        &mut self,
        now: Time,
        from: ActorId,
        message: TransactionMessage,
        out: &mut Outbox,
    ) -> bool {
        match message {
            TransactionMessage::Said { job, message } => {
                let is_own = message.id().coordinator == self.config.me;
                let mut acts = Acts::new();
                // A message about the agreement of another coordinator was delivered to the wrong actor.
                let heard = is_own && self.seat.hear(now, from, *message, &mut acts);
                self.carry_out(now, job, acts, out);
                heard
            }
            TransactionMessage::TooWide { job, id } => {
                id.coordinator == self.config.me
                    && self.config.providers.contains(&from)
                    && self.on_too_wide(now, job, out)
            }
            TransactionMessage::Begun { job, id } => {
                self.on_part_begun(from, job, id, out);
                id.coordinator == self.config.me
            }
            TransactionMessage::Over { job, id, outcome } => {
                self.on_part_over(now, from, job, id, outcome, out)
            }
            // These messages are for providers.
            TransactionMessage::Begin { .. } | TransactionMessage::Heard { .. } => false,
        }
    }

    /// Wakes the machine for all timers that are due.
    fn wake(&mut self, now: Time, out: &mut Outbox) {
        let mut acts = Acts::new();
        while self.seat.wake(now, &mut acts) {
            self.carry_out(now, JobId::default(), std::mem::take(&mut acts), out);
        }
    }

    fn on_crashed(&mut self) {
        self.seat.crash();
        let placed = self.jobs.iter().filter(|(_, job)| {
            let place = self.desk.get(**job).and_then(|entry| entry.stage.place.as_ref());
            place.is_some_and(|placed| !placed.agreed)
        });
        self.in_doubt.extend(placed.map(|(&number, _)| number));
    }

    fn start(&mut self, now: Time, out: &mut Outbox) {
        let mut acts = Acts::new();
        self.seat.start(now, &mut acts);
        self.carry_out(now, JobId::default(), acts, out);
    }
}

impl Transactor {
    /// Takes over the rules for tries that begin from now on. Jobs that are here keep their overheads.
    fn on_changed(&mut self, settings: Settings) -> bool {
        let AnyActor::Transactor(anew) = settings.actor else { return false };
        let Transactor { config, overheads, stream, .. } = *anew;
        let TransactorConfig { window, urgent, trials, back_off, .. } = config;
        self.config = TransactorConfig { window, urgent, trials, back_off, ..self.config.clone() };
        self.overheads = overheads;
        if settings.reseeded {
            self.stream = stream;
        }
        true
    }
}

impl Actor for Transactor {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        // At the first message, because an actor receives no message at the start of the run.
        if !std::mem::replace(&mut self.started, true) {
            self.start(now, out);
        }
        let expected = match message {
            Message::Submission(SubmissionMessage::Submit(submission)) => {
                self.on_submitted(now, from, submission, out)
            }
            Message::Submission(SubmissionMessage::Withdraw { job }) => {
                self.on_withdrawn(now, from, job, out);
                true
            }
            Message::Transaction(message) => self.on_transaction(now, from, message, out),
            Message::Wake(Timer::AgreementDue) => {
                self.wake(now, out);
                true
            }
            Message::Wake(Timer::TryAgain { job }) => {
                self.try_once(now, job, out);
                true
            }
            Message::Wake(Timer::BeginAgain { job }) => {
                self.begin(now, job, out);
                true
            }
            Message::Run(RunMessage::Changed(settings)) => self.on_changed(*settings),
            Message::Run(RunMessage::RunOver) => {
                self.desk.run_over(now, out);
                true
            }
            Message::Run(RunMessage::Crashed) => {
                // No timer is set below: a crashed actor does not act before it restarts.
                self.on_crashed();
                return;
            }
            Message::Run(RunMessage::Restarted) => {
                self.start(now, out);
                true
            }
            _ => false,
        };
        if !expected {
            out.refuse(from);
        }
        match self.seat.next_wake() {
            Some(at) => out.set(at.max(now), Timer::AgreementDue),
            None => out.stop(Timer::AgreementDue),
        }
    }
}
