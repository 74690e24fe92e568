//! Attempts of a job at resources: their state, as resources report it.

use std::sync::Arc;

use haggle_grids::{CancelMode, Checkpointing, ResourceId};
use haggle_model::grid::GridOutcome;
use haggle_model::work::Work;
use haggle_model::{JobId, JobOutcome, Observation, Time};

use super::{Attempts, Dispatcher, Moving, length};
use crate::Outbox;
use crate::desk::Entry;
use crate::grid::surplus::Surplus;
use crate::protocol::{CheckpointMessage, Dispatch, DispatchMessage, SubmissionMessage};

/// State of a job that is sent to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// It begins there.
    Plainly,
    /// It comes from another resource.
    Moving,
    /// It runs there already, at time zero.
    Running,
}

impl Dispatcher {
    pub(super) fn dispatch(
        &mut self,
        job: JobId,
        to: ResourceId,
        from: Work,
        sent: Sent,
        out: &mut Outbox,
    ) {
        let checkpointing = match self.policy.checkpointing() {
            Checkpointing::Never => false,
            Checkpointing::Always => true,
            Checkpointing::Switched => self.view.job(job).checkpointing,
        };
        let Some(Entry { submission, submitter, stage: attempts, .. }) = self.desk.get_mut(job)
        else {
            return;
        };
        attempts.attempts += 1;
        attempts.alive.push((to, attempts.attempts));
        // With a queue the job was accepted at its submission.
        if !self.policy.queues() {
            out.send(*submitter, SubmissionMessage::Accepted { job });
        }
        let dispatch = Dispatch {
            job,
            number: attempts.attempts,
            workload: submission.job.workload,
            data: submission.job.task.as_ref().and_then(|task| task.data),
            run_time: submission.job.run_time,
            from,
            // An attempt from the beginning continues no other one.
            parent: attempts.saved_by.filter(|_| from > Work::ZERO),
            progress: submission.job.task.as_ref().and_then(|task| task.progress).map(Box::new),
            checkpointing,
            moves: sent == Sent::Moving,
            runs: sent == Sent::Running,
        };
        // The limit of the waiting time holds until the first attempt only.
        if dispatch.number == 1 {
            self.end_wait(job, out);
        }
        self.tell(to, DispatchMessage::Dispatch(Box::new(dispatch)), out);
    }

    /// The attempts of a job that is not done.
    pub(super) fn attempts(&mut self, job: JobId) -> Option<&mut Attempts> {
        self.desk.get_mut(job).map(|entry| &mut entry.stage)
    }

    /// True if no attempt of the job has been computed yet.
    fn is_open(&self, job: JobId) -> bool {
        self.desk.get(job).is_some_and(|entry| entry.stage.winner.is_none())
    }

    /// True if this attempt of a job is believed alive at this resource.
    fn is_alive(&self, job: JobId, at: ResourceId, number: impl Into<Option<u32>>) -> bool {
        let number = number.into();
        self.desk.get(job).is_some_and(|entry| {
            let is_it = |&(resource, its): &(ResourceId, u32)| {
                resource == at && number.is_none_or(|number| number == its)
            };
            entry.stage.alive.iter().any(is_it)
        })
    }

    pub(super) fn forget_try(&mut self, job: JobId, resource: ResourceId) {
        if let Some(attempts) = self.attempts(job) {
            attempts.alive.retain(|(at, _)| *at != resource);
        }
    }

    pub(super) fn on_refused(
        &mut self,
        now: Time,
        job: JobId,
        resource: ResourceId,
        out: &mut Outbox,
    ) {
        // A refusal of an attempt that was noticed as lost, or of a job that is done, changes
        // nothing.
        let expected = self.is_open(job) && self.is_alive(job, resource, None);
        if expected {
            self.view.refuse(job, resource);
            self.forget_try(job, resource);
            // The job waits for the next round. Without a queue, this refusal requires a round.
            if !self.policy.queues() {
                self.await_round(now, out);
            }
        }
    }

