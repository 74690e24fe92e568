//! Failures of processors, and the work that they interrupt.
//!
//! A rigid job that loses one of its processors is lost as a whole; of a bag only the tasks on
//! failed processors are lost. The provider decides what happens to lost jobs, see [`OnFailure`];
//! tasks of a bag always wait again. A part of a job that is spread over providers is broken: its
//! metascheduler places the job again. Work that has been started too often is given up
//! ([`MAX_ATTEMPTS`](haggle_scheduling::MAX_ATTEMPTS)). The time of a repair is unknown beforehand,
//! so the local scheduler plans as if failed processors never came back. It is notified of all
//! failures and repairs of one instant together, so that nothing starts on processors that fail
//! next (`mailbox.rs`).

use haggle_model::reservation::Cause;
use haggle_model::{Observation, ProcessorSet, Span};
use haggle_scheduling::checkpoints::RigidJob;
use haggle_scheduling::{CheckpointRule, Slot};
use serde::{Deserialize, Serialize};

use super::{HeldJob, Services};
use crate::protocol::Timer;
use crate::provider::core::{Losses, Mailbox, Piece, Turn};

/// Treatment of a rigid job whose processors fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum OnFailure {
    /// It starts again from the beginning, ahead of all that waits.
    #[default]
    Restart,
    /// It starts again from the beginning, after waiting behind all others.
    Requeue,
    /// It writes checkpoints, and goes on from the last one, ahead of all that waits.
    Resume(CheckpointRule),
    /// It is over: [`JobOutcome::Failed`](haggle_model::JobOutcome::Failed).
    Fail,
    /// It goes on to its end, and its failed processors go down then: they are drained.
    Drain,
}

impl OnFailure {
    /// The checkpoints that jobs write.
    pub(in crate::provider) fn checkpoints(self) -> CheckpointRule {
        match self {
            OnFailure::Resume(rule) => rule,
            OnFailure::Restart | OnFailure::Requeue | OnFailure::Fail | OnFailure::Drain => {
                CheckpointRule::NEVER
            }
        }
    }

    /// Planned time of the first attempt of a job that computes for `walltime`.
    pub(super) fn planned(self, processors: u32, walltime: Span) -> Span {
        let job = RigidJob { processors, limit: Some(walltime), saved: Span::ZERO };
        self.checkpoints().planned(job).lasts(walltime, false)
    }
}

impl Services {
    pub(super) fn on_failed(&mut self, turn: &mut Turn<'_>, mut processors: ProcessorSet) {
        if turn.core.config.on_failure != OnFailure::Drain {
            return self.go_down(turn, processors);
        }
        drain(turn, &mut processors);
        // Each of them is an outage of its own: they may be parts of a node.
        for &(first, last) in processors.intervals() {
            let part = ProcessorSet::range(first, last - first + 1);
            turn.core.machine.went_down(&part);
            self.go_down(turn, part);
        }
    }

    fn go_down(&mut self, turn: &mut Turn<'_>, processors: ProcessorSet) {
        let failed = turn.core.machine.fail(processors);
        // From now on ends are recorded only, so nothing starts on processors that fail next.
        turn.tell_later();
        self.end_before_failure(turn, &failed);
        let hit = |(_, piece): &(Slot, &Piece)| {
            piece.attempts().any(|(_, attempt)| attempt.processors.intersects(&failed))
        };
        let hit = Vec::from_iter(turn.core.pieces.iter().filter(hit).map(|(slot, _)| slot));
        let mut losses = Losses::default();
        for slot in hit {
            self.lose(turn, slot, &failed, &mut losses);
        }
        let open = turn.core.machine.take_down(turn.now, &failed);
        let provider = turn.core.config.id;
        turn.out.observe(Observation::ProcessorsFailed { provider, processors: failed });
        turn.tell_later().fail(&open, losses);
    }

    /// The run of a job ends on processors that are drained: they go down now. Returns `false` if there are none.
    pub(super) fn end_of_drained(&mut self, turn: &mut Turn<'_>, slot: Slot) -> bool {
        let Some(Piece::Job(_)) = turn.core.pieces.at(slot) else { return false };
        let mut drained = Vec::new();
        for (_, attempt) in turn.core.pieces.at(slot).into_iter().flat_map(Piece::attempts) {
            drained.extend(turn.core.machine.end_drains(&attempt.processors));
        }
        let is_any = !drained.is_empty();
        drained.into_iter().for_each(|processors| self.on_failed(turn, processors));
        is_any
    }

