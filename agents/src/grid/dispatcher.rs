//! The grid's scheduler: takes jobs from users and sends each to one or several resources.

use std::collections::{BTreeMap, BTreeSet};

use haggle_model::grid::{GridJobRecord, GridOutcome, RoundsAccount};
use haggle_model::network::Node;
use haggle_model::random::Stream;
use haggle_model::work::{Speed, Work};
use haggle_model::{ActorId, Job, JobId, JobOutcome, JobShape, Observation, Refusal, Span, Time};
use haggle_scheduling::grid::scheduler::Questions;
use haggle_scheduling::grid::{
    Action, Checkpointing, Detection, GridPolicy, GridScheduler, Insight, Preference, ResourceId,
    Round, Session, SiteId, User, View,
};
use rand::RngExt;

use super::resource::{Checkpoints, JobData};
use super::superseded::{CancelMode, Superseded};
use super::{Rounds, Traffic};
use crate::desk::{Desk, Entry, Withdrawal};
use crate::protocol::{
    CheckpointMessage, DataMessage, Dispatch, DispatchMessage, GridTimer, InformationMessage,
    Message, RunMessage, Saved, Status, Submission, SubmissionMessage, Timer,
};
use crate::{Actor, Outbox};

/// A resource as the dispatcher knows it when the run begins.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Its address.
    pub actor: ActorId,
    /// Where it stands.
    pub site: SiteId,
    /// Whether it works.
    pub up: bool,
    /// What the load by others leaves of its speed.
    pub avail: Speed,
    /// Jobs it takes at a time.
    pub slots: u32,
}

/// What a dispatcher starts from.
#[derive(Clone, Debug)]
pub struct DispatcherConfig {
    /// The policy.
    pub policy: GridPolicy,
    /// Which resource is the best.
    pub preference: Preference,
    /// When it decides.
    pub rounds: Rounds,
    /// The resources.
    pub resources: Vec<Known>,
    /// The network that carries data.
    pub network: ActorId,
    /// The checkpoint server.
    pub checkpoint_server: ActorId,
    /// What jobs bring along, by workload.
    pub data: Vec<JobData>,
    /// How jobs save their progress, if any does.
    pub checkpoints: Option<Checkpoints>,
    /// Whether a job that has been computed cannot be lost any more. Otherwise its
    /// copies go on until the output has arrived.
    pub output_survives: bool,
    /// When copies of a job that is done are cancelled.
    pub cancel_mode: CancelMode,
}

/// The grid's scheduler.
#[derive(Debug)]
pub struct Dispatcher {
    config: DispatcherConfig,
    policy: Box<dyn GridScheduler>,
    view: View,
    /// The resources' numbers, by address.
    by_actor: Vec<Option<ResourceId>>,
    /// Jobs that are not done.
    desk: Desk<Tries>,
    /// Jobs of which no try has been computed yet.
    open: usize,
    moving: BTreeMap<JobId, Moving>,
    superseded: Superseded,
    stream: Stream,
    next: NextRound,
    account: RoundsAccount,
    answers: Answers,
}

/// The tries of a job.
#[derive(Debug, Default)]
struct Tries {
    tries: u32,
    /// Tries that are believed alive, and where.
    alive: Vec<(ResourceId, u32)>,
    /// The try that wrote the newest checkpoint.
    saved_by: Option<u32>,
    /// The try that was computed first, and when.
    winner: Option<(u32, Time)>,
}

/// A job on its way from one resource to another.
#[derive(Clone, Copy, Debug)]
struct Moving {
    since: Time,
    from: ResourceId,
    to: ResourceId,
}

/// The round that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextRound {
    /// None is needed.
    None,
    /// It wakes up for one.
    Awaited,
    /// It was due then, and has not been decided; whether something has happened since.
    UnderWay(Time, Meanwhile),
}

/// Whether something has happened that asks for another round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meanwhile {
    Nothing,
    Something,
}

/// What resources and network have answered before a round.
#[derive(Debug, Default)]
struct Answers {
    /// Whose progress has been asked for, and where.
    asked: BTreeSet<(JobId, ResourceId)>,
    /// Whether the network has been asked.
    asked_traffic: bool,
    progress: BTreeMap<(JobId, ResourceId), (Work, bool)>,
    traffic: Option<Traffic>,
}

/// The answers, and what moving costs.
struct Insights<'a> {
    answers: &'a Answers,
    config: &'a DispatcherConfig,
    desk: &'a Desk<Tries>,
}

