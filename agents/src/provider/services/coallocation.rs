//! A provider's side of co-allocation (Netto 2009, Algorithm 3): it reports its free times, and holds, moves and runs
//! parts. When it has become idle, it requests moves of parts.
//!
//! The [`Participant`] keeps the states of agreements. A lease ends at the start of the part, in its old or its new
//! place. Requests that are not committed by then are dropped before anything starts, so no timer is needed.

mod breaking;
mod moving;
mod part;
mod profiling;
mod room;

use std::collections::{BTreeMap, BTreeSet};

use haggle_agreements::seat::{self, Act, Keeps, Seat};
use haggle_agreements::{
    AgreementId, InDoubt, Instruction, Participant, Task, ToCoordinator, ToParticipant,
};
use haggle_model::{ActorId, JobId, Span, Time};
use haggle_scheduling::Slot;
use haggle_scheduling::coallocation::{self, Rounds};
use serde::{Deserialize, Serialize};

pub(in crate::provider) use self::part::Part;
pub(super) use self::part::{lose, start_part};
use self::profiling::Profiling;
use crate::protocol::CoallocationMessage;
use crate::protocol::coallocation::{Parts, Place, Program, Want};
use crate::provider::core::{Core, Piece, Turn};

/// State of co-allocation at a provider, beside the parts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Coallocation {
    seat: Seat<Participant<Parts>>,
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

    /// The slot of a metascheduler's part of a job here.
    fn own_part(&self, core: &Core, metascheduler: ActorId, job: JobId) -> Option<Slot> {
        let own = self.part(core, job).filter(|(_, part)| part.metascheduler == metascheduler);
        own.map(|(slot, _)| slot)
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
                // A hold whose abort was lost, or is overtaken by this message, ends with it.
                Want::Reserve(..) => {
                    let is_over = pending.is_some_and(|id| id.number < message.settled);
                    repeats || is_over || !core.pieces.has(job)
                }
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
            queue(turn.core).turn_into_job(request);
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
            let withdrawn = turn.core.scheduler.withdraw(turn.now, slot);
            debug_assert!(withdrawn, "no part that is given up has started");
        }
        queue(turn.core).compress(turn.now);
        turn.core.load.leaves(place.processors, Some(place.span));
        self.release_part(turn.core, slot);
        turn.plan_changed();
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
}

fn queue(core: &mut Core) -> &mut dyn coallocation::Parts {
    core.scheduler.parts()
}
