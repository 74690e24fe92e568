//! Rounds of the grid's scheduler: the time of a round, its queries, and its effects.

use std::collections::{BTreeMap, BTreeSet};

use haggle_grids::scheduler::{Questions, Restart};
use haggle_grids::{Action, Insight, ResourceId, Round, Session, User};
use haggle_model::network::Node;
use haggle_model::progress::ProgressReport;
use haggle_model::work::Work;
use haggle_model::{Job, JobId, Observation, Span, Time};
use haggle_workflows::ledger::Ledger;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::attempts::Sent;
use super::{Attempts, Dispatcher, DispatcherConfig, Moving, length};
use crate::Outbox;
use crate::Traffic;
use crate::desk::Desk;
use crate::grid::plan::{CHECKPOINTS, STORAGE};
use crate::protocol::{DataMessage, DispatchMessage, GridTimer, SoFar};

/// State of the next round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum NextRound {
    /// No round is needed.
    None,
    /// A wake-up is set for it.
    Awaited,
    /// It was due at this time and is not decided yet; changes since then.
    UnderWay(Time, Meanwhile),
}

/// Changes during a round that require another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Meanwhile {
    Nothing,
    Something,
}

/// Answers of resources and network before a round.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Answers {
    /// Requests for progress that are not answered.
    asked: BTreeSet<(JobId, ResourceId)>,
    /// True if the network has not answered.
    asked_traffic: bool,
    progress: BTreeMap<(JobId, ResourceId), Progressed>,
    traffic: Option<Traffic>,
}

/// Progress of a job at a resource.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Progressed {
    done: Work,
    /// True if it computed.
    computes: bool,
    /// Time for which it had computed there.
    computing: Span,
}

/// The answers, and estimates of the cost of moves.
struct Insights<'a> {
    answers: &'a Answers,
    config: &'a DispatcherConfig,
    desk: &'a Desk<Attempts>,
    ledger: &'a Ledger,
}

impl Insight for Insights<'_> {
    fn progress(&self, job: JobId, resource: ResourceId) -> Work {
        self.answers.progress.get(&(job, resource)).map_or(Work::ZERO, |it| it.done)
    }

    fn reported(&self, job: JobId, resource: ResourceId) -> f64 {
        let done = self.progress(job, resource).as_mi_f64();
        let task = self.desk.get(job).and_then(|entry| entry.submission.job.task.as_ref());
        match task.is_some_and(|task| task.progress.is_some()) {
            // A task that reports is known only up to its last report, even if its resource knows more.
            true => ProgressReport::last_by(self.reports(job), done).map_or(0.0, |it| it.done),
            false => done,
        }
    }

    fn computing(&self, job: JobId, resource: ResourceId) -> Span {
        self.answers.progress.get(&(job, resource)).map_or(Span::ZERO, |it| it.computing)
    }

    fn computes(&self, job: JobId, resource: ResourceId) -> bool {
        self.answers.progress.get(&(job, resource)).is_some_and(|it| it.computes)
    }

    fn reports(&self, job: JobId) -> &[ProgressReport] {
        self.desk.get(job).map_or(&[], |entry| entry.stage.reports())
    }

    fn ledger(&self) -> Option<&Ledger> {
        Some(self.ledger)
    }

    fn fetching_time(&self, job: JobId, to: ResourceId, restart: Restart) -> Span {
        let Some(traffic) = &self.answers.traffic else { return Span::ZERO };
        let Some(entry) = self.desk.get(job) else { return Span::ZERO };
        let data = self.config.data_of(&entry.submission.job);
        let to = Node::Resource(to.index());
        let input = || traffic.predicted(STORAGE, to, data.input);
        match restart {
            Restart::FromBeginning => input(),
            Restart::FromCheckpoint => {
                let again = if self.config.restart_needs_input { input() } else { Span::ZERO };
                again + traffic.predicted(CHECKPOINTS, to, data.checkpoint)
            }
        }
    }

    fn starting_time(&self, restart: Restart) -> Span {
        let recovery = match (restart, self.config.checkpoints) {
            (Restart::FromCheckpoint, Some(checkpoints)) => checkpoints.recovery,
            _ => Span::ZERO,
        };
        self.config.prepare + recovery
    }

    fn sending_time(&self, job: JobId, from: ResourceId) -> Span {
        let Some(traffic) = &self.answers.traffic else { return Span::ZERO };
        let Some(entry) = self.desk.get(job) else { return Span::ZERO };
        let output = self.config.data_of(&entry.submission.job).output;
        traffic.predicted(Node::Resource(from.index()), STORAGE, output)
    }

    fn length(&self, job: JobId) -> Work {
        self.desk.get(job).map_or(Work::ZERO, |entry| length(&entry.submission))
    }

    fn is_open(&self, job: JobId) -> bool {
        self.desk.get(job).is_some()
    }

    fn session(&self, job: JobId) -> Session {
        let entry = self.desk.get(job).expect("a policy asks about jobs that are not done");
        let Job { workload, origin, .. } = &*entry.submission.job;
        let share = self.config.data[usize::from(*workload)].share;
        Session { user: User(origin.user), share }
    }

    fn moving_time(&self, job: JobId, from: ResourceId, to: ResourceId) -> Option<Span> {
        let computes = self.answers.progress.get(&(job, from))?.computes;
        let traffic = self.answers.traffic.as_ref()?;
        let data = self.config.data_of(&self.desk.get(job)?.submission.job);
        let node = |id: ResourceId| Node::Resource(id.index());
        let transfer = traffic.predicted(node(from), node(to), data.input + data.checkpoint);
        computes.then_some(transfer + self.saving_time(job))
    }

    fn saving_time(&self, job: JobId) -> Span {
        let (Some(checkpoints), Some(entry)) = (self.config.checkpoints, self.desk.get(job)) else {
            return Span::ZERO;
        };
        checkpoints.cost.of(length(&entry.submission)) + checkpoints.recovery
    }
}

