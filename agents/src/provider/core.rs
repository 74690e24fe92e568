//! The core of a provider: it joins the machine and the queue, and keeps the pieces of work.
//!
//! ```text
//!            services: jobs, bargains, coallocation, transactions, windows
//!                                     │  one turn for each message
//!                                     ▼
//!   core:  queue ◀── deciding ── pieces ── load ── machine ── mailbox
//! ```
//!
//! A service has state of its own, and reaches the state of no other service. The core belongs to
//! all of them: a service receives it with the time and the outbox as a [`Turn`].

mod deciding;
mod load;
mod machine;
mod mailbox;
mod pieces;
mod seen;
mod slots;

use haggle_model::{ActorId, Time};
use haggle_scheduling::{Capabilities, Killed, LocalQueue};
use serde::{Deserialize, Serialize};

pub(super) use self::deciding::{Deciding, asks_of_queue};
pub(super) use self::load::Load;
pub(super) use self::machine::{Attempt, Machine, limited};
pub(super) use self::mailbox::{Losses, Mailbox};
pub(super) use self::pieces::{Kind, Piece, Pieces};
use super::ProviderConfig;
use crate::Outbox;
use crate::numbered::Numbered;
use crate::protocol::{Message, Timer};

/// The machine, the queue and the work of a provider.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Core {
    pub(super) config: ProviderConfig,
    pub(super) scheduler: Box<LocalQueue>,
    pub(super) able: Able,
    pub(super) machine: Machine,
    pub(super) pieces: Pieces,
    pub(super) load: Load,
    pub(super) deciding: Deciding,
    /// Events of which its scheduler has not been notified yet; until it is, nothing starts.
    pub(super) mailbox: Option<Box<Mailbox>>,
    pub(super) numbered: Numbered,
}

/// The requests that the scheduler can grant. It refuses all others.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Able {
    pub(super) bags: bool,
    pub(super) starts: bool,
    pub(super) windows: bool,
    pub(super) parts: bool,
}

impl From<Capabilities> for Able {
    fn from(capabilities: Capabilities) -> Able {
        let Capabilities { bags, starts, windows, parts, .. } = capabilities;
        Able {
            bags: bags.is_ok(),
            starts: starts.is_ok(),
            windows: windows.is_ok(),
            parts: parts.is_ok(),
        }
    }
}

/// The handling of one message: the core, the present time, and the effects.
pub(super) struct Turn<'a> {
    pub(super) core: &'a mut Core,
    pub(super) now: Time,
    pub(super) out: &'a mut Outbox,
}

impl Core {
    /// An idle machine and an empty queue.
    pub(super) fn new(config: ProviderConfig) -> Core {
        let scheduler = config.scheduler.build(config.processors);
        let able = Able::from(scheduler.capabilities());
        Core {
            scheduler,
            able,
            machine: Machine::new(
                config.processors,
                config.on_failure.checkpoints().learns_of_nodes(),
            ),
            pieces: Pieces::default(),
            load: Load::default(),
            deciding: Deciding::new(config.passes, able),
            mailbox: None,
            numbered: Numbered::with(config.repeating.iter().copied()),
            config,
        }
    }

    /// True if its queue bargains over bags.
    pub(super) fn bargains(&self) -> bool {
        self.able.bags
    }

    /// True if its queue takes parts of jobs.
    pub(super) fn takes_parts(&self) -> bool {
        self.able.parts
    }
}

impl Turn<'_> {
    /// A rigid job has ended: notifies the scheduler, now or when it is up again.
    pub(super) fn job_finished(&mut self, job: Killed) {
        let is_between_passes = self.is_between_passes();
        match &mut self.core.mailbox {
            Some(mailbox) => mailbox.jobs.push(job),
            None if is_between_passes => self.tell_later().jobs.push(job),
            None => self.core.scheduler.finished(self.now, job.slot),
        }
    }

    /// Tasks of a share have ended: notifies the scheduler in the same way.
    pub(super) fn tasks_finished(&mut self, tasks: Killed) {
        match &mut self.core.mailbox {
            Some(mailbox) => mailbox.tasks.push(tasks),
            None => self.tell_tasks_finished(&tasks),
        }
    }

    /// Notifies the scheduler of tasks of a share that have ended.
    pub(super) fn tell_tasks_finished(&mut self, tasks: &Killed) {
        let &Killed { slot, processors, planned_end } = tasks;
        let bargainer = self.core.scheduler.bags();
        bargainer.tasks_finished(self.now, slot, processors, planned_end);
    }

    /// Handles an end. If it is early, other work may move after all ends of this instant.
    pub(super) fn ended_early(&mut self, planned_end: Time) {
        if self.now < planned_end && self.core.takes_parts() {
            self.out.set(self.now, Timer::Reschedule);
        }
    }

    /// Sends a message about an event on the machine, now or when its scheduler is up again.
    pub(super) fn say(&mut self, to: ActorId, message: impl Into<Message>) {
        match &mut self.core.mailbox {
            Some(mailbox) if mailbox.is_down => mailbox.news.push((to, message.into())),
            _ => self.out.send(to, message),
        }
    }

    /// The time of the scheduler: it has the knowledge of its last pass, and decides at the next one.
    pub(super) fn pass(&self) -> Time {
        self.core.config.next_pass(self.now)
    }

    /// True if the scheduler is notified of nothing now.
    pub(super) fn is_between_passes(&self) -> bool {
        self.pass() > self.now
    }

    /// The record of failures and repairs. The scheduler is notified when all of this instant have
    /// happened, with its next pass, or when it restarts.
    pub(super) fn tell_later(&mut self) -> &mut Mailbox {
        let pass = self.pass();
        let Turn { core, out, .. } = self;
        core.mailbox.get_or_insert_with(|| {
            out.set(pass, Timer::Settle);
            Box::default()
        })
    }
}
