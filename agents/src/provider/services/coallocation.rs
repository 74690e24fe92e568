//! A provider's side of co-allocation (Netto 2009, Algorithm 3): it reports its free times, and holds, moves and runs
//! parts. When it has become idle, it requests moves of parts.
//!
//! The [`Participant`] keeps the states of agreements. A lease ends at the start of the part, in its old or its new
//! place. Requests that are not committed by then are dropped before anything starts, so no timer is needed.

mod profiling;

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

use self::profiling::Profiling;
use crate::Outbox;
use crate::protocol::coallocation::{Parts, Place, Program, Want};
use crate::protocol::{CoallocationMessage, QueryMessage, Timer};
use crate::provider::core::{Attempt, Core, Losses, Piece, Turn, limited};

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
    /// Metaschedulers with a job that awaits room, and the processors that were free without end when it asked.
    awaiting: BTreeMap<ActorId, (JobId, u32)>,
    profiling: Profiling,
}

type Acts = seat::Acts<ToCoordinator<Parts>, Task<Parts>>;

/// A part at the provider.
#[derive(Debug)]
pub(in crate::provider) struct Part {
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
    /// True if the queue has forgotten it, because it lost its processors or its place.
    is_lost: bool,
}

impl Coallocation {
    /// No parts. With `repeats`, messages may be lost, and are repeated.
    pub(super) fn new(me: ActorId, repeats: bool) -> Coallocation {
        let keeps = if repeats { Keeps::All } else { Keeps::Nothing };
        let mut seat = Seat::new(me, (), keeps);
        seat.start(Time::ZERO, &mut Acts::new());
        let (parts, pending, told, awaiting, profiling) = Default::default();
        let rounds = Rounds::new(0);
        Coallocation { seat, parts, pending, rounds, asked: None, told, awaiting, profiling }
    }
}

impl Part {
    pub(in crate::provider) fn job(&self) -> JobId {
        self.job
    }

    pub(in crate::provider) fn attempt(&self) -> Option<&Attempt> {
        self.run.as_ref()
    }

    /// Returns whether it is agreed and waits at its booked place.
    fn waits(&self) -> bool {
        let is_held = matches!(self.pending, Some((_, Want::Reserve(..))));
        self.run.is_none() && !is_held && !self.is_lost
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
    pub(in crate::provider) fn unfinished(
        mut self,
        provider: ProviderId,
        now: Time,
        out: &mut Outbox,
    ) {
        let run = self.run.take().map(|attempt| attempt.stopped(now, JobOutcome::Unfinished));
        if let Some(run) = run.clone() {
            out.observe(Observation::TasksOver { job: self.job, provider, run });
        }
        if run.is_some() || self.waits() {
            out.observe(self.over(provider, run.as_ref()));
        }
    }
}

impl Coallocation {
    pub(super) fn on_coallocation(
        &mut self,
        turn: &mut Turn<'_>,
        from: ActorId,
        message: CoallocationMessage,
    ) -> bool {
        match message {
            CoallocationMessage::GetSlots { job } => {
                self.tell_slots(turn, from, job);
                true
            }
            CoallocationMessage::Instruct { job, message } => {
                let expected = self.expects_of_part(turn.core, from, job, &message);
                if expected {
                    let mut acts = Acts::new();
                    self.seat.hear(turn.now, from, *message, &mut acts);
                    self.carry_out_for_part(turn, job, acts);
                }
                // A message that was under way for long may be about a job that is over.
                expected || turn.core.numbered.knows(from)
            }
            CoallocationMessage::Rescheduled { job, moved } => {
                let expected = self.asked == Some(job);
                if expected {
                    self.asked = None;
                    if moved {
                        self.rounds.moved();
                    }
                    self.ask_next(turn);
                }
                expected
            }
            CoallocationMessage::EarliestMachines { job, machines, from: earliest } => {
                self.tell_machines(turn, from, (job, machines, earliest));
                true
            }
            CoallocationMessage::Profile { job, application, tolerance } => {
                self.profile(turn, from, (job, &application, tolerance))
            }
            CoallocationMessage::AwaitRoom { job } => {
                self.on_await_room(turn, from, job);
                true
            }
            CoallocationMessage::GiveUp { job, id } => {
                // The part may be over, or broken here as well.
                let job = self.agreed_under(turn.core, job, id).filter(|_| id.coordinator == from);
                if let Some(job) = job {
                    self.undo_part(turn, job);
                }
                true
            }
            // These messages are for metaschedulers.
            CoallocationMessage::Broken { .. }
            | CoallocationMessage::RoomGrew { .. }
            | CoallocationMessage::Slots { .. }
            | CoallocationMessage::Throughput { .. }
            | CoallocationMessage::Machines { .. }
            | CoallocationMessage::Answer { .. }
            | CoallocationMessage::RescheduleRequest { .. }
            | CoallocationMessage::Started { .. }
            | CoallocationMessage::Finished { .. } => false,
        }
    }