    /// Work in a slot loses its attempts on failed processors.
    fn lose(
        &mut self,
        turn: &mut Turn<'_>,
        slot: Slot,
        failed: &ProcessorSet,
        losses: &mut Losses,
    ) {
        match turn.core.pieces.at(slot) {
            Some(Piece::Job(_)) => {
                // A failure comes before the end of its grace time, if it was to be stopped.
                let held = turn.core.pieces.get_mut::<HeldJob>(slot);
                let run = held.and_then(|held| held.run.as_mut());
                run.into_iter().for_each(|run| run.stopped = None);
                self.jobs.lose(turn, slot, losses);
            }
            Some(Piece::Share(_)) => super::bargains::lose(turn, slot, failed, losses),
            Some(Piece::Part(_)) => super::coallocation::lose(turn, slot, losses),
            Some(Piece::Booking(_)) => super::transactions::lose(turn, slot, losses),
            // This work does not run.
            Some(Piece::Expected(_) | Piece::Held) | None => {}
        }
    }

    /// Work that ends now is complete, even if its processors fail at this instant.
    fn end_before_failure(&mut self, turn: &mut Turn<'_>, failing: &ProcessorSet) {
        let mut ending = Vec::new();
        for (slot, piece) in turn.core.pieces.iter() {
            let ends = piece.attempts().filter(|(_, attempt)| attempt.ends_on(turn.now, failing));
            ending.extend(ends.map(|(run, _)| (slot, run)));
        }
        // Ends of rigid jobs precede ends of tasks, in any order of slots.
        ending.sort_by_key(|(_, run)| run.is_some());
        for (slot, run) in ending {
            let timer = match run {
                None => Timer::RunEnds { slot: slot.0 },
                Some(run) => Timer::TasksEnd { slot: slot.0, run },
            };
            turn.out.stop(timer);
            self.on_timer(turn, timer);
        }
    }

    /// The scheduler is down from now on.
    pub(super) fn on_crashed(&mut self, turn: &mut Turn<'_>) {
        turn.core.mailbox.get_or_insert_default().is_down = true;
        self.bargains.iter_mut().for_each(super::Bargains::crash);
        self.coallocation.iter_mut().for_each(super::Coallocation::crash);
        self.transactions.iter_mut().for_each(super::Transactions::crash);
    }

    /// The scheduler is up again with its old state, and is notified of all that has happened.
    pub(super) fn on_restarted(&mut self, turn: &mut Turn<'_>) {
        if let Some(bargains) = &mut self.bargains {
            bargains.restart(turn);
        }
        if let Some(parts) = &mut self.coallocation {
            parts.restart(turn);
        }
        if let Some(mailbox) = turn.core.mailbox.take_if(|mailbox| mailbox.is_down) {
            self.settle(turn, *mailbox);
        }
    }

    /// All failures and repairs of this instant have happened.
    pub(super) fn on_settled(&mut self, turn: &mut Turn<'_>) {
        if let Some(mailbox) = turn.core.mailbox.take_if(|mailbox| !mailbox.is_down) {
            self.settle(turn, *mailbox);
        }
    }

