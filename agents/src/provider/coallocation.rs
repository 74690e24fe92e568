//! A provider's side of co-allocation (Netto 2009, Algorithm 3): it reports its free times, and holds, moves and runs
//! parts. When it has become idle, it requests moves of parts.
//!
//! The [`Participant`] keeps the states of agreements. A lease ends at the start of the part, in its old or its new
//! place. Requests that are not committed by then are dropped before anything starts, so no timer is needed.

use std::collections::{BTreeMap, BTreeSet};

use haggle_agreements::seat::{self, Act, Keeps, Plain, Seat};
use haggle_agreements::{
    AgreementId, InDoubt, Instruction, Participant, Task, ToCoordinator, ToParticipant,
};
use haggle_model::{
    ActorId, Disclosure, JobId, JobOutcome, Observation, ProviderId, Refusal, ShareRecord, Span,
    TaskRun, Time,
};
use haggle_scheduling::coallocation::{CoallocationQueue, FreeTimes, Rounds, with_overhead};
use haggle_scheduling::{LocalScheduler, Overrun, Request, Slot};

use super::Provider;
use super::machine::{Attempt, limited};
use super::pieces::Piece;
use crate::Outbox;
use crate::protocol::coallocation::{Parts, Place, Program, Want};
use crate::protocol::{CoallocationMessage, QueryMessage, Timer};

/// State of co-allocation at a provider, beside the parts.
#[derive(Debug)]
pub(super) struct Coallocation {
    seat: Seat<Plain, Participant<Parts>>,
    /// Slots of the parts that are here, by their jobs.
    parts: BTreeMap<JobId, Slot>,
    /// Jobs of parts with a pending agreement: few, even if many parts wait.
    pending: BTreeSet<JobId>,
    rounds: Rounds<JobId>,
    /// Job whose metascheduler has been asked for a move and has not answered.
    asked: Option<JobId>,
    /// Metaschedulers that have received free times, each with the stretch that has changed since.
    told: BTreeMap<ActorId, Option<(Time, Time)>>,
}

type Acts = seat::Acts<ToCoordinator<Parts>, Task<Parts>>;

/// A part at the provider.
#[derive(Debug)]
pub(super) struct Part {
    job: JobId,
    metascheduler: ActorId,
    /// The last agreement on it that was committed. Before the first commit, the agreement by which it is held.
    agreement: AgreementId,
    /// True if its agreement may be undone, so that its record names the agreement.
    may_be_undone: bool,
    program: Program,
    place: Place,
    queued: Time,
    promised_end: Time,
    /// Request for which it is ready. Before the first commit, this is the request to hold the part.
    pending: Option<(AgreementId, Want)>,
    run: Option<Attempt>,
}

impl Coallocation {
    /// No parts. With `repeats`, messages may be lost, and are repeated.
    pub(super) fn new(me: ActorId, repeats: bool) -> Coallocation {
        let keeps = if repeats { Keeps::All } else { Keeps::Nothing };
        let mut seat = Seat::new(me, (), keeps);
        seat.start(Time::ZERO, &mut Acts::new());
        let (parts, pending, told) = Default::default();
        let rounds = Rounds::new(0);
        Coallocation { seat, parts, pending, rounds, asked: None, told }
    }
}

impl Part {
    pub(super) fn job(&self) -> JobId {
        self.job
    }

    pub(super) fn attempt(&self) -> Option<&Attempt> {
        self.run.as_ref()
    }

    /// Returns whether it is agreed and waits at its booked place.
    fn waits(&self) -> bool {
        let is_held = matches!(self.pending, Some((_, Want::Reserve(..))));
        self.run.is_none() && !is_held
    }

    /// Latest time at which it starts, or at which its pending request is dropped.
    fn due(&self) -> Time {
        match self.pending {
            Some((_, Want::Reconfigure(to))) => to.start.min(self.place.start),
            _ => self.place.start,
        }
    }

    fn request(&self, slot: Slot) -> Request {
        Request {
            slot,
            processors: self.place.processors,
            span: Some(self.place.span),
            key: self.program.key,
            deadline: None,
            ahead: false,
        }
    }

