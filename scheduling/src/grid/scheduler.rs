//! What a grid's scheduler is asked for, and what it answers.

use haggle_model::{JobId, Span, Time};

use super::queues::QueueOrder;
use super::resources::ResourceId;
use super::sessions::Session;
use super::view::{Detection, View};
use crate::workflows::Ledger;
use haggle_model::progress::ProgressReport;
use haggle_model::work::Work;

/// A policy that decides in rounds which job goes where.
///
/// Before a round the view is told what happened and [consulted](View::consult).
/// The policy enters its decisions into the view as it makes them, so that it
/// fills no resource twice, and leaves them in the round as actions.
pub trait GridScheduler: std::fmt::Debug + Send {
    /// How it learns of failures; the view is made with it.
    fn detection(&self) -> Detection;

    /// Who writes checkpoints.
    fn checkpointing(&self) -> Checkpointing {
        Checkpointing::Never
    }

    /// Whether jobs wait for room, and are started again where that is noticed to be needed.
    /// Otherwise each is sent somewhere in the round after it came, or given up.
    fn queues(&self) -> bool {
        true
    }

    /// In which order jobs that wait are sent, as far as [estimates](super::estimate) of their starts go.
    fn order(&self) -> QueueOrder {
        QueueOrder::Arrival
    }

    /// A job has come; if it is a task, it may have to wait for others before the view has it.
    fn came(&mut self, _job: JobId) {}

    /// How many jobs that might start are kept back because others, which may not, come before them.
    /// None may be counted as long as one runs.
    fn kept_back(&self, _view: &View) -> u64 {
        0
    }

    /// A job is withdrawn that is at no resource. Says whether others may start for that.
    fn withdrawn(&mut self, _job: JobId) -> bool {
        false
    }

    /// A replica of a job has been computed and has given its slot back.
    fn computed(&mut self, _now: Time, _job: JobId) {}

    /// What it has to know for the next round beyond the view, which has been consulted.
    fn questions(&self, _view: &View) -> Questions {
        Questions::default()
    }

    /// Decides what can be decided now.
    fn round(&mut self, view: &mut View, round: &mut Round<'_>);
}

/// What a policy has to know for a round beyond the view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Questions {
    /// How far these replicas are, see [`Insight::progress`].
    pub progress: Vec<(JobId, ResourceId)>,
    /// Whether it asks how long moving takes, see [`Insight::moving_time`].
    pub traffic: bool,
}

/// Which jobs write checkpoints under a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Checkpointing {
    /// None.
    Never,
    /// All.
    Always,
    /// Those for which it is switched on, see [`Action::Checkpointing`].
    Switched,
}

/// A decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// A replica is ended.
    Cancel {
        /// The job.
        job: JobId,
        /// Where the replica is.
        resource: ResourceId,
    },
    /// The replicas of a job begin or cease to write checkpoints; a checkpoint
    /// that is being written is finished.
    Checkpointing {
        /// The job.
        job: JobId,
        /// Whether they begin.
        on: bool,
    },
    /// A job without replicas is not tried any more: rejected if no resource ever took it,
    /// else lost.
    GiveUp {
        /// The job.
        job: JobId,
        /// Whether a resource ever took it.
        taken: bool,
    },
    /// A replica is sent to a resource.
    Dispatch {
        /// The job.
        job: JobId,
        /// Where it goes.
        resource: ResourceId,
        /// What the checkpoint holds from which it starts; zero = from the beginning.
        from: Work,
    },
    /// The only replica of a job moves.
    Migrate {
        /// The job.
        job: JobId,
        /// Where it is.
        from: ResourceId,
        /// Where it goes.
        to: ResourceId,
        /// Whether it saves its progress first; otherwise it starts again.
        save: bool,
    },
    /// The only replica of a job gives its slot back at once, and goes on elsewhere from what it
    /// has done.
    Relocate {
        /// The job.
        job: JobId,
        /// Where it is.
        from: ResourceId,
        /// Where it goes.
        to: ResourceId,
    },
    /// The only replica of a job gives its slot back at once, and waits for another one with what
    /// it has done.
    Suspend {
        /// The job.
        job: JobId,
        /// Where it is.
        resource: ResourceId,
    },
}

