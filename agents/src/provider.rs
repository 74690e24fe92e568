//! Providers: each owns processors, a queue and a local scheduler, and tells
//! others no more than its disclosure level allows.

use std::collections::HashMap;

use haggle_model::observation::DisclosedItem;
use haggle_model::{
    ActorId, JobClass, JobId, JobOutcome, JobRecord, Observation, ProcessorSet, ProviderId,
    Refusal, Span, Time,
};
use haggle_scheduling::{LocalScheduler, Request, SchedulerConfig, Slot};

use crate::message::{Message, Submission, Timer};
use crate::{Actor, Outbox};

/// What happens to a job that is not done when its requested time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Overrun {
    /// It is killed.
    #[default]
    Kill,
    /// It goes on. Each time its plan runs out, as much time as it was planned
    /// for so far is added; promises to others may break.
    Extend,
}

impl Overrun {
    /// The word used in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Overrun::Kill => "kill",
            Overrun::Extend => "extend",
        }
    }
}

/// How much a provider tells: each level includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Disclosure {
    /// Answers to concrete requests only.
    #[default]
    Offers,
    /// And its total computing power.
    Power,
    /// And a rough load: one number.
    Load,
    /// And its free time slots.
    Slots,
    /// And its whole queue.
    Queue,
}

impl Disclosure {
    /// All levels, from the most private on.
    pub const ALL: [Disclosure; 5] = [
        Disclosure::Offers,
        Disclosure::Power,
        Disclosure::Load,
        Disclosure::Slots,
        Disclosure::Queue,
    ];

    /// The word used in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Disclosure::Offers => "offers",
            Disclosure::Power => "power",
            Disclosure::Load => "load",
            Disclosure::Slots => "slots",
            Disclosure::Queue => "queue",
        }
    }
}

/// A provider as a scenario describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderConfig {
    /// Its place among the providers.
    pub id: ProviderId,
    /// Processors it owns, at least one.
    pub processors: u32,
    /// Speed of its processors, above 0; 1 = the reference processor.
    pub speed: f64,
    /// Its local scheduler.
    pub scheduler: SchedulerConfig,
    /// What happens to jobs that run over their request.
    pub overrun: Overrun,
    /// How much it tells.
    pub disclosure: Disclosure,
}

/// One space-shared machine and its queue.
#[derive(Debug)]
pub struct Provider {
    config: ProviderConfig,
    scheduler: Box<dyn LocalScheduler>,
    free: ProcessorSet,
    /// Jobs waiting and running, by slot.
    jobs: Vec<Option<Held>>,
    unused: Vec<Slot>,
    slots: HashMap<JobId, Slot>,
    load: Load,
    /// The next planned start for which a wake-up is on its way.
    wake: Option<Time>,
    started: Vec<Slot>,
}

/// A job in the provider's hands.
#[derive(Debug)]
struct Held {
    submission: Box<Submission>,
    submitter: ActorId,
    queued: Time,
    /// Requested time on this machine.
    walltime: Option<Span>,
    promised_end: Option<Time>,
    run: Option<Run>,
}

#[derive(Debug)]
struct Run {
    start: Time,
    planned_end: Time,
    outcome: JobOutcome,
    processors: ProcessorSet,
}

/// The planned work left, kept up to date so that telling it costs nothing.
///
/// In processor-microseconds; that of running jobs is kept as the sum of
/// processors x planned end, less processors x now when asked.
#[derive(Debug, Default)]
struct Load {
    waiting: i128,
    running_ends: i128,
    running_processors: i128,
}

impl Provider {
    /// An idle provider.
    pub fn new(config: ProviderConfig) -> Provider {
        Provider {
            scheduler: config.scheduler.build(config.processors),
            free: ProcessorSet::range(0, config.processors),
            jobs: Vec::new(),
            unused: Vec::new(),
            slots: HashMap::new(),
            load: Load::default(),
            wake: None,
            started: Vec::new(),
            config,
        }
    }

