//! A rigid job at a provider.

use std::sync::Arc;

use haggle_model::job::HiddenRunTime;
use haggle_model::observation::RecordedStart;
use haggle_model::reservation::GrantedWindow;
use haggle_model::{
    ActorId, Initial, JobId, JobOutcome, JobPriority, JobRecord, Moldable, Observation, Span,
    StageIn, Time,
};
use haggle_scheduling::checkpoints::{Checkpoints, FailureHistory, Progress, RigidJob};
use haggle_scheduling::site::Owner;
use haggle_scheduling::{Request, Slot, promise};
use serde::{Deserialize, Serialize};

use super::saving::Saving;
use crate::Outbox;
use crate::glimpse::{Promise, PromiseKind, Stage, Work, known};
use crate::protocol::Submission;
use crate::provider::core::Attempt;
use crate::provider::services::Stopped;
use crate::provider::{OnFailure, ProviderConfig, RealWork};

/// A rigid job at a provider.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::provider) struct HeldJob {
    pub(in crate::provider) submission: Submission,
    pub(super) submitter: ActorId,
    pub(super) queued: Time,
    /// Processors it gets.
    pub(super) processors: u32,
    /// Requested time on this machine: the limit of its computing.
    pub(super) walltime: Option<Span>,
    pub(super) promised_end: Option<Time>,
    /// Kept apart, because most jobs have none: these are read and moved faster.
    pub(super) particulars: Option<Box<Particulars>>,
    pub(in crate::provider) run: Option<Run>,
}

/// Properties that few jobs have.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Particulars {
    /// Its behaviour on another number of processors than its user named.
    pub(super) molded: Option<Moldable>,
    /// Its needs beside processors, since it has moved.
    pub(super) stage_in: StageIn,
    /// Window granted to it in advance.
    pub(super) granted: Option<Box<GrantedWindow>>,
    /// Number of times it was lost with its processors.
    pub(super) lost: u32,
    /// Computing that it need not do again.
    pub(super) saved: Span,
    /// Its priority at its last start.
    pub(super) priority: Option<Box<JobPriority>>,
}

/// The properties of all other jobs.
static NO_PARTICULARS: Particulars = Particulars {
    molded: None,
    stage_in: StageIn::NOTHING,
    granted: None,
    lost: 0,
    saved: Span::ZERO,
    priority: None,
};

/// A rigid job that runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::provider) struct Run {
    pub(in crate::provider) attempt: Attempt,
    /// Computing from its start to its end.
    pub(super) computing: Span,
    /// Failures that its nodes had seen when it started.
    pub(super) seen: FailureHistory,
    /// Its progress, if that does not follow from its start.
    pub(super) saving: Option<Box<Saving>>,
    /// The decision to stop it for another job.
    pub(in crate::provider::services) stopped: Option<Stopped>,
}

impl HeldJob {
    /// A job as its user describes it, which has not run yet.
    pub(super) fn new(
        submission: Submission,
        submitter: ActorId,
        now: Time,
        config: &ProviderConfig,
    ) -> HeldJob {
        let job = &submission.job;
        HeldJob {
            processors: job.processors,
            walltime: job.requested_time.map(|time| time.at_speed(config.speed)),
            submission,
            submitter,
            queued: now,
            promised_end: None,
            particulars: None,
            run: None,
        }
    }

    pub(super) fn particulars(&self) -> &Particulars {
        self.particulars.as_deref().unwrap_or(&NO_PARTICULARS)
    }

    pub(super) fn particulars_mut(&mut self) -> &mut Particulars {
        self.particulars.get_or_insert_with(|| Box::new(NO_PARTICULARS.clone()))
    }

    /// Gives it so many processors, if it is moldable.
    pub(super) fn mold(&mut self, processors: u32, speed: f64) {
        let molded = Moldable::of(&self.submission.job);
        if molded != self.particulars().molded {
            self.particulars_mut().molded = molded;
        }
        if let Some(moldable) = molded {
            self.processors = processors;
            self.walltime = Some(moldable.requested(processors, speed));
        }
    }

    /// Notes its priority, if its provider has priorities.
    pub(in crate::provider::services) fn note_priority(&mut self, priority: Option<JobPriority>) {
        if priority.is_some() {
            self.particulars_mut().priority = priority.map(Box::new);
        }
    }

    pub(in crate::provider::services) fn id(&self) -> JobId {
        self.submission.job.id
    }

