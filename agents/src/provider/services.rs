//! The services of a provider: one for each kind of work, each with state of its own.
//!
//! [`Services`] gives each message and each timer to the service that expects it. Several services take part in a
//! decision, after a failure or a crash, and at the end of a run; they are then called in a fixed order. A provider
//! that does not bargain, take parts or take part in transactions does not have the service for it.

mod bargains;
mod changing;
mod coallocation;
mod failures;
mod glimpse;
mod jobs;
mod maintenance;
mod preemption;
mod transactions;

use haggle_model::random::Stream;
use haggle_model::reservation::Cause;
use haggle_model::{ActorId, Refusal};
use haggle_scheduling::Slot;
use serde::{Deserialize, Serialize};

use self::bargains::Bargains;
use self::coallocation::Coallocation;
use self::jobs::Jobs;
use self::maintenance::Windows;
use self::transactions::Transactions;
use super::core::{Core, Piece, Turn, asks_of_queue};
use crate::protocol::{
    AgreementMessage, BargainMessage, DataMessage, Message, QueryMessage, ReallocationMessage,
    ReservationMessage, ResourceMessage, RunMessage, ShareMessage, Timer,
};

pub(super) use self::bargains::Share;
pub(crate) use self::bargains::worst_of;
pub use self::bargains::{Bargaining, Estimates};
pub(super) use self::coallocation::Part;
pub use self::failures::OnFailure;
pub use self::jobs::{CheckpointStore, ReservingConfig};
pub(super) use self::jobs::{Expectation, HeldJob};
pub use self::maintenance::Maintenance;
pub(super) use self::preemption::Stopped;
pub(super) use self::transactions::Booking;
pub use self::transactions::Transacting;

/// The services of a provider.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Services {
    jobs: Jobs,
    windows: Windows,
    bargains: Option<Bargains>,
    coallocation: Option<Coallocation>,
    transactions: Option<Transactions>,
    /// Room for the list of work that starts.
    started: Vec<Slot>,
}

impl Services {
    /// The services that a queue supports, and its configuration asks for.
    pub(super) fn new(core: &Core, stream: Stream) -> Services {
        // Providers are the first actors of a run.
        let me = ActorId(core.config.id.0);
        let repeats = core.numbered.is_used();
        let transacts = core.takes_parts() && !core.config.transacting.is_empty();
        Services {
            jobs: Jobs::new(stream.clone()),
            windows: Windows::default(),
            bargains: core.bargains().then(|| Bargains::new(me, repeats, stream)),
            coallocation: core.takes_parts().then(|| Coallocation::new(me, repeats)),
            transactions: transacts.then(|| Transactions::new(&core.config.transacting)),
            started: Vec::new(),
        }
    }

    /// Gives a message to the service that expects it; `false` if none does.
    pub(super) fn take(&mut self, turn: &mut Turn<'_>, from: ActorId, message: Message) -> bool {
        // Between passes, the scheduler does not know the jobs that have arrived.
        if asks_of_queue(&message) && !turn.is_between_passes() {
            self.jobs.join_queue(turn);
        }
        self.jobs.on_message(&message);
        let is_expected = self.route(turn, from, message);
        if turn.core.deciding.take_follows() {
            self.decide(turn);
            // A window that was granted in the decision needs no other one.
            turn.core.deciding.take_follows();
        }
        is_expected
    }

    fn route(&mut self, turn: &mut Turn<'_>, from: ActorId, message: Message) -> bool {
        match message {
            Message::Wake(timer) => self.on_timer(turn, timer),
            Message::Submission(message) => self.jobs.on_submission(turn, from, message),
            Message::Reservation(message) => self.on_reservation(turn, from, message),
            Message::Query(message) => self.jobs.on_query(turn, from, message),
            Message::Reallocation(message) => {
                if message == ReallocationMessage::WaitingRequest && !turn.is_between_passes() {
                    // A job that is due does not wait.
                    self.decide(turn);
                }
                self.jobs.on_reallocation(turn, from, message)
            }
            Message::Data(DataMessage::CheckpointTransferred { number }) => {
                self.jobs.on_checkpoint_carried(turn, number)
            }
            Message::Bargain(message) => self.on_bargain(turn, from, message),
            Message::Agreement(message) => match &mut self.bargains {
                Some(bargains) => bargains.on_agreement(turn, from, message),
                // A metascheduler that has called may release the bag before it has the answer.
                None => matches!(message, AgreementMessage::Release { .. }),
            },
            Message::Share(ShareMessage::BagCompletion { job, completion }) => self
                .bargains
                .as_mut()
                .is_none_or(|it| it.on_bag_completion(turn, from, job, completion)),
            Message::Coallocation(message) => {
                self.coallocation.as_mut().is_some_and(|it| it.on_coallocation(turn, from, message))
            }
            Message::Transaction(message) => {
                self.transactions.as_mut().is_some_and(|it| it.on_transaction(turn, from, message))
            }
            Message::Resource(ResourceMessage::Failed { processors }) => {
                self.on_failed(turn, processors);
                true
            }
            Message::Resource(ResourceMessage::Restored { processors }) => {
                failures::on_restored(turn, &processors);
                true
            }
            Message::Run(RunMessage::Crashed) => {
                self.on_crashed(turn);
                true
            }
            Message::Run(RunMessage::Restarted) => {
                self.on_restarted(turn);
                true
            }
            Message::Run(RunMessage::WorkOver { job, start }) => {
                self.jobs.on_work_over(turn, job, start)
            }
            Message::Run(RunMessage::Changed(settings)) => self.on_changed(turn, *settings),
            Message::Run(RunMessage::RunOver) => {
                self.on_run_over(turn);
                true
            }
            _ => false,
        }
    }