    /// Its record. If its agreement may be undone, the record names the agreement and has the run; a part that was
    /// given up belongs to no job.
    fn over(&self, provider: ProviderId, run: Option<&TaskRun>) -> Observation {
        let run = run.filter(|_| self.may_be_undone);
        let given_up = run.is_some_and(|run| run.outcome == JobOutcome::Cancelled);
        Observation::ShareOver(Box::new(ShareRecord {
            job: self.job,
            provider,
            tasks: self.place.processors,
            queued: self.queued,
            walltime: self.place.span,
            promised_end: Some(self.promised_end),
            agreement: (self.may_be_undone && !given_up).then_some(self.agreement),
            runs: run.cloned().into_iter().collect(),
        }))
    }

    /// Records the part when the simulation stops while it waits or runs.
    pub(super) fn unfinished(mut self, provider: ProviderId, now: Time, out: &mut Outbox) {
        let run = self.run.take().map(|attempt| attempt.stopped(now, JobOutcome::Unfinished));
        if let Some(run) = run.clone() {
            out.observe(Observation::TasksOver { job: self.job, provider, run });
        }
        if run.is_some() || self.waits() {
            out.observe(self.over(provider, run.as_ref()));
        }
    }
}

impl Provider {
    pub(super) fn on_coallocation(
        &mut self,
        now: Time,
        from: ActorId,
        message: CoallocationMessage,
        out: &mut Outbox,
    ) -> bool {
        if self.scheduler.coallocation().is_none() {
            return false;
        }
        match message {
            CoallocationMessage::GetSlots { job } => {
                self.tell_slots(now, from, job, out);
                true
            }
            CoallocationMessage::Instruct { job, message } => {
                let expected = self.expects_of_part(from, job, &message);
                if expected {
                    let mut acts = Acts::new();
                    self.coallocation.seat.hear(now, from, *message, &mut acts);
                    self.carry_out_for_part(now, job, acts, out);
                }
                // A message that was under way for long may be about a job that is over.
                expected || self.numbered.knows(from)
            }
            CoallocationMessage::Rescheduled { job, moved } => {
                let expected = self.coallocation.asked == Some(job);
                if expected {
                    self.coallocation.asked = None;
                    if moved {
                        self.coallocation.rounds.moved();
                    }
                    self.ask_next(now, out);
                }
                expected
            }
            CoallocationMessage::EarliestMachines { job, machines, from: earliest } => {
                self.tell_machines(now, from, (job, machines, earliest), out);
                true
            }
            CoallocationMessage::Profile { job, application, tolerance } => {
                self.profile(now, from, (job, &application, tolerance), out)
            }
            // These messages are for metaschedulers.
            CoallocationMessage::Slots { .. }
            | CoallocationMessage::Throughput { .. }
            | CoallocationMessage::Machines { .. }
            | CoallocationMessage::Answer { .. }
            | CoallocationMessage::RescheduleRequest { .. }
            | CoallocationMessage::Started { .. }
            | CoallocationMessage::Finished { .. } => false,
        }
    }

    /// Returns whether a slot holds a part.
    pub(super) fn is_part(&self, slot: Slot) -> bool {
        self.coallocates && self.pieces.get::<Part>(slot).is_some()
    }

    fn coallocation_queue(&mut self) -> &mut CoallocationQueue {
        self.scheduler.coallocation().expect("who has parts takes them")
    }

    fn part(&self, job: JobId) -> Option<(Slot, &Part)> {
        let &slot = self.coallocation.parts.get(&job)?;
        Some((slot, self.pieces.get(slot)?))
    }

    fn part_mut(&mut self, job: JobId) -> Option<(Slot, &mut Part)> {
        let &slot = self.coallocation.parts.get(&job)?;
        Some((slot, self.pieces.get_mut(slot)?))
    }