    fn part<'a>(&self, core: &'a Core, job: JobId) -> Option<(Slot, &'a Part)> {
        let &slot = self.parts.get(&job)?;
        Some((slot, core.pieces.get(slot)?))
    }

    fn part_mut<'a>(&self, core: &'a mut Core, job: JobId) -> Option<(Slot, &'a mut Part)> {
        let &slot = self.parts.get(&job)?;
        Some((slot, core.pieces.get_mut(slot)?))
    }

    fn tell_slots(&mut self, turn: &mut Turn<'_>, from: ActorId, job: JobId) {
        if turn.core.config.disclosure < Disclosure::Slots {
            let reason = Refusal::NotDisclosed;
            return turn.out.send(from, QueryMessage::NoAnswer { job, reason });
        }
        let publishes = turn.core.config.publishes;
        let (begin, end) = self.untold(turn.core, from).unwrap_or_default();
        let own = self.own_part(turn.core, from, job);
        let queue = queue(turn.core);
        let changed = Box::new(queue.free_during(turn.now, begin, end).published(publishes));
        let own = own.map(|slot| queue.free_around(turn.now, slot).published(publishes));
        let own = Box::new(own.unwrap_or_default());
        turn.out.send(from, CoallocationMessage::Slots { job, changed, own });
    }

    /// The stretch of free times that a metascheduler does not know yet. It counts as known from now on.
    fn untold(&mut self, core: &mut Core, metascheduler: ActorId) -> Option<(Time, Time)> {
        self.note_changes(core);
        // A metascheduler that asks for the first time gets all free times.
        self.told.insert(metascheduler, None).unwrap_or(Some((Time::ZERO, Time::FOREVER)))
    }

    /// Adds the latest changes to the stretch that each metascheduler does not know.
    fn note_changes(&mut self, core: &mut Core) {
        if let Some((begin, end)) = queue(core).take_changed() {
            for untold in self.told.values_mut() {
                let (from, until) = untold.get_or_insert((begin, end));
                (*from, *until) = (begin.min(*from), end.max(*until));
            }
        }
    }

    /// A job of a metascheduler has found no room.
    fn on_await_room(&mut self, turn: &mut Turn<'_>, from: ActorId, job: JobId) {
        self.note_changes(turn.core);
        // The metascheduler decided with the times that it knows, which may be older.
        if self.told.get(&from).is_some_and(|untold| untold.is_some()) {
            return turn.out.send(from, CoallocationMessage::RoomGrew { job });
        }
        let free = queue(turn.core).free_for_ever(turn.now);
        self.awaiting.insert(from, (job, free));
    }

    /// Notifies the metaschedulers with jobs that await room, if there is more of it.
    fn tell_room(&mut self, turn: &mut Turn<'_>) {
        if self.awaiting.is_empty() {
            return;
        }
        let free = queue(turn.core).free_for_ever(turn.now);
        self.awaiting.retain(|&metascheduler, &mut (job, before)| {
            let grew = free > before;
            if grew {
                turn.out.send(metascheduler, CoallocationMessage::RoomGrew { job });
            }
            !grew
        });
    }

    /// The slot of a metascheduler's part of a job here.
    fn own_part(&self, core: &Core, metascheduler: ActorId, job: JobId) -> Option<Slot> {
        let own = self.part(core, job).filter(|(_, part)| part.metascheduler == metascheduler);
        own.map(|(slot, _)| slot)
    }

    /// Free times for a job; its part here counts as free.
    fn free_for(&mut self, turn: &mut Turn<'_>, metascheduler: ActorId, job: JobId) -> FreeTimes {
        let own = self.own_part(turn.core, metascheduler, job);
        let publishes = turn.core.config.publishes;
        queue(turn.core).free_times(turn.now, own).published(publishes)
    }

    /// Reports the processors that are available first, and nothing of the plan behind them.
    fn tell_machines(
        &mut self,
        turn: &mut Turn<'_>,
        to: ActorId,
        (job, machines, from): (JobId, u32, Time),
    ) {
        let free = self.free_for(turn, to, job);
        let available = Box::new(free.available(machines, from.max(turn.now)));
        turn.out.send(to, CoallocationMessage::Machines { job, available });
    }

    /// Returns whether a metascheduler may send this message now.
    fn expects_of_part(
        &self,
        core: &Core,
        from: ActorId,
        job: JobId,
        message: &ToParticipant<Parts>,
    ) -> bool {
        let repeats = core.numbered.knows(from);
        let knows = |id| self.seat.machine().is_some_and(|it| it.knows(id));
        let part = self.part(core, job).map(|(_, part)| part);
        let its_own = part.filter(|part| part.metascheduler == from);
        let pending = its_own.and_then(|part| part.pending).map(|(id, _)| id);
        let is_expected = match &message.instruction {
            // A repeated message is answered from the state of its agreement.
            _ if repeats && knows(message.id) => true,
            Instruction::Prepare { request, in_doubt: InDoubt::Release, .. } => match request {
                // A hold whose abort was lost ends with this message.
                Want::Reserve(..) => repeats || !core.pieces.has(job),
                Want::Reconfigure(_) | Want::Leave => its_own.is_some() && pending.is_none(),
            },
            // A provider that broke a hold answers the commit with that.
            Instruction::Commit(()) => repeats || pending == Some(message.id) || knows(message.id),
            // A held part may have been given back already.
            Instruction::Abort => part.is_none() || its_own.is_some(),
            // If another provider breaks its part, it may be that this one has broken its own, too.
            Instruction::Undo => repeats || part.is_none_or(|part| part.program.may_break),
            // Agreements on parts never use the other mode.
            Instruction::Prepare { .. } => false,
        };
        is_expected && message.id.coordinator == from
    }

    /// Carries out the acts of the participant about a job.
    fn carry_out_for_part(&mut self, turn: &mut Turn<'_>, job: JobId, acts: Acts) {
        seat::carry_out(acts, |act, acts| match act {
            Act::Send { to, message } => {
                let message = Box::new(message);
                turn.out.send(to, CoallocationMessage::Answer { job, message });
            }
            Act::Tell(Task::Consider { id, request, .. }) => {
                self.consider_part(turn, job, id, request, acts);
            }
            Act::Tell(Task::CarryOut { id, .. }) => self.do_pending(turn, job, id),
            Act::Tell(Task::GiveUp { id }) => {
                if let Some(job) = self.pending_under(turn.core, job, id) {
                    self.drop_pending(turn, job, id);
                } else if let Some(job) = self.agreed_under(turn.core, job, id) {
                    self.undo_part(turn, job);
                }
            }
            // Without a hold there may be no room any more.
            Act::Tell(Task::TakeUnheld { id, .. }) => {
                self.seat.with(acts, |it, effects| it.expired(id, effects));
            }
        });
    }

    /// The job with a request pending under this agreement. It is most likely `likely`. A message about one job may
    /// be the first sign that an agreement on another job has ended.
    fn pending_under(&self, core: &Core, likely: JobId, id: AgreementId) -> Option<JobId> {
        let is_it = |&job: &JobId| {
            let pending = self.part(core, job).and_then(|(_, part)| part.pending);
            pending.is_some_and(|(pending, _)| pending == id)
        };
        Some(likely).filter(is_it).or_else(|| self.pending.iter().copied().find(is_it))
    }

    /// The job with a part here that was committed under this agreement. It is most likely `likely`.
    fn agreed_under(&self, core: &Core, likely: JobId, id: AgreementId) -> Option<JobId> {
        let is_it =
            |&job: &JobId| self.part(core, job).is_some_and(|(_, part)| part.agreement == id);
        let jobs = || self.parts.keys().copied();
        Some(likely).filter(is_it).or_else(|| jobs().find(|job| is_it(job)))
    }

    /// Prepares for a request, if possible.
    fn consider_part(
        &mut self,
        turn: &mut Turn<'_>,
        job: JobId,
        id: AgreementId,
        want: Want,
        acts: &mut Acts,
    ) {
        let is_ready = match want {
            Want::Reserve(place, program) => self.hold_part(turn, job, id, (place, program)),
            Want::Reconfigure(to) => self.prepare_part(turn, job, to),
            // A part that has started cannot be given up.
            Want::Leave => self.part(turn.core, job).is_some_and(|(_, part)| part.run.is_none()),
        };
        if is_ready && let Some((_, part)) = self.part_mut(turn.core, job) {
            part.pending = Some((id, want));
            let lease = (part.due() - turn.now).max(Span::ZERO);
            self.pending.insert(job);
            self.seat.with(acts, |it, effects| it.ready(turn.now, id, (), lease, effects));
            turn.plan_changed();
        } else {
            let next = self.room_for_part(turn, job, id.coordinator, want);
            self.seat.with(acts, |it, effects| it.not_ready(id, next, effects));
        }
    }

    /// Time from which there would be room for a part that does not fit its requested place, if that is disclosed.
    fn room_for_part(
        &mut self,
        turn: &mut Turn<'_>,
        job: JobId,
        metascheduler: ActorId,
        want: Want,
    ) -> Option<Time> {
        let (place, negotiates) = match want {
            Want::Reserve(place, program) => (place, program.negotiates),
            Want::Reconfigure(to) => (to, self.part(turn.core, job)?.1.program.negotiates),
            Want::Leave => return None,
        };
        let Place { start, span, processors, .. } = place;
        let free = negotiates.then(|| self.free_for(turn, metascheduler, job))?;
        free.earliest_fit(processors, span, start.max(turn.now))
    }

    fn hold_part(
        &mut self,
        turn: &mut Turn<'_>,
        job: JobId,
        id: AgreementId,
        (place, program): (Place, Program),
    ) -> bool {
        let slot = turn.core.pieces.next();
        let is_there = self.parts.contains_key(&job);
        let is_held = !is_there
            && place.processors > 0
            && queue(turn.core).hold(turn.now, slot, place.into());
        if is_held {
            let part = Part {
                job,
                metascheduler: id.coordinator,
                agreement: id,
                may_be_undone: program.may_break || turn.core.numbered.knows(id.coordinator),
                program,
                place,
                queued: turn.now,
                promised_end: place.start + place.span,
                pending: None,
                run: None,
                is_lost: false,
            };
            turn.core.load.waits(place.processors, Some(place.span));
            turn.core.pieces.insert(Piece::Part(Box::new(part)));
            self.parts.insert(job, slot);
        }
        is_held
    }

    fn prepare_part(&mut self, turn: &mut Turn<'_>, job: JobId, to: Place) -> bool {
        let Some((slot, part)) = self.part(turn.core, job) else { return false };
        to.processors > 0 && part.waits() && queue(turn.core).prepare(turn.now, slot, to.into())
    }

    /// Carries out the request of a committed agreement.
    fn do_pending(&mut self, turn: &mut Turn<'_>, job: JobId, id: AgreementId) {
        let Some((slot, want)) = self.take_pending(turn.core, job, id) else { return };
        if let Some((_, part)) = self.part_mut(turn.core, job) {
            part.agreement = id;
        }
        let place = match want {
            Want::Reserve(place, _) => place,
            Want::Reconfigure(to) => {
                let Some((_, part)) = self.part_mut(turn.core, job) else { return };
                let from = std::mem::replace(&mut part.place, to);
                turn.core.load.leaves(from.processors, Some(from.span));
                turn.core.load.waits(to.processors, Some(to.span));
                let has_moved = queue(turn.core).settle(turn.now, slot);
                debug_assert!(has_moved, "its place has been kept");
                // Jobs of the queue are offered the returned time before other parts are.
                queue(turn.core).compress(turn.now);
                to
            }
            Want::Leave => return self.give_up_part(turn, job),
        };
        if let Some((slot, part)) = self.part(turn.core, job).filter(|_| place.alone) {
            let request = part.request(slot);
            queue(turn.core).into_job(request);
        }
        turn.plan_changed();
    }

    /// Drops the request of an agreement that was not committed.
    fn drop_pending(&mut self, turn: &mut Turn<'_>, job: JobId, id: AgreementId) {
        let Some((slot, want)) = self.take_pending(turn.core, job, id) else { return };
        match want {
            Want::Reserve(..) => self.give_up_part(turn, job),
            Want::Reconfigure(_) => {
                queue(turn.core).abandon(turn.now, slot);
                turn.plan_changed();
            }
            Want::Leave => {}
        }
    }

    /// Removes and returns the request that is pending under an agreement.
    fn take_pending(
        &mut self,
        core: &mut Core,
        job: JobId,
        id: AgreementId,
    ) -> Option<(Slot, Want)> {
        let (slot, part) = self.part_mut(core, job)?;
        let (_, want) = part.pending.take_if(|(pending, _)| *pending == id)?;
        self.pending.remove(&job);
        Some((slot, want))
    }

    fn give_up_part(&mut self, turn: &mut Turn<'_>, job: JobId) {
        let Some((slot, &Part { place, is_lost, .. })) = self.part(turn.core, job) else { return };
        if !is_lost {
            let withdrawn = queue(turn.core).withdraw(turn.now, slot);
            debug_assert!(withdrawn, "no part that is given up has started");
        }
        queue(turn.core).compress(turn.now);
        turn.core.load.leaves(place.processors, Some(place.span));
        self.release_part(turn.core, slot);
        turn.plan_changed();
    }

    /// Another provider could not carry out its part any more: this one is given up, even if it runs.
    fn undo_part(&mut self, turn: &mut Turn<'_>, job: JobId) {
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
    pub(super) fn break_part(&mut self, turn: &mut Turn<'_>, slot: Slot) {
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
    pub(super) fn break_late(&mut self, turn: &mut Turn<'_>) {
        let is_late = |&(_, &slot): &(&JobId, &Slot)| {
            let part = turn.core.pieces.get::<Part>(slot);
            part.is_some_and(|part| part.run.is_none() && part.place.start < turn.now)
        };
        let late = Vec::from_iter(self.parts.iter().filter(is_late).map(|(_, &slot)| slot));
        for slot in late {
            let withdrawn = queue(turn.core).withdraw(turn.now, slot);
            debug_assert!(withdrawn, "a part that has not started waits");
            self.break_part(turn, slot);
        }
    }

    /// The participant is lost, except its records.
    pub(super) fn crash(&mut self) {
        self.seat.crash();
    }

    /// The participant starts again from its records. The parts are still in the plan.
    pub(super) fn restart(&mut self, turn: &mut Turn<'_>) {
        let mut acts = Acts::new();
        self.seat.start(turn.now, &mut acts);
        self.carry_out_for_part(turn, JobId::default(), acts);
    }

    fn release_part(&mut self, core: &mut Core, slot: Slot) -> Option<Part> {
        let part = core.pieces.take::<Part>(slot)?;
        self.parts.remove(&part.job);
        self.pending.remove(&part.job);
        Some(part)
    }

    /// Before anything starts, drops the requests whose commit is overdue. Jobs then move up to the returned time.
    pub(super) fn settle_parts(&mut self, turn: &mut Turn<'_>) {
        let parts = self.pending.iter().filter_map(|&job| {
            let (_, part) = self.part(turn.core, job)?;
            let (id, _) = part.pending.filter(|_| part.due() <= turn.now)?;
            Some((job, id))
        });
        for (job, id) in Vec::from_iter(parts) {
            let mut acts = Acts::new();
            self.seat.expire(turn.now, id, &mut acts);
            self.carry_out_for_part(turn, job, acts);
        }
        queue(turn.core).compress(turn.now);
        self.tell_room(turn);
    }

    /// Handles the end of a part.
    pub(super) fn on_part_ended(&mut self, turn: &mut Turn<'_>, slot: Slot) {
        let Some(mut part) = self.release_part(turn.core, slot) else { return };
        let Some(attempt) = part.run.take() else { return };
        turn.job_finished(attempt.killed(slot));
        turn.core.machine.end(&attempt);
        let Attempt { planned_end, outcome, .. } = attempt;
        let (job, provider, id) = (part.job, turn.core.config.id, part.agreement);
        turn.out.send(part.metascheduler, CoallocationMessage::Finished { job, id, outcome });
        let run = attempt.ended(turn.now);
        let over = part.over(provider, Some(&run));
        turn.out.observe(Observation::TasksOver { job, provider, run });
        turn.out.observe(over);
        turn.ended_early(planned_end);
        turn.plan_changed();
    }

    /// Moves jobs up first; parts may use the room that is left.
    pub(super) fn on_room(&mut self, turn: &mut Turn<'_>) {
        queue(turn.core).compress(turn.now);
        self.rounds = Rounds::new(Rounds::<JobId>::MOST);
        self.ask_next(turn);
    }

    fn ask_next(&mut self, turn: &mut Turn<'_>) {
        while self.asked.is_none() {
            let mut rounds = std::mem::replace(&mut self.rounds, Rounds::new(0));
            let is_idle = queue(turn.core).is_idle(turn.now);
            let next = rounds.next(|| is_idle, || self.to_ask(turn.core));
            self.rounds = rounds;
            let Some(job) = next else { return };
            // A part that was here at the beginning of the round may have moved away since.
            let Some((_, part)) = self.part(turn.core, job).filter(|(_, part)| may_move(part))
            else {
                continue;
            };
            turn.out.send(part.metascheduler, CoallocationMessage::RescheduleRequest { job });
            self.asked = Some(job);
        }
    }

    /// Jobs whose metaschedulers are asked for a move, in the order of planned starts.
    fn to_ask(&self, core: &Core) -> Vec<JobId> {
        let parts = self.parts.keys().filter_map(|&job| {
            let (_, part) = self.part(core, job)?;
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

/// Starts a part, as the scheduler has decided.
pub(super) fn start_part(turn: &mut Turn<'_>, slot: Slot) {
    let Some(part) = turn.core.pieces.get_mut::<Part>(slot) else {
        unreachable!("the scheduler starts parts that are held")
    };
    let Place { span, processors: count, alone, .. } = part.place;
    let run_time = part.place.run_time.reveal_to_machine();
    let takes = if alone { run_time } else { with_overhead(run_time, part.program.overhead) };
    let (lasts, outcome) = limited(takes, Some(span), Overrun::Kill);
    let end = turn.now + lasts;
    turn.core.load.leaves(count, Some(span));
    let attempt = turn.core.machine.start(turn.now, count, turn.now + span);
    turn.out.set(end, Timer::RunEnds { slot: slot.0 });
    let (job, id) = (part.job, part.agreement);
    turn.out.send(part.metascheduler, CoallocationMessage::Started { job, id });
    // The queue may have started it earlier than it was booked.
    part.place.start = turn.now;
    part.run = Some(Attempt { end, outcome, ..attempt });
}

/// A part that runs has lost processors. It keeps its slot until the queue has forgotten it.
pub(super) fn lose(turn: &mut Turn<'_>, slot: Slot, losses: &mut Losses) {
    let Turn { core, now, out } = turn;
    let Some(part) = core.pieces.get_mut::<Part>(slot) else { return };
    let Some(attempt) = part.run.take() else { return };
    part.is_lost = true;
    out.stop(Timer::RunEnds { slot: slot.0 });
    core.machine.end(&attempt);
    losses.killed.push(attempt.killed(slot));
    losses.parts.push(slot);
    let run = attempt.lost(core.config.id, *now);
    out.observe(Observation::RunLost { job: part.job, run });
}

fn queue(core: &mut Core) -> &mut CoallocationQueue {
    core.scheduler.coallocation().expect("a provider with this service takes parts")
}
