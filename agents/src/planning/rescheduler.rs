//! The metascheduler: it asks all clusters for plans, chooses the next interval and its cluster,
//! and asks again when that interval is over (section 6). Applications of a workflow run level by
//! level (section 8).

mod contest;
mod flows;
mod glimpse;
mod view;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use haggle_model::phased::Move;
use haggle_model::shared;
use haggle_model::{
    ActorId, BagRecord, Job, JobId, JobOutcome, JobRecord, Observation, Refusal, Span, Time,
};
use haggle_planning::Interval;
use haggle_planning::multi::{Candidate, Placed, choose_interval, place};
use haggle_planning::workflow::Step;
use haggle_workflows::Workflow;
use haggle_workflows::ledger::WorkflowId;

use crate::protocol::planning::{IntervalOrder, Planned, Times, TimesRequest};
use crate::protocol::{Message, PlanningMessage, RunMessage, Submission, SubmissionMessage};
use crate::{Actor, Desk, Outbox};

use contest::Contest;
use flows::{Arrival, Flows};
use serde::{Deserialize, Serialize};
use view::View;

/// A rescheduler as a scenario describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReschedulerConfig {
    /// The clusters it may use.
    pub clusters: Vec<ActorId>,
    /// The actor that it notifies of the end of an interval, so that loads change.
    pub updates: Option<ActorId>,
    /// An interval that takes this long or shorter is not valid.
    pub threshold: Span,
    /// True if applications are rescheduled. Otherwise each stays on the machines that are best for
    /// all of it at its start.
    pub reschedules: bool,
    /// Workflows whose tasks are applications.
    #[serde(with = "shared::map")]
    pub workflows: BTreeMap<WorkflowId, Arc<Workflow>>,
}

/// Reschedules applications over clusters.
///
/// It takes one turn after the other, for applications in the order in which their intervals end. The
/// applications of a workflow that are between two intervals share a turn. If an application finds no
/// machine, all wait until machines are free.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rescheduler {
    config: ReschedulerConfig,
    /// Index of each cluster in the configuration.
    places: BTreeMap<ActorId, usize>,
    desk: Desk<Stage>,
    flows: Flows,
    /// Turns to come, the next one at the front.
    turns: VecDeque<Turn>,
    /// The turn of a workflow, if it is under way.
    contest: Option<Contest>,
    round: Option<Round>,
    /// The application whose interval is ordered, until its cluster answers.
    ordered: Option<JobId>,
    /// True if no machine is free.
    full: bool,
    /// True if machines have become free since the turn under way began.
    is_freed: bool,
    /// Number of requested changes of loads that have not come.
    redraws: u32,
}

/// A turn of applications between two intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Turn {
    /// An application that belongs to no workflow.
    Application(JobId),
    /// All such applications of a workflow.
    Workflow(WorkflowId),
}

/// Progress of an application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stage {
    /// Its first phase that is not over.
    first: usize,
    /// Number of its intervals that have begun.
    begun: u32,
    /// Time at which the first of them began.
    queued: Option<Time>,
    /// The interval that runs, or is ordered.
    interval: Option<Interval>,
    /// The cluster with its last checkpoint.
    at: Option<ActorId>,
    /// The cluster from which it moves, or has moved.
    from: Option<ActorId>,
}

/// A round, with the answers received, by cluster.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Round {
    job: JobId,
    plans: Vec<Option<Option<Candidate>>>,
    /// The intervals for which times are requested.
    intervals: Vec<Interval>,
    times: Vec<Option<Option<Times>>>,
    /// Number of answers that are missing.
    missing: usize,
}

impl Rescheduler {
    /// A rescheduler without applications.
    pub fn new(config: ReschedulerConfig) -> Rescheduler {
        let places = config.clusters.iter().copied().zip(0..).collect();
        let flows = Flows::new(&config.workflows);
        Rescheduler {
            config,
            places,
            desk: Desk::default(),
            flows,
            turns: VecDeque::new(),
            contest: None,
            round: None,
            ordered: None,
            full: false,
            is_freed: false,
            redraws: 0,
        }
    }

