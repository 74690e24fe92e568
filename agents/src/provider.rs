//! Providers: each owns processors, a queue and a local scheduler, and tells
//! others no more than its disclosure level allows.

mod agreement;
mod coallocation;
mod deciding;
mod displaced;
mod expected;
mod failures;
mod load;
mod maintenance;
mod negotiation;
mod nodes;
mod preemption;
mod profiling;
mod reallocation;
mod rescheduling;
mod reserving;
mod saving;
mod shares;
mod slots;
mod transactions;
mod unheard;

use std::collections::BTreeMap;

use haggle_model::random::Stream;
use haggle_model::reservation::{Cause, GrantedWindow};
use haggle_model::{
    ActorId, ByJob, Disclosure, JobId, JobOutcome, JobRecord, Moldable, Observation, ProcessorSet,
    ProviderId, Refusal, Span, StageIn, Time,
};
use haggle_model::{Job, JobShape};
use haggle_scheduling::checkpoints::{Checkpoints, FailureHistory, Progress, RigidJob};
use haggle_scheduling::{
    Killed, LocalScheduler, MAX_ATTEMPTS, Overrun, Passes, Request, Scheduling, Slot,
};

use self::agreement::Agreements;
use self::coallocation::{Coallocation, Part};
use self::deciding::Deciding;
use self::expected::{Expectation, Expected};
use self::load::{Load, work};
use self::maintenance::Windows;
use self::negotiation::Negotiation;
use self::nodes::Nodes;
use self::profiling::Profiling;
use self::rescheduling::Coordinated;
use self::reserving::Reserving;
use self::saving::{Carried, Saving};
use self::shares::Share;
use self::slots::Slots;
use self::transactions::{Booking, Transactions};
use self::unheard::Unheard;
use crate::protocol::{
    BargainMessage, DataMessage, Message, QueryMessage, ResourceMessage, RunMessage, ShareMessage,
    Submission, SubmissionMessage, Timer,
};
use crate::{Actor, Outbox};

pub use failures::OnFailure;
pub use maintenance::Maintenance;
pub use negotiation::{Bargaining, Estimates};
pub use reserving::ReservingConfig;
pub use saving::CheckpointStore;
pub(crate) use shares::worse;
pub use transactions::Transacting;

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
    /// How often it decides which jobs start. A scheduler that bargains or takes parts of jobs decides once an instant.
    pub passes: Passes,
    /// What happens to jobs that run over their request.
    pub overrun: Overrun,
    /// What happens to rigid jobs whose processors fail.
    pub on_failure: OnFailure,
    /// Where checkpoints are kept, if they go there over a network that others use, too.
    pub store: Option<CheckpointStore>,
    /// How often a job is started, at least once: one that has been lost as often is over.
    pub max_attempts: u32,
    /// How much it tells.
    pub disclosure: Disclosure,
    /// How it negotiates over bags, if its scheduler does.
    pub bargaining: Bargaining,
    /// How it treats reservations, if its scheduler grants them.
    pub reserving: ReservingConfig,
    /// How many millionths of its free processors it tells of who spreads jobs.
    pub publishes: u32,
    /// Of which type its machines are, for iterative applications.
    pub machine: String,
    /// When it closes processors; windows are known by their places here.
    pub maintenance: Vec<Maintenance>,
    /// The protocols by which parts of jobs are agreed on with it.
    pub transacting: Vec<Transacting>,
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
            passes: Passes::default(),
            overrun: Overrun::Kill,
            on_failure: OnFailure::Restart,
            store: None,
            max_attempts: MAX_ATTEMPTS,
            disclosure: Disclosure::Offers,
            bargaining: Bargaining::default(),
            reserving: ReservingConfig::default(),
            publishes: 1_000_000,
            machine: String::new(),
            maintenance: Vec::new(),
            transacting: Vec::new(),
        }
    }
}