    fn tell_slots(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) {
        if self.config.disclosure < Disclosure::Slots {
            let reason = Refusal::NotDisclosed;
            return out.send(from, QueryMessage::NoAnswer { job, reason });
        }
        let publishes = self.config.publishes;
        let (begin, end) = self.untold(from).unwrap_or_default();
        let own = self.own_part(from, job);
        let queue = self.coallocation_queue();
        let changed = Box::new(queue.free_during(now, begin, end).published(publishes));
        let own = own.map(|slot| queue.free_around(now, slot).published(publishes));
        let own = Box::new(own.unwrap_or_default());
        out.send(from, CoallocationMessage::Slots { job, changed, own });
    }

    /// The stretch of free times that a metascheduler does not know yet. It counts as known from now on.
    fn untold(&mut self, metascheduler: ActorId) -> Option<(Time, Time)> {
        let changed = self.coallocation_queue().take_changed();
        let told = &mut self.coallocation.told;
        if let Some((begin, end)) = changed {
            for untold in told.values_mut() {
                let (from, until) = untold.get_or_insert((begin, end));
                (*from, *until) = (begin.min(*from), end.max(*until));
            }
        }
        // A metascheduler that asks for the first time gets all free times.
        told.insert(metascheduler, None).unwrap_or(Some((Time::ZERO, Time::FOREVER)))
    }

    /// The slot of a metascheduler's part of a job here.
    fn own_part(&self, metascheduler: ActorId, job: JobId) -> Option<Slot> {
        let own = self.part(job).filter(|(_, part)| part.metascheduler == metascheduler);
        own.map(|(slot, _)| slot)
    }

    /// Free times for a job; its part here counts as free.
    fn free_for(&mut self, now: Time, metascheduler: ActorId, job: JobId) -> FreeTimes {
        let own = self.own_part(metascheduler, job);
        let publishes = self.config.publishes;
        self.coallocation_queue().free_times(now, own).published(publishes)
    }

    /// Reports the processors that are available first, and nothing of the plan behind them.
    fn tell_machines(
        &mut self,
        now: Time,
        to: ActorId,
        (job, machines, from): (JobId, u32, Time),
        out: &mut Outbox,
    ) {
        let free = self.free_for(now, to, job);
        let available = Box::new(free.available(machines, from.max(now)));
        out.send(to, CoallocationMessage::Machines { job, available });
    }

    /// Returns whether a metascheduler may send this message now.
    fn expects_of_part(&self, from: ActorId, job: JobId, message: &ToParticipant<Parts>) -> bool {
        let repeats = self.numbered.knows(from);
        let knows = |id| self.coallocation.seat.machine().is_some_and(|it| it.knows(id));
        let part = self.part(job).map(|(_, part)| part);
        let its_own = part.filter(|part| part.metascheduler == from);
        let pending = its_own.and_then(|part| part.pending).map(|(id, _)| id);
        let is_expected = match &message.instruction {
            // A repeated message is answered from the state of its agreement.
            _ if repeats && knows(message.id) => true,
            Instruction::Prepare { request, in_doubt: InDoubt::Release, .. } => match request {
                // A hold whose abort was lost ends with this message.
                Want::Reserve(..) => repeats || !self.pieces.has(job),
                Want::Reconfigure(_) | Want::Leave => its_own.is_some() && pending.is_none(),
            },
            Instruction::Commit(()) => repeats || pending == Some(message.id),
            // A held part may have been given back already.
            Instruction::Abort => part.is_none() || its_own.is_some(),
            Instruction::Undo => repeats,
            // Agreements on parts never use the other mode.
            Instruction::Prepare { .. } => false,
        };
        is_expected && message.id.coordinator == from
    }

    /// Carries out the acts of the participant about a job.
    fn carry_out_for_part(&mut self, now: Time, job: JobId, acts: Acts, out: &mut Outbox) {
        seat::carry_out(acts, |act, acts| match act {
            Act::Send { to, message } => {
                let message = Box::new(message);
                out.send(to, CoallocationMessage::Answer { job, message });
            }
            Act::Tell(Task::Consider { id, request, .. }) => {
                self.consider_part(now, job, id, request, acts, out);
            }
            Act::Tell(Task::CarryOut { id, .. }) => self.do_pending(now, job, id, out),
            Act::Tell(Task::GiveUp { id }) => {
                if let Some(job) = self.pending_under(job, id) {
                    self.drop_pending(now, job, id, out);
                } else if let Some(job) = self.agreed_under(job, id) {
                    self.undo_part(now, job, out);
                }
            }
            // Without a hold there may be no room any more.
            Act::Tell(Task::TakeUnheld { id, .. }) => {
                self.coallocation.seat.with(acts, |it, out| it.expired(id, out));
            }
        });
    }