    fn on_submit(
        &mut self,
        now: Time,
        from: ActorId,
        submission: Submission,
        out: &mut Outbox,
    ) -> bool {
        let job = Arc::clone(&submission.job);
        let stage =
            Stage { first: 1, begun: 0, queued: None, interval: None, at: None, from: None };
        if self.desk.take_in(from, submission, stage).is_none() {
            return false;
        }
        let arrival = self.flows.take_in(&job, out);
        if phases(&job) == 0 || arrival == Arrival::Unknown {
            self.desk.refuse(job.id, Refusal::WrongShape, out);
            self.give_up_children(now, job.id, out);
        } else {
            out.send(from, SubmissionMessage::Accepted { job: job.id });
            match arrival {
                Arrival::Alone => self.turns.push_back(Turn::Application(job.id)),
                Arrival::Member { barred: true, .. } => self.give_up(now, job.id, out),
                Arrival::Member { .. } | Arrival::Unknown => {}
            }
        }
        // Last, and also for a refused application: the first level takes only applications that are still on the desk.
        if let Arrival::Member { complete: Some(workflow), .. } = arrival {
            self.begin_level(now, workflow);
        }
        true
    }

    /// A user withdraws an application. This is possible until its first interval is ordered.
    fn on_withdraw(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) -> bool {
        let Some(entry) = self.desk.get_mut(job).filter(|entry| entry.submitter == from) else {
            out.send(from, SubmissionMessage::NotWithdrawn { job });
            return true;
        };
        if entry.stage.begun > 0 || entry.stage.interval.is_some() {
            out.send(from, SubmissionMessage::NotWithdrawn { job });
            return true;
        }
        self.turns.retain(|&it| it != Turn::Application(job));
        // Only the turn under way names the application: a later turn reads the applications of its workflow anew.
        if let Some(contest) = &mut self.contest {
            contest.leave(job);
        }
        if self.round.as_ref().is_some_and(|round| round.job == job) {
            // Answers that are on their way will be refused.
            self.round = None;
        }
        self.end_wait(now, job);
        self.desk.cancel(now, job, out);
        self.forget(job, out);
        self.give_up_children(now, job, out);
        self.leave_level(now, job);
        true
    }

    /// An application that leaves now has waited for its level until now.
    fn end_wait(&mut self, now: Time, job: JobId) {
        if self.flows.waits(job) {
            self.set_ready(now, job);
        }
    }

    /// An application does not wait for its level any more. Only the rescheduler knows that time, so
    /// the record must contain it.
    fn set_ready(&mut self, now: Time, job: JobId) {
        let Some(entry) = self.desk.get_mut(job) else { return };
        let job = &mut entry.submission.job;
        // A time that equals the submission adds nothing to the record, and the job need not be copied.
        if now > job.submit {
            Arc::make_mut(job).ready = Some(now);
        }
    }

    /// The application was not completed, so applications that need it never run.
    fn give_up_children(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        for child in self.flows.failed(job) {
            self.give_up(now, child, out);
        }
    }

    /// Ends an application that never runs, because an application that it needs was not completed.
    fn give_up(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        self.set_ready(now, job);
        let outcome = JobOutcome::Rejected(Refusal::ParentFailed);
        if let Some(entry) = self.desk.finish(job, outcome, out) {
            out.observe(entry.submission.never_queued(outcome, now));
        }
    }

    /// An application is over: if its level is over by that, the next one begins.
    fn leave_level(&mut self, now: Time, job: JobId) {
        if let Some(workflow) = self.flows.over(job) {
            self.begin_level(now, workflow);
        }
    }

    fn begin_level(&mut self, now: Time, workflow: WorkflowId) {
        let desk = &self.desk;
        let begun = self.flows.begin_level(workflow, |job| desk.get(job).is_some());
        for &job in &begun {
            self.set_ready(now, job);
        }
        if !begun.is_empty() {
            self.turns.push_back(Turn::Workflow(workflow));
        }
    }

