//! A provider's side of co-allocation: it tells when it is free, holds, moves and runs parts, and
//! asks for parts to move when it has become idle (Netto 2009, Algorithm 3).
//!
//! Who is where in an agreement is the [`Participant`]'s business. A lease ends when the part is to
//! start, where it is or where it is to go: what is not committed by then is given back before
//! anything starts, so that no timer is needed.

use std::collections::{BTreeMap, BTreeSet};

use haggle_agreements::{
    AgreementId, InDoubt, Instruction, Output, Participant, ParticipantOutput, Task, ToParticipant,
};
use haggle_model::{
    ActorId, Disclosure, JobId, JobOutcome, Observation, ProviderId, Refusal, ShareRecord, Span,
    Time,
};
use haggle_scheduling::coallocation::{CoallocationQueue, FreeTimes, Rounds, with_overhead};
use haggle_scheduling::{LocalScheduler, Overrun, Request, Slot};

use super::Provider;
use super::machine::{Attempt, limited};
use super::pieces::Piece;
use crate::Outbox;
use crate::protocol::coallocation::{Parts, Place, Program, Want};
use crate::protocol::{CoallocationMessage, QueryMessage, Timer};

/// What a provider knows of parts, beside the parts.
#[derive(Debug)]
pub(super) struct Coallocation {
    participant: Participant<Parts>,
    /// What the participant has put out and is not carried out yet.
    outputs: Vec<ParticipantOutput<Parts>>,
    /// Those that are here, by their jobs.
    parts: BTreeMap<JobId, Slot>,
    /// Those of them that something is pending of: few, however many wait.
    pending: BTreeSet<JobId>,
    rounds: Rounds<JobId>,
    /// Whose metascheduler has been asked and has not answered.
    asked: Option<JobId>,
    /// Those who have been told of free times, and the stretch in which these have changed since.
    told: BTreeMap<ActorId, Option<(Time, Time)>>,
}

/// A part in the provider's hands.
#[derive(Debug)]
pub(super) struct Part {
    job: JobId,
    metascheduler: ActorId,
    program: Program,
    place: Place,
    queued: Time,
    promised_end: Time,
    /// What it is ready for; until the first commit, to hold it at all.
    pending: Option<(AgreementId, Want)>,
    run: Option<Attempt>,
}

impl Default for Coallocation {
    fn default() -> Self {
        let mut outputs = Vec::new();
        let participant = Participant::start([], Time::ZERO, &mut outputs);
        let (parts, pending, told) = Default::default();
        let rounds = Rounds::new(0);
        Coallocation { participant, outputs, parts, pending, rounds, asked: None, told }
    }
}

impl Part {
    pub(super) fn job(&self) -> JobId {
        self.job
    }

    pub(super) fn attempt(&self) -> Option<&Attempt> {
        self.run.as_ref()
    }

    /// Whether it has been agreed on, and waits where it is booked.
    fn waits(&self) -> bool {
        let is_held = matches!(self.pending, Some((_, Want::Reserve(..))));
        self.run.is_none() && !is_held
    }

    /// When it starts at the latest, or is given back.
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

    fn over(&self, provider: ProviderId) -> Observation {
        Observation::ShareOver(Box::new(ShareRecord {
            job: self.job,
            provider,
            tasks: self.place.processors,
            queued: self.queued,
            walltime: self.place.span,
            promised_end: Some(self.promised_end),
            agreement: None,
            runs: Vec::new(),
        }))
    }

