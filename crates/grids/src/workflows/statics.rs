//! Execution of static schedules. A schedule is made when a workflow arrives; it assigns each task to a
//! resource and an order there.
//!
//! ```text
//!  a workflow arrives ─▶ Timetable: tasks placed so far, with their expected ends
//!                           └─▶ Problem, beside them ─▶ schedule ─▶ a queue for each resource
//!  a round: the head of each queue is sent, once its parents are done and the one before it has computed
//! ```
//!
//! A resource has one task at a time, with any number of slots: schedules know nothing of sharing. Real run
//! times are not fed back to schedules: a late task makes others late. A task that is lost with its
//! resource runs there again, before all tasks that have not been sent. Alternatively, all tasks that have
//! not been sent are scheduled again whenever resources have failed or work again, as far as the scheduler
//! knows.

mod timetable;

use std::collections::BTreeSet;

use haggle_model::work::Work;
use haggle_model::{JobId, Time};
use haggle_workflows::schedule::StaticAlgorithm;

use self::timetable::Timetable;
use super::super::resources::{Resource, ResourceId};
use super::super::scheduler::{Checkpointing, GridScheduler, Insight, Questions, Restart, Round};
use super::super::view::{Detection, View};
use haggle_workflows::ledger::WorkflowId;
use serde::{Deserialize, Serialize};

/// Rules for making and executing static schedules, as a scenario gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaticPolicy {
    /// The algorithm that makes the schedules.
    pub by: StaticAlgorithm,
    /// Treatment of tasks whose resource is down.
    pub outages: Outages,
    /// True if tasks write periodic checkpoints.
    pub checkpointing: bool,
}

haggle_model::words! {
    /// Treatment of tasks that have not been sent when resources fail or work again.
    #[derive(Default)]
    pub enum Outages {
        /// They wait for their resources.
        #[default]
        Wait = "wait",
        /// They are scheduled anew, on the resources that work.
        Replan = "replan",
    }
}

/// The unit that is scheduled at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    Workflow(WorkflowId),
    /// A job that is no task.
    Job(JobId),
}

impl Unit {
    fn of(insight: &dyn Insight, job: JobId) -> Unit {
        let member = insight.ledger().and_then(|ledger| ledger.member(job));
        member.map_or(Unit::Job(job), |member| Unit::Workflow(member.workflow))
    }

    /// Returns whether all of its tasks have been submitted.
    fn is_complete(self, insight: &dyn Insight) -> bool {
        match self {
            Unit::Job(_) => true,
            Unit::Workflow(id) => insight.ledger().is_some_and(|ledger| ledger.is_complete(id)),
        }
    }
}

/// Sends tasks to the resources of static schedules.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StaticScheduler {
    policy: StaticPolicy,
    timetable: Timetable,
    /// Submitted jobs that are not placed yet.
    fresh: BTreeSet<JobId>,
    /// Resources that worked when tasks were last scheduled.
    up: BTreeSet<ResourceId>,
}

impl StaticScheduler {
    /// A scheduler of `resources` resources without placed tasks.
    pub fn new(policy: StaticPolicy, resources: u32) -> StaticScheduler {
        let timetable = Timetable::new(resources);
        StaticScheduler { policy, timetable, fresh: BTreeSet::new(), up: BTreeSet::new() }
    }

    /// Returns whether the tasks that have not been sent must be scheduled again.
    fn is_outdated(&self, view: &View) -> bool {
        self.policy.outages == Outages::Replan
            && !self.up.iter().copied().eq(those(view, |resource| resource.up))
    }

