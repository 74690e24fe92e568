//! Providers: each owns processors, a queue and a local scheduler, and tells
//! others no more than its disclosure level allows.

mod failures;
mod load;
mod negotiation;
mod rescheduling;
mod shares;

use std::collections::{BTreeMap, HashMap};

use haggle_model::JobShape;
use haggle_model::observation::DisclosedItem;
use haggle_model::random::Stream;
use haggle_model::{
    ActorId, Disclosure, JobClass, JobId, JobOutcome, JobRecord, Observation, ProcessorSet,
    ProviderId, Refusal, Span, Time,
};
use haggle_scheduling::checkpoints::Progress;
use haggle_scheduling::{LocalScheduler, Request, Scheduling, Slot};

use self::load::{Load, work};
use self::negotiation::Negotiation;
use self::rescheduling::Coordinated;
use self::shares::Share;
use crate::message::{Message, Submission, Timer};
use crate::{Actor, Outbox};

pub use failures::{MAX_ATTEMPTS, OnFailure};
pub use negotiation::{Bargaining, Estimates};
pub(crate) use shares::worse;

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
    pub scheduler: Scheduling,
    /// What happens to jobs that run over their request.
    pub overrun: Overrun,
    /// What happens to rigid jobs whose processors fail.
    pub on_failure: OnFailure,
    /// How often a job is started, at least once: one that has been lost as often is over.
    pub max_attempts: u32,
    /// How much it tells.
    pub disclosure: Disclosure,
    /// How it negotiates over bags, if its scheduler does.
    pub bargaining: Bargaining,
}

impl ProviderConfig {
    /// A provider of reference processors that stops what runs over its request, starts again
    /// what fails, and tells no more than it must.
    pub fn new(id: ProviderId, processors: u32, scheduler: Scheduling) -> ProviderConfig {
        ProviderConfig {
            id,
            processors,
            speed: 1.0,
            scheduler,
            overrun: Overrun::Kill,
            on_failure: OnFailure::Restart,
            max_attempts: MAX_ATTEMPTS,
            disclosure: Disclosure::Offers,
            bargaining: Bargaining::default(),
        }
    }
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
    tasks_started: Vec<(Slot, u32)>,
    /// Whether its scheduler bargains over bags: all that happens at an instant
    /// is then followed by one scheduling pass at the instant's end.
    bargains: bool,
    /// Whether what waits will move up in this instant.
    reschedules: bool,
    negotiation: Negotiation,
    /// Shares whose bags are rescheduled in step.
    coordinated: BTreeMap<JobId, Coordinated>,
}

/// What is in a slot.
#[derive(Debug)]
enum Held {
    /// A rigid job.
    Job(HeldJob),
    /// A share of a bag.
    Share(Box<Share>),
    /// Part of a bag that may still go elsewhere.
    Part,
}

/// A rigid job in the provider's hands.
#[derive(Debug)]
struct HeldJob {
    submission: Box<Submission>,
    submitter: ActorId,
    queued: Time,
    /// Requested time on this machine: for so long it may compute.
    walltime: Option<Span>,
    promised_end: Option<Time>,
    /// Times it was lost with its processors.
    lost: u32,
    /// Computing it need not do again.
    saved: Span,
    run: Option<Run>,
}

#[derive(Debug)]
struct Run {
    start: Time,
    /// When it ends unless its processors fail; nobody looks at it before.
    end: Time,
    planned_end: Time,
    /// For how long it computes until its end.
    computing: Span,
    outcome: JobOutcome,
    processors: ProcessorSet,
}

impl HeldJob {
    /// Whether its next or present attempt goes on from a checkpoint.
    fn resumes(&self) -> bool {
        self.saved > Span::ZERO
    }

    /// What its next or present attempt is planned to take, checkpoints included.
    fn planned(&self, config: &ProviderConfig) -> Option<Span> {
        let mut limit = self.walltime?;
        // One that runs over its request may have saved more than that.
        while limit <= self.saved && self.resumes() {
            limit += limit.max(Span::TICK);
        }
        Some(config.on_failure.checkpoints().lasts(limit - self.saved, self.resumes()))
    }

    /// How far its attempt has come.
    fn progress(&self, run: &Run, now: Time, config: &ProviderConfig) -> Progress {
        let checkpoints = config.on_failure.checkpoints();
        checkpoints.progress(now - run.start, run.computing, self.resumes())
    }