impl Action {
    /// Slots are given back before they are given away.
    const fn order(&self) -> u8 {
        match self {
            Action::Cancel { .. } | Action::GiveUp { .. } => 0,
            Action::Checkpointing { .. } => 1,
            Action::Relocate { .. } | Action::Suspend { .. } => 2,
            Action::Dispatch { .. } | Action::Migrate { .. } => 3,
        }
    }
}

/// What a policy may ask of the grid during a round, beyond its view.
pub trait Insight {
    /// What the replica of a job on a resource has done, with what it started
    /// from; of one that died unnoticed, what it had done then.
    fn progress(&self, _job: JobId, _resource: ResourceId) -> Work {
        Work::ZERO
    }

    /// W_J: what the replica of a task on a resource had done when it reported last, MI; of one that
    /// reports nothing, what it has done by now.
    fn reported(&self, job: JobId, resource: ResourceId) -> f64 {
        self.progress(job, resource).as_mi_f64()
    }

    /// How long a job would not compute if it moved: writing a checkpoint,
    /// transfer of input and checkpoint, and recovery, C + NO + R0. `None` if it
    /// cannot move now, for it does not compute.
    fn moving_time(&self, _job: JobId, _from: ResourceId, _to: ResourceId) -> Option<Span> {
        None
    }

    /// What of that a checkpoint and recovery take, C + R0.
    fn saving_time(&self, _job: JobId) -> Span {
        Span::ZERO
    }

    /// For how long the replica of a job on a resource has computed there.
    fn computing(&self, _job: JobId, _resource: ResourceId) -> Span {
        Span::ZERO
    }

    /// Whether a replica computed at a resource when its progress was asked for.
    fn computes(&self, _job: JobId, _resource: ResourceId) -> bool {
        false
    }

    /// What a task has reported so far, oldest first.
    fn reports(&self, _job: JobId) -> &[ProgressReport] {
        &[]
    }

    /// How long the data would be on their way that a job needs to start at a resource: its
    /// input, and a checkpoint if it starts from one.
    fn fetching_time(&self, _job: JobId, _to: ResourceId, _restart: Restart) -> Span {
        Span::ZERO
    }

    /// For how long a job holds a slot before its data are asked for, and again before it computes if
    /// it recovers from a checkpoint.
    fn starting_time(&self, _restart: Restart) -> Span {
        Span::ZERO
    }

    /// How long the output of a job would be on its way from a resource to the storage.
    fn sending_time(&self, _job: JobId, _from: ResourceId) -> Span {
        Span::ZERO
    }

    /// The length of a job as its user describes it; also of one that waits for others.
    fn length(&self, _job: JobId) -> Work {
        Work::ZERO
    }

    /// Whether a job is not over.
    fn is_open(&self, _job: JobId) -> bool {
        true
    }

    /// The workflows, if jobs are their tasks.
    fn ledger(&self) -> Option<&Ledger> {
        None
    }

    /// What a job asks for as a session, and for whom.
    fn session(&self, _job: JobId) -> Session {
        Session::default()
    }
}

/// Nothing can be asked.
impl Insight for () {}

/// A round of decisions.
pub struct Round<'a> {
    /// When it takes place.
    pub now: Time,
    /// Answers what the view does not hold.
    pub insight: &'a dyn Insight,
    /// Draws a number below its argument, uniformly.
    pub draw: &'a mut dyn FnMut(usize) -> usize,
    /// How many pairs of a task and a place for it were compared, where that is counted.
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

    /// The decisions, in the order in which they are to be sent: cancels first.
    pub fn into_actions(mut self) -> Vec<Action> {
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

    /// A job without replicas is not tried any more.
    pub fn give_up(&mut self, view: &mut View, job: JobId) {
        let taken = view.job(job).dispatches > 0;
        view.withdraw(job);
        self.actions.push(Action::GiveUp { job, taken });
    }

    /// Moves a replica, which saves its progress before if it is to.
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

    /// Moves a replica, whose slot is free at once.
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
        view.computed(job, resource);
        self.actions.push(Action::Suspend { job, resource });
    }

    /// Switches a job's checkpoints, unless they are so already.
    pub fn set_checkpointing(&mut self, view: &mut View, job: JobId, on: bool) {
        if view.job(job).checkpointing != on {
            view.set_checkpointing(job, on);
            self.actions.push(Action::Checkpointing { job, on });
        }
    }
}

/// Where a job starts that has been started before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Restart {
    /// At its newest available checkpoint.
    FromCheckpoint,
    /// At the beginning.
    FromBeginning,
}