    fn on_submitted(
        &mut self,
        now: Time,
        submitter: ActorId,
        submission: Box<Submission>,
        out: &mut Outbox,
    ) {
        let job = &submission.job;
        let id = job.id;
        if job.processors > self.config.processors {
            disclose(out, submitter, DisclosedItem::Refusal, id);
            out.send(submitter, Message::Refused { submission, reason: Refusal::TooWide });
            return;
        }
        let slot = self.unused.pop().unwrap_or(Slot(self.jobs.len() as u32));
        let walltime = job.requested_time.map(|time| time.at_speed(self.config.speed));
        let request = Request { slot, processors: job.processors, span: walltime, key: job.key };
        let promised_end = self.scheduler.submit(now, request);
        self.load.waiting += work(job.processors, walltime);
        self.slots.insert(id, slot);
        let held = Held { submission, submitter, queued: now, walltime, promised_end, run: None };
        if slot.index() == self.jobs.len() {
            self.jobs.push(Some(held));
        } else {
            self.jobs[slot.index()] = Some(held);
        }
        out.send(submitter, Message::Accepted { job: id });
        self.start_due(now, out);
    }

    fn on_run_ended(&mut self, now: Time, slot: Slot, out: &mut Outbox) {
        self.scheduler.finished(now, slot);
        let held = self.release(slot);
        let run = held.run.expect("only a running job ends");
        let id = held.submission.job.id;
        self.free.insert_all(&run.processors);
        self.load.ended(held.submission.job.processors, run.planned_end);
        disclose_status(out, held.submitter, &held.submission);
        out.send(held.submitter, Message::Finished { job: id, outcome: run.outcome });
        let Submission { job, class, .. } = *held.submission;
        out.observe(Observation::JobOver(Box::new(JobRecord {
            job,
            class,
            outcome: run.outcome,
            provider: Some(self.config.id),
            queued: Some(held.queued),
            start: Some(run.start),
            end: now,
            walltime: held.walltime,
            promised_end: held.promised_end,
            processors: run.processors,
        })));
        self.start_due(now, out);
    }

    fn on_plan_ended(&mut self, now: Time, slot: Slot, out: &mut Outbox) {
        // The job may have ended at this very instant, and its slot have a new one.
        let Some(held) = self.jobs[slot.index()].as_mut() else {
            return;
        };
        let Some(run) = held.run.as_mut().filter(|run| run.planned_end == now) else {
            return;
        };
        let planned_end = now + (now - run.start);
        self.load.running_ends += i128::from((planned_end - now).as_micros())
            * i128::from(held.submission.job.processors);
        run.planned_end = planned_end;
        self.scheduler.overran(now, slot, planned_end);
        out.wake(planned_end, Message::Wake(Timer::PlanEnds { slot: slot.0 }));
        self.start_due(now, out);
    }

    fn on_withdrawn(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) {
        let slot = self.slots.get(&job).copied();
        let Some(slot) = slot.filter(|&slot| self.scheduler.withdraw(now, slot)) else {
            out.send(from, Message::NotWithdrawn { job });
            return;
        };
        let held = self.release(slot);
        self.load.waiting -= work(held.submission.job.processors, held.walltime);
        let outcome = JobOutcome::Cancelled;
        out.send(held.submitter, Message::Finished { job, outcome });
        let Submission { job, class, .. } = *held.submission;
        out.observe(Observation::JobOver(Box::new(JobRecord {
            job,
            class,
            outcome,
            provider: Some(self.config.id),
            queued: Some(held.queued),
            start: None,
            end: now,
            walltime: held.walltime,
            promised_end: held.promised_end,
            processors: ProcessorSet::new(),
        })));
        self.start_due(now, out);
    }

    fn on_estimate_requested(
        &mut self,
        now: Time,
        from: ActorId,
        job: JobId,
        processors: u32,
        requested_time: Option<Span>,
        out: &mut Outbox,
    ) {
        let span = requested_time.map(|time| time.at_speed(self.config.speed));
        let Some(start) = self.scheduler.estimate_start(now, processors, span) else {
            disclose(out, from, DisclosedItem::Refusal, job);
            out.send(from, Message::NoAnswer { job, reason: Refusal::TooWide });
            return;
        };
        disclose(out, from, DisclosedItem::Estimate, job);
        let completion = start + span.unwrap_or(Span::FOREVER);
        out.send(from, Message::Estimate { job, start, completion });
    }

    fn on_load_requested(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) {
        if self.config.disclosure < Disclosure::Load {
            disclose(out, from, DisclosedItem::Refusal, job);
            out.send(from, Message::NoAnswer { job, reason: Refusal::NotDisclosed });
            return;
        }
        disclose(out, from, DisclosedItem::Load, job);
        let drain_time = self.load.drain_time(now, self.config.processors);
        out.send(from, Message::Load { job, drain_time });
    }

