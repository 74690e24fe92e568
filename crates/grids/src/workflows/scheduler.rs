//! Schedules workflows, and balances running tasks (Balanced Workflow Scheduling, Chtepen 2011, sections
//! 2.2, 5.4 and 6.4).

use std::collections::{BTreeMap, BTreeSet};

use haggle_model::JobId;
use haggle_model::Span;
use haggle_model::progress::ProgressReport;
use haggle_model::work::{Fraction, Work};

use super::super::jobs::GridJob;
use super::super::resources::ResourceId;
use super::super::scheduler::{Checkpointing, GridScheduler, Insight, Questions, Restart, Round};
use super::super::view::{Detection, View};
use super::balance::{Balance, BalancedRound, Costs, Move, Place, Running};
use super::placing::place;
use super::prediction::{Average, CurveFit, Extrapolation, History, Predictor};
use super::ready::{Ready, ReadyTasks};
use crate::PredictionRule;
use haggle_workflows::ledger::{Group, Ledger};
use serde::{Deserialize, Serialize};

/// Rules of a scheduler of workflows, as a scenario gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowPolicy {
    /// Rules for balancing running tasks; `None` = no balancing.
    pub balance: Option<BalanceRules>,
    /// Prediction of the length of a task.
    pub prediction: Prediction,
    /// With [`Prediction::CurveFit`]: the [`CurveFit::bound`].
    pub bound: Fraction,
    /// Basis of the progress of a running task.
    pub estimate: Estimate,
    /// True if tasks write periodic checkpoints. A task that leaves a resource saves its progress in any
    /// case, and restarts from it.
    pub checkpointing: bool,
}

/// Conditions of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BalanceRules {
    /// RE_min: a task with at most this remaining time stays.
    pub floor: Span,
    /// γ: a move must save more than this part.
    pub gain: Fraction,
    /// θ: number of resources of a site that are examined as one.
    pub group: u32,
    /// True if root tasks must leave a resource that a task of a set can use.
    pub evicts: bool,
    /// True if the estimated time of a move includes its checkpoint and its recovery, beside the transfer
    /// of its data.
    pub counts_checkpoint: bool,
}

haggle_model::words! {
    /// Progress of a running task from which its length is estimated (Chtepen 2011, equation 5.4).
    #[derive(Default)]
    pub enum Estimate {
        // E_est = W/P, and W is done.
        /// The work that the task has done on all its resources.
        #[default]
        Integrated = "integrated",
        // E_est = T·avail/(n_res·P), and the part P of that is done; a task that has moved seems short.
        /// The computing time on its current resource, at the current speed there. As printed: correct if speeds do not
        /// change and tasks do not move.
        Literal = "literal",
    }
}

haggle_scheduling::words_or_own! {
    /// Prediction of the length of a running task.
    #[derive(Default)]
    pub enum Prediction of PredictionRule as "Prediction" {
        /// The work done, divided by the completed part in the last report.
        #[default]
        Extrapolation = "extrapolation",
        /// The mean of that quotient over all reports.
        Average = "average",
        /// The limit of the exponential curve that fits the reports best.
        CurveFit = "curve-fit",
    }
}

impl Prediction {
    fn build(self, bound: Fraction) -> Box<dyn Predictor> {
        match self {
            Prediction::Extrapolation => Box::new(Extrapolation),
            Prediction::Average => Box::new(Average),
            Prediction::CurveFit => {
                let bound = f64::from(bound.as_ppm()) / 1e6;
                Box::new(CurveFit { bound, ..CurveFit::default() })
            }
            Prediction::Own(own) => (own.rule)(),
        }
    }
}

/// Places ready tasks, by parent sets; before that, balances running sets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WorkflowScheduler {
    policy: WorkflowPolicy,
    predictor: Box<dyn Predictor>,
    /// Ready tasks, as of the last round with room.
    ready: ReadyTasks,
    /// Sets of which some tasks had no room in the last round.
    partly: BTreeSet<Group>,
    /// The last prediction of each task, and the number of reports behind it.
    predictions: BTreeMap<JobId, (usize, Option<f64>)>,
    /// With [`Estimate::Literal`]: reports of each task as its computing time would give them.
    timed: BTreeMap<JobId, Timed>,
}

/// Recomputed reports of a task, and the number of its own reports behind them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Timed {
    known: usize,
    reports: Vec<ProgressReport>,
}

impl WorkflowScheduler {
    /// A scheduler without workflows.
    pub fn new(policy: WorkflowPolicy) -> WorkflowScheduler {
        WorkflowScheduler {
            policy,
            predictor: policy.prediction.build(policy.bound),
            ready: ReadyTasks::default(),
            partly: BTreeSet::new(),
            predictions: BTreeMap::new(),
            timed: BTreeMap::new(),
        }
    }