    /// The job with a request pending under this agreement. It is most likely `likely`. A message about one job may
    /// be the first sign that an agreement on another job has ended.
    fn pending_under(&self, likely: JobId, id: AgreementId) -> Option<JobId> {
        let is_it = |&job: &JobId| {
            let pending = self.part(job).and_then(|(_, part)| part.pending);
            pending.is_some_and(|(pending, _)| pending == id)
        };
        Some(likely).filter(is_it).or_else(|| self.coallocation.pending.iter().copied().find(is_it))
    }

    /// The job with a part here that was committed under this agreement. It is most likely `likely`.
    fn agreed_under(&self, likely: JobId, id: AgreementId) -> Option<JobId> {
        let is_it = |&job: &JobId| self.part(job).is_some_and(|(_, part)| part.agreement == id);
        let jobs = || self.coallocation.parts.keys().copied();
        Some(likely).filter(is_it).or_else(|| jobs().find(|job| is_it(job)))
    }

    /// Prepares for a request, if possible.
    fn consider_part(
        &mut self,
        now: Time,
        job: JobId,
        id: AgreementId,
        want: Want,
        acts: &mut Acts,
        out: &mut Outbox,
    ) {
        let is_ready = match want {
            Want::Reserve(place, program) => self.hold_part(now, job, id, (place, program)),
            Want::Reconfigure(to) => self.prepare_part(now, job, to),
            // A part that has started cannot be given up.
            Want::Leave => self.part(job).is_some_and(|(_, part)| part.run.is_none()),
        };
        if is_ready && let Some((_, part)) = self.part_mut(job) {
            part.pending = Some((id, want));
            let lease = (part.due() - now).max(Span::ZERO);
            self.coallocation.pending.insert(job);
            self.coallocation.seat.with(acts, |it, out| it.ready(now, id, (), lease, out));
            self.plan_changed(now, out);
        } else {
            let next = self.room_for_part(now, job, id.coordinator, want);
            self.coallocation.seat.with(acts, |it, out| it.not_ready(id, next, out));
        }
    }

    /// Time from which there would be room for a part that does not fit its requested place, if that is disclosed.
    fn room_for_part(
        &mut self,
        now: Time,
        job: JobId,
        metascheduler: ActorId,
        want: Want,
    ) -> Option<Time> {
        let (place, negotiates) = match want {
            Want::Reserve(place, program) => (place, program.negotiates),
            Want::Reconfigure(to) => (to, self.part(job)?.1.program.negotiates),
            Want::Leave => return None,
        };
        let Place { start, span, processors, .. } = place;
        let free = negotiates.then(|| self.free_for(now, metascheduler, job))?;
        free.earliest_fit(processors, span, start.max(now))
    }

    fn hold_part(
        &mut self,
        now: Time,
        job: JobId,
        id: AgreementId,
        (place, program): (Place, Program),
    ) -> bool {
        let slot = self.pieces.next();
        let is_there = self.coallocation.parts.contains_key(&job);
        let is_held = !is_there
            && place.processors > 0
            && self.coallocation_queue().hold(now, slot, place.into());
        if is_held {
            let part = Part {
                job,
                metascheduler: id.coordinator,
                agreement: id,
                may_be_undone: self.numbered.knows(id.coordinator),
                program,
                place,
                queued: now,
                promised_end: place.start + place.span,
                pending: None,
                run: None,
            };
            self.load.waits(place.processors, Some(place.span));
            self.pieces.insert(Piece::Part(Box::new(part)));
            self.coallocation.parts.insert(job, slot);
        }
        is_held
    }

    fn prepare_part(&mut self, now: Time, job: JobId, to: Place) -> bool {
        let Some((slot, part)) = self.part(job) else { return false };
        to.processors > 0 && part.waits() && self.coallocation_queue().prepare(now, slot, to.into())
    }

