//! Carries out static schedules: each task of a workflow runs on the resource where a schedule that was
//! made when the workflow came has put it, in its order there.
//!
//! ```text
//!  a workflow has come ─▶ Timetable: what is placed, and when it may be over by now
//!                            └─▶ Problem, amid that ─▶ schedule ─▶ a queue for each resource
//!  a round: the head of each queue is sent, once its parents are done and the one before it has computed
//! ```
//!
//! A resource has one task at a time, whatever slots it has: schedules know nothing of sharing. What tasks
//! really take, schedules are not told: a task that is late makes others late. A task that is lost with its
//! resource runs there again, before all that has not been sent; or all tasks that have not been sent
//! are scheduled anew whenever resources have failed or work again, as far as the scheduler knows.

mod timetable;

use std::collections::BTreeSet;

use haggle_model::work::Work;
use haggle_model::{JobId, Time};
use haggle_workflows::schedule::StaticAlgorithm;

use self::timetable::Timetable;
use super::super::resources::{Resource, ResourceId};
use super::super::scheduler::{Checkpointing, GridScheduler, Insight, Questions, Restart, Round};
use super::super::view::{Detection, View};
use crate::workflows::WorkflowId;

/// How static schedules are made and carried out, as a scenario says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaticPolicy {
    /// Makes the schedules.
    pub by: StaticAlgorithm,
    /// What becomes of tasks whose resource is down.
    pub outages: Outages,
    /// Whether tasks write checkpoints from time to time.
    pub checkpointing: bool,
}

haggle_model::words! {
    /// What becomes of tasks that have not been sent when resources fail or work again.
    #[derive(Default)]
    pub enum Outages {
        /// They wait for their resources.
        #[default]
        Wait = "wait",
        /// They are scheduled anew, on the resources that work.
        Replan = "replan",
    }
}

/// What is scheduled at once.
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

    /// Whether all of it has come.
    fn is_complete(self, insight: &dyn Insight) -> bool {
        match self {
            Unit::Job(_) => true,
            Unit::Workflow(id) => insight.ledger().is_some_and(|ledger| ledger.is_complete(id)),
        }
    }
}

/// Sends tasks where static schedules have put them.
#[derive(Debug)]
pub struct StaticScheduler {
    policy: StaticPolicy,
    timetable: Timetable,
    /// Jobs that have come and were not placed yet.
    fresh: BTreeSet<JobId>,
    /// Which resources worked when tasks were last scheduled.
    up: BTreeSet<ResourceId>,
}

impl StaticScheduler {
    /// A scheduler of so many resources that has placed nothing yet.
    pub fn new(policy: StaticPolicy, resources: u32) -> StaticScheduler {
        let timetable = Timetable::new(resources);
        StaticScheduler { policy, timetable, fresh: BTreeSet::new(), up: BTreeSet::new() }
    }

    /// Whether what has not been sent is to be scheduled anew.
    fn is_outdated(&self, view: &View) -> bool {
        self.policy.outages == Outages::Replan
            && !self.up.iter().copied().eq(those(view, |resource| resource.up))
    }

    fn schedule(&mut self, view: &View, round: &mut Round<'_>) {
        let is_outdated = self.is_outdated(view);
        if !is_outdated && self.fresh.is_empty() {
            return;
        }
        // On the others nothing would end.
        let computes = |resource: &Resource| resource.up && resource.avail.as_micro_mips() > 0;
        let usable = Vec::from_iter(those(view, computes));
        if usable.is_empty() {
            return;
        }
        self.up = those(view, |resource| resource.up).collect();
        let insight = round.insight;
        self.timetable.retime(round.now, insight);
        let mut units: Vec<Unit> = Vec::new();
        if is_outdated {
            // Those that were placed first are placed first again.
            units = self.timetable.take_off_unsent(insight);
        }
        let mut known: BTreeSet<Unit> = units.iter().copied().collect();
        let fresh = self.fresh.iter().map(|&job| Unit::of(insight, job));
        units.extend(fresh.filter(|&unit| unit.is_complete(insight) && known.insert(unit)));
        for unit in units {
            let seed = match self.policy.by {
                StaticAlgorithm::Random => (round.draw)(u32::MAX as usize) as u64,
                _ => 0,
            };
            self.timetable.place(unit, &usable, view, round, (self.policy.by, seed));
        }
        self.timetable.queue();
        let timetable = &self.timetable;
        self.fresh.retain(|&job| !timetable.has(job) && is_wanted(insight, job));
    }

    fn send(&mut self, view: &mut View, round: &mut Round<'_>) {
        for resource in self.timetable.with_tasks() {
            let is_wanted = |job| is_wanted(round.insight, job);
            let Some(job) = self.timetable.head(resource, is_wanted) else { continue };
            if view.jobs().waits(job) && view.resources().get(resource).is_available() {
                let restart = restart(view, job);
                round.dispatch(view, job, resource, restart);
                self.timetable.sent(job, round.now);
            }
        }
    }
}

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
        self.timetable.notice_losses(view);
        self.schedule(view, round);
        self.send(view, round);
    }
}

/// The resources of which that holds, as far as is known.
fn those(view: &View, holds: impl Fn(&Resource) -> bool) -> impl Iterator<Item = ResourceId> {
    let ids = (0..view.resources().len() as u32).map(ResourceId);
    ids.filter(move |&id| holds(view.resources().get(id)))
}

/// Whether a job is not over, and may start some day.
fn is_wanted(insight: &dyn Insight, job: JobId) -> bool {
    insight.is_open(job) && !insight.ledger().is_some_and(|ledger| ledger.is_barred(job))
}

fn restart(view: &View, job: JobId) -> Restart {
    let saved = view.jobs().open(job).is_some_and(|job| job.saved > Work::ZERO);
    if saved { Restart::FromCheckpoint } else { Restart::FromBeginning }
}
