//! A provider's part in agreements over bags: it holds the requested tasks, runs the committed
//! ones, and gives back the rest.
//!
//! The [`Participant`] keeps the state of each agreement; the provider decides what it can hold. A
//! lease ends when the first held task may start. A hold that is not committed by then is given
//! back before any task starts. So the plan wakes the provider up, and no timer is needed. A later
//! commit is queued all the same.

use std::sync::Arc;

use haggle_agreements::seat::{self, Act, Keeps, Plain, Seat};
use haggle_agreements::{
    AgreementId, InDoubt, Instruction, Participant, Task, ToCoordinator, ToParticipant,
};
use haggle_model::{ActorId, JobId, JobOutcome, Span, Time};
use haggle_scheduling::{Award, Offer, Scheduling, Slot};

use super::Provider;
use super::negotiation::OpenCall;
use super::pieces::Piece;
use super::shares::Share;
use crate::Outbox;
use crate::protocol::agreement::{Bags, ShareOrder};
use crate::protocol::{AgreementMessage, Timer};

/// The agreements that a provider takes part in.
#[derive(Debug)]
pub(super) struct Agreements(Seat<Plain, Participant<Bags>>);

type Acts = seat::Acts<ToCoordinator<Bags>, Task<Bags>>;

/// Part of a bag that is held for its metascheduler.
#[derive(Debug)]
pub(super) struct Hold {
    agreement: AgreementId,
    slot: Slot,
    tasks: u32,
    promised_end: Time,
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

impl Provider {
    pub(super) fn on_agreement(
        &mut self,
        now: Time,
        from: ActorId,
        message: AgreementMessage,
        out: &mut Outbox,
    ) -> bool {
        match message {
            AgreementMessage::Instruct { job, message } => {
                let expected = self.expects(from, job, &message);
                if expected {
                    self.on_instruction(now, from, job, *message, out);
                }
                // A message that was under way for long may be about a bag that is over.
                expected || self.numbered.knows(from)
            }
            AgreementMessage::Release { job } => self.on_released(now, from, job, out),
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
        now: Time,
        from: ActorId,
        job: JobId,
        message: ToParticipant<Bags>,
        out: &mut Outbox,
    ) {
        let order = match message.instruction {
            Instruction::Commit(order) => Some(order),
            _ => None,
        };
        let had = self.pieces.slot(job);
        let mut acts = Acts::new();
        self.agreements.0.hear(now, from, message, &mut acts);
        self.carry_out(now, job, acts, out);
        // A repeated commit brings no news.
        if let Some(ShareOrder { expected, .. }) = order
            && let Some(slot) = self.pieces.slot(job)
            && had.is_none()
        {
            self.expect(job, slot, expected, out);
        }
    }

    /// The participant is lost, except its records.
    pub(super) fn crash_agreements(&mut self) {
        self.agreements.0.crash();
    }

    /// The participant starts again from its records. The held tasks are still in the plan.
    pub(super) fn restart_agreements(&mut self, now: Time, out: &mut Outbox) {
        let mut acts = Acts::new();
        self.agreements.0.start(now, &mut acts);
        self.carry_out(now, JobId::default(), acts, out);
    }

    /// Gives back the tasks that are held for a metascheduler which does not want them any more.
    pub(super) fn abort_hold(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) {
        let open = self.negotiation.open.get(&job);
        if let Some(id) = open.and_then(|open| open.held.as_ref()).map(|hold| hold.agreement) {
            let message = ToParticipant { id, settled: 0, instruction: Instruction::Abort };
            self.on_instruction(now, from, job, message, out);
        }
    }

    /// Carries out the acts of the participant about a bag.
    fn carry_out(&mut self, now: Time, job: JobId, acts: Acts, out: &mut Outbox) {
        seat::carry_out(acts, |act, acts| match act {
            Act::Send { to, message } => {
                let message = Box::new(message);
                out.send(to, AgreementMessage::Answer { job, message });
            }
            Act::Tell(task) => self.on_task(now, job, task, acts, out),
        });
    }

    fn on_task(
        &mut self,
        now: Time,
        job: JobId,
        task: Task<Bags>,
        acts: &mut Acts,
        out: &mut Outbox,
    ) {
        match task {
            Task::Consider { id, request, lease } => {
                self.consider(now, job, id, (&request, lease), acts, out);
            }
            Task::CarryOut { id, .. } => self.commit(now, job, id),
            Task::TakeUnheld { id, order } => {
                self.take_unheld(now, job, id, order.unheld, acts, out);
            }
            Task::GiveUp { id } => {
                if let Some(job) = self.holding(job, id) {
                    self.give_back(now, job, out);
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
        now: Time,
        job: JobId,
        id: AgreementId,
        (award, lease): (&Award, Span),
        acts: &mut Acts,
        out: &mut Outbox,
    ) {
        let Some(open) = self.negotiation.open.get(&job) else { return };
        let (in_time, earliest) = (now <= open.valid_until, open.earliest);
        let request = self.request(&open.call, open.call.tasks, earliest);
        let slot = self.pieces.next();
        let bargainer = self.scheduler.bargainer().expect("it bargains");
        // If newer offers were lost, the award may be for older ones, and no task may start before `earliest`.
        let is_new = match award {
            Award::Placed { batches, .. } => batches.iter().all(|batch| batch.start >= earliest),
            Award::Offered { .. } => true,
        };
        let booked = (in_time && is_new).then(|| bargainer.award(now, slot, &request, award));
        let Some(completion) = booked.flatten() else {
            if let Some((_, answer)) = self.make_offers(now, job, out) {
                let offers = Arc::new(answer);
                self.agreements.0.with(acts, |it, out| it.not_ready(id, offers, out));
            }
            return;
        };
        let (tasks, promised_end) = match award {
            Award::Offered { tasks, offer } => (*tasks, self.promised(*offer, completion)),
            Award::Placed { batches, deadline } => {
                (batches.iter().map(|batch| batch.tasks).sum(), *deadline)
            }
        };
        self.pieces.insert(Piece::Held);
        self.load.waits(tasks, Some(request.span));
        if let Some(open) = self.negotiation.open.get_mut(&job) {
            open.held = Some(Hold { agreement: id, slot, tasks, promised_end });
        }
        // The metascheduler of this hold needs no probe, because it knows of the change.
        self.plan_changed(now, out);
        let lease = lease.min(earliest - now);
        self.agreements.0.with(acts, |it, out| it.ready(now, id, promised_end, lease, out));
    }

    /// The completion that an award promises. A planned completion never grows under conservative
    /// backfilling; an EDF queue uses the time up to the offered completion.
    fn promised(&self, offer: Offer, planned: Time) -> Time {
        match self.config.scheduler {
            Scheduling::Bags { .. } => planned,
            _ => offer.completion,
        }
    }

    /// Turns a hold into a share.
    fn commit(&mut self, now: Time, job: JobId, id: AgreementId) {
        let held = self.negotiation.open.get_mut(&job).and_then(|open| open.held.take());
        let Some(Hold { slot, tasks, promised_end, .. }) = held.filter(|it| it.agreement == id)
        else {
            return;
        };
        let Some(share) = self.share(now, job, tasks) else { return };
        self.pieces.commit(slot, Share { promised_end, ..share });
    }

    /// Queues a share for which nothing is held, as early as it fits.
    fn take_unheld(
        &mut self,
        now: Time,
        job: JobId,
        id: AgreementId,
        tasks: u32,
        acts: &mut Acts,
        out: &mut Outbox,
    ) {
        let Some(mut share) = self.share(now, job, tasks) else { return };
        let request = self.request(&share.call, tasks, now);
        let slot = self.pieces.insert(Piece::Held);
        let bargainer = self.scheduler.bargainer().expect("it bargains");
        let offer = bargainer.offers(now, &request).pop().expect("the whole bag is offered");
        let award = Award::Offered { tasks, offer };
        let completion =
            bargainer.award(now, slot, &request, &award).expect("the plan has not changed");
        share.promised_end = self.promised(offer, completion);
        self.load.waits(tasks, Some(share.walltime));
        self.plan_changed(now, out);
        let promised_end = share.promised_end;
        self.agreements.0.with(acts, |it, out| it.take(id, promised_end, out));
        self.pieces.commit(slot, share);
    }

    /// Closes the call: so many tasks of the bag are queued here.
    fn share(&mut self, now: Time, job: JobId, tasks: u32) -> Option<Share> {
        let OpenCall { call, metascheduler, .. } = self.negotiation.open.remove(&job)?;
        Some(Share {
            walltime: self.planned_span(&call),
            call,
            metascheduler,
            tasks,
            queued: now,
            promised_end: Time::FOREVER,
            running: Vec::new(),
            outcome: JobOutcome::Completed,
            left: tasks,
            lost: 0,
        })
    }

    /// The metascheduler needs neither further offers for a bag nor its held tasks.
    fn on_released(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) -> bool {
        if !self.is_caller(from, job) {
            return false;
        }
        self.abort_hold(now, from, job, out);
        let open = self.negotiation.open.remove(&job);
        if open.is_some_and(|open| open.offered.is_none()) {
            out.stop(Timer::EstimateReady { job });
        }
        true
    }

    /// True if this metascheduler has called for offers for a bag, or there is no call for it.
    fn is_caller(&self, from: ActorId, job: JobId) -> bool {
        let open = self.negotiation.open.get(&job);
        open.is_none_or(|open| open.metascheduler == from)
    }

    /// Gives back holds that were not committed by the time at which their first task may start.
    pub(super) fn expire_holds(&mut self, now: Time, out: &mut Outbox) {
        let held = self.negotiation.open.iter();
        let due = held.filter(|(_, open)| open.earliest <= now);
        let due = due.filter_map(|(&job, open)| Some((job, open.held.as_ref()?.agreement)));
        for (job, id) in Vec::from_iter(due) {
            let mut acts = Acts::new();
            self.agreements.0.expire(now, id, &mut acts);
            self.carry_out(now, job, acts, out);
        }
    }

    fn give_back(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let Some(open) = self.negotiation.open.get_mut(&job) else { return };
        let Some(Hold { slot, tasks, .. }) = open.held.take() else { return };
        let span = self.planned_span(&self.negotiation.open[&job].call);
        let withdrawn = self.scheduler.withdraw(now, slot);
        assert!(withdrawn, "no task of a held part has started");
        self.pieces.remove(slot);
        self.load.leaves(tasks, Some(span));
        self.plan_changed(now, out);
    }
}