    /// Carries out the request of a committed agreement.
    fn do_pending(&mut self, now: Time, job: JobId, id: AgreementId, out: &mut Outbox) {
        let Some((slot, want)) = self.take_pending(job, id) else { return };
        if let Some((_, part)) = self.part_mut(job) {
            part.agreement = id;
        }
        let place = match want {
            Want::Reserve(place, _) => place,
            Want::Reconfigure(to) => {
                let Some((_, part)) = self.part_mut(job) else { return };
                let from = std::mem::replace(&mut part.place, to);
                self.load.leaves(from.processors, Some(from.span));
                self.load.waits(to.processors, Some(to.span));
                let has_moved = self.coallocation_queue().settle(now, slot);
                debug_assert!(has_moved, "its place has been kept");
                // Jobs of the queue are offered the returned time before other parts are.
                self.coallocation_queue().compress(now);
                to
            }
            Want::Leave => return self.give_up_part(now, job, out),
        };
        if let Some((slot, part)) = self.part(job).filter(|_| place.alone) {
            let request = part.request(slot);
            self.coallocation_queue().into_job(request);
        }
        self.plan_changed(now, out);
    }

    /// Drops the request of an agreement that was not committed.
    fn drop_pending(&mut self, now: Time, job: JobId, id: AgreementId, out: &mut Outbox) {
        let Some((slot, want)) = self.take_pending(job, id) else { return };
        match want {
            Want::Reserve(..) => self.give_up_part(now, job, out),
            Want::Reconfigure(_) => {
                self.coallocation_queue().abandon(now, slot);
                self.plan_changed(now, out);
            }
            Want::Leave => {}
        }
    }

    /// Removes and returns the request that is pending under an agreement.
    fn take_pending(&mut self, job: JobId, id: AgreementId) -> Option<(Slot, Want)> {
        let (slot, part) = self.part_mut(job)?;
        let (_, want) = part.pending.take_if(|(pending, _)| *pending == id)?;
        self.coallocation.pending.remove(&job);
        Some((slot, want))
    }

    fn give_up_part(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let Some((slot, &Part { place, .. })) = self.part(job) else { return };
        let withdrawn = self.coallocation_queue().withdraw(now, slot);
        debug_assert!(withdrawn, "no part that is given up has started");
        self.coallocation_queue().compress(now);
        self.load.leaves(place.processors, Some(place.span));
        self.release_part(slot);
        self.plan_changed(now, out);
    }

    /// Another provider could not carry out its part any more: this one is given up, even if it runs.
    fn undo_part(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let Some((slot, part)) = self.part(job) else { return };
        if part.run.is_none() {
            return self.give_up_part(now, job, out);
        }
        let Some(mut part) = self.release_part(slot) else { return };
        let Some(attempt) = part.run.take() else { return };
        out.stop(Timer::RunEnds { slot: slot.0 });
        self.job_finished(now, attempt.killed(slot));
        self.machine.end(&attempt);
        let (provider, planned_end) = (self.config.id, attempt.planned_end);
        let run = attempt.stopped(now, JobOutcome::Cancelled);
        let over = part.over(provider, Some(&run));
        out.observe(Observation::TasksOver { job, provider, run });
        out.observe(over);
        self.ended_early(now, planned_end, out);
        self.plan_changed(now, out);
    }

    fn release_part(&mut self, slot: Slot) -> Option<Part> {
        let part = self.pieces.take::<Part>(slot)?;
        self.coallocation.parts.remove(&part.job);
        self.coallocation.pending.remove(&part.job);
        Some(part)
    }

    /// Before anything starts, drops the requests whose commit is overdue. Jobs then move up to the returned time.
    pub(super) fn settle_parts(&mut self, now: Time, out: &mut Outbox) {
        let parts = self.coallocation.pending.iter().filter_map(|&job| {
            let (_, part) = self.part(job)?;
            let (id, _) = part.pending.filter(|_| part.due() <= now)?;
            Some((job, id))
        });
        for (job, id) in Vec::from_iter(parts) {
            let mut acts = Acts::new();
            self.coallocation.seat.expire(now, id, &mut acts);
            self.carry_out_for_part(now, job, acts, out);
        }
        self.coallocation_queue().compress(now);
    }