/// One space-shared machine and its queue.
#[derive(Debug)]
pub struct Provider {
    config: ProviderConfig,
    scheduler: Box<dyn LocalScheduler>,
    free: ProcessorSet,
    /// Those that have failed.
    down: ProcessorSet,
    nodes: Nodes,
    carried: Carried,
    windows: Windows,
    /// Jobs waiting and running.
    jobs: Slots<Held>,
    slots: ByJob<Slot>,
    load: Load,
    /// The earliest planned start for which a wake-up is on its way.
    ///
    /// Wake-ups and not one timer that is set anew with the plan: event logs have one at each start
    /// that was ever planned, also if it has moved since. A pass too many starts nothing.
    wake: Option<Time>,
    deciding: Deciding,
    started: Vec<Slot>,
    tasks_started: Vec<(Slot, u32)>,
    /// Whether its scheduler bargains over bags.
    bargains: bool,
    /// Whether it takes parts of jobs.
    coallocates: bool,
    expected: Expected,
    negotiation: Negotiation,
    reserving: Reserving,
    agreements: Agreements,
    coallocation: Coallocation,
    profiling: Profiling,
    transactions: Transactions,
    /// Shares whose bags are rescheduled in step.
    coordinated: BTreeMap<JobId, Coordinated>,
    /// What its scheduler has not heard yet; until it has, nothing starts.
    unheard: Option<Box<Unheard>>,
}

/// What is in a slot.
#[derive(Debug)]
enum Held {
    /// A rigid job.
    Job(HeldJob),
    /// A rigid job whose data are on their way.
    Expected(Box<Expectation>),
    /// A share of a bag.
    Share(Box<Share>),
    /// Part of a bag that may still go elsewhere.
    Part,
    /// Part of a rigid job.
    Coallocated(Box<Part>),
    /// Part of a rigid job, by a protocol of the scenario's choice.
    Booked(Box<Booking>),
}

/// A rigid job in the provider's hands.
#[derive(Debug)]
struct HeldJob {
    submission: Submission,
    submitter: ActorId,
    queued: Time,
    /// Processors it gets.
    processors: u32,
    /// Requested time on this machine: for so long it may compute.
    walltime: Option<Span>,
    promised_end: Option<Time>,
    /// Apart, so that those of which there is no more to say are read and moved as fast as they can be.
    more: Option<Box<More>>,
    run: Option<Run>,
}

/// What there is to say of few jobs.
#[derive(Clone, Debug)]
struct More {
    /// How it runs on so many processors, if they are not those of its user.
    molded: Option<Moldable>,
    /// What it needs beside processors, since it has moved.
    stage_in: StageIn,
    /// What was granted to it in advance.
    granted: Option<Box<GrantedWindow>>,
    /// Times it was lost with its processors.
    lost: u32,
    /// Computing it need not do again.
    saved: Span,
}

/// Of most jobs.
static NO_MORE: More =
    More { molded: None, stage_in: StageIn::NOTHING, granted: None, lost: 0, saved: Span::ZERO };

#[derive(Debug)]
struct Run {
    start: Time,
    /// When it ends unless its processors fail; [`Time::FOREVER`] as long as nobody knows.
    end: Time,
    planned_end: Time,
    /// For how long it computes until its end.
    computing: Span,
    outcome: JobOutcome,
    processors: ProcessorSet,
    /// What its nodes had seen when it started.
    seen: FailureHistory,
    /// How far it has come, if that does not follow from when it started.
    saving: Option<Box<Saving>>,
}

impl HeldJob {
    /// A job as its user describes it, which has not run yet.
    fn new(
        submission: Submission,
        submitter: ActorId,
        now: Time,
        config: &ProviderConfig,
    ) -> HeldJob {
        let job = &submission.job;
        HeldJob {
            processors: job.processors,
            walltime: job.requested_time.map(|time| time.at_speed(config.speed)),
            submission,
            submitter,
            queued: now,
            promised_end: None,
            more: None,
            run: None,
        }
    }

    fn more(&self) -> &More {
        self.more.as_deref().unwrap_or(&NO_MORE)
    }

