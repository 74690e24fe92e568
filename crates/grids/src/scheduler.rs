//! Interface of a grid's scheduler.

use dyn_clone::DynClone;
use haggle_model::{JobId, Span, Time};

use super::queues::QueueOrder;
use super::resources::ResourceId;
use super::sessions::Session;
use super::view::{Detection, View};
use haggle_model::progress::ProgressReport;
use haggle_model::work::Work;
use haggle_workflows::ledger::Ledger;

/// A policy that decides in rounds to which resource each job goes.
///
/// Before a round the view receives reports and is [consulted](View::consult). The policy enters its
/// decisions into the view immediately, so that it fills no resource twice. It leaves them in the round as
/// actions.
#[typetag::serde]
pub trait GridScheduler: DynClone + std::fmt::Debug + Send {
    /// Detection of failures; the view is created with it.
    fn detection(&self) -> Detection;

    /// The jobs that write checkpoints.
    fn checkpointing(&self) -> Checkpointing {
        Checkpointing::Never
    }

    /// Returns whether jobs wait for room, and are restarted when a failure is noticed. Otherwise each job is sent
    /// in the round after its arrival, or given up.
    fn queues(&self) -> bool {
        true
    }

    /// Order in which waiting jobs are sent, as used by [estimates](super::estimate) of their starts.
    fn order(&self) -> QueueOrder {
        QueueOrder::Arrival
    }

    /// A job has been submitted; a task may have to wait for others before the view has it.
    fn came(&mut self, _job: JobId) {}

    /// Number of ready jobs that are kept back because jobs before them may not start yet. It may be
    /// positive only while no job runs.
    fn kept_back(&self, _view: &View) -> u64 {
        0
    }

    /// Withdraws a job that is at no resource. Returns whether other jobs may start because of that.
    fn withdrawn(&mut self, _job: JobId) -> bool {
        false
    }

    /// A replica of a job has been computed and has given its slot back.
    fn computed(&mut self, _now: Time, _job: JobId) {}

    /// Questions of the next round beyond the view, which has been consulted.
    fn questions(&self, _view: &View) -> Questions {
        Questions::default()
    }

    /// Makes the decisions that are possible now.
    fn round(&mut self, view: &mut View, round: &mut Round<'_>);
}

dyn_clone::clone_trait_object!(GridScheduler);

/// Questions of a policy for a round, beyond the view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Questions {
    /// Replicas whose progress is requested, see [`Insight::progress`].
    pub progress: Vec<(JobId, ResourceId)>,
    /// True if times of moves are requested, see [`Insight::moving_time`].
    pub traffic: bool,
}

/// The jobs that write checkpoints under a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Checkpointing {
    /// None.
    Never,
    /// All.
    Always,
    /// Jobs for which it is switched on, see [`Action::Checkpointing`].
    Switched,
}

/// A decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// A replica is ended.
    Cancel {
        /// The job.
        job: JobId,
        /// The resource of the replica.
        resource: ResourceId,
    },
    /// The replicas of a job begin or cease to write checkpoints; a checkpoint
    /// that is being written is finished.
    Checkpointing {
        /// The job.
        job: JobId,
        /// True if they begin.
        on: bool,
    },
    /// A job without replicas is given up: rejected if no resource ever accepted it, else lost.
    GiveUp {
        /// The job.
        job: JobId,
        /// True if a resource ever accepted it.
        taken: bool,
    },
    /// A replica is sent to a resource.
    Dispatch {
        /// The job.
        job: JobId,
        /// The resource to which it goes.
        resource: ResourceId,
        /// Progress in the checkpoint from which it starts; zero = from the beginning.
        from: Work,
    },
    /// The only replica of a job moves.
    Migrate {
        /// The job.
        job: JobId,
        /// Its present resource.
        from: ResourceId,
        /// The resource to which it goes.
        to: ResourceId,
        /// True if it saves its progress first; otherwise it restarts.
        save: bool,
    },
    /// The only replica of a job gives its slot back at once, and continues at another resource with its
    /// present progress.
    Relocate {
        /// The job.
        job: JobId,
        /// Its present resource.
        from: ResourceId,
        /// The resource to which it goes.
        to: ResourceId,
    },
    /// The only replica of a job gives its slot back at once, and waits for another slot with its present
    /// progress.
    Suspend {
        /// The job.
        job: JobId,
        /// Its present resource.
        resource: ResourceId,
    },
}

impl Action {
    /// Slots are given back before they are given to other replicas.
    const fn order(&self) -> u8 {
        match self {
            Action::Cancel { .. } | Action::GiveUp { .. } => 0,
            Action::Checkpointing { .. } => 1,
            Action::Relocate { .. } | Action::Suspend { .. } => 2,
            Action::Dispatch { .. } | Action::Migrate { .. } => 3,
        }
    }
}

/// Information about the grid that a policy may request in a round, beyond its view.
pub trait Insight {
    /// Progress of the replica of a job on a resource, including its state at the start. For a replica that
    /// failed unnoticed: its progress then.
    fn progress(&self, _job: JobId, _resource: ResourceId) -> Work {
        Work::ZERO
    }

    /// W_J: progress of the replica of a task in its last report, MI; for one that reports nothing, its
    /// present progress.
    fn reported(&self, job: JobId, resource: ResourceId) -> f64 {
        self.progress(job, resource).as_mi_f64()
    }

    /// Time that a job would not compute if it moved: writing a checkpoint, transfer of input and
    /// checkpoint, and recovery, C + NO + R0. `None` if it cannot move now, because it does not compute.
    fn moving_time(&self, _job: JobId, _from: ResourceId, _to: ResourceId) -> Option<Span> {
        None
    }