    /// An application is between two intervals.
    fn pause(&mut self, job: JobId) {
        let Some(workflow) = self.flows.of(job) else {
            return self.turns.push_back(Turn::Application(job));
        };
        // Before `pause`, which makes this application pending itself.
        let has_turn = self.flows.pending(workflow).next().is_some();
        self.flows.pause(job);
        match self.contest.as_mut().filter(|it| it.workflow == workflow) {
            Some(contest) => contest.join(job),
            // The turn of an application that paused earlier is still to come, and this one shares it.
            None if has_turn => {}
            None => self.turns.push_back(Turn::Workflow(workflow)),
        }
    }

    fn forget(&self, job: JobId, out: &mut Outbox) {
        for &cluster in &self.config.clusters {
            out.send(cluster, PlanningMessage::Forget { job });
        }
    }

    /// Takes the next step, if nothing else is under way.
    fn go_on(&mut self, out: &mut Outbox) {
        // No step while loads are redrawn: its plans would be made for loads that have ended.
        while self.round.is_none() && self.ordered.is_none() && !self.full && self.redraws == 0 {
            let Some(contest) = &self.contest else {
                let Some(turn) = self.turns.pop_front() else { return };
                self.begin_turn(turn, out);
                continue;
            };
            match contest.step() {
                Step::Propose(job) => self.ask_plans(job, out),
                Step::Grant(job) => {
                    if let Some((cluster, order)) = contest.proposal(job).cloned() {
                        self.order(cluster, order, out);
                    }
                }
                Step::Over => self.end_contest(),
            }
        }
    }

    fn begin_turn(&mut self, turn: Turn, out: &mut Outbox) {
        self.is_freed = false;
        match turn {
            Turn::Application(job) => self.ask_plans(job, out),
            Turn::Workflow(workflow) => {
                self.contest = Some(Contest::new(workflow, self.flows.pending(workflow)));
            }
        }
    }

    /// No application of the contest is left. Applications without machines keep their turn.
    fn end_contest(&mut self) {
        let Some(Contest { workflow, is_short, .. }) = self.contest.take() else { return };
        if self.flows.pending(workflow).next().is_some() {
            // At the front: no other turn may take the machines for which these applications wait.
            self.turns.push_front(Turn::Workflow(workflow));
        }
        // Clusters without a machine report when they have one.
        self.full = is_short && !self.is_freed;
    }

    /// Begins a round for an application.
    fn ask_plans(&mut self, job: JobId, out: &mut Outbox) {
        let Some(entry) = self.desk.get(job) else { return };
        let clusters = self.config.clusters.len();
        let mut round = Round {
            job,
            plans: vec![None; clusters],
            intervals: Vec::new(),
            times: (0..clusters).map(|_| None).collect(),
            missing: 0,
        };
        let (application, first) = (Arc::clone(&entry.submission.job), entry.stage.first);
        if self.config.reschedules {
            for &cluster in &self.config.clusters {
                let (job, first) = (Arc::clone(&application), first as u32);
                out.send(cluster, PlanningMessage::PlanRequest { job, first });
            }
            round.missing = clusters;
        } else {
            // Every cluster is a candidate for all phases at once.
            let interval = Interval::new(first, phases(&application));
            let candidate = |cluster| Candidate { cluster, interval, remaining: Span::ZERO };
            round.plans = (0..clusters).map(|cluster| Some(Some(candidate(cluster)))).collect();
        }
        self.round = Some(round);
        self.ask_times(out);
    }

    /// All clusters have planned: clusters that could plan are asked for the times of all planned
    /// intervals.
    fn ask_times(&mut self, out: &mut Outbox) {
        let Some(round) = &mut self.round else { return };
        if round.missing > 0 {
            return;
        }
        let Some(entry) = self.desk.get(round.job) else { return };
        let candidates = || round.plans.iter().flatten().flatten();
        let mut intervals = Vec::from_iter(candidates().map(|candidate| candidate.interval));
        // The interval of all remaining phases is compared with the planned ones, so its times are needed, too.
        intervals.push(Interval::new(entry.stage.first, phases(&entry.submission.job)));
        intervals.sort_unstable();
        intervals.dedup();
        for (place, plan) in round.plans.iter().enumerate() {
            if plan.flatten().is_none() {
                // A cluster without a plan has no machine, so no time is requested and its answer counts as given.
                round.times[place] = Some(None);
                continue;
            }
            let request = TimesRequest {
                job: Arc::clone(&entry.submission.job),
                intervals: intervals.clone(),
                from: entry.stage.at,
            };
            out.send(self.config.clusters[place], PlanningMessage::TimesRequest(Box::new(request)));
            round.missing += 1;
        }
        round.intervals = intervals;
        self.decide(out);
    }