    /// Notifies the scheduler, and then all whose work has lost its place.
    fn settle(&mut self, turn: &mut Turn<'_>, mut mailbox: Mailbox) {
        let is_down = mailbox.is_down;
        let lost_jobs = std::mem::take(&mut mailbox.lost_jobs);
        let stopped_jobs = std::mem::take(&mut mailbox.stopped_jobs);
        let lost_tasks = std::mem::take(&mut mailbox.lost_tasks);
        let lost_parts = std::mem::take(&mut mailbox.lost_parts);
        // Nothing may start before the scheduler knows everything.
        turn.core.mailbox = Some(Box::new(Mailbox { is_down, ..Mailbox::default() }));
        let cause = if mailbox.fails() { Cause::Failure } else { Cause::Crash };
        let news = turn.notify(mailbox);
        // Order: jobs that need another place in their window, then reservations that lost theirs,
        // then all other jobs.
        let (in_windows, others): (Vec<Slot>, Vec<Slot>) =
            lost_jobs.into_iter().partition(|&slot| super::jobs::keeps_window(turn.core, slot));
        in_windows.into_iter().for_each(|slot| self.jobs.lost_job(turn, slot));
        self.jobs.answer_displaced(turn, cause);
        others.into_iter().for_each(|slot| self.jobs.lost_job(turn, slot));
        // Among themselves, they wait in the order of their submissions.
        let mut stopped_jobs = Vec::from_iter(stopped_jobs);
        stopped_jobs.sort_by_key(|it| turn.core.pieces.get::<HeldJob>(it.0).map(HeldJob::place));
        stopped_jobs.into_iter().for_each(|(slot, then)| self.jobs.stopped_job(turn, slot, then));
        if let Some(bargains) = &mut self.bargains {
            lost_tasks.into_iter().for_each(|(slot, tasks)| bargains.lost_tasks(turn, slot, tasks));
        }
        lost_parts.into_iter().for_each(|slot| self.break_part(turn, slot));
        self.break_displaced(turn);
        if is_down {
            if let Some(parts) = &mut self.coallocation {
                parts.break_late(turn);
            }
            self.catch_up_with_plans(turn);
        }
        let since = turn.core.mailbox.take().map(|since| since.news).unwrap_or_default();
        for (to, message) in news.into_iter().chain(since) {
            turn.out.send(to, message);
        }
        if let Some(transactions) = &mut self.transactions {
            transactions.restart(turn);
        }
        turn.plan_changed();
    }

    /// Breaks the parts that have lost their places in the plan.
    pub(super) fn break_displaced(&mut self, turn: &mut Turn<'_>) {
        let mut displaced = Vec::new();
        turn.core.scheduler.parts().take_displaced(&mut displaced);
        displaced.into_iter().for_each(|slot| self.break_part(turn, slot));
    }

    /// A part has lost its processors or its place, and the scheduler has forgotten it.
    fn break_part(&mut self, turn: &mut Turn<'_>, slot: Slot) {
        let Services { coallocation, transactions, .. } = self;
        match (turn.core.pieces.at(slot), coallocation, transactions) {
            (Some(Piece::Part(_)), Some(parts), _) => parts.break_part(turn, slot),
            (Some(Piece::Booking(_)), _, Some(bookings)) => bookings.break_booking(turn, slot),
            _ => unreachable!("the queue displaces parts, and a lost part is held until now"),
        }
    }

    /// Extends the plans of work that still runs and was planned to end while the scheduler was
    /// down.
    fn catch_up_with_plans(&mut self, turn: &mut Turn<'_>) {
        let late = turn.core.pieces.iter().filter_map(|(slot, piece)| {
            // One late run of a share is enough: all of them are planned anew.
            let (run, _) = piece.attempts().find(|(_, attempt)| attempt.is_late(turn.now))?;
            Some((slot, run))
        });
        for (slot, run) in Vec::from_iter(late) {
            match run {
                None => self.on_timer(turn, Timer::PlanEnds { slot: slot.0 }),
                Some(run) => self.on_timer(turn, Timer::TasksPlanEnds { slot: slot.0, run }),
            };
        }
    }
}

/// Takes the processors of running jobs out of failing ones. They go down as the jobs end. A job that ends now is over.
fn drain(turn: &mut Turn<'_>, failing: &mut ProcessorSet) {
    let mut busy = ProcessorSet::new();
    for (_, piece) in turn.core.pieces.iter().filter(|it| matches!(it.1, Piece::Job(_))) {
        for (_, attempt) in piece.attempts().filter(|it| it.1.end > turn.now) {
            busy.insert_all(&attempt.processors.intersection(failing));
        }
    }
    failing.remove_all(&busy);
    turn.core.machine.drain(busy);
}

pub(super) fn on_restored(turn: &mut Turn<'_>, processors: &ProcessorSet) {
    let (restored, open) = turn.core.machine.restore(processors);
    let provider = turn.core.config.id;
    for processors in turn.core.machine.as_they_went_down(&restored) {
        turn.out.observe(Observation::ProcessorsRestored { provider, processors });
    }
    turn.tell_later().restore(&open);
}
