//! Schedules workflows, and balances tasks that run (Balanced Workflow Scheduling, Chtepen 2011,
//! sections 2.2, 5.4 and 6.4).

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
use crate::own::{PredictionRule, words_or_own};
use crate::workflows::{Group, Ledger};

/// How a scheduler of workflows decides, as a scenario says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkflowPolicy {
    /// What tasks that run are balanced by; `None` = they stay where they are.
    pub balance: Option<BalanceRules>,
    /// How the length of a task is predicted.
    pub prediction: Prediction,
    /// With [`Prediction::CurveFit`]: what [`CurveFit::bound`] is.
    pub bound: Fraction,
    /// By what a task that runs has got on.
    pub estimate: Estimate,
    /// Whether tasks write checkpoints from time to time. What they save when they leave a resource
    /// they start from in any case.
    pub checkpointing: bool,
}

/// What is worth a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BalanceRules {
    /// RE_min: a task that needs no longer than this stays.
    pub floor: Span,
    /// γ: a move has to save more than this part.
    pub gain: Fraction,
    /// θ: so many resources of a site are looked at as one.
    pub group: u32,
    /// Whether root tasks leave a resource that a task of a set can use.
    pub evicts: bool,
    /// Whether a move is thought to take the time for its checkpoint and its recovery, beside that for
    /// its data.
    pub counts_checkpoint: bool,
}

haggle_model::words! {
    /// By what a task that runs has got on when its length is estimated (Chtepen 2011, equation 5.4).
    #[derive(Default)]
    pub enum Estimate {
        // E_est = W/P, and W is done.
        /// The work that it has done, wherever that was.
        #[default]
        Integrated = "integrated",
        // E_est = T·avail/(n_res·P), and the part P of that is done; a task that has moved seems short.
        /// The time that it has computed where it is, at the speed that it has there at the moment: as printed, which is
        /// right where speeds do not change and tasks do not move.
        Literal = "literal",
    }
}

