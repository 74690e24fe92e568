//! Users: they submit the jobs of one workload to one place, each when it is ready, and keep each
//! until it is over. A job with a reservation is sent at once. A task of a workflow is ready when
//! its parents are done. A job that follows others is submitted when these have ended.

mod followers;
mod glimpse;
mod tasks;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use haggle_model::shared;
use haggle_model::{
    ActorId, Following, Job, JobClass, JobId, JobOutcome, JobRecord, Observation, Refusal, Span,
    Time,
};
use haggle_scheduling::reservations::Alternative;
use haggle_workflows::Workflow;
use haggle_workflows::ledger::WorkflowId;

use crate::desk::{Desk, Entry};
use crate::protocol::{
    Message, ReservationMessage, RunMessage, Submission, SubmissionMessage, Timer,
};
use crate::{Actor, AnyActor, Outbox};
use followers::{Decided, Followers, Named};
use serde::{Deserialize, Serialize};
use tasks::{Tasks, staged_at};

/// Users as a scenario describes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserConfig {
    /// The users' own address.
    pub me: ActorId,
    /// Address to which they submit: a provider or a metascheduler.
    pub submits_to: ActorId,
    /// Local if that is a provider.
    pub class: JobClass,
    /// Longest waiting time of a job that is ready, before they withdraw it.
    pub patience: Option<Span>,
    /// The workflows whose tasks they submit one by one. The scheduler of a grid receives all tasks
    /// at once.
    #[serde(with = "shared::map")]
    pub workflows: BTreeMap<WorkflowId, Arc<Workflow>>,
}

impl UserConfig {
    /// Users with unlimited patience and without workflows.
    pub fn new(me: ActorId, submits_to: ActorId, class: JobClass) -> UserConfig {
        UserConfig { me, submits_to, class, patience: None, workflows: BTreeMap::new() }
    }
}

/// All users of one workload.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct User {
    config: UserConfig,
    /// Their jobs that are not over, each with its remaining alternatives, if there are any.
    desk: Desk<Option<Box<Options>>>,
    tasks: Tasks,
    followers: Followers,
}

/// Time at which a job that has come may be submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// At this time, if its user allows.
    At(Time),
    /// After the end of other jobs.
    Later,
    /// Never: another job ended otherwise than it must.
    Never,
}

/// Remaining alternatives to a window.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Options {
    /// The acceptable ones, the nearest last.
    near: Vec<Alternative>,
    /// The earliest start of all alternatives.
    earliest: Option<Time>,
}

impl User {
    /// Users with nothing submitted yet.
    pub fn new(config: UserConfig) -> User {
        let tasks = Tasks::new(&config.workflows);
        User { config, desk: Desk::default(), tasks, followers: Followers::default() }
    }

    /// A job has come. No actor could start it before it is ready, so it is not submitted before.
    /// Its user's patience begins at its submission.
    fn on_job_due(&mut self, now: Time, mut job: Arc<Job>, out: &mut Outbox) -> bool {
        if job.following.is_some() {
            // Only the user knows it.
            let place = Arc::make_mut(&mut job).following.take();
            let place = place.map_or(Following::NONE, Arc::unwrap_or_clone);
            return self.on_follower_due(now, job, &place, out);
        }
        let reserved = job.reservation.is_some();
        // A reservation is requested ahead of its window.
        let (id, ready) = (job.id, job.ready.filter(|&ready| ready > now && !reserved));
        // Cloned before the submission takes the job; most jobs are no tasks.
        let task = job.task.is_some().then(|| Arc::clone(&job));
        let submission = Submission { job, class: self.config.class, user: self.config.me };
        let entry = self.desk.take_in(self.config.me, submission, None);
        let Some(entry) = entry else { return false };
        let turn = task.map_or(Turn::At(now), |task| self.tasks.take_in(now, &task, out));
        match (turn, ready) {
            (Turn::Later, _) => {}
            (Turn::Never, _) => drop(self.give_up(now, id, out)),
            (Turn::At(_), Some(ready)) => out.wake(ready, Timer::JobReady { job: id }),
            (Turn::At(_), None) => submit(&self.config, now, entry, out),
        }
        true
    }

    /// A job has come that follows others, or that others follow.
    fn on_follower_due(
        &mut self,
        now: Time,
        job: Arc<Job>,
        place: &Following,
        out: &mut Outbox,
    ) -> bool {
        let decided = self.followers.take_in(now, &job, place);
        let submission = Submission { job, class: self.config.class, user: self.config.me };
        if self.desk.take_in(self.config.me, submission, None).is_none() {
            return false;
        }
        self.follow(now, vec![decided], out);
        true
    }

    /// The turns of some jobs are known. Each end that this leads to gives further turns.
    fn follow(&mut self, now: Time, turns: Vec<Decided>, out: &mut Outbox) {
        let mut turns = VecDeque::from(turns);
        while let Some(Decided { job, turn, after }) = turns.pop_front() {
            self.followers.decide(job, after);
            match turn {
                Turn::At(from) if from > now => {
                    out.wake(from, Timer::JobReady { job });
                }
                Turn::At(_) => self.on_job_ready(now, job, out),
                Turn::Later => {}
                Turn::Never => turns.extend(self.give_up(now, job, out)),
            }
        }
    }

