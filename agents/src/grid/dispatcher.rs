//! The grid's scheduler: it receives jobs from users and metaschedulers, and sends each to one or
//! several resources.

mod attempts;
mod glimpse;
mod overflow;
mod rounds;

use std::collections::BTreeMap;
use std::sync::Arc;

use haggle_grids::{
    CancelMode, Detection, Estimate, GridPolicy, GridScheduler, Preference, ResourceId, Rounds,
    SiteId, View,
};
use haggle_model::grid::{GridJobRecord, GridOutcome, RoundsAccount};
use haggle_model::progress::ProgressReport;
use haggle_model::random::Stream;
use haggle_model::shared;
use haggle_model::work::{Speed, Work};
use haggle_model::workflow::WorkflowCame;
use haggle_model::{
    ActorId, Disclosure, Initial, Job, JobId, JobOutcome, JobShape, Observation, Refusal, Span,
    Time,
};
use haggle_workflows::ledger::{Ledger, Member, WorkflowId};

use haggle_workflows::{TaskId, Workflow};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

pub use self::overflow::Overflow;
use self::rounds::{Answers, NextRound};
use super::resource::{Checkpoints, JobData};
use super::surplus::Surplus;
use crate::desk::{Desk, Entry, Withdrawal};
use crate::protocol::{
    CheckpointMessage, DataMessage, DispatchMessage, GridTimer, InformationMessage, Message,
    QueryMessage, RunMessage, Saved, Status, Submission, SubmissionMessage, Timer,
};
use crate::{Actor, Outbox};

/// State of a resource that the dispatcher knows at the start of the run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Known {
    /// Its address.
    pub actor: ActorId,
    /// Its site.
    pub site: SiteId,
    /// True if it is up.
    pub up: bool,
    /// The part of its speed that the load by others leaves.
    pub avail: Speed,
    /// Number of jobs it takes at a time.
    pub slots: u32,
}

/// Configuration of a dispatcher.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DispatcherConfig {
    /// The policy.
    pub policy: GridPolicy,
    /// Order in which it prefers resources.
    pub preference: Preference,
    /// Times at which it decides.
    pub rounds: Rounds,
    /// The resources.
    pub resources: Vec<Known>,
    /// The network that carries data.
    pub network: ActorId,
    /// The checkpoint server.
    pub checkpoint_server: ActorId,
    /// Data of jobs, by workload.
    pub data: Vec<JobData>,
    /// The workflows of which jobs are tasks.
    #[serde(with = "shared::map")]
    pub workflows: BTreeMap<WorkflowId, Arc<Workflow>>,
    /// Rules by which jobs save their progress, if they do.
    pub checkpoints: Option<Checkpoints>,
    /// Time for which a job holds its slot before its input is requested.
    pub prepare: Span,
    /// True if a job that starts from a checkpoint needs its input again.
    pub restart_needs_input: bool,
    /// True if a computed job cannot be lost any more. Otherwise its copies go on until the output
    /// has arrived.
    pub output_survives: bool,
    /// Time at which copies of a job that is done are cancelled.
    pub cancel_mode: CancelMode,
    /// Level up to which the grid discloses information to metaschedulers.
    pub disclosure: Disclosure,
    /// Target of jobs that have waited too long, if there is one.
    pub overflow: Option<Overflow>,
    /// Resources on which jobs of the start state run at time zero, by the numbers of these jobs.
    pub running: BTreeMap<i64, ResourceId>,
}

impl DispatcherConfig {
    /// The data of a job.
    fn data_of(&self, job: &Job) -> JobData {
        let own = job.task.as_ref().and_then(|task| task.data);
        self.data[usize::from(job.workload)].of(own)
    }
}

/// The grid's scheduler.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Dispatcher {
    config: DispatcherConfig,
    policy: Box<dyn GridScheduler>,
    view: View,
    /// The resources' numbers, by address.
    by_actor: Vec<Option<ResourceId>>,
    /// Jobs that are not done.
    desk: Desk<Attempts>,
    /// Number of jobs of which no attempt has been computed yet.
    open: usize,
    /// Number of tasks that are not over and whose parents are not done, and the number reported
    /// last.
    blocked: (u64, u64),
    moving: BTreeMap<JobId, Moving>,
    /// The dependencies of tasks.
    ledger: Ledger,
    surplus: Surplus,
    stream: Stream,
    next: NextRound,
    account: RoundsAccount,
    answers: Answers,
    /// Jobs that run at time zero, with their resources, until the first round.
    running: Vec<(JobId, ResourceId)>,
}