words_or_own! {
    /// How the length of a task that runs is predicted.
    #[derive(Default)]
    pub enum Prediction of PredictionRule in predictions as "Prediction" {
        /// What it has done, by the part of the whole that this was in its last report.
        #[default]
        Extrapolation = "extrapolation",
        /// The mean of that over all its reports.
        Average = "average",
        /// The limit of the exponential curve that fits its reports best.
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

/// Places tasks that are ready, by parent sets; before that, balances sets that run.
#[derive(Debug)]
pub struct WorkflowScheduler {
    policy: WorkflowPolicy,
    predictor: Box<dyn Predictor>,
    /// Tasks that may start, as of the last round that had room.
    ready: ReadyTasks,
    /// Sets of which some tasks had no room in the last round.
    partly: BTreeSet<Group>,
    /// The last prediction of each task, and by how many reports.
    predictions: BTreeMap<JobId, (usize, Option<f64>)>,
    /// What each task would have reported if it had got on by its time, with [`Estimate::Literal`].
    timed: BTreeMap<JobId, Timed>,
}

/// Reports of a task that are made anew, and how many of its own were known by then.
#[derive(Clone, Debug, Default)]
struct Timed {
    known: usize,
    reports: Vec<ProgressReport>,
}

impl WorkflowScheduler {
    /// A scheduler that knows no workflow yet.
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

    /// How long a job will turn out to be that has done so many MI, MI.
    fn length(&mut self, view: &View, insight: &dyn Insight, job: JobId, done: f64) -> Option<f64> {
        let reports = match self.policy.estimate {
            Estimate::Integrated => insight.reports(job),
            Estimate::Literal => self.timed.get(&job).map_or(&[][..], |it| &it.reports),
        };
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

    /// What is left of a job that has done so many MI, MI.
    fn left(&mut self, view: &View, insight: &dyn Insight, job: JobId, done: f64) -> Option<f64> {
        let length = self.length(view, insight, job, done)?;
        Some((length - done).max(0.0))
    }

    /// What is left of a job that runs at a resource, MI.
    fn left_at(
        &mut self,
        view: &View,
        insight: &dyn Insight,
        job: JobId,
        at: ResourceId,
    ) -> Option<f64> {
        // What it has done since it reported last nobody knows.
        let done = insight.reported(job, at);
        let last = insight.reports(job).last();
        let Some(last) = last.filter(|_| self.policy.estimate == Estimate::Literal) else {
            return self.left(view, insight, job, done);
        };
        let known = insight.reports(job).len();
        let timed = self.timed.entry(job).or_default();
        let time = insight.computing(job, at).as_secs_f64();
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
        Some(length * (1.0 - last.part))
    }

    /// The tasks that run, and what is left of them.
    fn running(&mut self, view: &View, round: &Round<'_>) -> Vec<Running> {
        let mut running = Vec::new();
        for (_, job) in view.jobs().shelf(1) {
            let at = view.job(job).replicas[0];
            if !round.insight.computes(job, at) || !view.resources().get(at).up {
                continue;
            }
            if let Some(left) = self.left_at(view, round.insight, job, at) {
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

    /// Takes in what has become of jobs since the last round that had room.
    fn take_in(&mut self, view: &mut View, insight: &dyn Insight) {
        for job in view.take_changed_jobs() {
            self.ready.remove(job);
            if !view.jobs().waits(job) {
                continue;
            }
            let GridJob { arrival, saved, .. } = *view.job(job);
            let left = self.left(view, insight, job, saved.as_mi_f64());
            let ledger = insight.ledger();
            let groups = ledger.map(|ledger| ledger.groups(job)).unwrap_or_default();
            let largest = groups.into_iter().max_by_key(|&(group, size)| (size, group));
            let root = ledger.is_none_or(|ledger| ledger.is_root(job));
            let group = largest.map(|(group, _)| group);
            self.ready.insert(Ready { turn: (arrival, job), group, root, left });
        }
    }

    fn place_ready(&mut self, view: &mut View, round: &mut Round<'_>) {
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
            if !view.has_computed(job, at) {
                progress.push((job, at));
            }
        }
        let moves = self.policy.balance.is_some() && !progress.is_empty();
        Questions { traffic: moves || view.jobs().waiting() > 0, progress }
    }

    fn round(&mut self, view: &mut View, round: &mut Round<'_>) {
        if let (Some(rules), Some(ledger)) = (self.policy.balance, round.insight.ledger()) {
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
        // Nothing ends where there is no speed left.
        let up = resource.up && avail > 0.0;
        Place { site: resource.site, up, avail, slots: resource.slots, held: resource.held }
    };
    ids.map(place).collect()
}

/// Sets whose unfinished tasks all run, or send their outputs: those with few that run first, then
/// in turn.
fn running_sets(ledger: &Ledger, view: &View, running: &[Running]) -> Vec<Vec<usize>> {
    let sends = |job: JobId| view.job(job).replicas.iter().any(|&at| view.has_computed(job, at));
    // Of each set the tasks that run, and how many there are that only send.
    let mut sets: BTreeMap<Group, (Vec<usize>, usize)> = BTreeMap::new();
    for (number, task) in running.iter().enumerate().filter(|(_, task)| !sends(task.job)) {
        for (group, _) in ledger.groups(task.job) {
            sets.entry(group).or_default().0.push(number);
        }
    }
    for (_, job) in view.jobs().shelf(1).filter(|&(_, job)| sends(job)) {
        for (group, _) in ledger.groups(job) {
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
    sets.sort_by_key(|set| (set.len(), set.iter().map(|&task| turn(task)).min()));
    sets
}

/// What moves cost, as the grid says.
struct Moving<'a> {
    insight: &'a dyn Insight,
    running: &'a [Running],
    /// Whether they cost checkpoint and recovery.
    counts: bool,
    draw: &'a mut dyn FnMut(usize) -> usize,
}

impl Costs for Moving<'_> {
    fn moving(&self, task: usize, from: ResourceId, to: ResourceId) -> f64 {
        let job = self.running[task].job;
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