    fn on_job_ready(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let Some(entry) = self.desk.get_mut(job) else { return };
        if let Some(after) = self.followers.release(job) {
            observe_following(job, after, false, out);
            let job = Arc::make_mut(&mut entry.submission.job);
            job.move_to(now);
            if let Some(ready) = job.ready.filter(|&it| it > now && job.reservation.is_none()) {
                return out.wake(ready, Timer::JobReady { job: job.id });
            }
        }
        submit(&self.config, now, entry, out);
    }

    /// The job has started or is over: the patience of its user does not matter any more.
    fn settle(&self, job: JobId, out: &mut Outbox) {
        if self.config.patience.is_some() {
            out.stop(Timer::PatienceOver { job });
        }
    }

    /// Handles the end of a job.
    fn on_over(&mut self, now: Time, job: JobId, outcome: JobOutcome, out: &mut Outbox) {
        self.settle(job, out);
        let Some(entry) = self.desk.close(job) else { return };
        let named = Named::of(&entry.submission.job);
        self.release_followers(now, named, outcome == JobOutcome::Completed, out);
        if outcome != JobOutcome::Completed {
            return self.bar_children(now, job, out);
        }
        for child in self.tasks.done(job) {
            let Some(entry) = self.desk.get_mut(child) else { continue };
            // Before the submission, which must carry the time.
            released(entry, now);
            submit(&self.config, now, entry, out);
        }
    }

    fn on_refused(&mut self, now: Time, job: JobId, reason: Refusal, out: &mut Outbox) {
        self.settle(job, out);
        if let Some(entry) = self.desk.close(job) {
            let named = Named::of(&entry.submission.job);
            let record = entry.submission.record(JobOutcome::Rejected(reason), now);
            let alternative = entry.stage.as_ref().and_then(|it| it.earliest);
            out.observe(Observation::JobOver(Box::new(JobRecord { alternative, ..record })));
            self.release_followers(now, named, false, out);
            self.bar_children(now, job, out);
        }
    }

    /// A job has ended: the turn of its followers may have come.
    fn release_followers(&mut self, now: Time, ended: Named, completed: bool, out: &mut Outbox) {
        let turns = self.followers.ended(now, ended, completed);
        self.follow(now, turns, out);
    }

    /// The job was not completed, so tasks that need it are given up, too.
    fn bar_children(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        for child in self.tasks.failed(job) {
            // A task has no followers.
            drop(self.give_up(now, child, out));
        }
    }

    /// Records a job that is never submitted. Returns the turns that this gives to its followers.
    fn give_up(&mut self, now: Time, job: JobId, out: &mut Outbox) -> Vec<Decided> {
        let Some(mut entry) = self.desk.close(job) else { return Vec::new() };
        match self.followers.release(job) {
            Some(after) => {
                observe_following(job, after, false, out);
                Arc::make_mut(&mut entry.submission.job).move_to(now);
            }
            None => released(&mut entry, now),
        }
        let outcome = JobOutcome::Rejected(Refusal::ParentFailed);
        let named = Named::of(&entry.submission.job);
        out.observe(entry.submission.never_queued(outcome, now));
        self.followers.ended(now, named, false)
    }

    /// There is no room in the window of a reservation, but beside it: the user takes an acceptable
    /// alternative, the nearest first.
    fn on_alternatives(
        &mut self,
        now: Time,
        job: JobId,
        others: Box<[Alternative]>,
        out: &mut Outbox,
    ) -> bool {
        let Some(entry) = self.desk.get_mut(job) else { return false };
        let Job { reservation, requested_time, .. } = *entry.submission.job;
        // A user that accepts no start beside the window may still accept other numbers of
        // processors in it.
        let most = reservation.and_then(|it| it.accepts).unwrap_or(0);
        let near = |it: &Alternative| requested_time.is_some_and(|time| it.is_within(most, time));
        // Over all alternatives: the record shows them also if none is acceptable.
        let earliest = others.iter().map(|it| it.start).min();
        let mut near: Vec<Alternative> = others.into_iter().filter(near).collect();
        // In reverse, because alternatives are taken from the end.
        near.sort_unstable_by(|a, b| b.cmp(a));
        entry.stage = Some(Box::new(Options { near, earliest }));
        self.take_next(now, job, out);
        true
    }

    /// Takes the next alternative, or gives up.
    fn take_next(&mut self, now: Time, job: JobId, out: &mut Outbox) -> bool {
        let Some(entry) = self.desk.get_mut(job) else { return false };
        match entry.stage.as_mut().and_then(|it| it.near.pop()) {
            Some(Alternative { start, processors, .. }) => {
                let submission = entry.submission.as_told();
                let take = ReservationMessage::Take { submission, start, processors };
                out.send(self.config.submits_to, take);
            }
            None => self.on_refused(now, job, Refusal::NoWindow, out),
        }
        true
    }