/// The attempts of a job. Small, because there may be a million of jobs whose loss is unknown.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Attempts {
    attempts: u32,
    /// Attempts that are believed alive, with their resources.
    alive: SmallVec<[(ResourceId, u32); 2]>,
    /// The attempt that wrote the newest checkpoint.
    saved_by: Option<u32>,
    /// The attempt that was computed first, with the time.
    winner: Option<(u32, Time)>,
    /// State that only tasks of workflows have.
    of_task: Option<Box<OfTask>>,
}

/// Further state of a task.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct OfTask {
    /// Its reports of its progress, oldest first.
    reports: Vec<ProgressReport>,
    /// Time at which its last parent was done, if that was after its submission.
    released: Option<Time>,
}

impl Attempts {
    fn reports(&self) -> &[ProgressReport] {
        self.of_task.as_ref().map_or(&[], |task| &task.reports)
    }

    fn released(&self) -> Option<Time> {
        self.of_task.as_ref()?.released
    }

    fn of_task(&mut self) -> &mut OfTask {
        self.of_task.get_or_insert_default()
    }
}

/// A job on its way from one resource to another.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Moving {
    since: Time,
    from: ResourceId,
    to: ResourceId,
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
        let ledger = Ledger::new(&config.workflows);
        Dispatcher {
            config,
            policy,
            view,
            by_actor,
            desk: Desk::default(),
            open: 0,
            blocked: (0, 0),
            moving: BTreeMap::new(),
            ledger,
            surplus: Surplus::default(),
            stream,
            next: NextRound::None,
            account: RoundsAccount::default(),
            answers: Answers::default(),
            running: Vec::new(),
        }
    }

    fn actor(&self, resource: ResourceId) -> ActorId {
        self.config.resources[resource.index()].actor
    }

    fn tell(&self, resource: ResourceId, message: DispatchMessage, out: &mut Outbox) {
        out.send(self.actor(resource), message);
    }

    fn on_submit(
        &mut self,
        now: Time,
        from: ActorId,
        submission: Submission,
        out: &mut Outbox,
    ) -> bool {
        let (job, length) = (submission.job.id, length(&submission));
        // A grid runs rigid jobs on one processor only.
        let fits = submission.job.processors == 1 && submission.job.shape == JobShape::Rigid;
        // The view keeps jobs that have left the desk, so a number that was used before is refused, too.
        let is_new = !self.view.jobs().has(job);
        let (submit, workload) = (submission.job.submit, submission.job.workload);
        let task = submission.job.task.clone();
        let running = match submission.job.initial {
            Some(Initial::Running(_)) => {
                self.config.running.get(&submission.job.number).map(|&at| (job, at))
            }
            _ => None,
        };
        // Before `take_in`, which moves the submission to the desk.
        if is_new && fits && running.is_none() {
            self.limit_wait(now, &submission, out);
        }
        if !is_new || self.desk.take_in(from, submission, Attempts::default()).is_none() {
            return false;
        }
        if !fits {
            self.desk.refuse(job, Refusal::WrongShape, out);
            return true;
        }
        let workflow = task.as_ref().map(|it| WorkflowId { workload, number: it.workflow });
        let may_start = match workflow.zip(task) {
            None => Some(true),
            Some((workflow, task)) => {
                self.tell_of(workflow, out);
                self.ledger.submit(job, Member { workflow, task: TaskId(task.task) })
            }
        };
        let Some(may_start) = may_start else {
            self.desk.refuse(job, Refusal::WrongShape, out);
            return true;
        };
        self.open += 1;
        self.policy.came(job);
        self.running.extend(running);
        if !may_start {
            // Rounds do not see the task before its parents are done, so the view does not contain it yet.
            self.blocked.0 += 1;
            out.send(from, SubmissionMessage::Accepted { job });
            // A policy that schedules workflows as a whole waits for the last task.
            if workflow.is_some_and(|it| self.ledger.is_complete(it)) {
                self.await_round(now, out);
            }
            return true;
        }
        // A task has its turn by its submission, as the tasks have whose parents end later.
        let arrival = if self.ledger.member(job).is_some() { submit } else { now };
        self.view.submit(job, arrival, length);
        // A policy without a queue accepts a job in the round that dispatches it.
        if self.policy.queues() {
            out.send(from, SubmissionMessage::Accepted { job });
        }
        self.await_round(now, out);
        true
    }

    /// Records a workflow before its first task.
    fn tell_of(&self, workflow: WorkflowId, out: &mut Outbox) {
        let Some(graph) = self.ledger.unheard_of(workflow) else { return };
        let WorkflowId { workload, number } = workflow;
        out.observe(Observation::WorkflowCame(WorkflowCame {
            workload,
            number,
            tasks: graph.tasks().len() as u32,
            critical_path: graph.critical_path_by_work().length,
        }));
    }

    fn on_withdraw(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) {
        if self.desk.withdraw(from, job, out) != Withdrawal::Here {
            return;
        }
        // A job that was sent to a resource is not withdrawn any more.
        if self.desk.get(job).is_some_and(|entry| entry.stage.attempts > 0) {
            out.send(from, SubmissionMessage::NotWithdrawn { job });
            return;
        }
        // The view does not contain a task whose parents are not done.
        if self.view.jobs().has(job) {
            self.view.withdraw(job);
        }
        self.open -= 1;
        self.blocked.0 -= u64::from(self.ledger.is_blocked(job));
        // No task that needs it will ever start.
        self.ledger.fail(job);
        self.end_wait(job, out);
        self.over(job, GridOutcome::Withdrawn(now), JobOutcome::Cancelled, out);
        if self.policy.withdrawn(job) {
            self.react(now, out);
        }
    }

    fn over(&mut self, job: JobId, outcome: GridOutcome, word: JobOutcome, out: &mut Outbox) {
        let Some(entry) = self.desk.finish(job, word, out) else { return };
        let record = self.record(entry, outcome);
        match self.surplus.has(job) {
            // The last attempts of the job are unknown as long as its copies go on.
            true => self.surplus.over.push(record),
            false => out.observe(Observation::GridJobOver(Arc::new(record))),
        }
    }

    fn record(&self, entry: Entry<Attempts>, outcome: GridOutcome) -> GridJobRecord {
        let Submission { mut job, class, .. } = entry.submission;
        // The user does not know when a task may start, so the record contains that time.
        let blocked = self.ledger.is_blocked(job.id).then(|| outcome.end());
        if let Some(ready) = entry.stage.released().or(blocked) {
            Arc::make_mut(&mut job).ready = Some(ready);
        }
        let share = match self.config.policy {
            GridPolicy::Sessions(_) => {
                Some(self.config.data[usize::from(job.workload)].share.into())
            }
            _ => None,
        };
        GridJobRecord { job, class, share, outcome }
    }

    /// Answers the query of a metascheduler before it places a job.
    fn on_query(&self, now: Time, from: ActorId, message: &QueryMessage, out: &mut Outbox) -> bool {
        let answer = match *message {
            QueryMessage::EstimateRequest { job, processors, requested_time, .. } => {
                self.estimate(now, job, processors, requested_time)
            }
            QueryMessage::LoadRequest { job } if self.config.disclosure >= Disclosure::Load => {
                QueryMessage::Load { job, drain_time: self.view.drain_time() }
            }
            // The load is disclosed only to metaschedulers that may know it.
            QueryMessage::LoadRequest { job } => {
                QueryMessage::NoAnswer { job, reason: Refusal::NotDisclosed }
            }
            _ => return false,
        };
        out.send(from, answer);
        true
    }

    /// Estimated start and completion of a job here, from the scheduler's state; resources are not
    /// asked.
    fn estimate(
        &self,
        now: Time,
        job: JobId,
        processors: u32,
        requested_time: Option<Span>,
    ) -> QueryMessage {
        // A resource runs each job on one processor.
        if processors != 1 {
            return QueryMessage::NoAnswer { job, reason: Refusal::WrongShape };
        }
        let length = requested_time.map(|time| Speed::from_mips(1).over(time));
        let rounds = (self.next_decision(now), self.config.rounds);
        let Estimate { start, completion } =
            self.view.estimate(now, rounds, self.policy.order(), length);
        QueryMessage::Estimate { job, start, completion }
    }

    /// Gives up a job without an attempt alive; `taken` if a resource ever took it.
    fn give_up(&mut self, now: Time, job: JobId, taken: bool, out: &mut Outbox) {
        self.open -= 1;
        if taken {
            return self.over(job, GridOutcome::Lost(now), JobOutcome::Failed, out);
        }
        self.desk.refuse(job, Refusal::NoRoom, out);
    }

    fn on_report(&mut self, now: Time, status: Status, out: &mut Outbox) -> bool {
        let Status { resource, report } = status;
        if resource.index() >= self.config.resources.len() {
            return false;
        }
        // A job that should have left a failed resource will not arrive.
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
        // A copy, because the report overwrites the state.
        let before = *self.view.resources().get(resource);
        let (restored, failed) = (report.up && !before.up, !report.up);
        self.view.report(resource, report);
        // A repair makes room; a failure matters only to a policy that notices lost jobs.
        if restored || failed && self.policy.detection() != Detection::None {
            self.react(now, out);
        }
        true
    }

    fn on_checkpoint_available(&mut self, now: Time, saved: &Saved, out: &mut Outbox) {
        let job = saved.job;
        // The job is over, so nothing will start from its checkpoints.
        let Some(attempts) = self.desk.get_mut(job).map(|entry| &mut entry.stage) else {
            out.send(self.config.checkpoint_server, CheckpointMessage::Forget { job });
            return;
        };
        // The view does not contain jobs that have been computed.
        let before = self.view.jobs().open(job).map_or(Work::ZERO, |it| it.saved);
        // Checkpoints of copies may arrive in any order, and an older one must not replace a newer one.
        if saved.done >= before {
            attempts.saved_by = Some(saved.number);
            self.view.save(now, saved.job, saved.done);
        }
    }

    fn on_run_over(&mut self, now: Time, out: &mut Outbox) {
        // No further round has come for these jobs to cancel their copies.
        for record in std::mem::take(&mut self.surplus).over {
            out.observe(Observation::GridJobOver(Arc::new(record)));
        }
        let wanted = self.config.policy.replicas();
        if !self.replaces() {
            // The records of hundreds of thousands of jobs need the memory of the view.
            self.view = View::default();
        }
        for id in self.desk.jobs() {
            // A job that went elsewhere is recorded there.
            let Some(entry) = self.desk.close(id).filter(|it| it.at.is_none()) else { continue };
            let replaced = self.replaced(id, &entry.stage, wanted);
            let outcome = GridOutcome::Open { end: now, wanted, replaced };
            let record = self.record(entry, outcome);
            out.observe(Observation::GridJobOver(Arc::new(record)));
        }
        out.observe(Observation::RoundsAccount(self.account));
    }

    /// True if it starts failed attempts again.
    fn replaces(&self) -> bool {
        self.policy.detection() != Detection::None && self.policy.queues()
    }

    /// The attempts of a job that it would start again if they had failed.
    fn replaced(&self, job: JobId, attempts: &Attempts, wanted: u32) -> Vec<u32> {
        if !self.replaces() {
            return Vec::new();
        }
        // An attempt seen to fail is replaced as long as fewer attempts are believed alive than
        // wanted; otherwise it has been replaced already.
        let lacks = (attempts.alive.len() as u64) < u64::from(wanted);
        let is_replaced = |number: &u32| {
            let alive = attempts.alive.iter().find(|(_, alive)| alive == number);
            alive.map_or(lacks, |&(resource, _)| self.view.may_notice(job, resource))
        };
        (1..=attempts.attempts).filter(is_replaced).collect()
    }
}

