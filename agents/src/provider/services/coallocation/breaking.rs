//! Parts that end without their metascheduler's wish, or because other parts of their jobs do.
//!
//! ```text
//!   its processors fail, or its place is taken ──▶ Broken ──▶ metascheduler ──▶ GiveUp, to all other parts
//!   another provider has broken its part       ──▶ GiveUp ──▶ it waits: withdrawn; it runs: stopped
//! ```

use haggle_model::{JobId, JobOutcome, Observation};
use haggle_scheduling::Slot;

use super::{Acts, Coallocation, Part};
use crate::protocol::coallocation::Want;
use crate::protocol::{CoallocationMessage, Timer};
use crate::provider::core::Turn;

impl Coallocation {
    /// Another provider could not carry out its part any more: this one is given up, even if it runs.
    pub(super) fn undo_part(&mut self, turn: &mut Turn<'_>, job: JobId) {
        let Some((slot, part)) = self.part(turn.core, job) else { return };
        if part.is_lost {
            // The queue has not forgotten its slot yet; it is released with the failure.
            return;
        }
        if part.run.is_none() {
            return self.give_up_part(turn, job);
        }
        let Some(mut part) = self.release_part(turn.core, slot) else { return };
        let Some(attempt) = part.run.take() else { return };
        turn.out.stop(Timer::RunEnds { slot: slot.0 });
        turn.job_finished(attempt.killed(slot));
        turn.core.machine.end(&attempt);
        let (provider, planned_end) = (turn.core.config.id, attempt.planned_end);
        let run = attempt.stopped(turn.now, JobOutcome::Cancelled);
        let over = part.over(provider, Some(&run));
        turn.out.observe(Observation::TasksOver { job, provider, run });
        turn.out.observe(over);
        turn.ended_early(planned_end);
        turn.plan_changed();
    }

    /// A part has lost its processors or its place, and the queue has forgotten it: it belongs to its job
    /// no longer.
    pub(in crate::provider::services) fn break_part(&mut self, turn: &mut Turn<'_>, slot: Slot) {
        let Some(part) = turn.core.pieces.get_mut::<Part>(slot) else { return };
        let (job, has_run) = (part.job, std::mem::replace(&mut part.is_lost, true));
        let pending = part.pending.map(|(id, _)| id);
        let is_held = matches!(part.pending, Some((_, Want::Reserve(..))));
        if let Some(id) = pending {
            let mut acts = Acts::new();
            self.seat.with(&mut acts, |it, effects| it.lapse(id, effects));
            self.carry_out_for_part(turn, job, acts);
        }
        if is_held {
            // Its metascheduler learns of it from the answer to its commit.
            return;
        }
        let Some(part) = self.release_part(turn.core, slot) else { return };
        if !has_run {
            turn.core.load.leaves(part.place.processors, Some(part.place.span));
        }
        let message = CoallocationMessage::Broken { job, id: part.agreement };
        turn.say(part.metascheduler, message);
        turn.plan_changed();
    }

    /// The scheduler was down: parts that should have started have missed the other parts of their jobs.
    pub(in crate::provider::services) fn break_late(&mut self, turn: &mut Turn<'_>) {
        let is_late = |&(_, &slot): &(&JobId, &Slot)| {
            let part = turn.core.pieces.get::<Part>(slot);
            part.is_some_and(|part| part.run.is_none() && part.place.start < turn.now)
        };
        let late = Vec::from_iter(self.parts.iter().filter(is_late).map(|(_, &slot)| slot));
        for slot in late {
            let withdrawn = turn.core.scheduler.withdraw(turn.now, slot);
            debug_assert!(withdrawn, "a part that has not started waits");
            self.break_part(turn, slot);
        }
    }

    /// The participant is lost, except its records.
    pub(in crate::provider::services) fn crash(&mut self) {
        self.seat.crash();
    }

    /// The participant starts again from its records. The parts are still in the plan.
    pub(in crate::provider::services) fn restart(&mut self, turn: &mut Turn<'_>) {
        let mut acts = Acts::new();
        self.seat.start(turn.now, &mut acts);
        self.carry_out_for_part(turn, JobId::default(), acts);
    }
}