    /// True if it waits.
    pub(in crate::provider::services) fn waits(&self) -> bool {
        self.run.is_none()
    }

    /// Time for which it computes on this machine; [`Span::FOREVER`] if only a real machine knows.
    pub(super) fn run_time(&self, config: &ProviderConfig) -> Span {
        let job = &self.submission.job;
        match self.particulars().molded {
            _ if config.real => Span::FOREVER,
            Some(moldable) => moldable.run_time(job, self.processors, config.speed),
            None => job.run_time.reveal_to_machine().at_speed(config.speed),
        }
    }

    /// The program of its attempt has ended on a real machine: the record gets the time that it took.
    pub(super) fn note_run_time(&mut self, ran: Span) {
        let job = Arc::make_mut(&mut self.submission.job);
        job.run_time = HiddenRunTime::new(ran);
    }

    /// True if its next or present attempt goes on from a checkpoint.
    pub(super) fn resumes(&self) -> bool {
        self.particulars().saved > Span::ZERO
    }

    /// Planned time of its next or present attempt, start-up and checkpoints included.
    pub(super) fn planned(&self, config: &ProviderConfig) -> Option<Span> {
        let checkpoints = config.on_failure.checkpoints().planned(self.rigid());
        let lasts = checkpoints.lasts(self.to_compute()?, self.resumes());
        Some(config.up_to_a_pass(self.particulars().stage_in.start_up + lasts))
    }

    /// Planned computing of its next or present attempt.
    pub(super) fn to_compute(&self) -> Option<Span> {
        let (mut limit, saved) = (self.walltime?, self.particulars().saved);
        // A job that runs over its request may have saved more than it requested.
        while limit <= saved && self.resumes() {
            limit += limit.max(Span::TICK);
        }
        Some(limit - saved)
    }

    /// New planned end of an attempt that has reached its planned end. The attempt takes as long
    /// again, unless only checkpoints are late.
    pub(super) fn extended(&self, run: &Run, now: Time, config: &ProviderConfig) -> Time {
        let late = run.saving.as_ref().and_then(|saving| {
            let checkpoints = config.on_failure.checkpoints().planned(self.rigid());
            saving.left(now, self.to_compute()?, &checkpoints)
        });
        config.next_pass(now + late.unwrap_or(now - run.attempt.start))
    }

    /// Its data for rules of checkpoints.
    pub(super) fn rigid(&self) -> RigidJob {
        RigidJob {
            processors: self.processors,
            limit: self.walltime,
            saved: self.particulars().saved,
        }
    }

    /// The checkpoints of an attempt that starts at `start`, on nodes with these failures.
    pub(super) fn checkpoints(
        &self,
        start: Time,
        seen: FailureHistory,
        config: &ProviderConfig,
    ) -> Checkpoints {
        let computes = start + self.particulars().stage_in.start_up;
        config.on_failure.checkpoints().attempt(self.rigid(), computes, seen)
    }

    /// The progress of its attempt.
    pub(super) fn progress(&self, run: &Run, now: Time, config: &ProviderConfig) -> Progress {
        if let Some(saving) = &run.saving {
            return saving.progress(now);
        }
        let start = run.attempt.start;
        let checkpoints = self.checkpoints(start, run.seen, config);
        let elapsed = now - start;
        let start_up = self.particulars().stage_in.start_up.min(elapsed);
        let progress = checkpoints.progress(elapsed - start_up, run.computing, self.resumes());
        Progress { overhead: start_up + progress.overhead, ..progress }
    }

    /// Its record if it ends now without having run.
    pub(super) fn over(self, config: &ProviderConfig, outcome: JobOutcome, now: Time) -> JobRecord {
        let Submission { job, class, .. } = self.submission;
        let particulars = self.particulars.map(|it| *it);
        let (granted, priority) = particulars.map_or((None, None), |it| (it.granted, it.priority));
        JobRecord {
            provider: Some(config.id),
            recorded: config.scheduler.starts_as_recorded().then(|| RecordedStart::of(&job)),
            queued: Some(self.queued),
            walltime: self.walltime,
            promised_end: self.promised_end,
            granted,
            priority,
            ..JobRecord::never_queued(job, class, outcome, now)
        }
    }