    fn more_mut(&mut self) -> &mut More {
        self.more.get_or_insert_with(|| Box::new(NO_MORE.clone()))
    }

    /// Gives it so many processors, if it is moldable.
    fn mold(&mut self, processors: u32, speed: f64) {
        let molded = Moldable::of(&self.submission.job);
        if molded != self.more().molded {
            self.more_mut().molded = molded;
        }
        if let Some(moldable) = molded {
            self.processors = processors;
            self.walltime = Some(moldable.requested(processors, speed));
        }
    }

    /// How long it computes on this machine.
    fn run_time(&self, speed: f64) -> Span {
        let job = &self.submission.job;
        match self.more().molded {
            Some(moldable) => moldable.run_time(job, self.processors, speed),
            None => job.run_time.reveal_to_machine().at_speed(speed),
        }
    }

    /// Whether its next or present attempt goes on from a checkpoint.
    fn resumes(&self) -> bool {
        self.more().saved > Span::ZERO
    }

    /// What its next or present attempt is planned to take, start-up and checkpoints included.
    fn planned(&self, config: &ProviderConfig) -> Option<Span> {
        let checkpoints = config.on_failure.checkpoints().planned(self.rigid());
        let lasts = checkpoints.lasts(self.to_compute()?, self.resumes());
        Some(self.more().stage_in.start_up + lasts)
    }

    /// For how long its next or present attempt is planned to compute.
    fn to_compute(&self) -> Option<Span> {
        let (mut limit, saved) = (self.walltime?, self.more().saved);
        // One that runs over its request may have saved more than that.
        while limit <= saved && self.resumes() {
            limit += limit.max(Span::TICK);
        }
        Some(limit - saved)
    }

    /// When the plan of an attempt ends that has used up its time: it takes as long again, unless
    /// only checkpoints are late.
    fn extended(&self, run: &Run, now: Time, config: &ProviderConfig) -> Time {
        let late = run.saving.as_ref().and_then(|saving| {
            let checkpoints = config.on_failure.checkpoints().planned(self.rigid());
            saving.left(now, self.to_compute()?, &checkpoints)
        });
        now + late.unwrap_or(now - run.start)
    }

    /// It, as far as its checkpoints go.
    fn rigid(&self) -> RigidJob {
        RigidJob { processors: self.processors, limit: self.walltime, saved: self.more().saved }
    }

    /// The checkpoints of an attempt that starts at this instant, on nodes that have seen so much.
    fn checkpoints(
        &self,
        start: Time,
        seen: FailureHistory,
        config: &ProviderConfig,
    ) -> Checkpoints {
        let computes = start + self.more().stage_in.start_up;
        config.on_failure.checkpoints().attempt(self.rigid(), computes, seen)
    }

    /// How far its attempt has come.
    fn progress(&self, run: &Run, now: Time, config: &ProviderConfig) -> Progress {
        if let Some(saving) = &run.saving {
            return saving.progress(now);
        }
        let checkpoints = self.checkpoints(run.start, run.seen, config);
        let elapsed = now - run.start;
        let start_up = self.more().stage_in.start_up.min(elapsed);
        let progress = checkpoints.progress(elapsed - start_up, run.computing, self.resumes());
        Progress { overhead: start_up + progress.overhead, ..progress }
    }

    /// Its story if it ends now, without having run.
    fn over(self, provider: ProviderId, outcome: JobOutcome, now: Time) -> JobRecord {
        let Submission { job, class, .. } = self.submission;
        JobRecord {
            provider: Some(provider),
            queued: Some(self.queued),
            walltime: self.walltime,
            promised_end: self.promised_end,
            granted: self.more.and_then(|more| more.granted),
            ..JobRecord::never_queued(job, class, outcome, now)
        }
    }

