//! Resources, order and expected ends of placed tasks.
//!
//! Every task takes some time. So expected starts increase strictly from parents to children and along each
//! queue. Therefore queues in the order of starts never wait for each other in a circle.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use haggle_model::work::Work;
use haggle_model::{JobId, Span, Time};
use haggle_workflows::schedule::{Placement, Problem, StaticAlgorithm};
use haggle_workflows::{Builder, Task, TaskId, Workflow};
use serde::{Deserialize, Serialize};

use super::super::super::resources::ResourceId;
use super::super::super::scheduler::{Insight, Round};
use super::super::super::view::View;
use super::{Unit, is_wanted, restart};

/// Longest schedule, so that times stay in range.
const LONGEST: Span = Span::from_micros(1 << 58);

/// The placed tasks that have not ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Timetable {
    tasks: BTreeMap<JobId, Placed>,
    /// By resource, the tasks that have not been computed there, in order; a sent task is first.
    queues: Vec<VecDeque<JobId>>,
    /// Resources whose queues are not empty.
    busy: BTreeSet<ResourceId>,
    /// Computed tasks that may still be lost.
    sending: BTreeSet<JobId>,
    /// Number of units placed so far.
    units: u64,
}

/// A task at its resource.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Placed {
    at: ResourceId,
    /// Expected start, or the time at which it was sent.
    start: Time,
    /// Expected end of computing, or the actual one.
    end: Time,
    /// Transfer time of its output from there.
    sending: Span,
    stage: Stage,
    /// Number of units placed before its own.
    turn: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Stage {
    Sent,
    Waits,
    Computed,
}

impl Timetable {
    pub(super) fn new(resources: u32) -> Timetable {
        Timetable {
            tasks: BTreeMap::new(),
            queues: vec![VecDeque::new(); resources as usize],
            busy: BTreeSet::new(),
            sending: BTreeSet::new(),
            units: 0,
        }
    }

    pub(super) fn has(&self, job: JobId) -> bool {
        self.tasks.contains_key(&job)
    }

    /// The resources with tasks to run.
    pub(super) fn with_tasks(&self) -> Vec<ResourceId> {
        self.busy.iter().copied().collect()
    }

    /// The next task of a resource, if no task runs there; tasks that are no longer needed are dropped.
    pub(super) fn head(
        &mut self,
        at: ResourceId,
        is_wanted: impl Fn(JobId) -> bool,
    ) -> Option<JobId> {
        while let Some(&job) = self.queues[at.index()].front() {
            if is_wanted(job) {
                // A task that was sent blocks its resource until it has been computed.
                return (self.tasks[&job].stage == Stage::Waits).then_some(job);
            }
            self.forget(job);
        }
        None
    }

    /// Number of tasks that may start but are behind one that may not; 0 if a task runs.
    pub(super) fn behind_blocked(&self, may_start: impl Fn(JobId) -> bool) -> u64 {
        let queues = || self.busy.iter().map(|at| &self.queues[at.index()]);
        let mut firsts = queues().filter_map(|queue| queue.front());
        // Some task runs, or can be sent, so the others do not wait in vain.
        if firsts.any(|first| self.tasks[first].stage != Stage::Waits || may_start(*first)) {
            return 0;
        }
        queues().flatten().filter(|&&job| may_start(job)).count() as u64
    }

    /// A task has been sent to its resource.
    pub(super) fn sent(&mut self, job: JobId, now: Time) {
        let task = self.tasks.get_mut(&job).expect("what is sent was placed");
        (task.start, task.end) = (now, now + (task.end - task.start));
        task.stage = Stage::Sent;
    }

    /// A task has been computed: its resource is free for the next one.
    pub(super) fn computed(&mut self, job: JobId, now: Time) {
        let Some(task) = self.tasks.get_mut(&job) else { return };
        (task.stage, task.end) = (Stage::Computed, now);
        let at = task.at;
        self.sending.insert(job);
        // The next task of the resource may start, even if this output is lost later.
        self.unqueue(job, at);
    }

    /// A task is no longer needed. Returns whether it was in a queue.
    pub(super) fn forget(&mut self, job: JobId) -> bool {
        let Some(task) = self.tasks.remove(&job) else { return false };
        self.unqueue(job, task.at)
    }

