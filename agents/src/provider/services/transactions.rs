//! A provider's part in transactions on parts of jobs: it holds the requested part if there is
//! room, and carries out the duties that the machine of the protocol assigns.
//!
//! A part is booked from its start on. From then on it has its processors, and its program begins
//! when the whole job may begin. A hold that is not decided yet is booked for the longest time it
//! may take: for its lease, or without end.
//!
//! ```text
//!          room                   CarryOut, and its start has come
//!  asked ───────▶ held ──────────────────────────────────────────▶ running ──────▶ over, reported
//!                  │ GiveUp                                           │ GiveUp        until acknowledged
//!                  ▼                                                  ▼
//!               given back                                     stopped, wasted
//! ```

mod booking;
mod preemption;
mod watching;

use std::collections::{BTreeMap, BTreeSet};

use haggle_agreements::AgreementId;
use haggle_agreements::protocol::{Bound, Duty};
use haggle_agreements::seat::{Act, carry_out};
use haggle_model::agreement::Waits;
use haggle_model::{ActorId, AgreementEvent, JobId, JobOutcome, Observation, Span, Time};
use haggle_scheduling::coallocation::Parts;
use haggle_scheduling::{Interval, Slot};
use serde::{Deserialize, Serialize};

pub(in crate::provider) use self::booking::Booking;
use self::booking::begin_booking;
pub(super) use self::booking::{lose, start_booking};
use crate::glimpse::{Promise, PromiseKind, known};
use crate::protocol::transaction::{Ask, Room, Spoken};
use crate::protocol::{Timer, TransactionMessage};
use crate::provider::core::{Core, Piece, Turn};
use crate::transaction::{Acts, Participates, Seated, Transaction};

/// A protocol, and the metaschedulers that follow it with these parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transacting {
    /// The address of the provider.
    pub me: ActorId,
    /// The protocol.
    pub transaction: Transaction,
    /// Metaschedulers that follow it.
    pub metaschedulers: Vec<ActorId>,
}

/// State of transactions at a provider, without the parts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Transactions {
    pub(super) parties: Vec<Party>,
    /// Parts by their agreements.
    pub(super) bookings: BTreeMap<AgreementId, Slot>,
    /// Ends that the coordinators have not acknowledged, with the time of the next report.
    reports: BTreeMap<AgreementId, Report>,
    /// Requests for notice of room, with the last answer to each.
    watches: BTreeMap<AgreementId, (Ask, bool)>,
    /// Waits between jobs, as recorded last.
    waits: Waits,
    /// The jobs of agreements that wait or are held.
    jobs: BTreeMap<AgreementId, JobId>,
    /// Number of jobs above which the jobs of ended agreements are forgotten.
    most_jobs: usize,
    started: bool,
}