    /// Starts a part, as the scheduler has decided.
    pub(super) fn start_part(&mut self, now: Time, slot: Slot, out: &mut Outbox) {
        let Some(part) = self.pieces.get_mut::<Part>(slot) else {
            unreachable!("the scheduler starts parts that are held")
        };
        let Place { span, processors: count, alone, .. } = part.place;
        let run_time = part.place.run_time.reveal_to_machine();
        let takes = if alone { run_time } else { with_overhead(run_time, part.program.overhead) };
        let (lasts, outcome) = limited(takes, Some(span), Overrun::Kill);
        let end = now + lasts;
        self.load.leaves(count, Some(span));
        let attempt = self.machine.start(now, count, now + span);
        out.set(end, Timer::RunEnds { slot: slot.0 });
        let (job, id) = (part.job, part.agreement);
        out.send(part.metascheduler, CoallocationMessage::Started { job, id });
        // The queue may have started it earlier than it was booked.
        part.place.start = now;
        part.run = Some(Attempt { end, outcome, ..attempt });
    }

    /// Handles the end of a part.
    pub(super) fn on_part_ended(&mut self, now: Time, slot: Slot, out: &mut Outbox) {
        let Some(mut part) = self.release_part(slot) else { return };
        let Some(attempt) = part.run.take() else { return };
        self.job_finished(now, attempt.killed(slot));
        self.machine.end(&attempt);
        let Attempt { planned_end, outcome, .. } = attempt;
        let (job, provider, id) = (part.job, self.config.id, part.agreement);
        out.send(part.metascheduler, CoallocationMessage::Finished { job, id, outcome });
        let run = attempt.ended(now);
        let over = part.over(provider, Some(&run));
        out.observe(Observation::TasksOver { job, provider, run });
        out.observe(over);
        self.ended_early(now, planned_end, out);
        self.plan_changed(now, out);
    }

    /// Handles an end. If it is early, other work may move after all ends of this instant.
    pub(super) fn ended_early(&mut self, now: Time, planned_end: Time, out: &mut Outbox) {
        if now < planned_end && self.scheduler.coallocation().is_some() {
            out.set(now, Timer::Reschedule);
        }
    }

    /// Moves jobs up first; parts may use the room that is left.
    pub(super) fn on_room(&mut self, now: Time, out: &mut Outbox) {
        self.coallocation_queue().compress(now);
        self.coallocation.rounds = Rounds::new(Rounds::<JobId>::MOST);
        self.ask_next(now, out);
    }

    fn ask_next(&mut self, now: Time, out: &mut Outbox) {
        while self.coallocation.asked.is_none() {
            let mut rounds = std::mem::replace(&mut self.coallocation.rounds, Rounds::new(0));
            let is_idle = self.coallocation_queue().is_idle(now);
            let next = rounds.next(|| is_idle, || self.to_ask());
            self.coallocation.rounds = rounds;
            let Some(job) = next else { return };
            // A part that was here at the beginning of the round may have moved away since.
            let Some((_, part)) = self.part(job).filter(|(_, part)| may_move(part)) else {
                continue;
            };
            out.send(part.metascheduler, CoallocationMessage::RescheduleRequest { job });
            self.coallocation.asked = Some(job);
        }
    }

    /// Jobs whose metaschedulers are asked for a move, in the order of planned starts.
    fn to_ask(&self) -> Vec<JobId> {
        let parts = self.coallocation.parts.keys().filter_map(|&job| {
            let (_, part) = self.part(job)?;
            may_move(part).then_some((part.place.start, job))
        });
        let mut parts = Vec::from_iter(parts);
        parts.sort_unstable();
        parts.into_iter().map(|(_, job)| job).collect()
    }
}

/// Returns whether the metascheduler of a part is asked to move it.
fn may_move(part: &Part) -> bool {
    part.waits() && part.program.moves && !part.place.alone
}