    fn schedule(&mut self, view: &View, round: &mut Round<'_>) {
        let is_outdated = self.is_outdated(view);
        // Nothing is new since the last schedules.
        if !is_outdated && self.fresh.is_empty() {
            return;
        }
        // On other resources no task would end.
        let computes = |resource: &Resource| resource.up && resource.avail.as_micro_mips() > 0;
        let usable = Vec::from_iter(those(view, computes));
        if usable.is_empty() {
            return;
        }
        // Not earlier: without usable resources the schedules stay outdated.
        self.up = those(view, |resource| resource.up).collect();
        let insight = round.insight;
        // Before tasks are taken off: the times of running tasks are the premises of the new schedules.
        self.timetable.retime(round.now, insight);
        let mut units: Vec<Unit> = Vec::new();
        if is_outdated {
            // Units are placed again in their former order.
            units = self.timetable.take_off_unsent(insight);
        }
        let mut known: BTreeSet<Unit> = units.iter().copied().collect();
        let fresh = self.fresh.iter().map(|&job| Unit::of(insight, job));
        // A workflow has several fresh tasks, but is placed once.
        units.extend(fresh.filter(|&unit| unit.is_complete(insight) && known.insert(unit)));
        for unit in units {
            let seed = match self.policy.by {
                // Only this algorithm draws: under others the sequence of draws stays as it is.
                StaticAlgorithm::Random => (round.draw)(u32::MAX as usize) as u64,
                _ => 0,
            };
            self.timetable.place(unit, &usable, view, round, (self.policy.by, seed));
        }
        self.timetable.queue();
        let timetable = &self.timetable;
        // Tasks of workflows that are not complete yet stay.
        self.fresh.retain(|&job| !timetable.has(job) && is_wanted(insight, job));
    }

    fn send(&mut self, view: &mut View, round: &mut Round<'_>) {
        for resource in self.timetable.with_tasks() {
            let is_wanted = |job| is_wanted(round.insight, job);
            // A head whose parents are not done blocks its queue: the order of the schedule is kept.
            let Some(job) = self.timetable.head(resource, is_wanted) else { continue };
            if view.jobs().waits(job) && view.resources().get(resource).is_available() {
                let restart = restart(view, job);
                round.dispatch(view, job, resource, restart);
                self.timetable.sent(job, round.now);
            }
        }
    }
}

#[typetag::serde]
impl GridScheduler for StaticScheduler {
    fn detection(&self) -> Detection {
        Detection::RestartReport
    }

    fn checkpointing(&self) -> Checkpointing {
        if self.policy.checkpointing { Checkpointing::Always } else { Checkpointing::Never }
    }

    fn came(&mut self, job: JobId) {
        self.fresh.insert(job);
    }

    fn computed(&mut self, now: Time, job: JobId) {
        self.timetable.computed(job, now);
    }

    fn withdrawn(&mut self, job: JobId) -> bool {
        self.fresh.remove(&job);
        self.timetable.forget(job)
    }

    fn kept_back(&self, view: &View) -> u64 {
        self.timetable.behind_blocked(|job| view.jobs().has(job))
    }

    fn questions(&self, view: &View) -> Questions {
        let traffic = self.is_outdated(view) || !self.fresh.is_empty();
        Questions { traffic, progress: Vec::new() }
    }

    fn round(&mut self, view: &mut View, round: &mut Round<'_>) {
        // Schedules must include the losses, and sending must follow the new schedules.
        self.timetable.notice_losses(view);
        self.schedule(view, round);
        self.send(view, round);
    }
}

/// The resources with a property, as far as is known.
fn those(view: &View, holds: impl Fn(&Resource) -> bool) -> impl Iterator<Item = ResourceId> {
    let ids = (0..view.resources().len() as u32).map(ResourceId);
    ids.filter(move |&id| holds(view.resources().get(id)))
}

/// Returns whether a job has not ended, and may start at some time.
fn is_wanted(insight: &dyn Insight, job: JobId) -> bool {
    insight.is_open(job) && !insight.ledger().is_some_and(|ledger| ledger.is_barred(job))
}

fn restart(view: &View, job: JobId) -> Restart {
    let saved = view.jobs().open(job).is_some_and(|job| job.saved > Work::ZERO);
    if saved { Restart::FromCheckpoint } else { Restart::FromBeginning }
}