    /// A task that was sent and is at no resource has been lost: it runs again, before all tasks that have
    /// not been sent.
    pub(super) fn notice_losses(&mut self, view: &View) {
        self.sending.retain(|&job| view.jobs().open(job).is_some());
        let is_lost = |&job: &JobId| view.jobs().waits(job);
        let firsts = self.busy.iter().filter_map(|at| self.queues[at.index()].front().copied());
        let sent = firsts.filter(|job| self.tasks[job].stage == Stage::Sent);
        let lost: Vec<JobId> = sent.chain(self.sending.iter().copied()).filter(is_lost).collect();
        for job in lost {
            let task = self.tasks.get_mut(&job).expect("it was sent");
            task.stage = Stage::Waits;
            let at = task.at;
            if self.sending.remove(&job) {
                let queue = &mut self.queues[at.index()];
                let runs = |first: &JobId| self.tasks[first].stage == Stage::Sent;
                // Behind a task that runs, and before all others.
                let place = usize::from(queue.front().is_some_and(runs));
                queue.insert(place, job);
                self.busy.insert(at);
            }
        }
    }

    fn unqueue(&mut self, job: JobId, at: ResourceId) -> bool {
        let queue = &mut self.queues[at.index()];
        let place = queue.iter().position(|&other| other == job);
        if let Some(place) = place {
            queue.remove(place);
        }
        if queue.is_empty() {
            self.busy.remove(&at);
        }
        place.is_some()
    }

    /// Updates the expected starts and ends of tasks. Each task takes its expected time, after its parents
    /// and the task before it on its resource. Tasks that have ended are forgotten.
    pub(super) fn retime(&mut self, now: Time, insight: &dyn Insight) {
        self.tasks.retain(|&job, _| is_wanted(insight, job));
        self.drop_missing();
        let (mut waits_for, after) = self.order(insight);
        let free = waits_for.iter().filter(|(_, count)| **count == 0).map(|(&job, _)| job);
        let mut open: Vec<JobId> = free.collect();
        // End of the tasks considered so far, by resource.
        let mut until = vec![now; self.queues.len()];
        // A task is timed after all tasks for which it waits.
        while let Some(job) = open.pop() {
            let task = self.tasks[&job];
            let (start, end) = if task.stage == Stage::Waits {
                let start = self.arrival(job, now, insight).max(until[task.at.index()]);
                (start, start + (task.end - task.start))
            } else {
                // A task that should have ended by now is late.
                (task.start, task.end.max(now + Span::TICK))
            };
            until[task.at.index()] = end;
            self.tasks.insert(job, Placed { start, end, ..task });
            for next in after.get(&job).into_iter().flatten() {
                let count = waits_for.get_mut(next).expect("it waits");
                *count -= 1;
                if *count == 0 {
                    open.push(*next);
                }
            }
        }
    }

    /// The number of tasks for which each queued task waits, and the tasks that wait for it.
    fn order(
        &self,
        insight: &dyn Insight,
    ) -> (BTreeMap<JobId, usize>, BTreeMap<JobId, Vec<JobId>>) {
        let mut waits_for: BTreeMap<JobId, usize> = BTreeMap::new();
        let mut after: BTreeMap<JobId, Vec<JobId>> = BTreeMap::new();
        let is_queued =
            |job: &JobId| self.tasks.get(job).is_some_and(|task| task.stage != Stage::Computed);
        for queue in &self.queues {
            let mut before = None;
            for &job in queue {
                let parents = parents(insight, job).into_iter().filter(is_queued);
                // Parents that have been computed hold up no task.
                let all = Vec::from_iter(parents.chain(before.replace(job)));
                waits_for.insert(job, all.len());
                all.into_iter().for_each(|first| after.entry(first).or_default().push(job));
            }
        }
        (waits_for, after)
    }

    /// Expected time at which the inputs from placed parents are stored.
    fn arrival(&self, job: JobId, now: Time, insight: &dyn Insight) -> Time {
        let parents = parents(insight, job);
        let placed = parents.iter().filter_map(|parent| self.tasks.get(parent));
        placed.map(|parent| parent.end + parent.sending).fold(now, Time::max)
    }

    /// Removes all tasks that have not been sent; returns their units, the first one first.
    pub(super) fn take_off_unsent(&mut self, insight: &dyn Insight) -> Vec<Unit> {
        let mut units: BTreeMap<u64, Unit> = BTreeMap::new();
        self.tasks.retain(|&job, task| {
            let waits = task.stage == Stage::Waits;
            if waits {
                units.insert(task.turn, Unit::of(insight, job));
            }
            !waits
        });
        self.drop_missing();
        // A unit has several turns if it was placed several times.
        let mut known = BTreeSet::new();
        units.into_values().filter(|&unit| known.insert(unit)).collect()
    }

    /// Removes tasks from the queues that are no longer placed.
    fn drop_missing(&mut self) {
        let tasks = &self.tasks;
        self.queues.iter_mut().for_each(|queue| queue.retain(|job| tasks.contains_key(job)));
        self.sending.retain(|job| tasks.contains_key(job));
        self.busy.retain(|at| !self.queues[at.index()].is_empty());
    }

