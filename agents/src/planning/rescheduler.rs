//! The metascheduler: it asks all clusters for plans, chooses the next interval and its cluster,
//! and asks again when that interval is over (section 6).

mod view;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use haggle_model::phased::Move;
use haggle_model::{
    ActorId, BagRecord, Job, JobId, JobOutcome, JobRecord, Observation, Refusal, Span, Time,
};
use haggle_planning::Interval;
use haggle_planning::multi::{Candidate, Placed, choose_interval, place};

use crate::protocol::planning::{IntervalOrder, Planned, Times, TimesRequest};
use crate::protocol::{Message, PlanningMessage, RunMessage, Submission, SubmissionMessage};
use crate::{Actor, Desk, Outbox};

use view::View;

/// A rescheduler as a scenario describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
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
}

/// Reschedules applications over clusters.
///
/// It carries out one round after the other, for applications in the order in which their intervals
/// end. If an application finds no machine, all wait until machines are free.
#[derive(Debug)]
pub struct Rescheduler {
    config: ReschedulerConfig,
    /// Index of each cluster in the configuration.
    places: BTreeMap<ActorId, usize>,
    desk: Desk<Stage>,
    /// Applications between two intervals, the next one at the front.
    pending: VecDeque<JobId>,
    round: Option<Round>,
    /// True if no machine is free.
    full: bool,
    /// Number of requested changes of loads that have not come.
    redraws: u32,
}

/// Progress of an application.
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Debug)]
struct Round {
    job: JobId,
    plans: Vec<Option<Option<Candidate>>>,
    /// The intervals for which times are requested.
    intervals: Vec<Interval>,
    times: Vec<Option<Option<Times>>>,
    /// Number of answers that are missing.
    missing: usize,
    /// True if a cluster has been ordered to run one of them.
    is_ordered: bool,
    /// True if machines have become free since it began.
    is_freed: bool,
}

impl Rescheduler {
    /// A rescheduler without applications.
    pub fn new(config: ReschedulerConfig) -> Rescheduler {
        let places = config.clusters.iter().copied().zip(0..).collect();
        Rescheduler {
            config,
            places,
            desk: Desk::default(),
            pending: VecDeque::new(),
            round: None,
            full: false,
            redraws: 0,
        }
    }

