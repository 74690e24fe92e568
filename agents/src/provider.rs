//! Providers: each owns processors, a queue and a local scheduler, and discloses to others no more
//! than its disclosure level allows.

mod agreement;
mod coallocation;
mod config;
mod deciding;
mod displaced;
mod expected;
mod failures;
mod job;
mod load;
mod machine;
mod mailbox;
mod maintenance;
mod negotiation;
mod nodes;
mod pieces;
mod preemption;
mod profiling;
mod query;
mod reallocation;
mod rescheduling;
mod reserving;
mod saving;
mod shares;
mod slots;
mod submission;
mod transactions;

use std::collections::BTreeMap;

use haggle_model::random::Stream;
use haggle_model::{ActorId, JobId, JobOutcome, JobRecord, Observation, Span, Time};
use haggle_scheduling::{LocalScheduler, Passes, Slot};

use self::agreement::Agreements;
use self::coallocation::Coallocation;
use self::deciding::Deciding;
use self::expected::Expected;
use self::job::Run;
use self::load::Load;
use self::machine::Machine;
use self::mailbox::Mailbox;
use self::maintenance::Windows;
use self::negotiation::Negotiation;
use self::pieces::{Piece, Pieces};
use self::profiling::Profiling;
use self::rescheduling::Coordinated;
use self::reserving::Reserving;
use self::saving::Carried;
use self::transactions::Transactions;
use crate::numbered::{Numbered, TakesNumbered};
use crate::protocol::{
    BargainMessage, DataMessage, Message, ResourceMessage, RunMessage, ShareMessage, Timer,
};
use crate::{Actor, Outbox};

pub use config::ProviderConfig;
pub use failures::OnFailure;
pub use maintenance::Maintenance;
pub use negotiation::{Bargaining, Estimates};
pub use reserving::ReservingConfig;
pub use saving::CheckpointStore;
pub(crate) use shares::worst_of;
pub use transactions::Transacting;

/// One space-shared machine and its queue.
#[derive(Debug)]
pub struct Provider {
    config: ProviderConfig,
    scheduler: Box<dyn LocalScheduler>,
    machine: Machine,
    carried: Carried,
    windows: Windows,
    pieces: Pieces,
    load: Load,
    /// The earliest planned start for which a wake-up is on its way.
    ///
    /// Wake-ups are used in place of one timer that is set anew with the plan. So an event log has
    /// a wake-up at each start that was ever planned, even if that start has moved. A superfluous
    /// pass starts nothing.
    wake: Option<Time>,
    deciding: Deciding,
    started: Vec<Slot>,
    tasks_started: Vec<(Slot, u32)>,
    /// True if its scheduler bargains over bags.
    bargains: bool,
    /// True if it takes parts of co-allocated jobs.
    coallocates: bool,
    expected: Expected,
    negotiation: Negotiation,
    reserving: Reserving,
    agreements: Agreements,
    coallocation: Coallocation,
    profiling: Profiling,
    transactions: Transactions,
    numbered: Numbered,
    /// Shares whose bags are rescheduled in step.
    coordinated: BTreeMap<JobId, Coordinated>,
    /// Events of which its scheduler has not been notified yet; until it is, nothing starts.
    mailbox: Option<Box<Mailbox>>,
}

impl Provider {
    /// An idle provider; its random numbers come from `stream`.
    pub fn new(config: ProviderConfig, stream: Stream) -> Provider {
        let mut scheduler = config.scheduler.build(config.processors);
        let bargains = scheduler.bargainer().is_some();
        let coallocates = scheduler.coallocation().is_some();
        // Providers are the first actors of a run.
        let me = ActorId(config.id.0);
        let passes = if bargains || coallocates { Passes::Instant } else { config.passes };
        Provider {
            bargains,
            coallocates,
            scheduler,
            machine: Machine::new(
                config.processors,
                config.on_failure.checkpoints().learns_of_nodes(),
            ),
            carried: Carried::default(),
            windows: Windows::default(),
            pieces: Pieces::default(),
            load: Load::default(),
            wake: None,
            deciding: Deciding::new(passes),
            started: Vec::new(),
            tasks_started: Vec::new(),
            expected: Expected::default(),
            reserving: Reserving::new(stream.clone()),
            negotiation: Negotiation::new(stream),
            agreements: Agreements::new(me, !config.repeating.is_empty()),
            coallocation: Coallocation::new(me, !config.repeating.is_empty()),
            profiling: Profiling::default(),
            transactions: Transactions::new(&config.transacting),
            numbered: Numbered::with(config.repeating.iter().copied()),
            coordinated: BTreeMap::new(),
            mailbox: None,
            config,
        }
    }