    /// All times are known: the next interval is chosen. An application that belongs to no workflow
    /// runs it where it takes the least time; others propose that.
    fn decide(&mut self, out: &mut Outbox) {
        let Some(round) = self.round.take_if(|round| round.missing == 0) else { return };
        let job = round.job;
        let Some(placed) = self.place(&round) else {
            match &mut self.contest {
                Some(contest) => contest.wait(job),
                None => {
                    // Clusters without a machine report when they have one.
                    // Machines that became free during the round may suffice, so the application tries again.
                    self.full = !self.is_freed;
                    self.turns.push_front(Turn::Application(job));
                }
            }
            return;
        };
        let Placed { interval, cluster, how, .. } = placed;
        let Some(entry) = self.desk.get(job) else { return };
        let cluster = self.config.clusters[cluster];
        let order = IntervalOrder {
            job: Arc::clone(&entry.submission.job),
            interval,
            number: entry.stage.begun + 1,
            how,
            from: entry.stage.at,
        };
        // An application alone has no competitor, so its choice is ordered at once.
        let Some(contest) = &mut self.contest else { return self.order(cluster, order, out) };
        // Without rescheduling there is no plan, and the interval has all phases.
        let remaining = match self.config.reschedules {
            true => placed.remaining,
            false => placed.time,
        };
        contest.propose(cluster, order.clone(), remaining);
        out.send(cluster, PlanningMessage::Propose(Box::new(order)));
    }

    /// The next interval of the application of a round; `None` if it finds no machine.
    fn place(&self, round: &Round) -> Option<Placed<()>> {
        let entry = self.desk.get(round.job)?;
        let stage = &entry.stage;
        let phases = phases(&entry.submission.job);
        let view = View::new(phases, &round.intervals, &round.times);
        let home = stage.at.and_then(|actor| self.places.get(&actor).copied());
        let before = home.map(|cluster| Placed {
            interval: Interval::new(stage.first, stage.first),
            cluster,
            schedule: (),
            time: Span::ZERO,
            how: Move::Start,
            moving: Span::ZERO,
            remaining: Span::ZERO,
        });
        let able = |it: &&Candidate| view.is_able(it.cluster);
        let candidates = round.plans.iter().flatten().flatten().filter(able).copied();
        let candidates = Vec::from_iter(candidates);
        let interval = choose_interval(&view, &candidates, self.config.threshold);
        place(&view, &candidates, interval?, before.as_ref())
    }

    /// Orders a cluster to run an interval.
    fn order(&mut self, cluster: ActorId, order: IntervalOrder, out: &mut Outbox) {
        let Some(entry) = self.desk.get_mut(order.job.id) else { return };
        entry.at = Some(cluster);
        entry.stage.interval = Some(order.interval);
        // Kept for `on_lost`: if the machines fail before the checkpoint has arrived, it is still at that cluster.
        entry.stage.from = entry.stage.at;
        self.ordered = Some(order.job.id);
        out.send(cluster, PlanningMessage::RunInterval(Box::new(order)));
    }