impl Insight for Insights<'_> {
    fn progress(&self, job: JobId, resource: ResourceId) -> Work {
        self.answers.progress.get(&(job, resource)).map_or(Work::ZERO, |&(done, _)| done)
    }

    fn session(&self, job: JobId) -> Session {
        let entry = self.desk.get(job).expect("a policy asks about jobs that are not done");
        let Job { workload, origin, .. } = &*entry.submission.job;
        let share = self.config.data[usize::from(*workload)].share;
        Session { user: User(origin.user), share }
    }

    fn moving_time(&self, job: JobId, from: ResourceId, to: ResourceId) -> Option<Span> {
        let &(_, computes) = self.answers.progress.get(&(job, from))?;
        let traffic = self.answers.traffic.as_ref()?;
        let submission = &self.desk.get(job)?.submission;
        let data = self.config.data[usize::from(submission.job.workload)];
        let (cost, recovery) = self
            .config
            .checkpoints
            .map_or((Span::ZERO, Span::ZERO), |it| (it.cost.of(length(submission)), it.recovery));
        let node = |id: ResourceId| Node::Resource(id.index());
        let transfer = traffic.predicted(node(from), node(to), data.input + data.checkpoint);
        computes.then_some(cost + transfer + recovery)
    }
}

/// A job's length as its user describes it; a job without a requested time counts as the shortest.
fn length(submission: &Submission) -> Work {
    let time = submission.job.requested_time.unwrap_or(Span::ZERO);
    Speed::from_mips(1).over(time)
}

impl Dispatcher {
    /// A dispatcher without jobs.
    pub fn new(config: DispatcherConfig, stream: Stream) -> Dispatcher {
        let policy = config.policy.build(config.resources.len() as u32);
        let mut view = View::new(policy.detection(), config.preference);
        let actors = config.resources.iter().map(|known| known.actor.index() + 1);
        let mut by_actor = vec![None; actors.max().unwrap_or(0)];
        for known in &config.resources {
            let id = view.add_resource(known.site, known.up, known.avail, known.slots);
            by_actor[known.actor.index()] = Some(id);
        }
        Dispatcher {
            config,
            policy,
            view,
            by_actor,
            desk: Desk::default(),
            open: 0,
            moving: BTreeMap::new(),
            superseded: Superseded::default(),
            stream,
            next: NextRound::None,
            account: RoundsAccount::default(),
            answers: Answers::default(),
        }
    }

    fn actor(&self, resource: ResourceId) -> ActorId {
        self.config.resources[resource.index()].actor
    }

    fn tell(&self, resource: ResourceId, message: DispatchMessage, out: &mut Outbox) {
        out.send(self.actor(resource), message);
    }

    /// Sees to it that a round takes place, at the latest when the next one is due. None
    /// begins while one is under way.
    fn await_round(&mut self, now: Time, out: &mut Outbox) {
        if self.open == 0 && self.superseded.copies.is_empty() {
            return;
        }
        match self.next {
            NextRound::None => self.wake_for_round(self.config.rounds.due(now), out),
            NextRound::Awaited => {}
            NextRound::UnderWay(due, _) => {
                self.next = NextRound::UnderWay(due, Meanwhile::Something);
            }
        }
    }

    fn wake_for_round(&mut self, at: Time, out: &mut Outbox) {
        self.next = NextRound::Awaited;
        out.wake(at, GridTimer::Round);
    }

    /// Something has happened that an event-driven scheduler reacts to.
    fn react(&mut self, now: Time, out: &mut Outbox) {
        if self.config.rounds.are_event_driven() {
            self.await_round(now, out);
        }
    }

    fn on_submit(
        &mut self,
        now: Time,
        from: ActorId,
        submission: Submission,
        out: &mut Outbox,
    ) -> bool {
        let (job, length) = (submission.job.id, length(&submission));
        let fits = submission.job.processors == 1 && submission.job.shape == JobShape::Rigid;
        let is_new = !self.view.jobs().has(job);
        if !is_new || self.desk.take_in(from, submission, Tries::default()).is_none() {
            return false;
        }
        if !fits {
            self.desk.refuse(job, Refusal::WrongShape, out);
            return true;
        }
        self.view.submit(job, now, length);
        self.open += 1;
        // Who does not queue cannot say before the round.
        if self.policy.queues() {
            out.send(from, SubmissionMessage::Accepted { job });
        }
        self.await_round(now, out);
        true
    }