    fn on_reservation(&mut self, now: Time, message: ReservationMessage, out: &mut Outbox) -> bool {
        match message {
            ReservationMessage::Alternatives { job, others } => {
                self.on_alternatives(now, job, others, out)
            }
            ReservationMessage::Expired { job } => self.take_next(now, job, out),
            // The user waits for the end of the job in any case.
            ReservationMessage::Granted { .. }
            | ReservationMessage::Fixed { .. }
            | ReservationMessage::Broken { .. }
            | ReservationMessage::Shrunk { .. } => true,
            ReservationMessage::Revoked { job, .. } => {
                // As with `Finished`, the provider records the job.
                self.on_over(now, job, JobOutcome::Failed, out);
                true
            }
            ReservationMessage::Reserve(_) | ReservationMessage::Take { .. } => false,
        }
    }

    /// Takes over the patience for jobs that are submitted from now on.
    fn on_changed(&mut self, anew: AnyActor) -> bool {
        let AnyActor::User(anew) = anew else { return false };
        // A job that waits keeps its patience: its timer is set.
        self.config.patience = anew.config.patience;
        true
    }

    /// The end of the run: jobs still here are unfinished, unless the actor that has them records
    /// more.
    fn on_run_over(&mut self, now: Time, out: &mut Outbox) {
        let awaited = self.followers.awaited();
        for job in self.desk.jobs() {
            let awaited = awaited.get(&job).copied();
            if let Some(decided) = self.followers.release(job) {
                observe_following(job, awaited.or(decided), true, out);
            }
            if let Some(mut entry) = self.desk.close(job) {
                if self.tasks.waits(job) {
                    released(&mut entry, now);
                }
                out.observe(entry.submission.never_queued(JobOutcome::Unfinished, now));
            }
        }
    }

    /// Handles a message about a job, which may come after the end of the job.
    fn on_news(&mut self, now: Time, message: SubmissionMessage, out: &mut Outbox) {
        match message {
            SubmissionMessage::Refused { job, reason } => self.on_refused(now, job, reason, out),
            SubmissionMessage::Finished { job, outcome } => self.on_over(now, job, outcome, out),
            SubmissionMessage::Started { job } => self.settle(job, out),
            // Other news of a job changes nothing for its user.
            _ => {}
        }
    }
}

/// A job is submitted or given up, or the run stops. This comes before the end of the job, so that its record has it.
fn observe_following(job: JobId, after: Option<i64>, held: bool, out: &mut Outbox) {
    if let Some(after) = after {
        out.observe(Observation::JobFollows { job, after, held });
    }
}

/// A task no longer waits for its parents. Only its user knows that time, so the record must
/// contain it.
fn released<S>(entry: &mut Entry<S>, now: Time) {
    let job = &mut entry.submission.job;
    if now > job.submit {
        Arc::make_mut(job).ready = Some(now);
    }
}

/// Sends a job to the actor to which these users submit, or requests a reservation there.
fn submit<S>(config: &UserConfig, now: Time, entry: &mut Entry<S>, out: &mut Outbox) {
    entry.at = Some(config.submits_to);
    let submission = entry.submission.as_told();
    if let Some(patience) = config.patience {
        // For a job that is reserved for later, patience begins when it is ready.
        let from = submission.job.ready.map_or(now, |ready| ready.max(now));
        out.set(from + patience, Timer::PatienceOver { job: submission.job.id });
    }
    if config.class == JobClass::Local {
        staged_at(config.submits_to, &submission.job).into_iter().for_each(|it| out.observe(it));
    }
    match submission.job.reservation {
        Some(_) => out.send(config.submits_to, ReservationMessage::Reserve(submission)),
        None => out.send(config.submits_to, SubmissionMessage::Submit(submission)),
    }
}

impl Actor for User {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        let expected = match message {
            Message::Run(RunMessage::JobDue(job)) => self.on_job_due(now, job, out),
            Message::Run(RunMessage::RunOver) => {
                self.on_run_over(now, out);
                true
            }
            // The state of a user survives a crash.
            Message::Run(RunMessage::Crashed | RunMessage::Restarted) => true,
            Message::Run(RunMessage::Changed(settings)) => self.on_changed(settings.actor),
            Message::Wake(Timer::JobReady { job }) => {
                self.on_job_ready(now, job, out);
                true
            }
            Message::Wake(Timer::PatienceOver { job }) => {
                // The job stays on the desk: the provider may answer that it is too late.
                out.send(self.config.submits_to, SubmissionMessage::Withdraw { job });
                true
            }
            Message::Submission(
                message @ (SubmissionMessage::Accepted { .. }
                | SubmissionMessage::Refused { .. }
                | SubmissionMessage::Started { .. }
                | SubmissionMessage::Finished { .. }
                | SubmissionMessage::Promise { .. }
                | SubmissionMessage::NotWithdrawn { .. }),
            ) if from == self.config.submits_to => {
                self.on_news(now, message, out);
                true
            }
            Message::Reservation(message) if from == self.config.submits_to => {
                self.on_reservation(now, message, out)
            }
            _ => false,
        };
        if !expected {
            out.refuse(from);
        }
    }
}