    /// Handles the answer of a cluster; false if it was not requested.
    fn on_answer(
        &mut self,
        now: Time,
        from: ActorId,
        message: PlanningMessage,
        out: &mut Outbox,
    ) -> bool {
        let Some(&place) = self.places.get(&from) else {
            return Some(from) == self.config.updates && self.on_redrawn(&message);
        };
        match message {
            PlanningMessage::Plan(plan) => {
                let Planned { job, interval, remaining } = *plan;
                let candidate = Candidate { cluster: place, interval, remaining };
                // A plan for other phases belongs to an earlier interval of the application.
                let is_fit = self.desk.get(job).is_some_and(|entry| {
                    interval.first == entry.stage.first
                        && (interval.first..=phases(&entry.submission.job)).contains(&interval.last)
                });
                is_fit && self.on_plan(job, place, Some(candidate), out)
            }
            PlanningMessage::NoMachines { job } => {
                // The message may answer either request of a round.
                self.on_plan(job, place, None, out) || self.on_times(job, place, None, out)
            }
            PlanningMessage::Times(times) => {
                let Some(round) = &self.round else { return false };
                let asked = round.intervals.len();
                // A cluster reports times of a stay only if the last machines of the application are free there.
                let fits = |told: &[Span]| told.is_empty() || told.len() == asked;
                let is_fit = times.least.len() == asked && fits(&times.stay);
                is_fit && self.on_times(times.job, place, Some(*times), out)
            }
            PlanningMessage::Begun { job } => self.on_begun(now, from, job, out),
            PlanningMessage::NotRun { job } => self.on_not_run(from, job),
            PlanningMessage::Lapsed { job } => self.on_lapsed(from, job),
            PlanningMessage::PhaseOver { job } => {
                let runs = self.running(job, from).is_some();
                if runs {
                    self.redraw(out);
                }
                runs
            }
            PlanningMessage::IntervalOver { job } => self.on_over(now, from, job, out),
            PlanningMessage::IntervalLost { job, arrived } => self.on_lost(from, job, arrived),
            PlanningMessage::MachinesFree => {
                (self.full, self.is_freed) = (false, true);
                true
            }
            _ => false,
        }
    }

    fn on_redrawn(&mut self, message: &PlanningMessage) -> bool {
        let expected = *message == PlanningMessage::Redrawn && self.redraws > 0;
        self.redraws -= u32::from(expected);
        expected
    }

    fn on_plan(
        &mut self,
        job: JobId,
        place: usize,
        plan: Option<Candidate>,
        out: &mut Outbox,
    ) -> bool {
        let Some(round) = self.round.as_mut().filter(|it| it.job == job) else { return false };
        if round.plans[place].is_some() {
            return false;
        }
        round.plans[place] = Some(plan);
        round.missing -= 1;
        self.ask_times(out);
        true
    }

    fn on_times(
        &mut self,
        job: JobId,
        place: usize,
        times: Option<Times>,
        out: &mut Outbox,
    ) -> bool {
        let Some(round) = self.round.as_mut().filter(|it| it.job == job) else { return false };
        // Times were not requested yet, or this cluster has answered.
        if round.intervals.is_empty() || round.times[place].is_some() {
            return false;
        }
        round.times[place] = Some(times);
        round.missing -= 1;
        self.decide(out);
        true
    }

    fn on_begun(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) -> bool {
        // The order belongs to another application by now, or to another cluster.
        if !self.is_ordered(job, from) {
            return false;
        }
        self.ordered = None;
        if let Some(contest) = &mut self.contest {
            contest.leave(job);
            self.flows.begin(job);
        }
        let Some(entry) = self.desk.get_mut(job) else { return false };
        entry.stage.begun += 1;
        entry.stage.at = Some(from);
        // The user is notified of the first interval only: later ones continue the same application.
        if entry.stage.queued.is_none() {
            entry.stage.queued = Some(now);
            out.send(entry.submitter, SubmissionMessage::Started { job });
        }
        true
    }

    /// The machines were taken meanwhile: the application has another round.
    fn on_not_run(&mut self, from: ActorId, job: JobId) -> bool {
        if !self.is_ordered(job, from) {
            return false;
        }
        self.ordered = None;
        if let Some(entry) = self.desk.get_mut(job) {
            (entry.stage.interval, entry.at) = (None, None);
        }
        match &mut self.contest {
            Some(contest) => contest.lapse(job),
            // At the front, so that the application keeps its turn.
            None => self.turns.push_front(Turn::Application(job)),
        }
        true
    }

    /// The machines of a proposed interval are not free any more: the application proposes again.
    fn on_lapsed(&mut self, from: ActorId, job: JobId) -> bool {
        if let Some(contest) = &mut self.contest
            && contest.proposal(job).is_some_and(|(cluster, _)| *cluster == from)
        {
            contest.lapse(job);
        }
        // The application may have been withdrawn meanwhile.
        true
    }

