//! Attempts of rigid jobs: their start and end, overruns of their plan, and their loss.

use haggle_model::reservation::{Answer, Cause};
use haggle_model::{JobId, JobOutcome, JobRecord, LostRun, Observation, Span, Time};
use haggle_scheduling::site::OnPreemption;
use haggle_scheduling::{Overrun, Slot};

use super::Jobs;
use super::job::{HeldJob, Run};
use super::saving::Saving;
use crate::glimpse::known;
use crate::protocol::{SubmissionMessage, Timer};
use crate::provider::core::{Attempt, Losses, Turn, limited};
use crate::provider::services::OnFailure;

impl Jobs {
    pub(in crate::provider::services) fn on_run_ended(&mut self, turn: &mut Turn<'_>, slot: Slot) {
        let Some(mut held) = turn.core.pieces.take::<HeldJob>(slot) else { return };
        let Some(mut run) = held.run.take() else { return };
        if turn.core.config.overrun == Overrun::Extend || run.saving.is_some() {
            turn.out.stop(Timer::PlanEnds { slot: slot.0 });
        }
        turn.job_finished(run.attempt.killed(slot));
        let checkpointing = held.progress(&run, turn.now, &turn.core.config).overhead;
        if run.saving.is_some() {
            self.end_late(turn, &mut held, &run);
        }
        let id = held.submission.job.id;
        turn.core.machine.end(&run.attempt);
        let Attempt { start, planned_end, outcome, .. } = run.attempt;
        if turn.core.config.real && outcome == JobOutcome::Completed {
            held.note_run_time(turn.now - start - checkpointing);
        }
        let finished = SubmissionMessage::Finished { job: id, outcome };
        turn.say(held.submitter, finished);
        let checkpoints = run.sent();
        let (start, processors) = (Some(start), run.attempt.processors);
        let over = held.over(&turn.core.config, outcome, turn.now);
        let over = JobRecord { start, processors, checkpointing, checkpoints, ..over };
        turn.out.observe(Observation::JobOver(Box::new(over)));
        turn.ended_early(planned_end);
        turn.plan_changed();
    }

    /// The program of an attempt has ended on a real machine; `false` if no such attempt runs.
    pub(in crate::provider::services) fn on_work_over(
        &mut self,
        turn: &mut Turn<'_>,
        job: JobId,
        start: Time,
    ) -> bool {
        let Some(slot) = turn.core.pieces.slot(job).filter(|_| turn.core.config.real) else {
            return false;
        };
        let Some(held) = turn.core.pieces.get_mut::<HeldJob>(slot) else { return false };
        let Some(run) = held.run.as_mut().filter(|run| run.attempt.start == start) else {
            return false;
        };
        run.attempt.outcome = JobOutcome::Completed;
        run.attempt.end = turn.now;
        turn.out.stop(Timer::RunEnds { slot: slot.0 });
        turn.out.stop(Timer::PlanEnds { slot: slot.0 });
        self.on_run_ended(turn, slot);
        true
    }

    pub(in crate::provider::services) fn on_plan_ended(&mut self, turn: &mut Turn<'_>, slot: Slot) {
        let Some(held) = turn.core.pieces.get_mut::<HeldJob>(slot) else { return };
        let Some(run) = held.run.as_ref() else { return };
        let planned_end = held.extended(run, turn.now, &turn.core.config);
        let Some(run) = held.run.as_mut() else { return };
        turn.core.machine.replan(&mut run.attempt, planned_end);
        turn.core.scheduler.overran(turn.now, slot, planned_end);
        self.answer_displaced(turn, Cause::Overrun);
        turn.out.set(planned_end, Timer::PlanEnds { slot: slot.0 });
        turn.plan_changed();
    }

    pub(in crate::provider::services) fn start(&mut self, turn: &mut Turn<'_>, slot: Slot) {
        let Some(held) = turn.core.pieces.get_mut::<HeldJob>(slot) else {
            unreachable!("the scheduler starts queued jobs")
        };
        let job = held.submission.job.id;
        let planned = held.planned(&turn.core.config);
        let planned_end = turn.now + planned.unwrap_or(Span::FOREVER).max(Span::TICK);
        held.note_priority(turn.core.scheduler.nodes().priority(slot));
        turn.core.load.leaves(held.processors, planned);
        let machine = &mut turn.core.machine;
        let mut attempt = match turn.core.config.scheduler.nodes() {
            Some(nodes) => {
                let places = turn.core.scheduler.nodes().places(slot);
                machine.start_on(turn.now, nodes, &places, planned_end)
            }
            None => machine.start(turn.now, held.processors, planned_end),
        };
        let run_time = held.run_time(&turn.core.config);
        let (computes, outcome) = limited(run_time, held.walltime, turn.core.config.overrun);
        attempt.outcome = outcome;
        let computing = computes - held.particulars().saved;
        let seen = turn.core.machine.seen(&attempt.processors);
        let checkpoints = held.checkpoints(turn.now, seen, &turn.core.config);
        let saving = turn.core.config.store.map(|_| {
            Box::new(Saving::new(turn.now, held, &checkpoints, computing, &turn.core.config))
        });
        let saves = saving.is_some();
        if !saves {
            let lasts = checkpoints.lasts(computing, held.resumes());
            attempt.end = turn.now + (held.particulars().stage_in.start_up + lasts);
        }
        // A stepwise attempt has no known end, so it may run over its plan, too.
        if attempt.end > planned_end {
            turn.out.set(planned_end, Timer::PlanEnds { slot: slot.0 });
        }
        if !saves && known(attempt.end).is_some() {
            turn.out.set(attempt.end, Timer::RunEnds { slot: slot.0 });
        }
        turn.out.send(held.submitter, SubmissionMessage::Started { job });
        held.run = Some(Run { attempt, computing, seen, saving, stopped: None });
        if saves {
            self.begin_saving(turn, slot);
        }
    }