    /// Records it when the simulation stops while it waits or runs.
    pub(in crate::provider) fn unfinished(
        mut self,
        config: &ProviderConfig,
        now: Time,
        out: &mut Outbox,
    ) {
        let mut run = self.run.take();
        let progress = run.as_ref().map(|run| self.progress(run, now, config));
        let over = self.over(config, JobOutcome::Unfinished, now);
        let over = JobRecord {
            start: run.as_ref().map(|run| run.attempt.start),
            checkpoints: run.as_mut().map(Run::sent).unwrap_or_default(),
            processors: run.map(|run| run.attempt.processors).unwrap_or_default(),
            checkpointing: progress.map_or(Span::ZERO, |it| it.overhead),
            ..over
        };
        out.observe(Observation::JobOver(Box::new(over)));
    }

    /// Its attempt, for a real machine.
    pub(in crate::provider) fn real_work(&self) -> Option<RealWork> {
        let Attempt { start, end, ref processors, .. } = self.run.as_ref()?.attempt;
        let job = Arc::clone(&self.submission.job);
        Some(RealWork { job, start, processors: processors.clone(), limit: known(end) })
    }

    /// Order in which jobs were submitted to this provider.
    pub(in crate::provider::services) fn place(&self) -> (Time, JobId) {
        (self.queued, self.submission.job.id)
    }

    /// Time before which it cannot start.
    pub(in crate::provider::services) fn ready(&self) -> Time {
        self.particulars().stage_in.ready
    }

    /// True if an attempt of it was lost with its processors.
    pub(in crate::provider::services) fn was_lost(&self) -> bool {
        self.particulars().lost > 0
    }

    /// The request by which a new queue lets it go on, if it runs: it needs its processors for the rest of its plan.
    pub(in crate::provider::services) fn request_to_go_on(
        &self,
        slot: Slot,
        now: Time,
        config: &ProviderConfig,
    ) -> Option<Request> {
        let planned_end = self.run.as_ref()?.attempt.planned_end;
        let span = promise(planned_end).map(|end| end - now);
        Some(Request { span, ..self.request(slot, true, config) })
    }

    /// Its row in a glimpse of the provider.
    pub(in crate::provider) fn glimpse(&self) -> Work {
        let work = Work {
            since: Some(self.queued),
            promised_end: self.promised_end.and_then(known),
            ..Work::new(self.submission.job.id, Stage::Waiting, self.processors, self.submitter)
        };
        let fixed = self.particulars().granted.as_ref().and_then(|it| it.fixed);
        match &self.run {
            Some(Run { attempt, .. }) => Work {
                stage: Stage::Running,
                held: attempt.processors.clone(),
                start: Some(attempt.start),
                end: known(attempt.planned_end),
                ..work
            },
            None => Work { start: fixed.map(|(_, start)| start), ..work },
        }
    }

    /// Planned end of its next attempt, if that starts at `start`.
    pub(in crate::provider) fn planned_end(
        &self,
        start: Time,
        config: &ProviderConfig,
    ) -> Option<Time> {
        self.planned(config).and_then(|lasts| known(start + lasts))
    }

    /// The window that was granted to it, if it has not started.
    pub(in crate::provider) fn promise(&self) -> Option<Promise> {
        let granted = self.particulars().granted.as_ref().filter(|_| self.run.is_none())?;
        Some(Promise {
            job: Some(self.submission.job.id),
            with: Some(self.submitter),
            start: granted.ready,
            end: known(granted.deadline),
            ..Promise::new(PromiseKind::Window, granted.processors)
        })
    }

    /// Its request while it waits.
    pub(in crate::provider) fn queued_request(
        &self,
        slot: Slot,
        config: &ProviderConfig,
    ) -> Request {
        let goes_ahead = self.particulars().lost > 0 && config.on_failure != OnFailure::Requeue;
        self.request(slot, goes_ahead, config)
    }

    pub(in crate::provider::services) fn request(
        &self,
        slot: Slot,
        ahead: bool,
        config: &ProviderConfig,
    ) -> Request {
        let job = &self.submission.job;
        Request {
            slot,
            processors: self.processors,
            span: self.planned(config),
            key: job.key,
            deadline: job.deadline,
            ahead,
            ran_before: matches!(job.initial, Some(Initial::Running(_))),
            owner: Owner::from(&job.origin),
            demand: job.demand.as_deref().copied(),
            // A job that runs or was lost has come to its start already, and so has one of a start state that runs.
            recorded: job.recorded_start().filter(|_| {
                let has_run = ahead || self.particulars().lost > 0;
                !has_run && !matches!(job.initial, Some(Initial::Running(_)))
            }),
        }
    }
}