impl Dispatcher {
    /// Ensures that a round takes place, at the latest when the next one is due. No round begins
    /// while one is under way.
    pub(super) fn await_round(&mut self, now: Time, out: &mut Outbox) {
        // No job is left to dispatch, and no copy to cancel.
        if self.open == 0 && self.surplus.copies.is_empty() {
            return;
        }
        match self.next {
            NextRound::None => self.wake_for_round(self.due(now), out),
            NextRound::Awaited => {}
            // The round under way may have decided without this change, so another one must follow.
            NextRound::UnderWay(due, _) => {
                self.next = NextRound::UnderWay(due, Meanwhile::Something);
            }
        }
    }

    fn wake_for_round(&mut self, at: Time, out: &mut Outbox) {
        self.next = NextRound::Awaited;
        out.wake(at, GridTimer::Round);
    }

    /// Time of a round that is needed `now`; there is none before time zero, when jobs of a start state come.
    fn due(&self, now: Time) -> Time {
        self.config.rounds.due(now.max(Time::ZERO))
    }

    /// Sends the jobs that run at time zero to their resources, before any decision. A job whose resource is down waits.
    fn begin_running(&mut self, now: Time, out: &mut Outbox) {
        for (job, resource) in std::mem::take(&mut self.running) {
            // Its user may have withdrawn it.
            let waits = self.view.jobs().waits(job);
            if waits && self.view.resources().get(resource).is_available() {
                self.view.dispatch(now, job, resource);
                self.dispatch(job, resource, Work::ZERO, Sent::Running, out);
            }
        }
    }

    /// A change to which an event-driven scheduler reacts.
    pub(super) fn react(&mut self, now: Time, out: &mut Outbox) {
        if self.config.rounds.are_event_driven() {
            self.await_round(now, out);
        }
    }

    /// Time of the first decision that can take the present state into account.
    pub(super) fn next_decision(&self, now: Time) -> Time {
        let rounds = self.config.rounds;
        let begins = match self.next {
            NextRound::UnderWay(due, _) => due,
            NextRound::None | NextRound::Awaited => self.due(now),
        };
        (begins + rounds.takes()).max(now)
    }

    /// A round begins with a query for the state of the resources.
    pub(super) fn on_round(&mut self, now: Time, out: &mut Outbox) {
        // Before anything else: changes from now on are noted for the next round.
        self.next = NextRound::UnderWay(now, Meanwhile::Nothing);
        self.begin_running(now, out);
        // If rounds start nothing, this observation shows whether any job can still start.
        let (blocked, told) = self.blocked;
        let jobs = blocked + self.policy.kept_back(&self.view);
        // Only changes are recorded.
        if jobs != told {
            self.blocked.1 = jobs;
            out.observe(Observation::TasksBlocked { jobs });
        }
        match self.config.rounds.query {
            Span::ZERO => self.on_answered(now, out),
            query => out.wake(now + query, GridTimer::Answered),
        }
    }

    /// The present state of the information service is all that the round knows of failures,
    /// repairs and load.
    pub(super) fn on_answered(&mut self, now: Time, out: &mut Outbox) {
        for loss in self.view.consult() {
            // The view has forgotten the replica already, and the desk must agree with it.
            self.forget_try(loss.job, loss.resource);
        }
        match self.config.rounds.schedule {
            Span::ZERO => self.on_decided(now, out),
            schedule => out.wake(now + schedule, GridTimer::Decided),
        }
    }

    /// The round decides at the end of its time: jobs may have come or ended meanwhile.
    pub(super) fn on_decided(&mut self, now: Time, out: &mut Outbox) {
        let Questions { progress, traffic } = self.policy.questions(&self.view);
        // Resources keep the progress of lost jobs only for policies that ask for it.
        debug_assert!(progress.is_empty() || self.config.policy.asks_progress());
        self.answers = Answers { asked_traffic: traffic, ..Answers::default() };
        for (job, resource) in progress {
            self.answers.asked.insert((job, resource));
            let known = self.desk.get(job).map_or(0, |entry| entry.stage.reports().len() as u32);
            self.tell(resource, DispatchMessage::ProgressRequest { job, known }, out);
        }
        if traffic {
            out.send(self.config.network, DataMessage::TrafficRequest);
        }
        self.decide_if_answered(now, out);
    }