    /// Its story if it ends now, without having run.
    fn over(self, provider: ProviderId, outcome: JobOutcome, now: Time) -> JobRecord {
        let Submission { job, class, .. } = *self.submission;
        JobRecord {
            provider: Some(provider),
            queued: Some(self.queued),
            walltime: self.walltime,
            promised_end: self.promised_end,
            ..JobRecord::never_queued(job, class, outcome, now)
        }
    }

    /// Tells its submitter how it fares. A provider's own users hear of their own jobs; only
    /// what leaves the provider is disclosed.
    fn tell_status(&self, message: Message, out: &mut Outbox) {
        match self.submission.class {
            JobClass::External => tell(out, self.submitter, DisclosedItem::JobStatus, message),
            JobClass::Local => out.send(self.submitter, message),
        }
    }

    fn request(&self, slot: Slot, ahead: bool, config: &ProviderConfig) -> Request {
        let job = &self.submission.job;
        Request {
            slot,
            processors: job.processors,
            span: self.planned(config),
            key: job.key,
            deadline: job.deadline,
            ahead,
        }
    }
}

impl Provider {
    /// An idle provider; what it draws comes from `stream`.
    pub fn new(config: ProviderConfig, stream: Stream) -> Provider {
        let mut scheduler = config.scheduler.build(config.processors);
        Provider {
            bargains: scheduler.bargainer().is_some(),
            scheduler,
            free: ProcessorSet::range(0, config.processors),
            jobs: Vec::new(),
            unused: Vec::new(),
            slots: HashMap::new(),
            load: Load::default(),
            wake: None,
            started: Vec::new(),
            tasks_started: Vec::new(),
            reschedules: false,
            negotiation: Negotiation::new(stream),
            coordinated: BTreeMap::new(),
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
        let refusal = if job.shape == JobShape::Bag {
            Some(Refusal::WrongShape)
        } else {
            (job.processors > self.config.processors).then_some(Refusal::TooWide)
        };
        if let Some(reason) = refusal {
            tell(out, submitter, DisclosedItem::Refusal, Message::Refused { submission, reason });
            return;
        }
        let slot = self.unused.pop().unwrap_or(Slot(self.jobs.len() as u32));
        let walltime = job.requested_time.map(|time| time.at_speed(self.config.speed));
        self.slots.insert(id, slot);
        let mut held = HeldJob {
            submission,
            submitter,
            queued: now,
            walltime,
            promised_end: None,
            lost: 0,
            saved: Span::ZERO,
            run: None,
        };
        let request = held.request(slot, false, &self.config);
        self.load.waiting += work(request.processors, request.span);
        held.promised_end = self.scheduler.submit(now, request);
        let held = Some(Held::Job(held));
        if slot.index() == self.jobs.len() {
            self.jobs.push(held);
        } else {
            self.jobs[slot.index()] = held;
        }
        out.send(submitter, Message::Accepted { job: id });
        self.plan_changed(now, out);
    }

    fn on_run_ended(&mut self, now: Time, slot: Slot, out: &mut Outbox) {
        // What was to end now may have been lost, and its slot have another job.
        let ends = |held: &Held| match held {
            Held::Job(held) => held.run.as_ref().is_some_and(|run| run.end == now),
            Held::Share(_) | Held::Part => false,
        };
        if !self.jobs[slot.index()].as_ref().is_some_and(ends) {
            return;
        }
        self.scheduler.finished(now, slot);
        let mut held = self.release_job(slot);
        let run = held.run.take().expect("only a running job ends");
        let checkpointing = held.progress(&run, now, &self.config).overhead;
        let id = held.submission.job.id;
        self.free.insert_all(&run.processors);
        self.load.ended(held.submission.job.processors, run.planned_end);
        held.tell_status(Message::Finished { job: id, outcome: run.outcome }, out);
        let (start, processors, outcome) = (Some(run.start), run.processors, run.outcome);
        let over = held.over(self.config.id, outcome, now);
        let over = JobRecord { start, processors, checkpointing, ..over };
        out.observe(Observation::JobOver(Box::new(over)));
        self.plan_changed(now, out);
    }

    fn on_plan_ended(&mut self, now: Time, slot: Slot, out: &mut Outbox) {
        // The job may have ended at this very instant, and its slot have a new one.
        let Some(Held::Job(held)) = self.jobs[slot.index()].as_mut() else {
            return;
        };
        let Some(run) = held.run.as_mut().filter(|run| run.planned_end == now) else {
            return;
        };
        let planned_end = now + (now - run.start);
        self.load.extended(held.submission.job.processors, planned_end - now);
        run.planned_end = planned_end;
        self.scheduler.overran(now, slot, planned_end);
        out.wake(planned_end, Message::Wake(Timer::PlanEnds { slot: slot.0 }));
        self.plan_changed(now, out);
    }

    fn on_withdrawn(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) {
        let slot = self.slots.get(&job).copied();
        let rigid = |slot: &Slot| matches!(self.jobs[slot.index()], Some(Held::Job(_)));
        let slot = slot.filter(rigid);
        let Some(slot) = slot.filter(|&slot| self.scheduler.withdraw(now, slot)) else {
            out.send(from, Message::NotWithdrawn { job });
            return;
        };
        let held = self.release_job(slot);
        self.load.waiting -= work(held.submission.job.processors, held.planned(&self.config));
        let outcome = JobOutcome::Cancelled;
        held.tell_status(Message::Finished { job, outcome }, out);
        let over = held.over(self.config.id, outcome, now);
        out.observe(Observation::JobOver(Box::new(over)));
        self.plan_changed(now, out);
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
        let walltime = requested_time.map(|time| time.at_speed(self.config.speed));
        let checkpoints = self.config.on_failure.checkpoints();
        let span = walltime.map(|walltime| checkpoints.lasts(walltime, false));
        let Some(start) = self.scheduler.estimate_start(now, processors, span) else {
            let message = Message::NoAnswer { job, reason: Refusal::TooWide };
            tell(out, from, DisclosedItem::Refusal, message);
            return;
        };
        let completion = start + span.unwrap_or(Span::FOREVER);
        let message = Message::Estimate { job, start, completion };
        tell(out, from, DisclosedItem::Estimate, message);
    }

    fn on_load_requested(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) {
        if self.config.disclosure < Disclosure::Load {
            let message = Message::NoAnswer { job, reason: Refusal::NotDisclosed };
            tell(out, from, DisclosedItem::Refusal, message);
            return;
        }
        let drain_time = self.load.drain_time(now, self.config.processors);
        tell(out, from, DisclosedItem::Load, Message::Load { job, drain_time });
    }

    /// The run stops: what waits and runs is unfinished.
    fn on_run_over(&mut self, now: Time, out: &mut Outbox) {
        let provider = self.config.id;
        for held in std::mem::take(&mut self.jobs).into_iter().flatten() {
            match held {
                Held::Job(mut held) => {
                    let run = held.run.take();
                    let progress = run.as_ref().map(|run| held.progress(run, now, &self.config));
                    let over = held.over(provider, JobOutcome::Unfinished, now);
                    let over = JobRecord {
                        start: run.as_ref().map(|run| run.start),
                        processors: run.map(|run| run.processors).unwrap_or_default(),
                        checkpointing: progress.map_or(Span::ZERO, |it| it.overhead),
                        ..over
                    };
                    out.observe(Observation::JobOver(Box::new(over)));
                }
                Held::Share(share) => share.unfinished(provider, now, out),
                // Its metascheduler has the bag.
                Held::Part => {}
            }
        }
    }

    /// The plan has changed: a scheduling pass follows, for a bargaining scheduler
    /// when all else of this instant has been said. Waiting work moves up before that,
    /// when all that ends in this instant has ended.
    fn plan_changed(&mut self, now: Time, out: &mut Outbox) {
        if !self.bargains {
            self.start_due(now, out);
            return;
        }
        self.negotiation.changed = true;
        let bargainer = self.scheduler.bargainer().expect("it bargains");
        if bargainer.wants_rescheduling() && !std::mem::replace(&mut self.reschedules, true) {
            out.wake(now, Message::Wake(Timer::Reschedule));
        }
        if self.wake != Some(now) {
            self.wake = Some(now);
            out.wake(now, Message::Wake(Timer::PlanDue));
        }
    }

    /// A planned start is due, or the end of an instant in which something happened.
    fn on_plan_due(&mut self, now: Time, out: &mut Outbox) {
        if self.wake == Some(now) {
            self.wake = None;
        }
        if self.bargains {
            self.expire_holds(now, out);
        }
        self.start_due(now, out);
        if self.bargains {
            let mut started = std::mem::take(&mut self.tasks_started);
            let bargainer = self.scheduler.bargainer().expect("it bargains");
            bargainer.tasks_due(now, &mut started);
            for (slot, tasks) in started.drain(..) {
                self.start_tasks(now, slot, tasks, out);
            }
            self.tasks_started = started;
            self.send_probes(out);
            self.wake_for_next_start(now, out);
        }
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
        if !self.bargains {
            self.wake_for_next_start(now, out);
        }
    }

    fn wake_for_next_start(&mut self, now: Time, out: &mut Outbox) {
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
        let Some(Held::Job(held)) = self.jobs[slot.index()].as_mut() else {
            unreachable!("the scheduler starts queued jobs")
        };
        let job = &held.submission.job;
        let processors = self
            .free
            .take_lowest(job.processors)
            .expect("the scheduler starts a job only if its processors are free");
        let run_time = job.run_time.reveal_to_machine().at_speed(self.config.speed);
        let planned = held.planned(&self.config);
        let planned_end = now + planned.unwrap_or(Span::FOREVER).max(Span::TICK);
        let over_limit = held.walltime.is_some_and(|walltime| run_time > walltime);
        let (computes, outcome) = match (over_limit, self.config.overrun) {
            (true, Overrun::Kill) => {
                (held.walltime.unwrap_or(run_time), JobOutcome::WalltimeReached)
            }
            _ => (run_time, JobOutcome::Completed),
        };
        let computing = computes - held.saved;
        let lasts = self.config.on_failure.checkpoints().lasts(computing, held.resumes());
        if now + lasts > planned_end {
            out.wake(planned_end, Message::Wake(Timer::PlanEnds { slot: slot.0 }));
        }
        self.load.waiting -= work(job.processors, planned);
        self.load.started(job.processors, planned_end);
        out.wake(now + lasts, Message::Wake(Timer::RunEnds { slot: slot.0 }));
        held.tell_status(Message::Started { job: job.id }, out);
        let end = now + lasts;
        held.run = Some(Run { start: now, end, planned_end, computing, outcome, processors });
    }

    fn release(&mut self, slot: Slot) -> Held {
        let held = self.jobs[slot.index()].take().expect("a slot in use holds something");
        let job = match &held {
            Held::Job(held) => Some(held.submission.job.id),
            Held::Share(share) => Some(share.call.job),
            Held::Part => None,
        };
        if let Some(job) = job {
            self.slots.remove(&job);
        }
        self.unused.push(slot);
        held
    }

    fn release_job(&mut self, slot: Slot) -> HeldJob {
        match self.release(slot) {
            Held::Job(held) => held,
            other => unreachable!("a rigid job, not {other:?}"),
        }
    }
}

/// Says something about a job that discloses one item. Saying and noting are one act, so that
/// nothing is said that is not on record.
fn tell(out: &mut Outbox, to: ActorId, item: DisclosedItem, message: Message) {
    out.observe(Observation::Disclosed { to, item, count: 1, job: message.job() });
    out.send(to, message);
}

impl Actor for Provider {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        match message {
            Message::Submit(submission) => self.on_submitted(now, from, submission, out),
            Message::Wake(Timer::RunEnds { slot }) => self.on_run_ended(now, Slot(slot), out),
            Message::Wake(Timer::PlanEnds { slot }) => self.on_plan_ended(now, Slot(slot), out),
            Message::Wake(Timer::Reschedule) => self.on_reschedule(now, out),
            Message::Wake(Timer::PlanDue) => self.on_plan_due(now, out),
            Message::Wake(Timer::TasksEnd { slot, run }) => {
                self.on_tasks_ended(now, Slot(slot), run, out);
            }
            Message::Wake(Timer::TasksPlanEnds { slot, run }) => {
                self.on_tasks_plan_ended(now, Slot(slot), run, out);
            }
            Message::Wake(Timer::EstimateReady { job }) => self.answer(now, job, out),
            Message::Call(call) => self.on_called(now, from, call, out),
            Message::Refresh { job } => self.on_refresh(now, job, out),
            Message::Prepare { job, award } => self.on_prepare(now, job, &award, out),
            Message::Commit { job, expected, unheld } => {
                self.on_commit(now, from, job, expected, unheld, out);
            }
            Message::Abort { job } => self.on_given_up(now, job, false, out),
            Message::Release { job } => self.on_given_up(now, job, true, out),
            Message::BagCompletion { job, completion } => {
                self.on_bag_completion(job, completion, out);
            }
            Message::Failed { processors } => self.on_failed(now, &processors, out),
            Message::Restored { processors } => self.on_restored(now, &processors, out),
            Message::RunOver => self.on_run_over(now, out),
            Message::Withdraw { job } => self.on_withdrawn(now, from, job, out),
            Message::EstimateRequest { job, processors, requested_time } => {
                self.on_estimate_requested(now, from, job, processors, requested_time, out);
            }
            Message::LoadRequest { job } => self.on_load_requested(now, from, job, out),
            other => unreachable!("nobody sends a provider {other:?}"),
        }
    }
}
