//! A part that was booked by a protocol: its processors, its program, and its record.

use haggle_agreements::AgreementId;
use haggle_model::{
    AgreementEvent, JobId, JobOutcome, Observation, ProviderId, ShareRecord, TaskRun, Time,
};
use haggle_scheduling::coallocation::with_overhead;
use haggle_scheduling::{Overrun, Slot};
use serde::{Deserialize, Serialize};

use super::{Report, Transactions, observe_agreement};
use crate::Outbox;
use crate::glimpse::{Promise, PromiseKind, Stage, Work, known};
use crate::protocol::transaction::Ask;
use crate::protocol::{Timer, TransactionMessage};
use crate::provider::core::{Attempt, Core, Losses, Turn, limited};
use crate::transaction::Acts;

/// A part that is booked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::provider) struct Booking {
    pub(super) id: AgreementId,
    pub(super) ask: Ask,
    pub(super) queued: Time,
    pub(super) start: Time,
    /// End of its booking.
    pub(super) end: Time,
    /// True if its program may begin.
    pub(super) may_begin: bool,
    /// Its processors, once it has them. While its program does not run, its end is unknown.
    pub(in crate::provider) held: Option<Attempt>,
    /// Time at which its program began.
    pub(super) runs_since: Option<Time>,
    /// True if the queue has forgotten it, because it lost its processors or its place.
    pub(super) is_lost: bool,
}

/// The start of a part has come: it has its processors from now on.
pub(in crate::provider::services) fn start_booking(turn: &mut Turn<'_>, slot: Slot) {
    let Some(booking) = turn.core.pieces.get_mut::<Booking>(slot) else {
        unreachable!("the scheduler starts parts that are held")
    };
    let (count, span) = (booking.ask.processors, booking.ask.span);
    // A part that starts late keeps its length.
    booking.end = turn.now + (booking.end - booking.start);
    booking.start = turn.now;
    turn.core.load.leaves(count, Some(span));
    booking.held = Some(turn.core.machine.start(turn.now, count, booking.end));
    let may_begin = booking.may_begin;
    let (id, job) = (booking.id, booking.ask.job);
    observe_agreement(turn, id, job, AgreementEvent::Occupied);
    if may_begin {
        begin_booking(turn, slot);
    }
}

/// The program of a part begins on its processors.
pub(super) fn begin_booking(turn: &mut Turn<'_>, slot: Slot) {
    let Some(booking) = turn.core.pieces.get_mut::<Booking>(slot) else { return };
    let speed = turn.core.config.speed;
    let run_time = booking.ask.run_time.reveal_to_machine().at_speed(speed);
    let takes = with_overhead(run_time, booking.ask.overhead);
    let (lasts, outcome) = limited(takes, Some(booking.ask.span), Overrun::Kill);
    let end = turn.now + lasts;
    if let Some(attempt) = &mut booking.held {
        (attempt.end, attempt.outcome) = (end, outcome);
    }
    booking.runs_since = Some(turn.now);
    let (id, job) = (booking.id, booking.ask.job);
    turn.out.set(end, Timer::RunEnds { slot: slot.0 });
    turn.say(id.coordinator, TransactionMessage::Begun { job, id });
}

/// A part that has its processors loses some of them. It keeps its slot until the queue has forgotten it.
pub(in crate::provider::services) fn lose(turn: &mut Turn<'_>, slot: Slot, losses: &mut Losses) {
    let Turn { core, now, out } = turn;
    let Some(booking) = core.pieces.get_mut::<Booking>(slot) else { return };
    let Some(attempt) = booking.held.take() else { return };
    booking.is_lost = true;
    out.stop(Timer::RunEnds { slot: slot.0 });
    core.machine.end(&attempt);
    losses.killed.push(attempt.killed(slot));
    losses.parts.push(slot);
    // The run may belong to a try that has failed, so it is filed as that of a part that was given up.
    if let Some(start) = booking.runs_since {
        let (job, provider) = (booking.ask.job, core.config.id);
        let run = Attempt { start, ..attempt }.stopped(*now, JobOutcome::Cancelled);
        let over = booking.share(provider, vec![run.clone()]);
        out.observe(Observation::TasksOver { job, provider, run });
        out.observe(over);
    }
    let (id, job) = (booking.id, booking.ask.job);
    out.observe(Observation::Agreement { id, job, event: AgreementEvent::PartFailed });
}