    /// A rigid job has lost processors, or is stopped for another one: its attempt is over.
    pub(in crate::provider::services) fn lose(
        &mut self,
        turn: &mut Turn<'_>,
        slot: Slot,
        losses: &mut Losses,
    ) {
        let Turn { core, now, out } = turn;
        let Some(held) = core.pieces.get_mut::<HeldJob>(slot) else { return };
        let Some(mut run) = held.run.take() else { return };
        out.stop(Timer::RunEnds { slot: slot.0 });
        out.stop(Timer::PlanEnds { slot: slot.0 });
        core.machine.end(&run.attempt);
        losses.killed.push(run.attempt.killed(slot));
        if let Some(saving) = &run.saving {
            self.carried.lost(slot, saving, core.config.store, out);
        }
        let progress = held.progress(&run, *now, &core.config);
        if progress.saved > Span::ZERO {
            held.particulars_mut().saved += progress.saved;
        }
        let checkpoints = run.sent();
        let run = LostRun {
            stopped_for: run.stopped.map(|it| it.stopped_for),
            cancelled: run.stopped.is_some_and(|it| it.then == OnPreemption::Cancel),
            saved: progress.saved,
            checkpointing: progress.overhead,
            checkpoints,
            ..run.attempt.lost(core.config.id, *now)
        };
        out.observe(Observation::RunLost { job: held.submission.job.id, run });
        losses.jobs.push(slot);
    }

    /// A rigid job was stopped for another one, and the scheduler has forgotten it.
    pub(in crate::provider::services) fn stopped_job(
        &mut self,
        turn: &mut Turn<'_>,
        slot: Slot,
        then: OnPreemption,
    ) {
        if then == OnPreemption::Cancel {
            return give_up(turn, slot, JobOutcome::Cancelled);
        }
        let Some(held) = turn.core.pieces.get::<HeldJob>(slot) else { return };
        let request = held.request(slot, false, &turn.core.config);
        turn.core.load.waits(request.processors, request.span);
        self.arrive(turn, request);
    }

    /// A rigid job has lost its processors, and the scheduler has forgotten it.
    pub(in crate::provider::services) fn lost_job(&mut self, turn: &mut Turn<'_>, slot: Slot) {
        let Some(held) = turn.core.pieces.get_mut::<HeldJob>(slot) else {
            unreachable!("a lost job is held until it is over")
        };
        held.particulars_mut().lost += 1;
        let lost = held.particulars().lost;
        if turn.core.config.on_failure == OnFailure::Fail || lost >= turn.core.config.max_attempts {
            self.displace(turn, slot, Cause::Failure, Answer::Revoked, None);
            return give_up(turn, slot, JobOutcome::Failed);
        }
        if self.lost_window(turn, slot) {
            return;
        }
        let Some(held) = turn.core.pieces.get::<HeldJob>(slot) else { return };
        let ahead = turn.core.config.on_failure != OnFailure::Requeue;
        let request = held.request(slot, ahead, &turn.core.config);
        turn.core.load.waits(request.processors, request.span);
        // The first promise stays: if it is broken now, the record must show that. A reservation
        // that may be late goes on as a job without a window.
        let had_window = held.particulars().granted.is_some();
        self.arrive(turn, request);
        // The record of a window has the new planned start. A queue of reservations plans all jobs at once.
        if had_window || turn.core.able.windows && !turn.core.takes_parts() {
            self.join_queue(turn);
        }
        let start = turn.core.scheduler.windows().start_of(turn.now, slot);
        self.displace(turn, slot, Cause::Failure, Answer::Postponed, start);
    }
}

/// A lost job is over without another attempt.
fn give_up(turn: &mut Turn<'_>, slot: Slot, outcome: JobOutcome) {
    let Some(held) = turn.core.pieces.take::<HeldJob>(slot) else { return };
    let job = held.submission.job.id;
    turn.out.send(held.submitter, SubmissionMessage::Finished { job, outcome });
    let over = held.over(&turn.core.config, outcome, turn.now);
    turn.out.observe(Observation::JobOver(Box::new(over)));
}