    fn on_withdraw(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) {
        if self.desk.withdraw(from, job, out) != Withdrawal::Here {
            return;
        }
        if self.desk.get(job).is_some_and(|entry| entry.stage.tries > 0) {
            out.send(from, SubmissionMessage::NotWithdrawn { job });
            return;
        }
        self.view.withdraw(job);
        self.open -= 1;
        self.over(job, GridOutcome::Withdrawn(now), JobOutcome::Cancelled, out);
    }

    fn over(&mut self, job: JobId, outcome: GridOutcome, word: JobOutcome, out: &mut Outbox) {
        let Some(entry) = self.desk.finish(job, word, out) else { return };
        let record = self.record(entry.submission, outcome);
        match self.superseded.has(job) {
            true => self.superseded.over.push(record),
            false => out.observe(Observation::GridJobOver(Box::new(record))),
        }
    }

    fn record(&self, submission: Submission, outcome: GridOutcome) -> GridJobRecord {
        let Submission { job, class, .. } = submission;
        let share = match self.config.policy {
            GridPolicy::Sessions(_) => {
                Some(self.config.data[usize::from(job.workload)].share.into())
            }
            _ => None,
        };
        GridJobRecord { job, class, share, outcome }
    }

    /// A job that has no try alive gets none any more.
    fn give_up(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        self.open -= 1;
        if self.view.job(job).dispatches > 0 {
            return self.over(job, GridOutcome::Lost(now), JobOutcome::Failed, out);
        }
        self.desk.refuse(job, Refusal::NoRoom, out);
    }

    // Rounds.

    /// A round begins: what is known of the resources?
    fn on_round(&mut self, now: Time, out: &mut Outbox) {
        self.next = NextRound::UnderWay(now, Meanwhile::Nothing);
        match self.config.rounds.query {
            Span::ZERO => self.on_answered(now, out),
            query => out.wake(now + query, GridTimer::Answered),
        }
    }

    /// What the information service knows now is all that the round will know of failures,
    /// repairs and load.
    fn on_answered(&mut self, now: Time, out: &mut Outbox) {
        for loss in self.view.consult() {
            self.forget_try(loss.job, loss.resource);
        }
        match self.config.rounds.schedule {
            Span::ZERO => self.on_decided(now, out),
            schedule => out.wake(now + schedule, GridTimer::Decided),
        }
    }

    /// The round decides now that its time has passed: jobs may have come or ended meanwhile.
    fn on_decided(&mut self, now: Time, out: &mut Outbox) {
        let Questions { progress, traffic } = self.policy.questions(&self.view);
        self.answers = Answers { asked_traffic: traffic, ..Answers::default() };
        for (job, resource) in progress {
            self.answers.asked.insert((job, resource));
            self.tell(resource, DispatchMessage::ProgressRequest { job }, out);
        }
        if traffic {
            out.send(self.config.network, DataMessage::TrafficRequest);
        }
        self.decide_if_answered(now, out);
    }

    fn on_progress(
        &mut self,
        now: Time,
        (job, resource): (JobId, ResourceId),
        progress: (Work, bool),
        out: &mut Outbox,
    ) -> bool {
        let asked = self.answers.asked.remove(&(job, resource));
        if asked {
            self.answers.progress.insert((job, resource), progress);
            self.decide_if_answered(now, out);
        }
        asked
    }

    fn on_traffic(&mut self, now: Time, traffic: Traffic, out: &mut Outbox) -> bool {
        let asked = std::mem::take(&mut self.answers.asked_traffic);
        if asked {
            self.answers.traffic = Some(traffic);
            self.decide_if_answered(now, out);
        }
        asked
    }

    fn decide_if_answered(&mut self, now: Time, out: &mut Outbox) {
        if self.answers.asked.is_empty() && !self.answers.asked_traffic {
            self.decide(now, out);
        }
    }

    fn decide(&mut self, now: Time, out: &mut Outbox) {
        self.cancel_superseded(out);
        let insight = Insights { answers: &self.answers, config: &self.config, desk: &self.desk };
        let stream = &mut self.stream;
        let mut draw = |bound: usize| stream.random_range(0..bound);
        let mut round = Round::new(now, &insight, &mut draw);
        self.policy.round(&mut self.view, &mut round);
        for action in round.into_actions() {
            self.carry_out(now, action, out);
        }
        self.account.rounds += 1;
        self.account.with_queue += u64::from(self.view.jobs().waiting() > 0);
        self.await_round_after(now, out);
    }