    fn on_reservation(
        &mut self,
        turn: &mut Turn<'_>,
        from: ActorId,
        message: ReservationMessage,
    ) -> bool {
        if !self.jobs.expects_reservation(turn.core, &message) {
            return false;
        }
        if let ReservationMessage::Take { .. } = message {
            // Jobs that are due must start before a request is considered.
            self.start_due(turn);
        }
        self.jobs.on_reservation(turn, from, message);
        true
    }

    fn on_bargain(&mut self, turn: &mut Turn<'_>, from: ActorId, message: BargainMessage) -> bool {
        match (&mut self.bargains, message) {
            (Some(bargains), message) => bargains.on_bargain(turn, from, message),
            // A provider that does not bargain answers calls, because its callers wait for it.
            (None, BargainMessage::Call(call)) if !turn.core.pieces.has(call.job) => {
                let discloses = turn.core.config.disclosure >= call.asks;
                let reason = if discloses { Refusal::WrongShape } else { Refusal::NotDisclosed };
                let job = call.job;
                turn.out.send(from, QueryMessage::NoAnswer { job, reason });
                true
            }
            (None, _) => false,
        }
    }

    fn on_timer(&mut self, turn: &mut Turn<'_>, timer: Timer) -> bool {
        match timer {
            Timer::RunEnds { slot } => {
                if !self.end_of_drained(turn, Slot(slot)) {
                    self.on_run_ended(turn, Slot(slot));
                }
            }
            Timer::PlanEnds { slot } => {
                self.jobs.on_plan_ended(turn, Slot(slot));
                self.break_displaced(turn);
            }
            Timer::CheckpointDue { slot } => self.jobs.on_checkpoint_due(turn, Slot(slot)),
            Timer::PlanDue => self.on_plan_due(turn),
            Timer::Settle => self.on_settled(turn),
            Timer::MaintenanceAnnounced { number } => return self.on_announced(turn, number),
            Timer::MaintenanceBegins { number } => return self.windows.on_begins(turn, number),
            Timer::MaintenanceEnds { number } => return self.on_maintenance_ends(turn, number),
            timer => return self.on_timer_of_protocol(turn, timer),
        }
        true
    }

    /// A timer of a service that the provider may not have.
    fn on_timer_of_protocol(&mut self, turn: &mut Turn<'_>, timer: Timer) -> bool {
        let Services { bargains, coallocation, transactions, .. } = self;
        match (timer, bargains, coallocation, transactions) {
            (Timer::Reschedule, bargains, parts, _) => {
                // Tasks of bags move up before parts.
                bargains.iter_mut().for_each(|it| it.on_reschedule(turn));
                parts.iter_mut().for_each(|it| it.on_room(turn));
            }
            (Timer::TasksEnd { slot, run }, Some(bargains), ..) => {
                bargains.on_tasks_ended(turn, Slot(slot), run);
            }
            (Timer::TasksPlanEnds { slot, run }, Some(bargains), ..) => {
                bargains.on_tasks_plan_ended(turn, Slot(slot), run);
                self.jobs.answer_displaced(turn, Cause::Overrun);
                self.break_displaced(turn);
            }
            (Timer::EstimateReady { job }, Some(bargains), ..) => bargains.answer(turn, job),
            (Timer::ThroughputSteady { job }, _, Some(parts), _) => parts.on_steady(turn, job),
            (Timer::AgreementDue, _, _, Some(transactions)) => transactions.on_due(turn),
            _ => return false,
        }
        true
    }

    /// An attempt that is not of a bag has come to its end.
    fn on_run_ended(&mut self, turn: &mut Turn<'_>, slot: Slot) {
        match turn.core.pieces.at(slot) {
            Some(Piece::Job(_)) => {
                if !self.end_of_stopped(turn, slot) {
                    self.jobs.on_run_ended(turn, slot);
                }
            }
            Some(Piece::Part(_)) => {
                if let Some(parts) = &mut self.coallocation {
                    parts.on_part_ended(turn, slot);
                }
            }
            Some(Piece::Booking(_)) => {
                if let Some(transactions) = &mut self.transactions {
                    transactions.on_booking_ended(turn, slot);
                }
            }
            Some(Piece::Expected(_) | Piece::Share(_) | Piece::Held) | None => {}
        }
    }