impl Booking {
    /// Its row in a glimpse of the provider.
    pub(in crate::provider) fn glimpse(&self) -> Work {
        let stage = match (&self.held, self.runs_since) {
            (Some(_), Some(_)) => Stage::Running,
            (Some(_), None) => Stage::Occupying,
            (None, _) if self.is_lost => Stage::Lost,
            (None, _) if self.may_begin => Stage::Waiting,
            (None, _) => Stage::Held,
        };
        let coordinator = self.id.coordinator;
        Work {
            since: Some(self.queued),
            held: self.held.as_ref().map(|it| it.processors.clone()).unwrap_or_default(),
            start: known(self.runs_since.unwrap_or(self.start)),
            end: known(self.end),
            ..Work::new(self.ask.job, stage, self.ask.processors, coordinator)
        }
    }

    /// The promise to its coordinator, until its program begins.
    pub(in crate::provider) fn promise(&self) -> Option<Promise> {
        let kind = if self.may_begin { PromiseKind::Booking } else { PromiseKind::Hold };
        self.runs_since.is_none().then(|| Promise {
            job: Some(self.ask.job),
            with: Some(self.id.coordinator),
            agreement: Some(self.id),
            start: known(self.start),
            end: known(self.end),
            ..Promise::new(kind, self.ask.processors)
        })
    }

    pub(super) fn share(&self, provider: ProviderId, runs: Vec<TaskRun>) -> Observation {
        // A part that was given up belongs to no job, even if the same part is booked anew.
        let given_up = runs.iter().any(|run| run.outcome == JobOutcome::Cancelled);
        Observation::ShareOver(Box::new(ShareRecord {
            job: self.ask.job,
            provider,
            tasks: self.ask.processors,
            queued: self.queued,
            walltime: self.ask.span,
            promised_end: None,
            agreement: (!given_up).then_some(self.id),
            runs,
        }))
    }

    /// Records what it did until `end`, if it had its processors. A part that did not begin was
    /// held without use.
    pub(super) fn file(
        mut self,
        provider: ProviderId,
        end: Time,
        outcome: JobOutcome,
        out: &mut Outbox,
    ) {
        if let Some(mut held) = self.held.take() {
            held.start = self.runs_since.unwrap_or(held.start);
            let run = held.stopped(end, outcome);
            let over = self.share(provider, vec![run.clone()]);
            out.observe(Observation::TasksOver { job: self.ask.job, provider, run });
            out.observe(over);
        }
    }

    /// The end of the run while the part waits or runs.
    pub(in crate::provider) fn unfinished(self, provider: ProviderId, now: Time, out: &mut Outbox) {
        if self.held.is_some() {
            self.file(provider, now, JobOutcome::Unfinished, out);
        } else if self.may_begin {
            out.observe(self.share(provider, Vec::new()));
        }
    }
}

impl Transactions {
    /// The program of a part has ended.
    pub(in crate::provider::services) fn on_booking_ended(
        &mut self,
        turn: &mut Turn<'_>,
        slot: Slot,
    ) {
        let Some(booking) = self.release_booking(turn.core, slot) else { return };
        let Some(outcome) = booking.held.as_ref().map(|attempt| attempt.outcome) else { return };
        let (id, job, planned_end) = (booking.id, booking.ask.job, booking.end);
        self.free_processors(turn, slot, &booking);
        booking.file(turn.core.config.id, turn.now, outcome, turn.out);
        self.report_over(turn, id, job, outcome);
        turn.ended_early(planned_end);
        turn.plan_changed();
    }