    /// A round is over: the next one takes place if it is needed.
    fn await_round_after(&mut self, now: Time, out: &mut Outbox) {
        let NextRound::UnderWay(due, meanwhile) = self.next else { return };
        self.next = NextRound::None;
        if !self.config.rounds.are_event_driven() {
            if self.open > 0 {
                self.wake_for_round(self.config.rounds.due_after(due, now), out);
            }
        } else if meanwhile == Meanwhile::Something {
            self.await_round(now, out);
        }
    }

    fn carry_out(&mut self, now: Time, action: Action, out: &mut Outbox) {
        match action {
            Action::Cancel { job, resource } => {
                self.forget_try(job, resource);
                self.tell(resource, DispatchMessage::Cancel { job }, out);
            }
            Action::GiveUp { job } => self.give_up(now, job, out),
            Action::Checkpointing { job, on } => {
                let tries = self.desk.get(job).map(|entry| &entry.stage);
                for &(resource, _) in tries.into_iter().flat_map(|tries| &tries.alive) {
                    self.tell(resource, DispatchMessage::Checkpointing { job, on }, out);
                }
            }
            Action::Dispatch { job, resource, from } => {
                self.dispatch(job, resource, from, false, out);
            }
            Action::Migrate { job, from, to, save } => {
                self.forget_try(job, from);
                if save {
                    self.moving.insert(job, Moving { since: now, from, to });
                    self.dispatch(job, to, Work::ZERO, true, out);
                    let to = self.actor(to);
                    self.tell(from, DispatchMessage::Move { job, to }, out);
                } else {
                    self.tell(from, DispatchMessage::Cancel { job }, out);
                    self.view.leave(job, from);
                    self.dispatch(job, to, Work::ZERO, false, out);
                }
            }
        }
    }

    fn dispatch(&mut self, job: JobId, to: ResourceId, from: Work, moves: bool, out: &mut Outbox) {
        let checkpointing = match self.policy.checkpointing() {
            Checkpointing::Never => false,
            Checkpointing::Always => true,
            Checkpointing::Switched => self.view.job(job).checkpointing,
        };
        let Some(Entry { submission, submitter, stage: tries, .. }) = self.desk.get_mut(job) else {
            return;
        };
        tries.tries += 1;
        tries.alive.push((to, tries.tries));
        if !self.policy.queues() {
            out.send(*submitter, SubmissionMessage::Accepted { job });
        }
        let dispatch = Dispatch {
            job,
            number: tries.tries,
            workload: submission.job.workload,
            run_time: submission.job.run_time,
            from,
            parent: tries.saved_by.filter(|_| from > Work::ZERO),
            checkpointing,
            moves,
        };
        self.tell(to, DispatchMessage::Dispatch(Box::new(dispatch)), out);
    }

    /// The tries of a job that is not done.
    fn tries(&mut self, job: JobId) -> Option<&mut Tries> {
        self.desk.get_mut(job).map(|entry| &mut entry.stage)
    }

    /// Whether no try of the job has been computed yet.
    fn is_open(&self, job: JobId) -> bool {
        self.desk.get(job).is_some_and(|entry| entry.stage.winner.is_none())
    }

    /// Whether this try of a job is believed alive there.
    fn is_alive(&self, job: JobId, at: ResourceId, number: impl Into<Option<u32>>) -> bool {
        let number = number.into();
        self.desk.get(job).is_some_and(|entry| {
            let is_it = |&(resource, its): &(ResourceId, u32)| {
                resource == at && number.is_none_or(|number| number == its)
            };
            entry.stage.alive.iter().any(is_it)
        })
    }

    fn forget_try(&mut self, job: JobId, resource: ResourceId) {
        if let Some(tries) = self.tries(job) {
            tries.alive.retain(|&(at, _)| at != resource);
        }
    }

    // What resources tell.

    fn on_refused(&mut self, now: Time, job: JobId, resource: ResourceId, out: &mut Outbox) {
        // One that had been noticed as lost, or is done, is refused to nobody.
        let expected = self.is_open(job) && self.is_alive(job, resource, None);
        if expected {
            self.view.refuse(job, resource);
            self.forget_try(job, resource);
            // It waits for the next round, unless it cannot wait.
            if !self.policy.queues() {
                self.await_round(now, out);
            }
        }
    }

