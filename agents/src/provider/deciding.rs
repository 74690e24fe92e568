//! Time of a provider's decisions, and the changes that they take into account.
//!
//! ```text
//!  ends, failures, repairs ──▶ room        one compression ──▶ starts become fixed
//!  submissions ──▶ arrived ──────────────▶ they join the queue, in its order
//!  requests for windows ─────────────────▶ they are answered, first come first
//!                                          one scheduling pass: jobs start
//! ```
//!
//! All of that happens at the end of an instant ([`Passes::Instant`]). So the order in which the
//! messages of an instant are delivered does not affect the schedule. If another actor asks about
//! the plan before that, the arrived jobs join the queue first: an answer counts all jobs that were
//! submitted before the question. With [`Passes::Event`] a decision follows each message that
//! changes something.

use haggle_model::{ActorId, Time};
use haggle_scheduling::{Passes, Request, Slot};

use super::Provider;
use super::job::HeldJob;
use crate::Outbox;
use crate::protocol::{Message, Submission, Timer};

/// Jobs and requests that wait for the next decision.
#[derive(Debug)]
pub(super) struct Deciding {
    passes: Passes,
    /// The instant at whose end a decision is due.
    due: Option<Time>,
    /// Jobs that have been submitted and have not joined the queue.
    arrived: Vec<Request>,
    /// Requests for windows, with their senders.
    asked: Vec<(ActorId, Submission)>,
}

impl Deciding {
    pub(super) fn new(passes: Passes) -> Deciding {
        Deciding { passes, due: None, arrived: Vec::new(), asked: Vec::new() }
    }
}

/// True if the answer to a message depends on the plan of the queue.
pub(super) fn asks_of_queue(message: &Message) -> bool {
    match message {
        Message::Query(_)
        | Message::Reallocation(_)
        | Message::Bargain(_)
        | Message::Agreement(_)
        | Message::Transaction(_) => true,
        Message::Wake(timer) => matches!(
            timer,
            Timer::EstimateReady { .. }
                | Timer::AgreementDue
                | Timer::MaintenanceAnnounced { .. }
                | Timer::MaintenanceBegins { .. }
        ),
        // Parts that move at an instant precede the jobs that arrive at it.
        _ => false,
    }
}

impl Provider {
    /// A job must wait; it joins the queue with the next decision.
    pub(super) fn arrive(&mut self, now: Time, request: Request) {
        self.deciding.arrived.push(request);
        if self.deciding.passes == Passes::Event {
            self.join_queue(now);
        }
    }

    /// Takes a job back that has not joined the queue; false if it is in the queue.
    pub(super) fn leave_early(&mut self, slot: Slot) -> bool {
        let arrived = &mut self.deciding.arrived;
        let place = arrived.iter().position(|request| request.slot == slot);
        place.map(|place| arrived.remove(place)).is_some()
    }

    /// Jobs that have arrived join the queue, in its order.
    pub(super) fn join_queue(&mut self, now: Time) {
        if self.deciding.arrived.is_empty() {
            return;
        }
        let mut together = std::mem::take(&mut self.deciding.arrived);
        if together.len() > 1 {
            self.scheduler.sort(&mut together);
        }
        for request in together.drain(..) {
            let Some(held) = self.pieces.get_mut::<HeldJob>(request.slot) else { continue };
            let ready = held.particulars().stage_in.ready;
            let promised_end = match self.scheduler.reserving() {
                Some(queue) if ready > now => queue.submit_after(now, request, ready),
                _ => self.scheduler.submit(now, request),
            };
            // The first promise stays: if a failure breaks it, the record must show that.
            if held.particulars().lost == 0 {
                held.promised_end = promised_end;
            }
        }
        self.deciding.arrived = together;
    }

    /// A window is requested; the answer comes with the next decision.
    pub(super) fn ask_for_window(
        &mut self,
        now: Time,
        from: ActorId,
        submission: Submission,
        out: &mut Outbox,
    ) {
        self.deciding.asked.push((from, submission));
        self.plan_changed(now, out);
    }

    /// The plan may have changed: a decision follows, at once or at the end of the instant. Waiting
    /// tasks of bags move up earlier, after all ends of this instant.
    pub(super) fn plan_changed(&mut self, now: Time, out: &mut Outbox) {
        if self.mailbox.is_some() {
            return;
        }
        if self.deciding.passes == Passes::Event {
            return self.decide(now, out);
        }
        if self.bargains {
            self.negotiation.changed = true;
            if self.scheduler.bargainer().is_some_and(|it| it.wants_rescheduling()) {
                out.set(now, Timer::Reschedule);
            }
        }
        let is_due = self.wake == Some(now) || self.deciding.due == Some(now);
        if !is_due && self.may_start() {
            self.deciding.due = Some(now);
            out.wake(now, Timer::PlanDue);
        }
    }

    /// True if a decision could start anything.
    fn may_start(&self) -> bool {
        let waits = !self.deciding.arrived.is_empty() || !self.deciding.asked.is_empty();
        // Parts and bags have timers of their own in a decision.
        self.bargains || self.coallocates || waits || self.scheduler.queue_length() > 0
    }

    /// A planned start is due, or the end of an instant with changes.
    pub(super) fn on_plan_due(&mut self, now: Time, out: &mut Outbox) {
        // Changes from here on are part of this decision.
        self.deciding.due = Some(now);
        if self.wake == Some(now) {
            self.wake = None;
        }
        if self.bargains {
            self.expire_holds(now, out);
        }
        if self.coallocates {
            self.settle_parts(now, out);
            self.room_may_have_changed(now, out);
        }
        self.decide(now, out);
        if self.bargains {
            self.start_due_tasks(now, out);
            self.send_probes(out);
            self.wake_for_next_start(now, out);
        }
        self.deciding.due = None;
    }

    /// Grants windows, lets jobs join the queue, and starts jobs.
    pub(super) fn decide(&mut self, now: Time, out: &mut Outbox) {
        let mut asked = std::mem::take(&mut self.deciding.asked);
        if !asked.is_empty() {
            // Jobs that are due must start before a request is considered.
            self.start_due(now, out);
            for (from, submission) in asked.drain(..) {
                self.on_window_asked(now, from, submission, out);
            }
        }
        self.deciding.asked = asked;
        self.join_queue(now);
        self.start_due(now, out);
    }

    /// Starts the jobs that are due, and sets a wake-up for the next start.
    pub(super) fn start_due(&mut self, now: Time, out: &mut Outbox) {
        let mut started = std::mem::take(&mut self.started);
        self.scheduler.start_due(now, &mut started);
        self.tell_fixed(now, out);
        for &slot in &started {
            self.start(now, slot, out);
        }
        started.clear();
        self.started = started;
        if !self.bargains {
            self.wake_for_next_start(now, out);
        }
    }

    fn start_due_tasks(&mut self, now: Time, out: &mut Outbox) {
        let mut started = std::mem::take(&mut self.tasks_started);
        let bargainer = self.scheduler.bargainer().expect("it bargains");
        bargainer.tasks_due(now, &mut started);
        for (slot, tasks) in started.drain(..) {
            self.start_tasks(now, slot, tasks, out);
        }
        self.tasks_started = started;
    }

    fn wake_for_next_start(&mut self, now: Time, out: &mut Outbox) {
        let next = self.scheduler.next_start().filter(|&start| start < Time::FOREVER);
        if let Some(start) = next
            && start > now
            && self.wake.is_none_or(|wake| wake <= now || start < wake)
        {
            self.wake = Some(start);
            out.wake(start, Timer::PlanDue);
        }
    }
}