    /// A planned start is due, or the end of an instant with changes.
    fn on_plan_due(&mut self, turn: &mut Turn<'_>) {
        turn.core.deciding.begin(turn.now);
        // Time that is given back must be free before anything starts.
        if let Some(bargains) = &mut self.bargains {
            bargains.expire_holds(turn);
        }
        if let Some(parts) = &mut self.coallocation {
            parts.settle_parts(turn);
        }
        if let Some(transactions) = &mut self.transactions {
            transactions.room_may_have_changed(turn);
        }
        self.decide(turn);
        // Holders of offers are notified of the plan that is left after all starts.
        if let Some(bargains) = &mut self.bargains {
            bargains.start_due_tasks(turn);
            bargains.send_probes(turn);
            turn.wake_for_next_start();
        }
        turn.core.deciding.end();
    }

    /// Grants windows, lets jobs join the queue, and starts jobs.
    fn decide(&mut self, turn: &mut Turn<'_>) {
        let asked = turn.core.deciding.take_asked();
        if !asked.is_empty() {
            // Jobs that are due must start before a request is considered.
            self.start_due(turn);
            for (from, submission) in asked {
                self.jobs.on_window_asked(turn, from, submission);
            }
        }
        self.jobs.join_queue(turn);
        self.stop_for_waiting(turn);
        self.start_due(turn);
    }

    /// Starts the work that is due, and sets a wake-up for the next start.
    fn start_due(&mut self, turn: &mut Turn<'_>) {
        let mut started = std::mem::take(&mut self.started);
        turn.core.scheduler.start_due(turn.now, &mut started);
        self.jobs.tell_fixed(turn);
        for &slot in &started {
            self.start(turn, slot);
        }
        started.clear();
        self.started = started;
        // A queue of bags starts tasks after this, and is asked for its next start then.
        if self.bargains.is_none() {
            turn.wake_for_next_start();
        }
    }

    fn start(&mut self, turn: &mut Turn<'_>, slot: Slot) {
        match turn.core.pieces.at(slot) {
            Some(Piece::Part(_)) => coallocation::start_part(turn, slot),
            Some(Piece::Booking(_)) => transactions::start_booking(turn, slot),
            _ => self.jobs.start(turn, slot),
        }
    }

    fn on_announced(&mut self, turn: &mut Turn<'_>, number: u32) -> bool {
        match self.windows.announce(turn, number) {
            Some(true) => {
                self.jobs.answer_displaced(turn, Cause::Maintenance);
                self.windows.wait_for(turn, number);
                turn.plan_changed();
                true
            }
            Some(false) => true,
            None => false,
        }
    }

    fn on_maintenance_ends(&mut self, turn: &mut Turn<'_>, number: u32) -> bool {
        let Some(down) = self.windows.on_ends(turn, number) else { return false };
        if turn.core.mailbox.is_none() {
            if down > 0 {
                turn.core.scheduler.failed(turn.now, down, &[]);
                self.jobs.answer_displaced(turn, Cause::Failure);
                self.break_displaced(turn);
            }
            turn.plan_changed();
        }
        true
    }

    /// The end of the run: waiting and running work is unfinished, and announced windows do not begin.
    fn on_run_over(&mut self, turn: &mut Turn<'_>) {
        self.windows.observe_ahead(turn);
        let Turn { core, now, out } = turn;
        let (provider, now) = (core.config.id, *now);
        let waits = |&(slot, _): &(Slot, &Piece)| {
            core.pieces.get::<HeldJob>(slot).is_some_and(HeldJob::waits)
        };
        for slot in Vec::from_iter(core.pieces.iter().filter(waits).map(|it| it.0)) {
            let priority = core.scheduler.nodes().priority(slot);
            if let Some(held) = core.pieces.get_mut::<HeldJob>(slot) {
                held.note_priority(priority);
            }
        }
        for piece in core.pieces.drain() {
            match piece {
                Piece::Job(held) => held.unfinished(&core.config, now, out),
                Piece::Share(share) => share.unfinished(provider, now, out),
                Piece::Part(part) => part.unfinished(provider, now, out),
                Piece::Booking(booking) => booking.unfinished(provider, now, out),
                // The user of an expected job records it, after its metascheduler has reported
                // which of its data have arrived. The metascheduler of held tasks records the bag.
                Piece::Expected(_) | Piece::Held => {}
            }
        }
    }

    /// True if the provider takes part in transactions.
    pub(super) fn transacts(&self) -> bool {
        self.transactions.is_some()
    }
}