    /// The run stops while the part waits or runs.
    pub(super) fn unfinished(mut self, provider: ProviderId, now: Time, out: &mut Outbox) {
        let has_run = self.run.is_some();
        if let Some(attempt) = self.run.take() {
            let run = attempt.stopped(now, JobOutcome::Unfinished);
            out.observe(Observation::TasksOver { job: self.job, provider, run });
        }
        if has_run || self.waits() {
            out.observe(self.over(provider));
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
                    let Coallocation { participant, outputs, .. } = &mut self.coallocation;
                    participant.on_message(now, from, *message, outputs);
                    self.carry_out_for_part(now, job, out);
                }
                expected
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
            CoallocationMessage::Slots { .. }
            | CoallocationMessage::Throughput { .. }
            | CoallocationMessage::Machines { .. }
            | CoallocationMessage::Answer { .. }
            | CoallocationMessage::RescheduleRequest { .. }
            | CoallocationMessage::Started { .. }
            | CoallocationMessage::Finished { .. } => false,
        }
    }

    /// Whether a slot holds a part.
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

    /// The stretch of its free times that a metascheduler has not been told, and is now.
    fn untold(&mut self, metascheduler: ActorId) -> Option<(Time, Time)> {
        let changed = self.coallocation_queue().take_changed();
        let told = &mut self.coallocation.told;
        if let Some((begin, end)) = changed {
            for untold in told.values_mut() {
                let (from, until) = untold.get_or_insert((begin, end));
                (*from, *until) = (begin.min(*from), end.max(*until));
            }
        }
        told.insert(metascheduler, None).unwrap_or(Some((Time::ZERO, Time::FOREVER)))
    }

    /// The part that a metascheduler has here of a job.
    fn own_part(&self, metascheduler: ActorId, job: JobId) -> Option<Slot> {
        let own = self.part(job).filter(|(_, part)| part.metascheduler == metascheduler);
        own.map(|(slot, _)| slot)
    }

    /// What is free for a job, of which a part that is here counts as free.
    fn free_for(&mut self, now: Time, metascheduler: ActorId, job: JobId) -> FreeTimes {
        let own = self.own_part(metascheduler, job);
        let publishes = self.config.publishes;
        self.coallocation_queue().free_times(now, own).published(publishes)
    }

    /// Which processors are available first, and nothing of what is planned behind that.
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

    /// Whether a metascheduler may say that now.
    fn expects_of_part(&self, from: ActorId, job: JobId, message: &ToParticipant<Parts>) -> bool {
        let part = self.part(job).map(|(_, part)| part);
        let its_own = part.filter(|part| part.metascheduler == from);
        let pending = its_own.and_then(|part| part.pending).map(|(id, _)| id);
        let is_expected = match &message.instruction {
            Instruction::Prepare { request, in_doubt: InDoubt::Release, .. } => match request {
                Want::Reserve(..) => !self.pieces.has(job),
                Want::Reconfigure(_) | Want::Leave => its_own.is_some() && pending.is_none(),
            },
            Instruction::Commit(()) => pending == Some(message.id),
            // What was held may have been given back.
            Instruction::Abort => part.is_none() || its_own.is_some(),
            Instruction::Prepare { .. } | Instruction::Undo => false,
        };
        is_expected && message.id.coordinator == from
    }

    /// Carries out what the participant has put out about a job. Nobody restarts, so that nothing has
    /// to be kept for that.
    fn carry_out_for_part(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let mut outputs = std::mem::take(&mut self.coallocation.outputs);
        while !outputs.is_empty() {
            for output in outputs.drain(..) {
                match output {
                    Output::Send { to, message } => {
                        let message = Box::new(message);
                        out.send(to, CoallocationMessage::Answer { job, message });
                    }
                    Output::Tell(Task::Consider { id, request, .. }) => {
                        self.consider_part(now, job, id, request, out);
                    }
                    Output::Tell(Task::CarryOut { id, .. }) => self.do_pending(now, job, id, out),
                    Output::Tell(Task::GiveUp { id }) => {
                        if let Some(job) = self.pending_under(job, id) {
                            self.drop_pending(now, job, id, out);
                        }
                    }
                    Output::Tell(Task::TakeUnheld { id, .. }) => {
                        let Coallocation { participant, outputs, .. } = &mut self.coallocation;
                        participant.expired(id, outputs);
                    }
                    Output::Persist(_) | Output::Set { .. } | Output::Stop(_) => {}
                }
            }
            std::mem::swap(&mut outputs, &mut self.coallocation.outputs);
        }
        self.coallocation.outputs = outputs;
    }

    /// The job of which something is pending under this agreement: most likely this one, but a message
    /// about one job may be the first to tell that an agreement on another is over.
    fn pending_under(&self, likely: JobId, id: AgreementId) -> Option<JobId> {
        let is_it = |&job: &JobId| {
            let pending = self.part(job).and_then(|(_, part)| part.pending);
            pending.is_some_and(|(pending, _)| pending == id)
        };
        Some(likely).filter(is_it).or_else(|| self.coallocation.pending.iter().copied().find(is_it))
    }

    /// Gets ready for what is wanted, if that is possible.
    fn consider_part(
        &mut self,
        now: Time,
        job: JobId,
        id: AgreementId,
        want: Want,
        out: &mut Outbox,
    ) {
        let is_ready = match want {
            Want::Reserve(place, program) => self.hold_part(now, job, id, (place, program)),
            Want::Reconfigure(to) => self.prepare_part(now, job, to),
            Want::Leave => self.part(job).is_some_and(|(_, part)| part.run.is_none()),
        };
        if is_ready && let Some((_, part)) = self.part_mut(job) {
            part.pending = Some((id, want));
            let lease = part.due() - now;
            self.coallocation.pending.insert(job);
            let Coallocation { participant, outputs, .. } = &mut self.coallocation;
            participant.ready(now, id, (), lease.max(Span::ZERO), outputs);
            self.plan_changed(now, out);
        } else {
            let next = self.room_for_part(now, job, id.coordinator, want);
            let Coallocation { participant, outputs, .. } = &mut self.coallocation;
            participant.not_ready(id, next, outputs);
        }
    }

    /// From when on there would be room for a part that cannot be where it is wanted, if that is told.
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
        let is_held =
            place.processors > 0 && self.coallocation_queue().hold(now, slot, place.into());
        if is_held {
            let part = Part {
                job,
                metascheduler: id.coordinator,
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

    /// Does what was agreed on.
    fn do_pending(&mut self, now: Time, job: JobId, id: AgreementId, out: &mut Outbox) {
        let Some((slot, want)) = self.take_pending(job, id) else { return };
        let place = match want {
            Want::Reserve(place, _) => place,
            Want::Reconfigure(to) => {
                let Some((_, part)) = self.part_mut(job) else { return };
                let from = std::mem::replace(&mut part.place, to);
                self.load.leaves(from.processors, Some(from.span));
                self.load.waits(to.processors, Some(to.span));
                let has_moved = self.coallocation_queue().settle(now, slot);
                debug_assert!(has_moved, "its place has been kept");
                // Jobs are offered the hole that it leaves before other parts are.
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

    /// What was not agreed on stays as it is.
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

    /// What is pending under an agreement, and is not any more.
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

    fn release_part(&mut self, slot: Slot) -> Option<Part> {
        let part = self.pieces.take::<Part>(slot)?;
        self.coallocation.parts.remove(&part.job);
        self.coallocation.pending.remove(&part.job);
        Some(part)
    }

    /// Before anything starts: what was to be committed by now is given back, and jobs move up to
    /// what others have left.
    pub(super) fn settle_parts(&mut self, now: Time, out: &mut Outbox) {
        let parts = self.coallocation.pending.iter().filter_map(|&job| {
            let (_, part) = self.part(job)?;
            let (id, _) = part.pending.filter(|_| part.due() <= now)?;
            Some((job, id))
        });
        for (job, id) in Vec::from_iter(parts) {
            let Coallocation { participant, outputs, .. } = &mut self.coallocation;
            participant.on_timer(now, id, outputs);
            self.carry_out_for_part(now, job, out);
        }
        self.coallocation_queue().compress(now);
    }

    /// The scheduler says that a part starts.
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
        out.send(part.metascheduler, CoallocationMessage::Started { job: part.job });
        // The queue may have started it earlier than it was booked.
        part.place.start = now;
        part.run = Some(Attempt { end, outcome, ..attempt });
    }

    /// A part has come to its end.
    pub(super) fn on_part_ended(&mut self, now: Time, slot: Slot, out: &mut Outbox) {
        let Some(mut part) = self.release_part(slot) else { return };
        let Some(attempt) = part.run.take() else { return };
        self.job_finished(now, attempt.killed(slot));
        self.machine.end(&attempt);
        let Attempt { planned_end, outcome, .. } = attempt;
        let (job, provider) = (part.job, self.config.id);
        out.send(part.metascheduler, CoallocationMessage::Finished { job, outcome });
        let run = attempt.ended(now);
        out.observe(Observation::TasksOver { job, provider, run });
        out.observe(part.over(provider));
        self.ended_early(now, planned_end, out);
        self.plan_changed(now, out);
    }

    /// Something has ended; if before its time, others may move when all that ends now has.
    pub(super) fn ended_early(&mut self, now: Time, planned_end: Time, out: &mut Outbox) {
        if now < planned_end && self.scheduler.coallocation().is_some() {
            out.set(now, Timer::Reschedule);
        }
    }

    /// Jobs move up first; if there is room left, parts may.
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
            // One that was there when the round began may be elsewhere by now.
            let Some((_, part)) = self.part(job).filter(|(_, part)| may_move(part)) else {
                continue;
            };
            out.send(part.metascheduler, CoallocationMessage::RescheduleRequest { job });
            self.coallocation.asked = Some(job);
        }
    }

    /// Whose metaschedulers are asked, in the order of planned starts.
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

/// Whether its metascheduler is asked to move it.
fn may_move(part: &Part) -> bool {
    part.waits() && part.program.moves && !part.place.alone
}