    /// The part of that time for checkpoint and recovery, C + R0.
    fn saving_time(&self, _job: JobId) -> Span {
        Span::ZERO
    }

    /// Time for which the replica of a job has computed on a resource.
    fn computing(&self, _job: JobId, _resource: ResourceId) -> Span {
        Span::ZERO
    }

    /// Returns whether a replica computed at a resource when its progress was requested.
    fn computes(&self, _job: JobId, _resource: ResourceId) -> bool {
        false
    }

    /// Progress reports of a task, oldest first.
    fn reports(&self, _job: JobId) -> &[ProgressReport] {
        &[]
    }

    /// Transfer time of the data that a job needs to start at a resource: its input, and a checkpoint if it
    /// starts from one.
    fn fetching_time(&self, _job: JobId, _to: ResourceId, _restart: Restart) -> Span {
        Span::ZERO
    }

    /// Time that a job holds a slot before its data are requested, and again before it computes if it
    /// recovers from a checkpoint.
    fn starting_time(&self, _restart: Restart) -> Span {
        Span::ZERO
    }

    /// Transfer time of the output of a job from a resource to the storage.
    fn sending_time(&self, _job: JobId, _from: ResourceId) -> Span {
        Span::ZERO
    }

    /// The length of a job as its user gave it; also of a job that waits for others.
    fn length(&self, _job: JobId) -> Work {
        Work::ZERO
    }

    /// Returns whether a job has not ended.
    fn is_open(&self, _job: JobId) -> bool {
        true
    }

    /// The workflows, if jobs are their tasks.
    fn ledger(&self) -> Option<&Ledger> {
        None
    }

    /// A job's request as a session, with its user.
    fn session(&self, _job: JobId) -> Session {
        Session::default()
    }
}

/// Without information beyond the view.
impl Insight for () {}

/// A round of decisions.
pub struct Round<'a> {
    /// Time of the round.
    pub now: Time,
    /// Answers beyond the view.
    pub insight: &'a dyn Insight,
    /// Draws a number below its argument, uniformly.
    pub draw: &'a mut dyn FnMut(usize) -> usize,
    /// Number of compared pairs of a task and a place, if they are counted.
    pub evaluations: u64,
    actions: Vec<Action>,
}

impl<'a> Round<'a> {
    /// A round without decisions.
    pub fn new(
        now: Time,
        insight: &'a dyn Insight,
        draw: &'a mut dyn FnMut(usize) -> usize,
    ) -> Round<'a> {
        Round { now, insight, draw, evaluations: 0, actions: Vec::new() }
    }

    /// The decisions, in the order in which they must be sent: cancels first.
    pub fn into_actions(mut self) -> Vec<Action> {
        // The sort is stable: decisions of one kind stay in their order.
        self.actions.sort_by_key(Action::order);
        self.actions
    }

    /// Sends a replica to a resource, from its newest checkpoint or from the beginning.
    ///
    /// # Panics
    /// As [`View::dispatch`].
    pub fn dispatch(
        &mut self,
        view: &mut View,
        job: JobId,
        resource: ResourceId,
        restart: Restart,
    ) {
        let from = match restart {
            Restart::FromCheckpoint => view.job(job).saved,
            Restart::FromBeginning => Work::ZERO,
        };
        view.dispatch(self.now, job, resource);
        self.actions.push(Action::Dispatch { job, resource, from });
    }

    /// Ends a replica.
    pub fn cancel(&mut self, view: &mut View, job: JobId, resource: ResourceId) {
        view.cancel(job, resource);
        self.actions.push(Action::Cancel { job, resource });
    }

    /// Gives up a job without replicas.
    pub fn give_up(&mut self, view: &mut View, job: JobId) {
        // `withdraw` forgets the job, so this is read before.
        let taken = view.job(job).dispatches > 0;
        view.withdraw(job);
        self.actions.push(Action::GiveUp { job, taken });
    }

    /// Moves a replica, which saves its progress first if `save`.
    ///
    /// # Panics
    /// As [`View::migrate`].
    pub fn migrate(
        &mut self,
        view: &mut View,
        job: JobId,
        from: ResourceId,
        to: ResourceId,
        save: bool,
    ) {
        view.migrate(self.now, job, from, to);
        self.actions.push(Action::Migrate { job, from, to, save });
    }

    /// Moves a replica; its slot is free at once.
    ///
    /// # Panics
    /// As [`View::migrate`].
    pub fn relocate(&mut self, view: &mut View, job: JobId, from: ResourceId, to: ResourceId) {
        view.migrate(self.now, job, from, to);
        view.leave(job, from);
        self.actions.push(Action::Relocate { job, from, to });
    }

    /// Ends a replica that saves its progress first; its slot is free at once.
    pub fn suspend(&mut self, view: &mut View, job: JobId, resource: ResourceId) {
        // Like a computed replica, it holds no slot but still sends data.
        view.computed(job, resource);
        self.actions.push(Action::Suspend { job, resource });
    }

    /// Switches a job's checkpoints on or off, unless that is their state already.
    pub fn set_checkpointing(&mut self, view: &mut View, job: JobId, on: bool) {
        if view.job(job).checkpointing != on {
            view.set_checkpointing(job, on);
            self.actions.push(Action::Checkpointing { job, on });
        }
    }
}

/// State from which a job restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Restart {
    /// At its newest available checkpoint.
    FromCheckpoint,
    /// At the beginning.
    FromBeginning,
}