    fn on_computed(
        &mut self,
        now: Time,
        (job, number): (JobId, u32),
        resource: ResourceId,
        delivered: bool,
        out: &mut Outbox,
    ) -> bool {
        if !self.is_open(job) {
            // Another try was faster, in this very instant.
            if !delivered {
                self.tell(resource, DispatchMessage::Cancel { job }, out);
            }
            return true;
        }
        if !self.is_alive(job, resource, number) {
            return false;
        }
        self.policy.computed(now, job);
        if delivered || self.config.output_survives {
            if let Some(tries) = self.tries(job) {
                tries.winner = Some((number, now));
            }
            self.complete(now, job, resource, out);
            if delivered {
                self.done(now, job, out);
            }
        } else {
            self.view.computed(job, resource);
        }
        self.react(now, out);
        true
    }

    /// A job cannot be lost any more: its copies are not needed.
    fn complete(&mut self, now: Time, job: JobId, resource: ResourceId, out: &mut Outbox) {
        self.open -= 1;
        if let Some(Moving { from, to, .. }) = self.moving.remove(&job) {
            self.tell(from, DispatchMessage::Cancel { job }, out);
            self.tell(to, DispatchMessage::Cancel { job }, out);
        }
        // No round sees that those which go on hold their slots: it cancels them first.
        let copies = self.view.complete(job, resource).into_iter().map(|copy| (job, copy));
        self.superseded.copies.extend(copies);
        match self.config.cancel_mode {
            CancelMode::Immediate => self.cancel_superseded(out),
            CancelMode::NextRound => self.await_round(now, out),
        }
    }

    /// Cancels the copies of jobs that are done, which is the end of these.
    fn cancel_superseded(&mut self, out: &mut Outbox) {
        let Superseded { copies, over } = std::mem::take(&mut self.superseded);
        for (job, copy) in copies {
            self.forget_try(job, copy);
            self.tell(copy, DispatchMessage::Cancel { job }, out);
        }
        for record in over {
            out.observe(Observation::GridJobOver(Box::new(record)));
        }
    }

    fn on_delivered(
        &mut self,
        now: Time,
        job: JobId,
        resource: ResourceId,
        out: &mut Outbox,
    ) -> bool {
        let Some(tries) = self.tries(job) else { return true };
        if tries.winner.is_none() {
            let number = tries.alive.iter().find(|&&(at, _)| at == resource);
            let Some(&(_, number)) = number else { return false };
            // It has been computed before; when exactly stands in the try's record.
            tries.winner = Some((number, now));
            self.complete(now, job, resource, out);
            self.react(now, out);
        }
        self.done(now, job, out);
        true
    }

    fn done(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let Some(entry) = self.desk.get(job) else { return };
        if entry.stage.saved_by.is_some() {
            out.send(self.config.checkpoint_server, CheckpointMessage::Forget { job });
        }
        let Some((winner, computed)) = entry.stage.winner else { return };
        let outcome = GridOutcome::Done { winner, computed, end: now };
        self.over(job, outcome, JobOutcome::Completed, out);
    }

    fn on_left(&mut self, now: Time, job: JobId, resource: ResourceId, out: &mut Outbox) -> bool {
        if self.moving.get(&job).is_some_and(|moving| moving.from == resource) {
            self.moving.remove(&job);
        }
        self.view.leave(job, resource);
        self.react(now, out);
        true
    }

    /// What a job was to start from has not arrived.
    fn on_stranded(
        &mut self,
        now: Time,
        job: JobId,
        resource: ResourceId,
        out: &mut Outbox,
    ) -> bool {
        if self.is_open(job) && self.is_alive(job, resource, None) {
            self.view.cancel(job, resource);
            self.forget_try(job, resource);
            self.react(now, out);
        }
        true
    }

    fn on_report(&mut self, now: Time, status: Status, out: &mut Outbox) -> bool {
        let Status { resource, report } = status;
        if resource.index() >= self.config.resources.len() {
            return false;
        }
        // Who was to leave a resource that has failed will arrive nowhere.
        let lost = |(job, moving): (&JobId, &Moving)| {
            let gone = moving.from == resource
                && moving.since < report.taken
                && !(report.up && report.jobs.contains(job));
            gone.then_some((*job, moving.to))
        };
        let lost: Vec<(JobId, ResourceId)> = self.moving.iter().filter_map(lost).collect();
        for (job, to) in lost {
            self.moving.remove(&job);
            self.view.cancel(job, to);
            self.forget_try(job, to);
            self.tell(to, DispatchMessage::Cancel { job }, out);
        }
        let before = *self.view.resources().get(resource);
        let (restored, failed) = (report.up && !before.up, !report.up);
        self.view.report(resource, report);
        if restored || failed && self.policy.detection() != Detection::None {
            self.react(now, out);
        }
        true
    }