    pub(super) fn on_computed(
        &mut self,
        now: Time,
        (job, number): (JobId, u32),
        resource: ResourceId,
        delivered: bool,
        out: &mut Outbox,
    ) -> bool {
        if !self.is_open(job) {
            // Another attempt was faster in the same instant.
            if !delivered {
                self.tell(resource, DispatchMessage::Cancel { job }, out);
            }
            return true;
        }
        // The attempt was given up before, so its result is not expected.
        if !self.is_alive(job, resource, number) {
            return false;
        }
        self.policy.computed(now, job);
        if delivered || self.config.output_survives {
            if let Some(attempts) = self.attempts(job) {
                attempts.winner = Some((number, now));
            }
            self.complete(now, job, resource, out);
            if delivered {
                self.done(now, job, out);
            }
        } else {
            // The slot is free, but the output may still be lost with the resource.
            self.view.computed(job, resource);
        }
        self.react(now, out);
        true
    }

    /// A job cannot be lost any more: its copies are not needed.
    fn complete(&mut self, now: Time, job: JobId, resource: ResourceId, out: &mut Outbox) {
        self.open -= 1;
        if let Some(Moving { from, to, .. }) = self.moving.remove(&job) {
            self.tell(from, DispatchMessage::Cancel { job }, out);
            self.tell(to, DispatchMessage::Cancel { job }, out);
        }
        // Copies that go on still hold their slots. No round sees that, because it cancels them
        // first.
        let copies = self.view.complete(job, resource).into_iter().map(|copy| (job, copy));
        self.surplus.copies.extend(copies);
        match self.config.cancel_mode {
            CancelMode::Immediate => self.cancel_superseded(out),
            CancelMode::NextRound => self.await_round(now, out),
        }
    }

    /// Cancels the copies of jobs that are done, and records these jobs.
    pub(super) fn cancel_superseded(&mut self, out: &mut Outbox) {
        let Surplus { copies, over } = std::mem::take(&mut self.surplus);
        for (job, copy) in copies {
            self.forget_try(job, copy);
            self.tell(copy, DispatchMessage::Cancel { job }, out);
        }
        for record in over {
            out.observe(Observation::GridJobOver(Arc::new(record)));
        }
    }

    pub(super) fn on_delivered(
        &mut self,
        now: Time,
        job: JobId,
        resource: ResourceId,
        out: &mut Outbox,
    ) -> bool {
        // The job is over by another attempt, whose output arrived first.
        let Some(attempts) = self.attempts(job) else { return true };
        if attempts.winner.is_none() {
            let number = attempts.alive.iter().find(|&&(at, _)| at == resource);
            let Some(&(_, number)) = number else { return false };
            // The job was computed before; the record of the attempt contains the exact time.
            attempts.winner = Some((number, now));
            self.complete(now, job, resource, out);
            self.react(now, out);
        }
        self.done(now, job, out);
        true
    }

    fn done(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let Some(entry) = self.desk.get(job) else { return };
        // Without a checkpoint the server has nothing to forget.
        if entry.stage.saved_by.is_some() {
            out.send(self.config.checkpoint_server, CheckpointMessage::Forget { job });
        }
        let Some((winner, computed)) = entry.stage.winner else { return };
        let outcome = GridOutcome::Done { winner, computed, end: now };
        self.over(job, outcome, JobOutcome::Completed, out);
        self.release_children(now, job, out);
    }

    /// A task is done: tasks that waited for it alone may start.
    fn release_children(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let released = self.ledger.complete(job);
        if released.is_empty() {
            return;
        }
        for child in released {
            if let Some(Entry { submission, stage, .. }) = self.desk.get_mut(child) {
                stage.of_task().released = Some(now);
                // A child that was withdrawn meanwhile is not on the desk, and is not counted any more.
                self.blocked.0 -= 1;
                self.view.submit(child, submission.job.submit, length(submission));
            }
        }
        self.await_round(now, out);
    }

    pub(super) fn on_left(
        &mut self,
        now: Time,
        job: JobId,
        resource: ResourceId,
        out: &mut Outbox,
    ) -> bool {
        if self.moving.get(&job).is_some_and(|moving| moving.from == resource) {
            self.moving.remove(&job);
        }
        self.view.leave(job, resource);
        self.react(now, out);
        true
    }

    /// The data from which a job should start have not arrived.
    pub(super) fn on_stranded(
        &mut self,
        now: Time,
        job: JobId,
        resource: ResourceId,
        out: &mut Outbox,
    ) -> bool {
        if self.is_open(job) && self.is_alive(job, resource, None) {
            self.view.cancel(job, resource);
            self.forget_try(job, resource);
            self.react(now, out);
        }
        true
    }
}
