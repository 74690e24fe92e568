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
//!
//! With an interval, all of it happens at the next pass ([`ProviderConfig::interval`]). Requested times are planned up to a
//! pass, so that each planned start and end is one.
//!
//! [`ProviderConfig::interval`]: crate::provider::ProviderConfig::interval

use std::collections::BTreeMap;

use haggle_model::{ActorId, Time};
use haggle_scheduling::{Passes, Request, Slot};
use serde::{Deserialize, Serialize};

use super::{Able, Turn};
use crate::protocol::{Message, Submission, Timer};

/// Jobs and requests that wait for the next decision.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::provider) struct Deciding {
    passes: Passes,
    /// The instant at whose end a decision is due.
    due: Option<Time>,
    /// True if a decision follows the present message.
    follows: bool,
    /// True if the plan has changed since a service took notice of it.
    changed: bool,
    /// The earliest planned start for which a wake-up is on its way.
    ///
    /// Wake-ups are used in place of one timer that is set anew with the plan. So an event log has
    /// a wake-up at each start that was ever planned, even if that start has moved. A superfluous
    /// pass starts nothing.
    wake: Option<Time>,
    /// Jobs that have been submitted and have not joined the queue.
    arrived: Vec<Request>,
    /// Jobs of a start state, by the time at which they join the queue: that of a stated start, or zero.
    initial: BTreeMap<Time, Vec<Request>>,
    /// Requests for windows, with their senders.
    asked: Vec<(ActorId, Submission)>,
}

impl Deciding {
    /// No decision is due. Schedulers with bags or parts decide once an instant.
    pub(super) fn new(passes: Passes, able: Able) -> Deciding {
        let together = able.bags || able.parts;
        Deciding {
            passes: if together { Passes::Instant } else { passes },
            due: None,
            follows: false,
            changed: false,
            wake: None,
            arrived: Vec::new(),
            initial: BTreeMap::new(),
            asked: Vec::new(),
        }
    }

    /// True if each message is followed by a decision of its own.
    pub(in crate::provider) fn is_by_event(&self) -> bool {
        self.passes == Passes::Event
    }

    /// The decision of this instant begins. Changes from here on are part of it.
    pub(in crate::provider) fn begin(&mut self, now: Time) {
        self.due = Some(now);
        if self.wake == Some(now) {
            self.wake = None;
        }
    }

    /// The decision of this instant is over.
    pub(in crate::provider) fn end(&mut self) {
        self.due = None;
    }

    /// Returns whether a decision follows the message, and forgets it.
    pub(in crate::provider) fn take_follows(&mut self) -> bool {
        std::mem::take(&mut self.follows)
    }

    /// Returns whether the plan has changed since this was asked last.
    pub(in crate::provider) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// A job must wait; it joins the queue with the next decision.
    pub(in crate::provider) fn arrive(&mut self, request: Request) {
        self.arrived.push(request);
    }

    /// A job of a start state must wait; it joins the queue at a stated time. Nothing else is in the queue before time
    /// zero. So a job whose start is stated starts at once, by every policy.
    pub(in crate::provider) fn arrive_initial(&mut self, due: Time, request: Request) {
        self.initial.entry(due).or_default().push(request);
    }

    /// The jobs of a start state that are due have arrived, before all others.
    pub(in crate::provider) fn take_initial(&mut self, now: Time) {
        let mut due = Vec::new();
        while let Some(next) = self.initial.first_entry().filter(|it| *it.key() <= now) {
            due.append(&mut next.remove());
        }
        if !due.is_empty() {
            due.append(&mut self.arrived);
            self.arrived = due;
        }
    }

    /// Takes a job back that has not joined the queue; false if it is in the queue.
    pub(in crate::provider) fn leave_early(&mut self, slot: Slot) -> bool {
        let mut lists = std::iter::once(&mut self.arrived).chain(self.initial.values_mut());
        lists.any(|list| {
            let place = list.iter().position(|request| request.slot == slot);
            place.map(|place| list.remove(place)).is_some()
        })
    }

    /// The jobs that have arrived. They can be given back empty, with [`Deciding::keep`].
    pub(in crate::provider) fn take_arrived(&mut self) -> Vec<Request> {
        std::mem::take(&mut self.arrived)
    }

    /// Keeps the room of the list of arrived jobs.
    pub(in crate::provider) fn keep(&mut self, arrived: Vec<Request>) {
        debug_assert!(arrived.is_empty() && self.arrived.is_empty(), "all have joined the queue");
        self.arrived = arrived;
    }

    /// True if jobs have arrived.
    pub(in crate::provider) fn has_arrived(&self) -> bool {
        !self.arrived.is_empty()
    }

    /// A window is requested; the answer comes with the next decision.
    pub(in crate::provider) fn ask(&mut self, from: ActorId, submission: Submission) {
        self.asked.push((from, submission));
    }

    /// The requests for windows, with their senders.
    pub(in crate::provider) fn take_asked(&mut self) -> Vec<(ActorId, Submission)> {
        std::mem::take(&mut self.asked)
    }
}

/// True if the answer to a message depends on the plan of the queue.
pub(in crate::provider) fn asks_of_queue(message: &Message) -> bool {
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

impl Turn<'_> {
    /// The plan may have changed: a decision follows, after the message or at the end of the
    /// instant. Waiting tasks of bags move up earlier, after all ends of this instant.
    pub(in crate::provider) fn plan_changed(&mut self) {
        if self.core.mailbox.is_some() {
            return;
        }
        let now = self.now;
        if self.core.deciding.is_by_event() {
            self.core.deciding.follows = true;
            return;
        }
        if self.core.bargains() {
            self.core.deciding.changed = true;
            if self.core.scheduler.bags().wants_rescheduling() {
                self.out.set(now, Timer::Reschedule);
            }
        }
        let (pass, deciding) = (self.pass(), &self.core.deciding);
        let is_due = deciding.wake == Some(pass) || deciding.due == Some(pass);
        if !is_due && self.may_start() {
            self.core.deciding.due = Some(pass);
            self.out.wake(pass, Timer::PlanDue);
        }
    }

    /// True if a decision could start anything.
    fn may_start(&self) -> bool {
        let Deciding { arrived, asked, .. } = &self.core.deciding;
        // Wake-ups for jobs of a start state have been set for the times at which they are due.
        let waits = !arrived.is_empty() || !asked.is_empty();
        // Parts and bags have timers of their own in a decision.
        self.core.bargains()
            || self.core.takes_parts()
            || waits
            || self.core.scheduler.queue_length() > 0
    }

    /// Sets a wake-up for the next planned start, if it is the earliest.
    pub(in crate::provider) fn wake_for_next_start(&mut self) {
        let next = self.core.scheduler.next_start().filter(|&start| start < Time::FOREVER);
        let next = next.map(|start| self.core.config.next_pass(start));
        let (now, wake) = (self.now, &mut self.core.deciding.wake);
        if let Some(start) = next
            && start > now
            && wake.is_none_or(|wake| wake <= now || start < wake)
        {
            *wake = Some(start);
            self.out.wake(start, Timer::PlanDue);
        }
    }
}