/// The handlers of each protocol; they return false for a message that is not expected.
impl Dispatcher {
    fn on_dispatch(
        &mut self,
        now: Time,
        from: ActorId,
        message: DispatchMessage,
        out: &mut Outbox,
    ) -> bool {
        // These messages come from resources only.
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
            DispatchMessage::Stranded { job } | DispatchMessage::Suspended { job } => {
                self.on_stranded(now, job, resource, out)
            }
            DispatchMessage::Progress { job, so_far } => {
                self.on_progress(now, (job, resource), *so_far, out)
            }
            _ => false,
        }
    }

    fn on_timer(&mut self, now: Time, timer: Timer, out: &mut Outbox) -> bool {
        match timer {
            Timer::Grid(GridTimer::Round) => self.on_round(now, out),
            Timer::Grid(GridTimer::Answered) => self.on_answered(now, out),
            Timer::Grid(GridTimer::Decided) => self.on_decided(now, out),
            Timer::Grid(GridTimer::Overdue { job }) => self.on_overdue(now, job, out),
            _ => return false,
        }
        true
    }
}

impl Actor for Dispatcher {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        let expected = match message {
            Message::Submission(SubmissionMessage::Submit(submission)) => {
                self.on_submit(now, from, submission, out)
            }
            Message::Submission(SubmissionMessage::Withdraw { job }) => {
                self.on_withdraw(now, from, job, out);
                true
            }
            Message::Submission(message) => self.on_news(from, message, out),
            Message::Query(message) => self.on_query(now, from, &message, out),
            Message::Dispatch(message) => self.on_dispatch(now, from, message, out),
            Message::Wake(timer) => self.on_timer(now, timer, out),
            Message::Information(InformationMessage::Report(status)) => {
                self.on_report(now, *status, out)
            }
            Message::Checkpoint(CheckpointMessage::CheckpointAvailable(saved)) => {
                self.on_checkpoint_available(now, &saved, out);
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
