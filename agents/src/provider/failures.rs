//! Failures of processors, and the work that they interrupt.
//!
//! A rigid job that loses one of its processors is lost as a whole; of a bag only the tasks on
//! failed processors are lost. The provider decides what happens to lost jobs, see [`OnFailure`];
//! tasks of a bag always wait again. Work that has been started too often is given up
//! ([`MAX_ATTEMPTS`](haggle_scheduling::MAX_ATTEMPTS)). The time of a repair is unknown beforehand,
//! so the local scheduler plans as if failed processors never came back. It is notified of all
//! failures and repairs of one instant together, so that nothing starts on processors that fail
//! next (`mailbox.rs`).

use haggle_model::reservation::{Answer, Cause};
use haggle_model::{JobOutcome, LostRun, Observation, ProcessorSet, Span, Time};
use haggle_scheduling::checkpoints::{Progress, RigidJob};
use haggle_scheduling::{BagRequest, CheckpointRule, Slot};

use super::Provider;
use super::job::{HeldJob, Run};
use super::machine::Attempt;
use super::pieces::Piece;
use super::shares::Share;
use super::shares::worst_of;
use crate::Outbox;
use crate::protocol::{SubmissionMessage, Timer};

/// Treatment of a rigid job whose processors fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum OnFailure {
    /// It starts again from the beginning, ahead of all that waits.
    #[default]
    Restart,
    /// It starts again from the beginning, after waiting behind all others.
    Requeue,
    /// It writes checkpoints, and goes on from the last one, ahead of all that waits.
    Resume(CheckpointRule),
    /// It is over: [`JobOutcome::Failed`].
    Fail,
}

impl OnFailure {
    /// The checkpoints that jobs write.
    pub(super) fn checkpoints(self) -> CheckpointRule {
        match self {
            OnFailure::Resume(rule) => rule,
            OnFailure::Restart | OnFailure::Requeue | OnFailure::Fail => CheckpointRule::NEVER,
        }
    }

    /// Planned time of the first attempt of a job that computes for `walltime`.
    pub(super) fn planned(self, processors: u32, walltime: Span) -> Span {
        let job = RigidJob { processors, limit: Some(walltime), saved: Span::ZERO };
        self.checkpoints().planned(job).lasts(walltime, false)
    }
}

impl Provider {
    pub(super) fn on_failed(&mut self, now: Time, processors: ProcessorSet, out: &mut Outbox) {
        let failed = self.machine.fail(processors);
        // From now on ends are recorded only, so nothing starts on processors that fail next.
        self.tell_later(now, out);
        self.end_before_failure(now, &failed, out);
        let provider = self.config.id;
        // Closed processors run nothing. They count as failed when they would be opened.
        let mut open = failed.clone();
        open.remove_all(&self.windows.closed(&failed));
        let lost_run = |attempt: Attempt, Progress { saved, overhead }, checkpoints| LostRun {
            provider,
            start: attempt.start,
            end: now,
            processors: attempt.processors,
            saved,
            checkpointing: overhead,
            checkpoints,
        };
        let mut killed = Vec::new();
        let mut lost_jobs = Vec::new();
        let mut lost_tasks = Vec::new();
        for (slot, held) in self.pieces.iter_mut() {
            match held {
                Piece::Job(held) => {
                    let hit = |run: &mut Run| run.attempt.processors.intersects(&open);
                    let Some(mut run) = held.run.take_if(hit) else { continue };
                    out.stop(Timer::RunEnds { slot: slot.0 });
                    out.stop(Timer::PlanEnds { slot: slot.0 });
                    self.machine.end(&run.attempt);
                    killed.push(run.attempt.killed(slot));
                    if let Some(saving) = &run.saving {
                        self.carried.lost(slot, saving, self.config.store, out);
                    }
                    let progress = held.progress(&run, now, &self.config);
                    if progress.saved > Span::ZERO {
                        held.particulars_mut().saved += progress.saved;
                    }
                    let checkpoints = run.sent();
                    let run = lost_run(run.attempt, progress, checkpoints);
                    out.observe(Observation::RunLost { job: held.submission.job.id, run });
                    lost_jobs.push(slot);
                }
                Piece::Share(share) => {
                    let mut tasks = 0;
                    for (number, run) in (0..).zip(&mut share.running) {
                        let Some(lost) = self.machine.lose(run, &open) else { continue };
                        if run.is_none() {
                            out.stop(Timer::TasksEnd { slot: slot.0, run: number });
                            out.stop(Timer::TasksPlanEnds { slot: slot.0, run: number });
                        }
                        tasks += lost.count();
                        killed.push(lost.killed(slot));
                        let run = lost_run(lost, Progress::default(), Vec::new());
                        out.observe(Observation::RunLost { job: share.call.job, run });
                    }
                    if tasks > 0 {
                        lost_tasks.push((slot, tasks));
                    }
                }
                Piece::Expected(_) | Piece::Held | Piece::Part(_) | Piece::Booking(_) => {}
            }
        }
        self.machine.take_down(now, &open, &failed);
        out.observe(Observation::ProcessorsFailed { provider, processors: failed });
        self.tell_later(now, out).fail(&open, killed, lost_jobs, lost_tasks);
    }

