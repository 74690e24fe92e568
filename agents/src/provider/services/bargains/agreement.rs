//! A provider's part in agreements over bags: it holds the requested tasks, runs the committed
//! ones, and gives back the rest.
//!
//! The [`Participant`] keeps the state of each agreement; the provider decides what it can hold. A
//! lease ends when the first held task may start. A hold that is not committed by then is given
//! back before any task starts. So the plan wakes the provider up, and no timer is needed. A later
//! commit is queued all the same.

use std::sync::Arc;

use haggle_agreements::seat::{self, Act, Keeps, Seat};
use haggle_agreements::{
    AgreementId, InDoubt, Instruction, Participant, Task, ToCoordinator, ToParticipant,
};
use haggle_model::{ActorId, JobId, JobOutcome, Span, Time};
use haggle_scheduling::{Award, Offer, Slot};
use serde::{Deserialize, Serialize};

use super::Bargains;
use super::negotiation::OpenCall;
use super::shares::Share;
use crate::protocol::agreement::{Bags, ShareOrder};
use crate::protocol::{AgreementMessage, Timer};
use crate::provider::core::{Core, Piece, Turn};

/// The agreements that a provider takes part in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Agreements(Seat<Participant<Bags>>);

type Acts = seat::Acts<ToCoordinator<Bags>, Task<Bags>>;

/// Part of a bag that is held for its metascheduler.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Hold {
    agreement: AgreementId,
    slot: Slot,
    tasks: u32,
    promised_end: Time,
}

impl Hold {
    pub(super) fn agreement(&self) -> AgreementId {
        self.agreement
    }

    pub(super) fn tasks(&self) -> u32 {
        self.tasks
    }

    pub(super) fn promised_end(&self) -> Time {
        self.promised_end
    }
}

impl Agreements {
    /// No agreements. With `repeats`, messages may be lost, and are repeated.
    pub(super) fn new(me: ActorId, repeats: bool) -> Agreements {
        let keeps = if repeats { Keeps::All } else { Keeps::Nothing };
        let mut seat = Seat::new(me, (), keeps);
        seat.start(Time::ZERO, &mut Acts::new());
        Agreements(seat)
    }

    /// Returns whether a message about an agreement is answered from its state.
    fn know(&self, id: AgreementId) -> bool {
        self.0.machine().is_some_and(|participant| participant.knows(id))
    }
}

impl Bargains {
    pub(in crate::provider::services) fn on_agreement(
        &mut self,
        turn: &mut Turn<'_>,
        from: ActorId,
        message: AgreementMessage,
    ) -> bool {
        match message {
            AgreementMessage::Instruct { job, message } => {
                let expected = self.expects(from, job, &message);
                if expected {
                    self.on_instruction(turn, from, job, *message);
                }
                // A message that was under way for long may be about a bag that is over.
                expected || turn.core.numbered.knows(from)
            }
            AgreementMessage::Release { job } => self.on_released(turn, from, job),
            AgreementMessage::Answer { .. } => false,
        }
    }

    /// True if a metascheduler may send this message now.
    fn expects(&self, from: ActorId, job: JobId, message: &ToParticipant<Bags>) -> bool {
        let id = message.id;
        // A hold of an agreement that is over ends with this message.
        let is_over = |other: AgreementId| other == id || other.number < message.settled;
        let is_free = |open: &OpenCall| {
            let held = open.held.as_ref().map(|hold| hold.agreement);
            held.is_none_or(is_over)
        };
        let is_expected = match &message.instruction {
            Instruction::Commit(ShareOrder { unheld: 0, .. }) => false,
            _ if self.agreements.know(id) => true,
            // No hold may last longer than its lease.
            Instruction::Prepare { in_doubt, .. } => {
                *in_doubt == InDoubt::Release && self.open_call(from, job).is_some_and(is_free)
            }
            Instruction::Commit(_) => self.open_call(from, job).is_some_and(is_free),
            // The call may have been refused, or the hold given back.
            Instruction::Abort => self.is_caller(from, job),
            // A commit is never too late here, so it is never undone.
            Instruction::Undo => false,
        };
        is_expected && id.coordinator == from
    }

    fn on_instruction(
        &mut self,
        turn: &mut Turn<'_>,
        from: ActorId,
        job: JobId,
        message: ToParticipant<Bags>,
    ) {
        let order = match message.instruction {
            Instruction::Commit(order) => Some(order),
            _ => None,
        };
        let had = turn.core.pieces.slot(job);
        let mut acts = Acts::new();
        self.agreements.0.hear(turn.now, from, message, &mut acts);
        self.carry_out(turn, job, acts);
        // A repeated commit brings no news.
        if let Some(ShareOrder { expected, .. }) = order
            && let Some(slot) = turn.core.pieces.slot(job)
            && had.is_none()
        {
            self.expect(turn, job, slot, expected);
        }
    }