    /// The predicted length of a job with progress `done`, MI.
    fn length(&mut self, view: &View, insight: &dyn Insight, job: JobId, done: f64) -> Option<f64> {
        let reports = match self.policy.estimate {
            Estimate::Integrated => insight.reports(job),
            Estimate::Literal => self.timed.get(&job).map_or(&[][..], |it| &it.reports),
        };
        // A length is predicted again only after a new report.
        match self.predictions.get(&job) {
            Some(&(count, length)) if count == reports.len() => length,
            _ => {
                let length = view.job(job).length;
                let a_priori = (length > Work::ZERO).then(|| length.as_mi_f64());
                let length = self.predictor.predict(&History { a_priori, reports, done });
                self.predictions.insert(job, (reports.len(), length));
                length
            }
        }
    }

    /// The remaining work of a job with progress `done`, MI.
    fn left(&mut self, view: &View, insight: &dyn Insight, job: JobId, done: f64) -> Option<f64> {
        let length = self.length(view, insight, job, done)?;
        Some((length - done).max(0.0))
    }

    /// The remaining work of a job that runs at a resource, MI.
    fn left_at(
        &mut self,
        view: &View,
        insight: &dyn Insight,
        job: JobId,
        at: ResourceId,
    ) -> Option<f64> {
        // Progress after the last report is unknown.
        let done = insight.reported(job, at);
        let last = insight.reports(job).last();
        let Some(last) = last.filter(|_| self.policy.estimate == Estimate::Literal) else {
            return self.left(view, insight, job, done);
        };
        let known = insight.reports(job).len();
        let timed = self.timed.entry(job).or_default();
        let time = insight.computing(job, at).as_secs_f64();
        // At most one recomputed report a round, and only after a new report of the task.
        if known > timed.known && time > 0.0 {
            let resource = view.resources().get(at);
            let speed = resource.avail.as_micro_mips() as f64 / 1e6;
            let seemingly = time * speed / f64::from(resource.held.max(1));
            // W/E_est, for E_est = T·avail/(n_res·P).
            let part = last.done * last.part / seemingly;
            timed.reports.push(ProgressReport { done: last.done, part });
            timed.known = known;
        }
        let length = self.length(view, insight, job, done)?;
        // As printed: the completed part counts, not the work done.
        Some(length * (1.0 - last.part))
    }

    /// The running tasks, with their remaining work.
    fn running(&mut self, view: &View, round: &Round<'_>) -> Vec<Running> {
        let mut running = Vec::new();
        for (_, job) in view.jobs().shelf(1) {
            let at = view.job(job).replicas[0];
            // A task that waits for data or sends its output is not balanced.
            if !round.insight.computes(job, at) || !view.resources().get(at).up {
                continue;
            }
            if let Some(left) = self.left_at(view, round.insight, job, at) {
                // A job that is no task waits for no other, as a root.
                let root = round.insight.ledger().is_none_or(|ledger| ledger.is_root(job));
                running.push(Running { job, at, left, root });
            }
        }
        running
    }

    fn balance(
        &mut self,
        rules: BalanceRules,
        ledger: &Ledger,
        view: &mut View,
        round: &mut Round<'_>,
    ) -> u64 {
        let running = self.running(view, round);
        let sets = running_sets(ledger, view, &running);
        if sets.is_empty() {
            return 0;
        }
        let insight = round.insight;
        let counts = rules.counts_checkpoint;
        let mut costs = Moving { insight, running: &running, counts, draw: round.draw };
        let decided = BalancedRound::new(places(view), &running, sets);
        let (moves, _, evaluations) = decided.run(&rules.into(), &mut costs);
        for step in moves {
            match step {
                // Both save the progress first; they differ only in the reason of the move.
                Move::To(task, to) | Move::EvictedTo(task, to) => {
                    let Running { job, at, .. } = running[task];
                    round.relocate(view, job, at, to);
                }
                Move::Evicted(task) => {
                    let Running { job, at, .. } = running[task];
                    round.suspend(view, job, at);
                }
            }
        }
        evaluations
    }

    /// Updates the ready tasks with the changes of jobs since the last round with room.
    fn take_in(&mut self, view: &mut View, insight: &dyn Insight) {
        for job in view.take_changed_jobs() {
            // Removed in any case: a changed job is filed anew with its present length, if it still waits.
            self.ready.remove(job);
            if !view.jobs().waits(job) {
                continue;
            }
            let GridJob { arrival, saved, .. } = *view.job(job);
            let left = self.left(view, insight, job, saved.as_mi_f64());
            let ledger = insight.ledger();
            let groups = ledger.map(|ledger| ledger.groups(job)).unwrap_or_default();
            // Of sets of equal size always the same one, by number.
            let largest = groups.into_iter().max_by_key(|&(group, size)| (size, group));
            let root = ledger.is_none_or(|ledger| ledger.is_root(job));
            let group = largest.map(|(group, _)| group);
            self.ready.insert(Ready { turn: (arrival, job), group, root, left });
        }
    }

    fn place_ready(&mut self, view: &mut View, round: &mut Round<'_>) {
        // Without room the changes of jobs stay recorded for a later round.
        if !view.resources().any_available() {
            return;
        }
        self.take_in(view, round.insight);
        let insight = round.insight;
        let restart = |view: &View, job: JobId| match view.job(job).saved > Work::ZERO {
            true => Restart::FromCheckpoint,
            false => Restart::FromBeginning,
        };
        let fetching = |job: JobId, to: ResourceId| {
            insight.fetching_time(job, to, restart(view, job)).as_secs_f64()
        };
        let mut costs = Moving { insight, running: &[], counts: true, draw: round.draw };
        let placed = place(&mut places(view), &self.ready, &mut self.partly, &fetching, &mut costs);
        for (job, to) in placed {
            let restart = restart(view, job);
            round.dispatch(view, job, to, restart);
        }
    }
}