    /// Schedules the unplaced tasks of a unit on these resources, beside all placed tasks.
    pub(super) fn place(
        &mut self,
        unit: Unit,
        resources: &[ResourceId],
        view: &View,
        round: &Round<'_>,
        (by, seed): (StaticAlgorithm, u64),
    ) {
        let (now, insight) = (round.now, round.insight);
        let jobs = self.unplaced(unit, insight);
        if jobs.is_empty() {
            return;
        }
        let graph = among(&jobs, insight);
        // The sum over all tasks and transfers must stay in range.
        let terms = (jobs.len() + graph.edge_count() + 1) as i64;
        let most = Span::from_micros(LONGEST.as_micros() / terms);
        let each = |of: &dyn Fn(JobId, ResourceId) -> Span| -> Vec<Vec<Span>> {
            let row = |&job: &JobId| resources.iter().map(|&at| of(job, at).min(most)).collect();
            jobs.iter().map(row).collect()
        };
        let times = each(&|job, at| {
            let saved = view.jobs().open(job).map_or(Work::ZERO, |job| job.saved);
            let left = insight.length(job).saturating_sub(saved);
            // Every task takes some time, see the head of this file.
            let computing = left.at(view.resources().get(at).avail).max(Span::TICK);
            let restart = restart(view, job);
            insight.starting_time(restart) + insight.fetching_time(job, at, restart) + computing
        });
        let sending = each(&|job, from| insight.sending_time(job, from));
        let relative = |time: Time| Time::ZERO + (time - now).max(Span::ZERO).min(LONGEST);
        let released = jobs.iter().map(|&job| relative(self.arrival(job, now, insight))).collect();
        let numbers: BTreeMap<ResourceId, u32> = resources.iter().copied().zip(0..).collect();
        let queued = self.tasks.values().filter(|task| task.stage != Stage::Computed);
        let taken = queued.filter_map(|task| {
            let (start, end) = (relative(task.start), relative(task.end));
            numbers.get(&task.at).map(|&resource| Placement { resource, start, end })
        });
        let problem = Problem::with_storage(&graph, &times, &sending)
            .expect("no time is negative, and none of them is too long")
            .amid(taken.collect(), released);
        let schedule = by.schedule(&problem, seed);
        for ((&job, placement), row) in jobs.iter().zip(schedule.placements()).zip(&sending) {
            let Placement { resource, start, end } = *placement;
            let absolute = |time: Time| now + (time - Time::ZERO);
            let task = Placed {
                at: resources[resource as usize],
                start: absolute(start),
                end: absolute(end),
                sending: row[resource as usize],
                stage: Stage::Waits,
                turn: self.units,
            };
            self.tasks.insert(job, task);
        }
        self.units += 1;
    }

    /// The jobs of a unit that need a place, by number of task.
    fn unplaced(&self, unit: Unit, insight: &dyn Insight) -> Vec<JobId> {
        let jobs = match unit {
            Unit::Job(job) => vec![job],
            Unit::Workflow(workflow) => {
                insight.ledger().map(|ledger| ledger.jobs(workflow)).unwrap_or_default()
            }
        };
        jobs.into_iter().filter(|&job| !self.has(job) && is_wanted(insight, job)).collect()
    }

    /// Queues all waiting tasks by their starts, behind the tasks that are at their resources.
    pub(super) fn queue(&mut self) {
        self.queues.iter_mut().for_each(VecDeque::clear);
        let queued = self.tasks.iter().filter(|(_, task)| task.stage != Stage::Computed);
        let mut all: Vec<(ResourceId, Stage, Time, JobId)> =
            queued.map(|(&job, task)| (task.at, task.stage, task.start, job)).collect();
        // Sent tasks are the first of their queues.
        all.sort_unstable();
        self.busy = all.iter().map(|&(at, ..)| at).collect();
        for (at, _, _, job) in all {
            self.queues[at.index()].push_back(job);
        }
    }
}

/// The parents of a job.
fn parents(insight: &dyn Insight, job: JobId) -> Vec<JobId> {
    insight.ledger().map(|ledger| ledger.parents(job)).unwrap_or_default()
}

/// The dependencies among these jobs; their lengths are passed separately.
fn among(jobs: &[JobId], insight: &dyn Insight) -> Workflow {
    const PART: &str = "a part of a workflow is one";
    let mut builder = Builder::new("rest");
    for job in jobs {
        builder.task(Task::new(job.0.to_string(), Span::ZERO)).expect(PART);
    }
    let numbers: BTreeMap<JobId, TaskId> = jobs.iter().copied().zip((0..).map(TaskId)).collect();
    for (&job, &child) in &numbers {
        for parent in parents(insight, job).iter().filter_map(|parent| numbers.get(parent)) {
            builder.edge(*parent, child, 0).expect(PART);
        }
    }
    builder.build().expect(PART)
}