    /// The participant is lost, except its records.
    pub(in crate::provider::services) fn crash(&mut self) {
        self.agreements.0.crash();
    }

    /// The participant starts again from its records. The held tasks are still in the plan.
    pub(in crate::provider::services) fn restart(&mut self, turn: &mut Turn<'_>) {
        let mut acts = Acts::new();
        self.agreements.0.start(turn.now, &mut acts);
        self.carry_out(turn, JobId::default(), acts);
    }

    /// Gives back the tasks that are held for a metascheduler which does not want them any more.
    pub(super) fn abort_hold(&mut self, turn: &mut Turn<'_>, from: ActorId, job: JobId) {
        let open = self.negotiation.open.get(&job);
        if let Some(id) = open.and_then(|open| open.held.as_ref()).map(|hold| hold.agreement) {
            let message = ToParticipant { id, settled: 0, instruction: Instruction::Abort };
            self.on_instruction(turn, from, job, message);
        }
    }

    /// Carries out the acts of the participant about a bag.
    fn carry_out(&mut self, turn: &mut Turn<'_>, job: JobId, acts: Acts) {
        seat::carry_out(acts, |act, acts| match act {
            Act::Send { to, message } => {
                let message = Box::new(message);
                turn.out.send(to, AgreementMessage::Answer { job, message });
            }
            Act::Tell(task) => self.on_task(turn, job, task, acts),
        });
    }

    fn on_task(&mut self, turn: &mut Turn<'_>, job: JobId, task: Task<Bags>, acts: &mut Acts) {
        match task {
            Task::Consider { id, request, lease } => {
                self.consider(turn, job, id, (&request, lease), acts);
            }
            Task::CarryOut { id, .. } => self.commit(turn, job, id),
            Task::TakeUnheld { id, order } => {
                self.take_unheld(turn, job, id, order.unheld, acts);
            }
            Task::GiveUp { id } => {
                if let Some(job) = self.holding(job, id) {
                    self.give_back(turn, job);
                }
            }
        }
    }

    /// The bag of which tasks are held under this agreement; most likely `likely`.
    fn holding(&self, likely: JobId, id: AgreementId) -> Option<JobId> {
        let open = &self.negotiation.open;
        let is_it = |call: &OpenCall| call.held.as_ref().is_some_and(|hold| hold.agreement == id);
        match open.get(&likely) {
            Some(call) if is_it(call) => Some(likely),
            _ => open.iter().find(|(_, call)| is_it(call)).map(|(&job, _)| job),
        }
    }

    /// Holds the requested tasks if that is still possible, and makes new offers otherwise.
    fn consider(
        &mut self,
        turn: &mut Turn<'_>,
        job: JobId,
        id: AgreementId,
        (award, lease): (&Award, Span),
        acts: &mut Acts,
    ) {
        let Some(open) = self.negotiation.open.get(&job) else { return };
        let (in_time, earliest) = (turn.now <= open.valid_until, open.earliest);
        let request = self.request(turn.core, &open.call, open.call.tasks, earliest);
        let slot = turn.core.pieces.next();
        let bargainer = turn.core.scheduler.bags();
        // If newer offers were lost, the award may be for older ones, and no task may start before `earliest`.
        let is_new = match award {
            Award::Placed { batches, .. } => batches.iter().all(|batch| batch.start >= earliest),
            Award::Offered { .. } => true,
        };
        let booked = (in_time && is_new).then(|| bargainer.award(turn.now, slot, &request, award));
        let Some(completion) = booked.flatten() else {
            if let Some((_, answer)) = self.make_offers(turn, job) {
                let offers = Arc::new(answer);
                self.agreements.0.with(acts, |it, effects| it.not_ready(id, offers, effects));
            }
            return;
        };
        let (tasks, promised_end) = match award {
            Award::Offered { tasks, offer } => (*tasks, promised(turn.core, *offer, completion)),
            Award::Placed { batches, deadline } => {
                (batches.iter().map(|batch| batch.tasks).sum(), *deadline)
            }
        };
        turn.core.pieces.insert(Piece::Held);
        turn.core.load.waits(tasks, Some(request.span));
        if let Some(open) = self.negotiation.open.get_mut(&job) {
            open.held = Some(Hold { agreement: id, slot, tasks, promised_end });
        }
        // The metascheduler of this hold needs no probe, because it knows of the change.
        turn.plan_changed();
        let lease = lease.min(earliest - turn.now);
        self.agreements
            .0
            .with(acts, |it, effects| it.ready(turn.now, id, promised_end, lease, effects));
    }