#[typetag::serde]
impl GridScheduler for WorkflowScheduler {
    fn detection(&self) -> Detection {
        Detection::RestartReport
    }

    fn checkpointing(&self) -> Checkpointing {
        if self.policy.checkpointing { Checkpointing::Always } else { Checkpointing::Never }
    }

    fn computed(&mut self, _now: haggle_model::Time, job: JobId) {
        self.predictions.remove(&job);
        self.timed.remove(&job);
    }

    fn questions(&self, view: &View) -> Questions {
        let mut progress = Vec::new();
        for (_, job) in view.jobs().shelf(1) {
            let at = view.job(job).replicas[0];
            // A task that only sends its output makes no more progress.
            if !view.has_computed(job, at) {
                progress.push((job, at));
            }
        }
        let moves = self.policy.balance.is_some() && !progress.is_empty();
        // Waiting tasks need transfer times, too: their places depend on the input.
        Questions { traffic: moves || view.jobs().waiting() > 0, progress }
    }

    fn round(&mut self, view: &mut View, round: &mut Round<'_>) {
        if let (Some(rules), Some(ledger)) = (self.policy.balance, round.insight.ledger()) {
            // Before new tasks are placed, so that running tasks have the first choice.
            round.evaluations += self.balance(rules, ledger, view, round);
        }
        self.place_ready(view, round);
    }
}

impl From<BalanceRules> for Balance {
    fn from(rules: BalanceRules) -> Balance {
        Balance {
            floor: rules.floor.as_secs_f64(),
            gain: f64::from(rules.gain.as_ppm()) / 1e6,
            group: rules.group as usize,
            evicts: rules.evicts,
        }
    }
}

fn places(view: &View) -> Vec<Place> {
    let resources = view.resources();
    let ids = (0..resources.len() as u32).map(ResourceId);
    let place = |id| {
        let resource = resources.get(id);
        let avail = resource.avail.as_micro_mips() as f64 / 1e6;
        // Without available speed no task would end.
        let up = resource.up && avail > 0.0;
        Place { site: resource.site, up, avail, slots: resource.slots, held: resource.held }
    };
    ids.map(place).collect()
}

/// Sets whose unfinished tasks all run, or send their outputs: sets with few running tasks first, then in
/// turn.
fn running_sets(ledger: &Ledger, view: &View, running: &[Running]) -> Vec<Vec<usize>> {
    let sends = |job: JobId| view.job(job).replicas.iter().any(|&at| view.has_computed(job, at));
    // By set: the running tasks, and the number of tasks that only send.
    let mut sets: BTreeMap<Group, (Vec<usize>, usize)> = BTreeMap::new();
    for (number, task) in running.iter().enumerate().filter(|(_, task)| !sends(task.job)) {
        for (group, _) in ledger.groups(task.job) {
            sets.entry(group).or_default().0.push(number);
        }
    }
    for (_, job) in view.jobs().shelf(1).filter(|&(_, job)| sends(job)) {
        for (group, _) in ledger.groups(job) {
            // A set without a running task has nothing to balance.
            if let Some((_, sending)) = sets.get_mut(&group) {
                *sending += 1;
            }
        }
    }
    let all_run = |group, tasks: usize| ledger.unfinished(group) == Some(tasks);
    sets.retain(|&group, (tasks, sending)| all_run(group, tasks.len() + *sending));
    let mut sets: Vec<Vec<usize>> = sets.into_values().map(|(tasks, _)| tasks).collect();
    for tasks in &mut sets {
        tasks.sort_by_key(|&task| ledger.member(running[task].job).map(|member| member.task));
    }
    let turn = |task: usize| {
        let job = running[task].job;
        (view.job(job).arrival, job)
    };
    // Few tasks first, then in turn: the order decides which set gets the better resources.
    sets.sort_by_key(|set| (set.len(), set.iter().map(|&task| turn(task)).min()));
    sets
}

/// Costs of moves, from the grid's information.
struct Moving<'a> {
    insight: &'a dyn Insight,
    running: &'a [Running],
    /// True if they include checkpoint and recovery.
    counts: bool,
    draw: &'a mut dyn FnMut(usize) -> usize,
}

impl Costs for Moving<'_> {
    fn moving(&self, task: usize, from: ResourceId, to: ResourceId) -> f64 {
        let job = self.running[task].job;
        // A task that does not compute cannot move.
        let Some(time) = self.insight.moving_time(job, from, to) else { return f64::INFINITY };
        match self.counts {
            true => time.as_secs_f64(),
            false => (time - self.insight.saving_time(job)).as_secs_f64(),
        }
    }

    fn draw(&mut self, below: usize) -> usize {
        (self.draw)(below)
    }
}

#[cfg(test)]
mod tests;