    fn on_submit(&mut self, from: ActorId, submission: Submission, out: &mut Outbox) -> bool {
        let job = submission.job.id;
        let is_phased = submission.job.phases.as_ref().is_some_and(|it| it.phases() > 0);
        let stage =
            Stage { first: 1, begun: 0, queued: None, interval: None, at: None, from: None };
        if self.desk.take_in(from, submission, stage).is_none() {
            return false;
        }
        if is_phased {
            out.send(from, SubmissionMessage::Accepted { job });
            self.pending.push_back(job);
        } else {
            self.desk.refuse(job, Refusal::WrongShape, out);
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
        self.pending.retain(|&it| it != job);
        if self.round.as_ref().is_some_and(|round| round.job == job) {
            // Answers that are on their way will be refused.
            self.round = None;
        }
        self.desk.cancel(now, job, out);
        self.forget(job, out);
        true
    }

    fn forget(&self, job: JobId, out: &mut Outbox) {
        for &cluster in &self.config.clusters {
            out.send(cluster, PlanningMessage::Forget { job });
        }
    }

    /// Takes up the next application, if nothing else is under way.
    fn go_on(&mut self, out: &mut Outbox) {
        if self.round.is_some() || self.full || self.redraws > 0 {
            return;
        }
        let Some(job) = self.pending.pop_front() else { return };
        let Some(entry) = self.desk.get(job) else { return };
        let clusters = self.config.clusters.len();
        let mut round = Round {
            job,
            plans: vec![None; clusters],
            intervals: Vec::new(),
            times: (0..clusters).map(|_| None).collect(),
            missing: 0,
            is_ordered: false,
            is_freed: false,
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
        intervals.push(Interval::new(entry.stage.first, phases(&entry.submission.job)));
        intervals.sort_unstable();
        intervals.dedup();
        for (place, plan) in round.plans.iter().enumerate() {
            if plan.flatten().is_none() {
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

    /// All times are known: the next interval is chosen, and ordered where it takes the least time.
    fn decide(&mut self, out: &mut Outbox) {
        let Some(round) = &mut self.round else { return };
        if round.is_ordered || round.missing > 0 {
            return;
        }
        let Some(entry) = self.desk.get_mut(round.job) else { return };
        let stage = &mut entry.stage;
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
        let placed = interval.and_then(|it| place(&view, &candidates, it, before.as_ref()));
        let Some(Placed { interval, cluster, how, .. }) = placed else {
            // Clusters without a machine report when they have one.
            // Machines that became free during the round may suffice, so the application tries again.
            self.full = !round.is_freed;
            self.pending.push_front(round.job);
            self.round = None;
            return;
        };
        round.is_ordered = true;
        stage.interval = Some(interval);
        stage.from = stage.at;
        let order = IntervalOrder {
            job: Arc::clone(&entry.submission.job),
            interval,
            number: stage.begun + 1,
            how,
            from: stage.at,
        };
        entry.at = Some(self.config.clusters[cluster]);
        let run = PlanningMessage::RunInterval(Box::new(order));
        out.send(self.config.clusters[cluster], run);
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
                let fits = |told: &[Span]| told.is_empty() || told.len() == asked;
                let is_fit = times.least.len() == asked && fits(&times.stay);
                is_fit && self.on_times(times.job, place, Some(*times), out)
            }
            PlanningMessage::Begun { job } => self.on_begun(now, from, job, out),
            PlanningMessage::NotRun { job } => self.on_not_run(from, job),
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
                self.full = false;
                if let Some(round) = &mut self.round {
                    round.is_freed = true;
                }
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
        if round.intervals.is_empty() || round.times[place].is_some() {
            return false;
        }
        round.times[place] = Some(times);
        round.missing -= 1;
        self.decide(out);
        true
    }

    fn on_begun(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) -> bool {
        if !self.is_ordered(job, from) {
            return false;
        }
        self.round = None;
        let Some(entry) = self.desk.get_mut(job) else { return false };
        entry.stage.begun += 1;
        entry.stage.at = Some(from);
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
        self.round = None;
        if let Some(entry) = self.desk.get_mut(job) {
            (entry.stage.interval, entry.at) = (None, None);
        }
        // At the front, so that the application keeps its turn.
        self.pending.push_front(job);
        true
    }

    /// True if a cluster was ordered to run an interval of the application, and has not answered
    /// yet.
    fn is_ordered(&self, job: JobId, cluster: ActorId) -> bool {
        let ordered = self.round.as_ref().is_some_and(|it| it.job == job && it.is_ordered);
        ordered && self.desk.get(job).is_some_and(|entry| entry.at == Some(cluster))
    }

    /// The state of an application of which an interval runs at a cluster.
    fn running(&mut self, job: JobId, cluster: ActorId) -> Option<&mut Stage> {
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
            self.pending.push_back(job);
        } else {
            let outcome = JobOutcome::Completed;
            if let Some(entry) = self.desk.finish(job, outcome, out) {
                out.observe(over(entry.submission, &entry.stage, outcome, now));
            }
            self.forget(job, out);
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
        self.pending.push_back(job);
        true
    }

    /// Requests a change of loads after an interval.
    fn redraw(&mut self, out: &mut Outbox) {
        if let Some(updates) = self.config.updates.filter(|_| !self.desk.is_empty()) {
            out.send(updates, PlanningMessage::Redraw);
            self.redraws += 1;
        }
    }

    /// The end of the run: records each application as unfinished, with the intervals that have
    /// run.
    fn on_run_over(&mut self, now: Time, out: &mut Outbox) {
        for job in self.desk.jobs() {
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
                self.on_submit(from, submission, out)
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