    /// Turns a hold into a share.
    fn commit(&mut self, turn: &mut Turn<'_>, job: JobId, id: AgreementId) {
        let held = self.negotiation.open.get_mut(&job).and_then(|open| open.held.take());
        let Some(Hold { slot, tasks, promised_end, .. }) = held.filter(|it| it.agreement == id)
        else {
            return;
        };
        let Some(share) = self.share(turn, job, tasks) else { return };
        turn.core.pieces.commit(slot, Share { promised_end, ..share });
    }

    /// Queues a share for which nothing is held, as early as it fits.
    fn take_unheld(
        &mut self,
        turn: &mut Turn<'_>,
        job: JobId,
        id: AgreementId,
        tasks: u32,
        acts: &mut Acts,
    ) {
        let Some(mut share) = self.share(turn, job, tasks) else { return };
        let request = self.request(turn.core, &share.call, tasks, turn.now);
        let slot = turn.core.pieces.insert(Piece::Held);
        let bargainer = turn.core.scheduler.bags();
        let offer = bargainer.offers(turn.now, &request).pop().expect("the whole bag is offered");
        let award = Award::Offered { tasks, offer };
        let completion =
            bargainer.award(turn.now, slot, &request, &award).expect("the plan has not changed");
        share.promised_end = promised(turn.core, offer, completion);
        turn.core.load.waits(tasks, Some(share.walltime));
        turn.plan_changed();
        let promised_end = share.promised_end;
        self.agreements.0.with(acts, |it, effects| it.take(id, promised_end, effects));
        turn.core.pieces.commit(slot, share);
    }

    /// Closes the call: so many tasks of the bag are queued here.
    fn share(&mut self, turn: &mut Turn<'_>, job: JobId, tasks: u32) -> Option<Share> {
        let OpenCall { call, metascheduler, .. } = self.negotiation.open.remove(&job)?;
        Some(Share {
            walltime: self.planned_span(turn.core, &call),
            call,
            metascheduler,
            tasks,
            queued: turn.now,
            promised_end: Time::FOREVER,
            running: Vec::new(),
            outcome: JobOutcome::Completed,
            left: tasks,
            lost: 0,
        })
    }

    /// The metascheduler needs neither further offers for a bag nor its held tasks.
    fn on_released(&mut self, turn: &mut Turn<'_>, from: ActorId, job: JobId) -> bool {
        if !self.is_caller(from, job) {
            return false;
        }
        self.abort_hold(turn, from, job);
        let open = self.negotiation.open.remove(&job);
        if open.is_some_and(|open| open.offered.is_none()) {
            turn.out.stop(Timer::EstimateReady { job });
        }
        true
    }

    /// True if this metascheduler has called for offers for a bag, or there is no call for it.
    fn is_caller(&self, from: ActorId, job: JobId) -> bool {
        let open = self.negotiation.open.get(&job);
        open.is_none_or(|open| open.metascheduler == from)
    }

    /// Gives back holds that were not committed by the time at which their first task may start.
    pub(in crate::provider::services) fn expire_holds(&mut self, turn: &mut Turn<'_>) {
        let held = self.negotiation.open.iter();
        let due = held.filter(|(_, open)| open.earliest <= turn.now);
        let due = due.filter_map(|(&job, open)| Some((job, open.held.as_ref()?.agreement)));
        for (job, id) in Vec::from_iter(due) {
            let mut acts = Acts::new();
            self.agreements.0.expire(turn.now, id, &mut acts);
            self.carry_out(turn, job, acts);
        }
    }

    fn give_back(&mut self, turn: &mut Turn<'_>, job: JobId) {
        let Some(open) = self.negotiation.open.get_mut(&job) else { return };
        let Some(Hold { slot, tasks, .. }) = open.held.take() else { return };
        let span = self.planned_span(turn.core, &self.negotiation.open[&job].call);
        let withdrawn = turn.core.scheduler.withdraw(turn.now, slot);
        assert!(withdrawn, "no task of a held part has started");
        turn.core.pieces.remove(slot);
        turn.core.load.leaves(tasks, Some(span));
        turn.plan_changed();
    }
}

/// The completion that an award promises. A planned completion never grows under conservative
/// backfilling; an EDF queue uses the time up to the offered completion.
fn promised(core: &Core, offer: Offer, planned: Time) -> Time {
    if core.config.scheduler.backfills_bags() { planned } else { offer.completion }
}