    /// A part has lost its processors or its place, and the queue has forgotten it. It has failed as soon as
    /// its job may begin: until then, its agreement may still end without it.
    pub(in crate::provider::services) fn break_booking(&mut self, turn: &mut Turn<'_>, slot: Slot) {
        let Some(booking) = turn.core.pieces.get_mut::<Booking>(slot) else { return };
        let (id, job) = (booking.id, booking.ask.job);
        if !std::mem::replace(&mut booking.is_lost, true) {
            turn.core.load.leaves(booking.ask.processors, Some(booking.ask.span));
            observe_agreement(turn, id, job, AgreementEvent::PartFailed);
        }
        let Some(booking) = turn.core.pieces.get::<Booking>(slot) else { return };
        if booking.may_begin {
            self.fail_booking(turn, slot);
        }
        turn.plan_changed();
    }

    /// A part that was agreed on cannot run.
    pub(super) fn fail_booking(&mut self, turn: &mut Turn<'_>, slot: Slot) {
        let Some(booking) = self.release_booking(turn.core, slot) else { return };
        turn.out.observe(booking.share(turn.core.config.id, Vec::new()));
        self.report_over(turn, booking.id, booking.ask.job, JobOutcome::Failed);
    }

    /// Reports that a part is over, until its coordinator has acknowledged that.
    pub(super) fn report_over(
        &mut self,
        turn: &mut Turn<'_>,
        id: AgreementId,
        job: JobId,
        outcome: JobOutcome,
    ) {
        // A part that failed was recorded when it lost its processors or its place.
        if outcome != JobOutcome::Failed {
            observe_agreement(turn, id, job, AgreementEvent::PartOver);
        }
        self.remember_over(turn, id);
        let party = self.party(id);
        let retry = party.and_then(|it| self.parties[it].transacting.transaction.retry());
        if let Some(retry) = retry {
            let report = Report { job, outcome, again: turn.now + retry };
            self.reports.insert(id, report);
            self.set_agreement_timer(turn);
        }
        turn.say(id.coordinator, TransactionMessage::Over { job, id, outcome });
    }

    /// Notifies the machine of the protocol that a part is over, so that it can answer later
    /// messages about the part. A machine that is down is notified when it restarts.
    pub(super) fn remember_over(&mut self, turn: &mut Turn<'_>, id: AgreementId) {
        let Some(party) = self.party(id) else { return };
        let mut acts = Acts::new();
        self.parties[party].seat.over(turn.now, id, &mut acts);
        self.act(turn, party, acts);
    }

    pub(super) fn release_booking(&mut self, core: &mut Core, slot: Slot) -> Option<Booking> {
        let booking = core.pieces.take::<Booking>(slot)?;
        self.bookings.remove(&booking.id);
        Some(booking)
    }

    /// Frees the processors of a part.
    pub(super) fn free_processors(&mut self, turn: &mut Turn<'_>, slot: Slot, booking: &Booking) {
        if let Some(attempt) = &booking.held {
            turn.job_finished(attempt.killed(slot));
            turn.core.machine.end(attempt);
        }
    }

    /// A part is given back, or stopped.
    pub(super) fn give_up_booking(&mut self, turn: &mut Turn<'_>, id: AgreementId) {
        let Some((slot, booking)) = self.booking(turn.core, id) else { return };
        let (is_held, is_lost, ask) = (booking.held.is_some(), booking.is_lost, booking.ask);
        if is_lost {
            self.release_booking(turn.core, slot);
            turn.plan_changed();
            return;
        }
        observe_agreement(turn, id, ask.job, AgreementEvent::GivenUp);
        if is_held {
            turn.out.stop(Timer::RunEnds { slot: slot.0 });
            let Some(booking) = self.release_booking(turn.core, slot) else { return };
            self.free_processors(turn, slot, &booking);
            booking.file(turn.core.config.id, turn.now, JobOutcome::Cancelled, turn.out);
        } else {
            let withdrawn = turn.core.scheduler.withdraw(turn.now, slot);
            debug_assert!(withdrawn, "it waits");
            turn.core.load.leaves(ask.processors, Some(ask.span));
            self.release_booking(turn.core, slot);
        }
        turn.plan_changed();
    }
}
