//! Rigid jobs: submission, start, end, overrun of a plan, and withdrawal.

use haggle_model::reservation::Cause;
use haggle_model::{
    ActorId, Job, JobId, JobOutcome, JobRecord, JobShape, Observation, Refusal, Span, Time,
};
use haggle_scheduling::{Overrun, Slot};

use super::Provider;
use super::job::{HeldJob, Run};
use super::machine::{Attempt, limited};
use super::pieces::Piece;
use super::saving::Saving;
use crate::Outbox;
use crate::protocol::{Submission, SubmissionMessage, Timer};

impl Provider {
    pub(super) fn on_submission(
        &mut self,
        now: Time,
        from: ActorId,
        message: SubmissionMessage,
        out: &mut Outbox,
    ) -> bool {
        match message {
            SubmissionMessage::Submit(submission) => self.on_submitted(now, from, submission, out),
            SubmissionMessage::SubmitAhead(submission) => {
                self.on_submitted_ahead(now, from, submission, out)
            }
            SubmissionMessage::DataArrived { job } => self.on_data_arrived(now, from, job, out),
            SubmissionMessage::Withdraw { job } => {
                self.on_withdrawn(now, from, job, out);
                true
            }
            _ => false,
        }
    }

    pub(super) fn on_submitted(
        &mut self,
        now: Time,
        submitter: ActorId,
        submission: Submission,
        out: &mut Outbox,
    ) -> bool {
        let id = submission.job.id;
        if self.pieces.has(id) {
            return false;
        }
        if let Some(reason) = self.never_runs(&submission.job) {
            out.send(submitter, SubmissionMessage::Refused { job: id, reason });
            return true;
        }
        self.accept(now, HeldJob::new(submission, submitter, now, &self.config), out);
        true
    }

    /// Queues a job, and notifies its submitter.
    pub(super) fn accept(&mut self, now: Time, held: HeldJob, out: &mut Outbox) {
        let job = held.submission.job.id;
        out.send(held.submitter, SubmissionMessage::Accepted { job });
        self.queue(now, held, out);
    }

    /// Queues a job that has been accepted.
    pub(super) fn queue(&mut self, now: Time, held: HeldJob, out: &mut Outbox) {
        let request = held.request(self.pieces.next(), false, &self.config);
        self.load.waits(request.processors, request.span);
        self.pieces.insert(Piece::Job(held));
        self.arrive(now, request);
        self.plan_changed(now, out);
    }

    /// The reason for which a rigid job could never run here, if there is one.
    pub(super) fn never_runs(&self, job: &Job) -> Option<Refusal> {
        if job.shape == JobShape::Bag || job.processors == 0 {
            return Some(Refusal::WrongShape);
        }
        (job.processors > self.config.processors).then_some(Refusal::TooWide)
    }

    pub(super) fn on_run_ended(&mut self, now: Time, slot: Slot, out: &mut Outbox) {
        let Some(mut held) = self.pieces.take::<HeldJob>(slot) else { return };
        let Some(mut run) = held.run.take() else { return };
        if self.config.overrun == Overrun::Extend || run.saving.is_some() {
            out.stop(Timer::PlanEnds { slot: slot.0 });
        }
        self.job_finished(now, run.attempt.killed(slot));
        let checkpointing = held.progress(&run, now, &self.config).overhead;
        if run.saving.is_some() {
            self.end_late(now, &mut held, &run);
        }
        let id = held.submission.job.id;
        self.machine.end(&run.attempt);
        let Attempt { start, planned_end, outcome, .. } = run.attempt;
        let finished = SubmissionMessage::Finished { job: id, outcome };
        self.say(held.submitter, finished, out);
        let checkpoints = run.sent();
        let (start, processors) = (Some(start), run.attempt.processors);
        let over = held.over(self.config.id, outcome, now);
        let over = JobRecord { start, processors, checkpointing, checkpoints, ..over };
        out.observe(Observation::JobOver(Box::new(over)));
        self.ended_early(now, planned_end, out);
        self.plan_changed(now, out);
    }

    pub(super) fn on_plan_ended(&mut self, now: Time, slot: Slot, out: &mut Outbox) {
        let Some(held) = self.pieces.get_mut::<HeldJob>(slot) else { return };
        let Some(run) = held.run.as_ref() else { return };
        let planned_end = held.extended(run, now, &self.config);
        let Some(run) = held.run.as_mut() else { return };
        self.machine.replan(&mut run.attempt, planned_end);
        self.scheduler.overran(now, slot, planned_end);
        self.answer_displaced(now, Cause::Overrun, out);
        out.set(planned_end, Timer::PlanEnds { slot: slot.0 });
        self.plan_changed(now, out);
    }

    pub(super) fn on_withdrawn(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) {
        if self.withdraw_expected(now, from, job, out) {
            return;
        }
        let is_theirs = |slot: &Slot| {
            self.pieces.get::<HeldJob>(*slot).is_some_and(|held| held.submitter == from)
        };
        let slot = self.pieces.slot(job).filter(is_theirs);
        let waits = |&slot: &Slot| self.leave_early(slot) || self.scheduler.withdraw(now, slot);
        let Some(slot) = slot.filter(waits) else {
            out.send(from, SubmissionMessage::NotWithdrawn { job });
            return;
        };
        let Some(held) = self.pieces.take::<HeldJob>(slot) else { return };
        self.load.leaves(held.processors, held.planned(&self.config));
        let outcome = JobOutcome::Cancelled;
        out.send(held.submitter, SubmissionMessage::Finished { job, outcome });
        let over = held.over(self.config.id, outcome, now);
        out.observe(Observation::JobOver(Box::new(over)));
        self.plan_changed(now, out);
    }

    pub(super) fn start(&mut self, now: Time, slot: Slot, out: &mut Outbox) {
        if self.is_part(slot) {
            return self.start_part(now, slot, out);
        }
        if self.is_booking(slot) {
            return self.start_booking(now, slot, out);
        }
        let Some(held) = self.pieces.get_mut::<HeldJob>(slot) else {
            unreachable!("the scheduler starts queued jobs")
        };
        let job = held.submission.job.id;
        let planned = held.planned(&self.config);
        let planned_end = now + planned.unwrap_or(Span::FOREVER).max(Span::TICK);
        self.load.leaves(held.processors, planned);
        let mut attempt = self.machine.start(now, held.processors, planned_end);
        let run_time = held.run_time(self.config.speed);
        let (computes, outcome) = limited(run_time, held.walltime, self.config.overrun);
        attempt.outcome = outcome;
        let computing = computes - held.particulars().saved;
        let seen = self.machine.seen(&attempt.processors);
        let checkpoints = held.checkpoints(now, seen, &self.config);
        let saving = self
            .config
            .store
            .map(|_| Box::new(Saving::new(now, held, &checkpoints, computing, &self.config)));
        let saves = saving.is_some();
        if !saves {
            let lasts = checkpoints.lasts(computing, held.resumes());
            attempt.end = now + (held.particulars().stage_in.start_up + lasts);
        }
        // A stepwise attempt has no known end, so it may run over its plan, too.
        if attempt.end > planned_end {
            out.set(planned_end, Timer::PlanEnds { slot: slot.0 });
        }
        if !saves {
            out.set(attempt.end, Timer::RunEnds { slot: slot.0 });
        }
        out.send(held.submitter, SubmissionMessage::Started { job });
        held.run = Some(Run { attempt, computing, seen, saving });
        if saves {
            self.begin_saving(now, slot, out);
        }
    }
}