    /// Starts what the scheduler says, and makes sure of being woken for the next start.
    fn start_due(&mut self, now: Time, out: &mut Outbox) {
        let mut started = std::mem::take(&mut self.started);
        self.scheduler.start_due(now, &mut started);
        for &slot in &started {
            self.start(now, slot, out);
        }
        started.clear();
        self.started = started;
        let next = self.scheduler.next_start().filter(|&start| start < Time::FOREVER);
        if let Some(start) = next
            && start > now
            && self.wake.is_none_or(|wake| wake <= now || start < wake)
        {
            self.wake = Some(start);
            out.wake(start, Message::Wake(Timer::PlanDue));
        }
    }

    fn start(&mut self, now: Time, slot: Slot, out: &mut Outbox) {
        let held = self.jobs[slot.index()].as_mut().expect("the scheduler starts queued jobs");
        let job = &held.submission.job;
        let processors = self
            .free
            .take_lowest(job.processors)
            .expect("the scheduler starts a job only if its processors are free");
        let run_time = job.run_time.reveal_to_machine().at_speed(self.config.speed);
        let planned_end = now + held.walltime.unwrap_or(Span::FOREVER).max(Span::TICK);
        let over_limit = held.walltime.is_some_and(|walltime| run_time > walltime);
        let (lasts, outcome) = match (over_limit, self.config.overrun) {
            (true, Overrun::Kill) => {
                (held.walltime.unwrap_or(run_time), JobOutcome::WalltimeReached)
            }
            _ => (run_time, JobOutcome::Completed),
        };
        if now + lasts > planned_end {
            out.wake(planned_end, Message::Wake(Timer::PlanEnds { slot: slot.0 }));
        }
        self.load.waiting -= work(job.processors, held.walltime);
        self.load.started(job.processors, planned_end);
        out.wake(now + lasts, Message::Wake(Timer::RunEnds { slot: slot.0 }));
        disclose_status(out, held.submitter, &held.submission);
        out.send(held.submitter, Message::Started { job: job.id });
        held.run = Some(Run { start: now, planned_end, outcome, processors });
    }

    fn release(&mut self, slot: Slot) -> Held {
        let held = self.jobs[slot.index()].take().expect("a slot in use holds a job");
        self.slots.remove(&held.submission.job.id);
        self.unused.push(slot);
        held
    }
}

impl Load {
    fn started(&mut self, processors: u32, planned_end: Time) {
        self.running_ends += i128::from(planned_end.as_micros()) * i128::from(processors);
        self.running_processors += i128::from(processors);
    }

    fn ended(&mut self, processors: u32, planned_end: Time) {
        self.running_ends -= i128::from(planned_end.as_micros()) * i128::from(processors);
        self.running_processors -= i128::from(processors);
    }

    /// How long `processors` would need for all of it.
    fn drain_time(&self, now: Time, processors: u32) -> Span {
        let running = self.running_ends - self.running_processors * i128::from(now.as_micros());
        let work = (self.waiting + running).max(0);
        let processors = i128::from(processors);
        let micros = (work + processors - 1) / processors;
        Span::from_micros(i64::try_from(micros).unwrap_or(i64::MAX)).min(Span::FOREVER)
    }
}

/// Planned work in processor-microseconds.
fn work(processors: u32, walltime: Option<Span>) -> i128 {
    let span = walltime.unwrap_or(Span::FOREVER).max(Span::TICK);
    i128::from(processors) * i128::from(span.as_micros())
}

/// Its own users hear of their own jobs; only what leaves the provider is disclosed.
fn disclose_status(out: &mut Outbox, to: ActorId, submission: &Submission) {
    if submission.class == JobClass::External {
        disclose(out, to, DisclosedItem::JobStatus, submission.job.id);
    }
}

fn disclose(out: &mut Outbox, to: ActorId, item: DisclosedItem, job: JobId) {
    out.observe(Observation::Disclosed { to, item, count: 1, job: Some(job) });
}

impl Actor for Provider {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        match message {
            Message::Submit(submission) => self.on_submitted(now, from, submission, out),
            Message::Wake(Timer::RunEnds { slot }) => self.on_run_ended(now, Slot(slot), out),
            Message::Wake(Timer::PlanEnds { slot }) => self.on_plan_ended(now, Slot(slot), out),
            Message::Wake(Timer::PlanDue) => self.start_due(now, out),
            Message::Withdraw { job } => self.on_withdrawn(now, from, job, out),
            Message::EstimateRequest { job, processors, requested_time } => {
                self.on_estimate_requested(now, from, job, processors, requested_time, out);
            }
            Message::LoadRequest { job } => self.on_load_requested(now, from, job, out),
            other => unreachable!("nobody sends a provider {other:?}"),
        }
    }
}