    fn on_checkpoint_available(&mut self, saved: &Saved, out: &mut Outbox) {
        let job = saved.job;
        let Some(tries) = self.desk.get_mut(job).map(|entry| &mut entry.stage) else {
            out.send(self.config.checkpoint_server, CheckpointMessage::Forget { job });
            return;
        };
        if saved.done >= self.view.job(saved.job).saved {
            tries.saved_by = Some(saved.number);
            self.view.save(saved.job, saved.done);
        }
    }

    fn on_run_over(&mut self, now: Time, out: &mut Outbox) {
        // Before the last round, the dispatcher would have learned of what it was told.
        for record in std::mem::take(&mut self.superseded).over {
            out.observe(Observation::GridJobOver(Box::new(record)));
        }
        let restarts = self.policy.detection() != Detection::None && self.policy.queues();
        let wanted = self.config.policy.replicas();
        for id in self.desk.jobs() {
            let Some(Entry { submission, stage: tries, .. }) = self.desk.close(id) else {
                continue;
            };
            let notices = |&(resource, number): &(ResourceId, u32)| {
                (number, restarts && self.view.may_notice(id, resource))
            };
            let believed = tries.alive.iter().map(notices).collect();
            let outcome = GridOutcome::Open { end: now, wanted, believed, restarts };
            let record = self.record(submission, outcome);
            out.observe(Observation::GridJobOver(Box::new(record)));
        }
        out.observe(Observation::RoundsAccount(self.account));
    }
}

/// What each protocol tells the dispatcher; false if it does not expect that.
impl Dispatcher {
    fn on_submission(
        &mut self,
        now: Time,
        from: ActorId,
        message: SubmissionMessage,
        out: &mut Outbox,
    ) -> bool {
        match message {
            SubmissionMessage::Submit(submission) => self.on_submit(now, from, submission, out),
            SubmissionMessage::Withdraw { job } => {
                self.on_withdraw(now, from, job, out);
                true
            }
            _ => false,
        }
    }

    fn on_dispatch(
        &mut self,
        now: Time,
        from: ActorId,
        message: DispatchMessage,
        out: &mut Outbox,
    ) -> bool {
        let Some(resource) = self.by_actor.get(from.index()).copied().flatten() else {
            return false;
        };
        match message {
            DispatchMessage::Refused { job, .. } => {
                self.on_refused(now, job, resource, out);
                true
            }
            DispatchMessage::Computed { job, number, delivered } => {
                self.on_computed(now, (job, number), resource, delivered, out)
            }
            DispatchMessage::Delivered { job } => self.on_delivered(now, job, resource, out),
            DispatchMessage::Left { job } => self.on_left(now, job, resource, out),
            DispatchMessage::Stranded { job } => self.on_stranded(now, job, resource, out),
            DispatchMessage::Progress { job, done, computes } => {
                self.on_progress(now, (job, resource), (*done, computes), out)
            }
            _ => false,
        }
    }

    fn on_timer(&mut self, now: Time, timer: Timer, out: &mut Outbox) -> bool {
        match timer {
            Timer::Grid(GridTimer::Round) => self.on_round(now, out),
            Timer::Grid(GridTimer::Answered) => self.on_answered(now, out),
            Timer::Grid(GridTimer::Decided) => self.on_decided(now, out),
            _ => return false,
        }
        true
    }
}

impl Actor for Dispatcher {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        let expected = match message {
            Message::Submission(message) => self.on_submission(now, from, message, out),
            Message::Dispatch(message) => self.on_dispatch(now, from, message, out),
            Message::Wake(timer) => self.on_timer(now, timer, out),
            Message::Information(InformationMessage::Report(status)) => {
                self.on_report(now, *status, out)
            }
            Message::Checkpoint(CheckpointMessage::CheckpointAvailable(saved)) => {
                self.on_checkpoint_available(&saved, out);
                true
            }
            Message::Data(DataMessage::Traffic(traffic)) => self.on_traffic(now, *traffic, out),
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