    fn request(&self, slot: Slot, ahead: bool, config: &ProviderConfig) -> Request {
        let job = &self.submission.job;
        Request {
            slot,
            processors: self.processors,
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
        let bargains = scheduler.bargainer().is_some();
        let coallocates = scheduler.coallocation().is_some();
        let passes = if bargains || coallocates { Passes::Instant } else { config.passes };
        Provider {
            bargains,
            coallocates,
            scheduler,
            free: ProcessorSet::range(0, config.processors),
            down: ProcessorSet::new(),
            nodes: Nodes::new(config.processors, config.on_failure.checkpoints().learns_of_nodes()),
            carried: Carried::default(),
            windows: Windows::default(),
            jobs: Slots::default(),
            slots: ByJob::default(),
            load: Load::default(),
            wake: None,
            deciding: Deciding::new(passes),
            started: Vec::new(),
            tasks_started: Vec::new(),
            expected: Expected::default(),
            reserving: Reserving::new(stream.clone()),
            negotiation: Negotiation::new(stream),
            agreements: Agreements::default(),
            coallocation: Coallocation::default(),
            profiling: Profiling::default(),
            transactions: Transactions::new(&config.transacting),
            coordinated: BTreeMap::new(),
            unheard: None,
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
        let id = submission.job.id;
        if self.slots.has(id) {
            return false;
        }
        if let Some(reason) = self.never_runs(&submission.job) {
            out.send(submitter, SubmissionMessage::Refused { job: id, reason });
            return true;
        }
        self.accept(now, HeldJob::new(submission, submitter, now, &self.config), out);
        true
    }

    /// Queues a job, and tells its submitter.
    fn accept(&mut self, now: Time, held: HeldJob, out: &mut Outbox) {
        let job = held.submission.job.id;
        out.send(held.submitter, SubmissionMessage::Accepted { job });
        self.queue(now, held, out);
    }

    /// Queues a job that has been accepted.
    fn queue(&mut self, now: Time, held: HeldJob, out: &mut Outbox) {
        let id = held.submission.job.id;
        let request = held.request(self.jobs.next(), false, &self.config);
        self.load.waiting += work(request.processors, request.span);
        self.slots.insert(id, self.jobs.insert(Held::Job(held)));
        self.arrive(now, request);
        self.plan_changed(now, out);
    }

    /// Why a rigid job could never run here, if so.
    fn never_runs(&self, job: &Job) -> Option<Refusal> {
        if job.shape == JobShape::Bag || job.processors == 0 {
            return Some(Refusal::WrongShape);
        }
        (job.processors > self.config.processors).then_some(Refusal::TooWide)
    }

    fn on_run_ended(&mut self, now: Time, slot: Slot, out: &mut Outbox) {
        let Some(mut held) = self.release_job(slot) else { return };
        let Some(mut run) = held.run.take() else { return };
        if self.config.overrun == Overrun::Extend || run.saving.is_some() {
            out.stop(Timer::PlanEnds { slot: slot.0 });
        }
        let (processors, planned_end) = (run.processors.count(), run.planned_end);
        self.job_finished(now, Killed { slot, processors, planned_end });
        let checkpointing = held.progress(&run, now, &self.config).overhead;
        if run.saving.is_some() {
            self.end_late(now, &mut held, &run);
        }
        let id = held.submission.job.id;
        self.free.insert_all(&run.processors);
        self.load.ended(processors, planned_end);
        let finished = SubmissionMessage::Finished { job: id, outcome: run.outcome };
        self.say(held.submitter, finished, out);
        let checkpoints = run.sent();
        let (start, processors, outcome) = (Some(run.start), run.processors, run.outcome);
        let over = held.over(self.config.id, outcome, now);
        let over = JobRecord { start, processors, checkpointing, checkpoints, ..over };
        out.observe(Observation::JobOver(Box::new(over)));
        self.ended_early(now, planned_end, out);
        self.plan_changed(now, out);
    }

    fn on_plan_ended(&mut self, now: Time, slot: Slot, out: &mut Outbox) {
        let Some(Held::Job(held)) = self.jobs.get_mut(slot) else { return };
        let Some(run) = held.run.as_ref() else { return };
        let planned_end = held.extended(run, now, &self.config);
        let Some(run) = held.run.as_mut() else { return };
        self.load.extended(held.processors, planned_end - run.planned_end);
        run.planned_end = planned_end;
        self.scheduler.overran(now, slot, planned_end);
        self.answer_displaced(now, Cause::Overrun, out);
        out.set(planned_end, Timer::PlanEnds { slot: slot.0 });
        self.plan_changed(now, out);
    }

    fn on_withdrawn(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) {
        if self.withdraw_expected(now, from, job, out) {
            return;
        }
        let slot = self.slots.get(job).copied();
        let is_theirs = |slot: &Slot| match self.jobs.get(*slot) {
            Some(Held::Job(held)) => held.submitter == from,
            _ => false,
        };
        let slot = slot.filter(is_theirs);
        let waits = |&slot: &Slot| self.leave_early(slot) || self.scheduler.withdraw(now, slot);
        let Some(slot) = slot.filter(waits) else {
            out.send(from, SubmissionMessage::NotWithdrawn { job });
            return;
        };
        let Some(held) = self.release_job(slot) else { return };
        self.load.waiting -= work(held.processors, held.planned(&self.config));
        let outcome = JobOutcome::Cancelled;
        out.send(held.submitter, SubmissionMessage::Finished { job, outcome });
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
        let on_failure = self.config.on_failure;
        let span = walltime.map(|walltime| on_failure.planned(processors, walltime));
        let Some(start) = self.outlook(now).estimate_start(now, processors, span) else {
            out.send(from, QueryMessage::NoAnswer { job, reason: Refusal::TooWide });
            return;
        };
        let completion = start + span.unwrap_or(Span::FOREVER);
        out.send(from, QueryMessage::Estimate { job, start, completion });
    }

    fn on_load_requested(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) {
        if self.config.disclosure < Disclosure::Load {
            out.send(from, QueryMessage::NoAnswer { job, reason: Refusal::NotDisclosed });
            return;
        }
        let drain_time = self.load.drain_time(now, self.config.processors);
        out.send(from, QueryMessage::Load { job, drain_time });
    }

    /// The run stops: what waits and runs is unfinished.
    fn on_run_over(&mut self, now: Time, out: &mut Outbox) {
        let provider = self.config.id;
        for held in self.jobs.drain() {
            match held {
                Held::Job(mut held) => {
                    let mut run = held.run.take();
                    let progress = run.as_ref().map(|run| held.progress(run, now, &self.config));
                    let over = held.over(provider, JobOutcome::Unfinished, now);
                    let over = JobRecord {
                        start: run.as_ref().map(|run| run.start),
                        checkpoints: run.as_mut().map(Run::sent).unwrap_or_default(),
                        processors: run.map(|run| run.processors).unwrap_or_default(),
                        checkpointing: progress.map_or(Span::ZERO, |it| it.overhead),
                        ..over
                    };
                    out.observe(Observation::JobOver(Box::new(over)));
                }
                Held::Share(share) => share.unfinished(provider, now, out),
                // Its user says so, when its metascheduler has told which of its data have arrived.
                Held::Expected(_) => {}
                // Its metascheduler has the bag.
                Held::Part => {}
                Held::Coallocated(part) => part.unfinished(provider, now, out),
                Held::Booked(booking) => booking.unfinished(provider, now, out),
            }
        }
    }

    fn start(&mut self, now: Time, slot: Slot, out: &mut Outbox) {
        if self.is_part(slot) {
            return self.start_part(now, slot, out);
        }
        if self.is_booking(slot) {
            return self.start_booking(now, slot, out);
        }
        let Some(Held::Job(held)) = self.jobs.get_mut(slot) else {
            unreachable!("the scheduler starts queued jobs")
        };
        let job = &held.submission.job;
        let processors = self
            .free
            .take_lowest(held.processors)
            .expect("the scheduler starts a job only if its processors are free");
        let run_time = held.run_time(self.config.speed);
        let planned = held.planned(&self.config);
        let planned_end = now + planned.unwrap_or(Span::FOREVER).max(Span::TICK);
        let over_limit = held.walltime.is_some_and(|walltime| run_time > walltime);
        let (computes, outcome) = match (over_limit, self.config.overrun) {
            (true, Overrun::Kill) => {
                (held.walltime.unwrap_or(run_time), JobOutcome::WalltimeReached)
            }
            _ => (run_time, JobOutcome::Completed),
        };
        let computing = computes - held.more().saved;
        let seen = self.nodes.under(&processors);
        let checkpoints = held.checkpoints(now, seen, &self.config);
        let saving = self
            .config
            .store
            .map(|_| Box::new(Saving::new(now, held, &checkpoints, computing, &self.config)));
        let end = match saving {
            Some(_) => Time::FOREVER,
            None => {
                let lasts = checkpoints.lasts(computing, held.resumes());
                now + (held.more().stage_in.start_up + lasts)
            }
        };
        if end > planned_end {
            out.set(planned_end, Timer::PlanEnds { slot: slot.0 });
        }
        self.load.waiting -= work(held.processors, planned);
        self.load.started(held.processors, planned_end);
        let saves = saving.is_some();
        if !saves {
            out.set(end, Timer::RunEnds { slot: slot.0 });
        }
        out.send(held.submitter, SubmissionMessage::Started { job: job.id });
        held.run = Some(Run {
            start: now,
            end,
            planned_end,
            computing,
            outcome,
            processors,
            seen,
            saving,
        });
        if saves {
            self.begin_saving(now, slot, out);
        }
    }

    /// What a slot holds is over.
    fn release(&mut self, slot: Slot) -> Option<Held> {
        let held = self.jobs.take(slot)?;
        let job = match &held {
            Held::Job(held) => Some(held.submission.job.id),
            Held::Expected(it) => Some(it.job()),
            Held::Share(share) => Some(share.call.job),
            Held::Part => None,
            Held::Coallocated(part) => Some(part.job()),
            // It is known by its agreement.
            Held::Booked(_) => None,
        };
        if let Some(job) = job {
            self.slots.remove(job);
        }
        Some(held)
    }

    fn release_job(&mut self, slot: Slot) -> Option<HeldJob> {
        let Some(Held::Job(held)) = self.jobs.get(slot) else { return None };
        self.slots.remove(held.submission.job.id);
        match self.jobs.take(slot)? {
            Held::Job(held) => Some(held),
            Held::Expected(_)
            | Held::Share(_)
            | Held::Part
            | Held::Coallocated(_)
            | Held::Booked(_) => None,
        }
    }
}

/// What each protocol asks of a provider; false if it does not expect that.
impl Provider {
    fn on_submission(
        &mut self,
        now: Time,
        from: ActorId,
        message: SubmissionMessage,
        out: &mut Outbox,
    ) -> bool {
        match message {
            SubmissionMessage::Submit(submission) => self.on_submitted(now, from, submission, out),
            SubmissionMessage::SubmitAhead(submission) => {
                self.on_submitted_ahead(now, from, submission, out)
            }
            SubmissionMessage::DataArrived { job } => self.on_data_arrived(now, from, job, out),
            SubmissionMessage::Withdraw { job } => {
                self.on_withdrawn(now, from, job, out);
                true
            }
            _ => false,
        }
    }

    fn on_query(
        &mut self,
        now: Time,
        from: ActorId,
        message: QueryMessage,
        out: &mut Outbox,
    ) -> bool {
        match message {
            QueryMessage::EstimateRequest { job, processors, requested_time } => {
                self.on_estimate_requested(now, from, job, processors, requested_time, out);
            }
            QueryMessage::LoadRequest { job } => self.on_load_requested(now, from, job, out),
            _ => return false,
        }
        true
    }

    fn on_bargain(
        &mut self,
        now: Time,
        from: ActorId,
        message: BargainMessage,
        out: &mut Outbox,
    ) -> bool {
        match message {
            BargainMessage::Call(call) => self.on_called(now, from, call, out),
            BargainMessage::Refresh { job } => self.on_refresh(now, from, job, out),
            BargainMessage::Offers(_) | BargainMessage::Probe { .. } => false,
        }
    }

    fn on_timer(&mut self, now: Time, timer: Timer, out: &mut Outbox) -> bool {
        match timer {
            Timer::RunEnds { slot } if self.is_part(Slot(slot)) => {
                self.on_part_ended(now, Slot(slot), out);
            }
            Timer::RunEnds { slot } if self.is_booking(Slot(slot)) => {
                self.on_booking_ended(now, Slot(slot), out);
            }
            Timer::AgreementDue => self.on_agreement_due(now, out),
            Timer::RunEnds { slot } => self.on_run_ended(now, Slot(slot), out),
            Timer::PlanEnds { slot } => self.on_plan_ended(now, Slot(slot), out),
            Timer::CheckpointDue { slot } => self.on_checkpoint_due(now, Slot(slot), out),
            Timer::Settle => self.on_settled(now, out),
            Timer::Reschedule if self.coallocates => self.on_room(now, out),
            Timer::ThroughputSteady { job } => self.on_steady(job, out),
            Timer::Reschedule => self.on_reschedule(now, out),
            Timer::PlanDue => self.on_plan_due(now, out),
            Timer::TasksEnd { slot, run } => self.on_tasks_ended(now, Slot(slot), run, out),
            Timer::TasksPlanEnds { slot, run } => {
                self.on_tasks_plan_ended(now, Slot(slot), run, out);
            }
            Timer::EstimateReady { job } => self.answer(now, job, out),
            Timer::MaintenanceAnnounced { number } => {
                return self.on_maintenance_announced(now, number, out);
            }
            Timer::MaintenanceBegins { number } => {
                return self.on_maintenance_begins(now, number, out);
            }
            Timer::MaintenanceEnds { number } => return self.on_maintenance_ends(now, number, out),
            _ => return false,
        }
        true
    }
}

impl Actor for Provider {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        if deciding::asks_of_queue(&message) {
            self.join_queue(now);
        }
        self.expected.on_message(&message);
        let expected = match message {
            Message::Wake(timer) => self.on_timer(now, timer, out),
            Message::Submission(message) => self.on_submission(now, from, message, out),
            Message::Reservation(message) => self.on_reservation(now, from, message, out),
            Message::Query(message) => self.on_query(now, from, message, out),
            Message::Reallocation(message) => self.on_reallocation(now, from, message, out),
            Message::Bargain(message) => self.on_bargain(now, from, message, out),
            Message::Agreement(message) => self.on_agreement(now, from, message, out),
            Message::Coallocation(message) => self.on_coallocation(now, from, message, out),
            Message::Share(ShareMessage::BagCompletion { job, completion }) => {
                self.on_bag_completion(from, job, completion, out)
            }
            Message::Transaction(message) => self.on_transaction(now, from, message, out),
            Message::Data(DataMessage::CheckpointTransferred { number })
                if self.config.store.is_some() =>
            {
                self.on_checkpoint_carried(now, number, out);
                true
            }
            // A part that fails, or that its scheduler forgets, would leave the others alone.
            Message::Resource(_) if self.coallocates => false,
            Message::Run(RunMessage::Crashed | RunMessage::Restarted)
                if self.coallocates && !self.transacts() =>
            {
                false
            }
            Message::Resource(ResourceMessage::Failed { processors }) => {
                self.on_failed(now, processors, out);
                true
            }
            Message::Resource(ResourceMessage::Restored { processors }) => {
                self.on_restored(now, &processors, out);
                true
            }
            Message::Run(RunMessage::Crashed) => {
                self.on_crashed();
                true
            }
            Message::Run(RunMessage::Restarted) => {
                self.on_restarted(now, out);
                true
            }
            Message::Run(RunMessage::RunOver) => {
                self.on_run_over(now, out);
                true
            }
            _ => false,
        };
        if !expected {
            out.refuse(from);
        }
    }
}