    pub(super) fn on_progress(
        &mut self,
        now: Time,
        (job, resource): (JobId, ResourceId),
        so_far: SoFar,
        out: &mut Outbox,
    ) -> bool {
        let asked = self.answers.asked.remove(&(job, resource));
        if asked {
            let SoFar { done, computes, computing, reports } = so_far;
            let progressed = Progressed { done, computes, computing };
            self.answers.progress.insert((job, resource), progressed);
            if let Some(attempts) = self.attempts(job).filter(|_| !reports.is_empty()) {
                attempts.of_task().reports.extend(reports);
            }
            self.decide_if_answered(now, out);
        }
        asked
    }

    pub(super) fn on_traffic(&mut self, now: Time, traffic: Traffic, out: &mut Outbox) -> bool {
        let asked = std::mem::take(&mut self.answers.asked_traffic);
        if asked {
            self.answers.traffic = Some(traffic);
            self.decide_if_answered(now, out);
        }
        asked
    }

    fn decide_if_answered(&mut self, now: Time, out: &mut Outbox) {
        if self.answers.asked.is_empty() && !self.answers.asked_traffic {
            self.decide(now, out);
        }
    }

    fn decide(&mut self, now: Time, out: &mut Outbox) {
        // Copies first: the view counts their slots as free already.
        self.cancel_superseded(out);
        let insight = Insights {
            answers: &self.answers,
            config: &self.config,
            desk: &self.desk,
            ledger: &self.ledger,
        };
        let stream = &mut self.stream;
        // The policy draws from the scheduler's stream, so other actors do not affect its draws.
        let mut draw = |bound: usize| stream.random_range(0..bound);
        let mut round = Round::new(now, &insight, &mut draw);
        self.policy.round(&mut self.view, &mut round);
        self.account.evaluations += round.evaluations;
        for action in round.into_actions() {
            self.carry_out(now, action, out);
        }
        self.account.rounds += 1;
        self.account.with_queue += u64::from(self.view.jobs().waiting() > 0);
        self.await_round_after(now, out);
    }

    /// The end of a round: the next one takes place if it is needed.
    fn await_round_after(&mut self, now: Time, out: &mut Outbox) {
        let NextRound::UnderWay(due, meanwhile) = self.next else { return };
        self.next = NextRound::None;
        if !self.config.rounds.are_event_driven() {
            // Periodic rounds stop with the last job; a new job starts them again.
            if self.open > 0 {
                self.wake_for_round(self.config.rounds.due_after(due, now), out);
            }
        } else if meanwhile == Meanwhile::Something {
            self.await_round(now, out);
        }
    }

    fn carry_out(&mut self, now: Time, action: Action, out: &mut Outbox) {
        match action {
            Action::Cancel { job, resource } => {
                self.forget_try(job, resource);
                self.tell(resource, DispatchMessage::Cancel { job }, out);
            }
            Action::GiveUp { job, taken } => self.give_up(now, job, taken, out),
            Action::Checkpointing { job, on } => {
                let attempts = self.desk.get(job).map(|entry| &entry.stage);
                for &(resource, _) in attempts.into_iter().flat_map(|attempts| &attempts.alive) {
                    self.tell(resource, DispatchMessage::Checkpointing { job, on }, out);
                }
            }
            Action::Dispatch { job, resource, from } => {
                self.dispatch(job, resource, from, Sent::Plainly, out);
            }
            Action::Relocate { job, from, to } => {
                self.forget_try(job, from);
                self.moving.insert(job, Moving { since: now, from, to });
                // The progress is unknown until the old resource has saved it; the new one receives it with the data.
                self.dispatch(job, to, Work::ZERO, Sent::Moving, out);
                let to = Some(self.actor(to));
                self.tell(from, DispatchMessage::Leave { job, to }, out);
            }
            Action::Suspend { job, resource } => {
                self.tell(resource, DispatchMessage::Leave { job, to: None }, out);
            }
            Action::Migrate { job, from, to, save } => {
                self.forget_try(job, from);
                if save {
                    self.moving.insert(job, Moving { since: now, from, to });
                    self.dispatch(job, to, Work::ZERO, Sent::Moving, out);
                    let to = self.actor(to);
                    self.tell(from, DispatchMessage::Move { job, to }, out);
                } else {
                    self.tell(from, DispatchMessage::Cancel { job }, out);
                    // Nothing is saved, so the old slot is free at once.
                    self.view.leave(job, from);
                    self.dispatch(job, to, Work::ZERO, Sent::Plainly, out);
                }
            }
        }
    }
}