/// Lowest value of `Transactions::most_jobs`.
const MOST_JOBS: usize = 256;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Party {
    pub(super) transacting: Transacting,
    pub(super) seat: Seated<dyn Participates>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Report {
    job: JobId,
    outcome: JobOutcome,
    again: Time,
}

impl Transactions {
    /// Notices of room that were promised.
    pub(super) fn promises(&self) -> Vec<Promise> {
        let row = |(&id, (ask, _)): (&AgreementId, &(Ask, bool))| Promise {
            job: Some(ask.job),
            with: Some(id.coordinator),
            agreement: Some(id),
            start: known(ask.from),
            ..Promise::new(PromiseKind::Notice, ask.processors)
        };
        self.watches.iter().map(row).collect()
    }

    pub(super) fn new(transacting: &[Transacting]) -> Transactions {
        let party = |it: &Transacting| Party {
            seat: it.transaction.participant(it.me),
            transacting: it.clone(),
        };
        Transactions {
            parties: transacting.iter().map(party).collect(),
            bookings: BTreeMap::new(),
            reports: BTreeMap::new(),
            watches: BTreeMap::new(),
            waits: Waits::new(),
            jobs: BTreeMap::new(),
            most_jobs: MOST_JOBS,
            started: false,
        }
    }

    /// Forgets the jobs of agreements that are over. A later message about one of them names its
    /// job again.
    fn forget_jobs(&mut self) {
        if self.jobs.len() <= self.most_jobs {
            return;
        }
        let mut live: BTreeSet<AgreementId> = self.bookings.keys().copied().collect();
        live.extend(self.reports.keys().chain(self.watches.keys()));
        for Party { seat, .. } in &self.parties {
            live.extend(seat.bound().into_iter().map(|bound| bound.id));
            live.extend(seat.waits().into_iter().map(|(who, _)| who));
        }
        self.jobs.retain(|id, _| live.contains(id));
        // Doubled, so that the cost of a clean-up is spread over as many new agreements.
        self.most_jobs = (2 * self.jobs.len()).max(MOST_JOBS);
    }

    /// The protocol that an agreement follows, by its coordinator.
    pub(super) fn party(&self, id: AgreementId) -> Option<usize> {
        let follows = |it: &Party| it.transacting.metaschedulers.contains(&id.coordinator);
        self.parties.iter().position(follows)
    }
}

impl Transactions {
    pub(super) fn on_transaction(
        &mut self,
        turn: &mut Turn<'_>,
        from: ActorId,
        message: TransactionMessage,
    ) -> bool {
        match message {
            TransactionMessage::Said { job, message } => self.on_said(turn, from, job, *message),
            TransactionMessage::Begin { id, .. } => {
                let expected = id.coordinator == from && self.party(id).is_some();
                if expected {
                    self.on_begin(turn, id);
                }
                expected
            }
            TransactionMessage::Heard { id, .. } => {
                let expected = id.coordinator == from && self.party(id).is_some();
                if expected {
                    self.reports.remove(&id);
                    self.set_agreement_timer(turn);
                }
                expected
            }
            TransactionMessage::TooWide { .. }
            | TransactionMessage::Begun { .. }
            | TransactionMessage::Over { .. } => false,
        }
    }

    fn on_said(&mut self, turn: &mut Turn<'_>, from: ActorId, job: JobId, message: Spoken) -> bool {
        self.start_transactions(turn);
        let id = message.id();
        let Some(party) = self.party(id) else { return false };
        // Before the machine answers, because its answers carry the job.
        self.jobs.insert(id, job);
        let mut acts = Acts::new();
        let heard = self.parties[party].seat.hear(turn.now, from, message, &mut acts);
        self.act(turn, party, acts);
        self.forget_jobs();
        self.look_around(turn);
        heard
    }

    /// The machines of the protocols start with the first message that they receive.
    fn start_transactions(&mut self, turn: &mut Turn<'_>) {
        if !std::mem::replace(&mut self.started, true) {
            for party in 0..self.parties.len() {
                let mut acts = Acts::new();
                self.parties[party].seat.start(turn.now, &mut acts);
                self.act(turn, party, acts);
            }
        }
    }

    /// Carries out the acts that a machine requests.
    pub(super) fn act(&mut self, turn: &mut Turn<'_>, party: usize, acts: Acts<Duty<Room>>) {
        carry_out(acts, |act, acts| match act {
            Act::Send { to, message } => {
                let id = message.id();
                let job = self.jobs.get(&id).copied().unwrap_or_default();
                observe_agreement(turn, id, job, AgreementEvent::Sent(message.kind()));
                let message = Box::new(message);
                turn.out.send(to, TransactionMessage::Said { job, message });
            }
            Act::Tell(duty) => self.on_duty(turn, party, duty, acts),
        });
    }

    fn on_duty(
        &mut self,
        turn: &mut Turn<'_>,
        party: usize,
        duty: Duty<Room>,
        acts: &mut Acts<Duty<Room>>,
    ) {
        match duty {
            Duty::Consider { id, request, .. } if !can_ever_hold(turn.core, &request) => {
                self.refuse_too_wide(turn, id, request.job);
                self.parties[party].seat.never(turn.now, id, acts);
            }
            Duty::Watch { id, request } if !can_ever_hold(turn.core, &request) => {
                self.refuse_too_wide(turn, id, request.job);
                self.parties[party].seat.available(turn.now, id, false, acts);
            }
            Duty::Consider { id, request, lease } => {
                let may_block = self.parties[party].transacting.transaction.may_block();
                let mut found = self.hold_booking(turn, id, request, lease, may_block);
                if found.is_err() && self.make_room(turn, &request) {
                    found = self.hold_booking(turn, id, request, lease, may_block);
                }
                let seat = &mut self.parties[party].seat;
                match found {
                    Ok(start) => {
                        seat.ready(turn.now, id, start, lease, acts);
                        let lease_end =
                            Some(turn.now + lease).filter(|_| lease < Span::FOREVER && !may_block);
                        let processors = request.processors;
                        let end = self.booking(turn.core, id).map(|(_, booking)| booking.end);
                        let end = end.filter(|&end| end < Time::FOREVER);
                        let event = AgreementEvent::Held { processors, start, end, lease_end };
                        observe_agreement(turn, id, request.job, event);
                        turn.plan_changed();
                    }
                    Err(earliest) => seat.not_ready(turn.now, id, earliest, acts),
                }
            }
            Duty::CarryOut { id } => self.let_begin(turn, id),
            Duty::GiveUp { id } => {
                self.give_up_booking(turn, id);
                // The room given back may be enough for a request that waits.
                self.parties[party].seat.room_changed(turn.now, acts);
            }
            Duty::Watch { id, request } => {
                let fits = self.has_room(turn, &request);
                self.watches.insert(id, (request, fits));
                self.parties[party].seat.available(turn.now, id, fits, acts);
            }
            Duty::Unwatch { id } => {
                self.watches.remove(&id);
            }
        }
    }

    fn booking<'a>(&self, core: &'a mut Core, id: AgreementId) -> Option<(Slot, &'a mut Booking)> {
        let &slot = self.bookings.get(&id)?;
        Some((slot, core.pieces.get_mut(slot)?))
    }

    /// Notifies the coordinator that the part is too wide, in a message of its own: a refusal of
    /// the protocol may hold for a moment only.
    fn refuse_too_wide(&self, turn: &mut Turn<'_>, id: AgreementId, job: JobId) {
        turn.out.send(id.coordinator, TransactionMessage::TooWide { job, id });
    }

    /// True if the requested part could be held now.
    fn has_room(&mut self, turn: &mut Turn<'_>, ask: &Ask) -> bool {
        queue(turn.core).fits(turn.now, ask.from, ask.processors, ask.span)
    }

    /// Holds the requested part and returns its start. Otherwise returns the earliest start at
    /// which there would be room, or [`Time::FOREVER`] if no other start was searched for.
    fn hold_booking(
        &mut self,
        turn: &mut Turn<'_>,
        id: AgreementId,
        ask: Ask,
        lease: Span,
        may_block: bool,
    ) -> Result<Time, Time> {
        let from = ask.from.max(turn.now);
        if self.bookings.contains_key(&id) {
            return Err(Time::FOREVER);
        }
        let start = match ask.until {
            None => from,
            Some(until) => {
                let found = queue(turn.core).earliest(turn.now, from, ask.processors, ask.span);
                match found {
                    Some(start) if start <= until => start,
                    Some(start) => return Err(start),
                    None => return Err(Time::FOREVER),
                }
            }
        };
        // Longest time that this hold may take: its lease plus its span, or no end if the protocol
        // may block.
        let end = if may_block {
            Time::FOREVER
        } else if lease < Span::FOREVER {
            start.max(turn.now + lease) + ask.span
        } else {
            start + ask.span
        };
        let slot = turn.core.pieces.next();
        let interval = Interval { start, span: end - start, processors: ask.processors };
        if !queue(turn.core).hold(turn.now, slot, interval) {
            return Err(Time::FOREVER);
        }
        turn.core.load.waits(ask.processors, Some(ask.span));
        let booking = Booking {
            id,
            ask,
            queued: turn.now,
            start,
            end,
            may_begin: false,
            held: None,
            runs_since: None,
            is_lost: false,
        };
        turn.core.pieces.insert(Piece::Booking(Box::new(booking)));
        self.bookings.insert(id, slot);
        Ok(start)
    }

    /// The whole job may begin: the program of the part begins at the start of the part.
    fn let_begin(&mut self, turn: &mut Turn<'_>, id: AgreementId) {
        let Some(&slot) = self.bookings.get(&id) else { return };
        let Some(booking) = turn.core.pieces.get_mut::<Booking>(slot) else { return };
        // `CarryOut` changes nothing after a `Begin` of the metascheduler.
        if std::mem::replace(&mut booking.may_begin, true) {
            return;
        }
        let job = booking.ask.job;
        if booking.is_lost {
            return self.fail_booking(turn, slot);
        }
        let end = booking.start.max(turn.now) + booking.ask.span;
        booking.end = end.min(booking.end);
        let end = booking.end;
        let is_held = booking.held.is_some();
        if let Some(attempt) = &mut booking.held {
            turn.core.machine.replan(attempt, end);
        }
        queue(turn.core).shorten(turn.now, slot, end);
        observe_agreement(turn, id, job, AgreementEvent::CarriedOut { end });
        if is_held {
            begin_booking(turn, slot);
        }
        turn.plan_changed();
    }

    /// Its metascheduler reports that all parts are held.
    fn on_begin(&mut self, turn: &mut Turn<'_>, id: AgreementId) {
        match self.booking(turn.core, id) {
            Some((_, booking)) if booking.may_begin => {
                let job = booking.ask.job;
                turn.out.send(id.coordinator, TransactionMessage::Begun { job, id });
            }
            Some(_) => self.let_begin(turn, id),
            None => {}
        }
    }

    /// Wakes the machines whose timers are due, and repeats the reports that were not acknowledged.
    pub(super) fn on_due(&mut self, turn: &mut Turn<'_>) {
        for party in 0..self.parties.len() {
            let mut acts = Acts::new();
            while self.parties[party].seat.wake(turn.now, &mut acts) {
                self.act(turn, party, std::mem::take(&mut acts));
            }
        }
        let due = self.reports.iter().filter(|(_, report)| report.again <= turn.now);
        let due: Vec<(AgreementId, Report)> = due.map(|(&id, &report)| (id, report)).collect();
        for (id, Report { job, outcome, .. }) in due {
            let party = self.party(id);
            let retry = party.and_then(|it| self.parties[it].transacting.transaction.retry());
            let again = turn.now + retry.unwrap_or(Span::FOREVER).max(Span::TICK);
            self.reports.insert(id, Report { job, outcome, again });
            turn.out.send(id.coordinator, TransactionMessage::Over { job, id, outcome });
        }
        self.look_around(turn);
    }

    fn set_agreement_timer(&mut self, turn: &mut Turn<'_>) {
        let machines = self.parties.iter().filter_map(|it| it.seat.next_wake());
        let reports = self.reports.values().map(|report| report.again);
        match machines.chain(reports).min() {
            Some(at) => turn.out.set(at.max(turn.now), Timer::AgreementDue),
            None => turn.out.stop(Timer::AgreementDue),
        }
    }

    /// Everything that is not on record of the protocols is lost.
    pub(super) fn crash(&mut self) {
        self.parties.iter_mut().for_each(|party| party.seat.crash());
        self.watches.clear();
    }

    /// The machines start again from their records. The held parts are the ones to which
    /// they are bound.
    pub(super) fn restart(&mut self, turn: &mut Turn<'_>) {
        if !self.started {
            return;
        }
        for party in 0..self.parties.len() {
            let mut acts = Acts::new();
            self.parties[party].seat.start(turn.now, &mut acts);
            self.act(turn, party, acts);
            let bound = self.parties[party].seat.bound();
            let is_over =
                |bound: &&Bound<Room>| bound.started && !self.bookings.contains_key(&bound.id);
            let over: Vec<AgreementId> = bound.iter().filter(is_over).map(|it| it.id).collect();
            for id in over {
                self.remember_over(turn, id);
            }
        }
        self.look_around(turn);
    }
}

fn observe_agreement(turn: &mut Turn<'_>, id: AgreementId, job: JobId, event: AgreementEvent) {
    turn.out.observe(Observation::Agreement { id, job, event });
}

/// True if the machine is large enough for the requested part.
fn can_ever_hold(core: &Core, ask: &Ask) -> bool {
    (1..=core.config.processors).contains(&ask.processors)
}

fn queue(core: &mut Core) -> &mut dyn Parts {
    core.scheduler.parts()
}