    /// The end of the run: waiting and running work is unfinished, and announced windows do not begin.
    fn on_run_over(&mut self, now: Time, out: &mut Outbox) {
        self.observe_windows_ahead(out);
        let provider = self.config.id;
        for held in self.pieces.drain() {
            match held {
                Piece::Job(mut held) => {
                    let mut run = held.run.take();
                    let progress = run.as_ref().map(|run| held.progress(run, now, &self.config));
                    let over = held.over(provider, JobOutcome::Unfinished, now);
                    let over = JobRecord {
                        start: run.as_ref().map(|run| run.attempt.start),
                        checkpoints: run.as_mut().map(Run::sent).unwrap_or_default(),
                        processors: run.map(|run| run.attempt.processors).unwrap_or_default(),
                        checkpointing: progress.map_or(Span::ZERO, |it| it.overhead),
                        ..over
                    };
                    out.observe(Observation::JobOver(Box::new(over)));
                }
                Piece::Share(share) => share.unfinished(provider, now, out),
                // Its user records it, after its metascheduler has reported which of its data have
                // arrived.
                Piece::Expected(_) => {}
                // Its metascheduler records the bag.
                Piece::Held => {}
                Piece::Part(part) => part.unfinished(provider, now, out),
                Piece::Booking(booking) => booking.unfinished(provider, now, out),
            }
        }
    }
}

/// The handlers of each protocol; they return false for a message that is not expected.
impl Provider {
    fn on_bargain(
        &mut self,
        now: Time,
        from: ActorId,
        message: BargainMessage,
        out: &mut Outbox,
    ) -> bool {
        match message {
            BargainMessage::Call(call) => self.on_called(now, from, call, out),
            BargainMessage::Refresh { job } => self.on_refresh(now, from, job, out),
            BargainMessage::Offers(_) | BargainMessage::Probe { .. } => false,
        }
    }

    fn on_timer(&mut self, now: Time, timer: Timer, out: &mut Outbox) -> bool {
        match timer {
            Timer::RunEnds { slot } if self.is_part(Slot(slot)) => {
                self.on_part_ended(now, Slot(slot), out);
            }
            Timer::RunEnds { slot } if self.is_booking(Slot(slot)) => {
                self.on_booking_ended(now, Slot(slot), out);
            }
            Timer::AgreementDue => self.on_agreement_due(now, out),
            Timer::RunEnds { slot } => self.on_run_ended(now, Slot(slot), out),
            Timer::PlanEnds { slot } => self.on_plan_ended(now, Slot(slot), out),
            Timer::CheckpointDue { slot } => self.on_checkpoint_due(now, Slot(slot), out),
            Timer::Settle => self.on_settled(now, out),
            Timer::Reschedule if self.coallocates => self.on_room(now, out),
            Timer::ThroughputSteady { job } => self.on_steady(job, out),
            Timer::Reschedule => self.on_reschedule(now, out),
            Timer::PlanDue => self.on_plan_due(now, out),
            Timer::TasksEnd { slot, run } => self.on_tasks_ended(now, Slot(slot), run, out),
            Timer::TasksPlanEnds { slot, run } => {
                self.on_tasks_plan_ended(now, Slot(slot), run, out);
            }
            Timer::EstimateReady { job } => self.answer(now, job, out),
            Timer::MaintenanceAnnounced { number } => {
                return self.on_maintenance_announced(now, number, out);
            }
            Timer::MaintenanceBegins { number } => {
                return self.on_maintenance_begins(now, number, out);
            }
            Timer::MaintenanceEnds { number } => return self.on_maintenance_ends(now, number, out),
            _ => return false,
        }
        true
    }
}

impl Actor for Provider {
    type Message = Message;

    #[inline]
    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        self.take_in_order(now, from, message, out);
    }
}

impl TakesNumbered for Provider {
    fn numbered(&mut self) -> &mut Numbered {
        &mut self.numbered
    }

    fn take(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        if deciding::asks_of_queue(&message) {
            self.join_queue(now);
        }
        self.expected.on_message(&message);
        let expected = match message {
            Message::Wake(timer) => self.on_timer(now, timer, out),
            Message::Submission(message) => self.on_submission(now, from, message, out),
            Message::Reservation(message) => self.on_reservation(now, from, message, out),
            Message::Query(message) => self.on_query(now, from, message, out),
            Message::Reallocation(message) => self.on_reallocation(now, from, message, out),
            Message::Bargain(message) => self.on_bargain(now, from, message, out),
            Message::Agreement(message) => self.on_agreement(now, from, message, out),
            Message::Coallocation(message) => self.on_coallocation(now, from, message, out),
            Message::Share(ShareMessage::BagCompletion { job, completion }) => {
                self.on_bag_completion(from, job, completion, out)
            }
            Message::Transaction(message) => self.on_transaction(now, from, message, out),
            Message::Data(DataMessage::CheckpointTransferred { number })
                if self.config.store.is_some() =>
            {
                self.on_checkpoint_carried(now, number, out);
                true
            }
            // Refused: a part that failed, or that a crashed scheduler forgot, would leave the
            // other parts of its job without it.
            Message::Resource(_) if self.coallocates => false,
            Message::Run(RunMessage::Crashed | RunMessage::Restarted)
                if self.coallocates && !self.transacts() =>
            {
                false
            }
            Message::Resource(ResourceMessage::Failed { processors }) => {
                self.on_failed(now, processors, out);
                true
            }
            Message::Resource(ResourceMessage::Restored { processors }) => {
                self.on_restored(now, &processors, out);
                true
            }
            Message::Run(RunMessage::Crashed) => {
                self.on_crashed();
                true
            }
            Message::Run(RunMessage::Restarted) => {
                self.on_restarted(now, out);
                true
            }
            Message::Run(RunMessage::RunOver) => {
                self.on_run_over(now, out);
                true
            }
            _ => false,
        };
        if !expected {
            out.refuse(from);
        }
    }
}