    /// Work that ends now is complete, even if its processors fail at this instant.
    fn end_before_failure(&mut self, now: Time, failing: &ProcessorSet, out: &mut Outbox) {
        let mut ending = Vec::new();
        for (slot, piece) in self.pieces.iter() {
            let ends = piece.attempts().filter(|(_, attempt)| attempt.ends_on(now, failing));
            ending.extend(ends.map(|(run, _)| (slot, run)));
        }
        // Ends of rigid jobs precede ends of tasks, in any order of slots.
        ending.sort_by_key(|(_, run)| run.is_some());
        for (slot, run) in ending {
            match run {
                None => {
                    out.stop(Timer::RunEnds { slot: slot.0 });
                    self.on_run_ended(now, slot, out);
                }
                Some(run) => {
                    out.stop(Timer::TasksEnd { slot: slot.0, run });
                    self.on_tasks_ended(now, slot, run, out);
                }
            }
        }
    }

    /// A rigid job has lost its processors, and the scheduler has forgotten it.
    pub(super) fn lost_job(&mut self, now: Time, slot: Slot, out: &mut Outbox) {
        let Some(held) = self.pieces.get_mut::<HeldJob>(slot) else {
            unreachable!("a lost job is held until it is over")
        };
        held.particulars_mut().lost += 1;
        let lost = held.particulars().lost;
        if self.config.on_failure == OnFailure::Fail || lost >= self.config.max_attempts {
            self.displace(now, slot, Cause::Failure, Answer::Revoked, None);
            let Some(held) = self.pieces.take::<HeldJob>(slot) else { return };
            let outcome = JobOutcome::Failed;
            let job = held.submission.job.id;
            out.send(held.submitter, SubmissionMessage::Finished { job, outcome });
            let over = held.over(self.config.id, outcome, now);
            out.observe(Observation::JobOver(Box::new(over)));
            return;
        }
        if self.lost_window(now, slot, out) {
            return;
        }
        let Some(held) = self.pieces.get::<HeldJob>(slot) else { return };
        let ahead = self.config.on_failure != OnFailure::Requeue;
        let request = held.request(slot, ahead, &self.config);
        self.load.waits(request.processors, request.span);
        // The first promise stays: if it is broken now, the record must show that. A reservation
        // that may be late goes on as a job without a window.
        self.arrive(now, request);
        if self.scheduler.granting().is_some() {
            self.join_queue(now);
        }
        let start = self.scheduler.granting().and_then(|it| it.planned(slot));
        self.displace(now, slot, Cause::Failure, Answer::Postponed, start);
    }

    /// Tasks of a share have lost their processors. Tasks have no names, so their starts are
    /// counted over the whole share.
    pub(super) fn lost_tasks(&mut self, now: Time, slot: Slot, tasks: u32, out: &mut Outbox) {
        let Some(share) = self.pieces.get_mut::<Share>(slot) else {
            unreachable!("a share is held until its last task is over")
        };
        share.lost += u64::from(tasks);
        if share.lost >= u64::from(self.config.max_attempts) * u64::from(share.tasks) {
            share.outcome = worst_of(JobOutcome::Failed, share.outcome);
            share.left -= tasks;
            if share.left == 0 {
                self.finish_share(now, slot, out);
            }
            return;
        }
        self.load.waits(tasks, Some(share.walltime));
        let lost = BagRequest {
            tasks,
            span: share.walltime,
            deadline: Some(share.promised_end),
            earliest: now,
        };
        let bargainer = self.scheduler.bargainer().expect("only bargainers take shares");
        bargainer.wait_again(now, slot, &lost);
    }

    pub(super) fn on_restored(&mut self, now: Time, processors: &ProcessorSet, out: &mut Outbox) {
        let restored = self.machine.restore(processors);
        let mut open = restored.clone();
        open.remove_all(&self.windows.closed(&restored));
        self.machine.open(&open);
        let provider = self.config.id;
        out.observe(Observation::ProcessorsRestored { provider, processors: restored });
        self.tell_later(now, out).restore(&open);
    }
}