    /// True if a cluster was ordered to run an interval of the application, and has not answered
    /// yet.
    fn is_ordered(&self, job: JobId, cluster: ActorId) -> bool {
        self.ordered == Some(job)
            && self.desk.get(job).is_some_and(|entry| entry.at == Some(cluster))
    }

    /// The state of an application of which an interval runs at a cluster.
    fn running(&mut self, job: JobId, cluster: ActorId) -> Option<&mut Stage> {
        // An ordered interval does not run before its cluster has answered.
        let ordered = self.is_ordered(job, cluster);
        let entry = self.desk.at(job, cluster).filter(|_| !ordered)?;
        Some(&mut entry.stage)
    }

    fn on_over(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) -> bool {
        let Some(stage) = self.running(job, from) else { return false };
        let Some(interval) = stage.interval.take() else { return false };
        stage.first = interval.last + 1;
        let Some(entry) = self.desk.get_mut(job) else { return false };
        entry.at = None;
        if entry.stage.first <= phases(&entry.submission.job) {
            self.pause(job);
        } else {
            let outcome = JobOutcome::Completed;
            if let Some(entry) = self.desk.finish(job, outcome, out) {
                out.observe(over(entry.submission, &entry.stage, outcome, now));
            }
            self.forget(job, out);
            self.leave_level(now, job);
        }
        self.redraw(out);
        true
    }

    /// A machine has failed: the application goes on from its last marker. An application that is
    /// not rescheduled has none.
    fn on_lost(&mut self, from: ActorId, job: JobId, arrived: bool) -> bool {
        let reschedules = self.config.reschedules;
        let Some(stage) = self.running(job, from) else { return false };
        stage.interval = None;
        if !reschedules || stage.first == 1 {
            // The application has no checkpoint.
            stage.at = None;
        } else if !arrived {
            // The checkpoint is still at the cluster from which it came.
            stage.at = stage.from;
        }
        if let Some(entry) = self.desk.get_mut(job) {
            entry.at = None;
        }
        self.pause(job);
        true
    }

    /// Requests a change of loads after an interval.
    fn redraw(&mut self, out: &mut Outbox) {
        // Without applications no plan needs new loads.
        if let Some(updates) = self.config.updates.filter(|_| !self.desk.is_empty()) {
            out.send(updates, PlanningMessage::Redraw);
            self.redraws += 1;
        }
    }

    /// The end of the run: records each application as unfinished, with the intervals that have
    /// run.
    fn on_run_over(&mut self, now: Time, out: &mut Outbox) {
        for job in self.desk.jobs() {
            self.end_wait(now, job);
            if let Some(entry) = self.desk.close(job) {
                out.observe(over(entry.submission, &entry.stage, JobOutcome::Unfinished, now));
            }
        }
    }
}

/// Φ of an application.
fn phases(job: &Job) -> usize {
    job.phases.as_ref().map_or(0, |it| it.phases())
}

/// The record of an application with this outcome.
fn over(submission: Submission, stage: &Stage, outcome: JobOutcome, now: Time) -> Observation {
    let record = submission.record(outcome, now);
    let bag = BagRecord { parts: stage.begun, phased: true, ..BagRecord::default() };
    let bag = stage.queued.map(|_| Box::new(bag));
    Observation::JobOver(Box::new(JobRecord { queued: stage.queued, bag, ..record }))
}

impl Actor for Rescheduler {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        let expected = match message {
            Message::Submission(SubmissionMessage::Submit(submission)) => {
                self.on_submit(now, from, submission, out)
            }
            Message::Submission(SubmissionMessage::Withdraw { job }) => {
                self.on_withdraw(now, from, job, out)
            }
            Message::Planning(message) => self.on_answer(now, from, message, out),
            Message::Run(RunMessage::RunOver) => {
                self.on_run_over(now, out);
                return;
            }
            _ => false,
        };
        if !expected {
            out.refuse(from);
        }
        // The message may have ended a round, or freed machines.
        self.go_on(out);
    }
}
