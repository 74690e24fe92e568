//! Providers: each owns processors, a queue and a local scheduler, and discloses to others no more
//! than its disclosure level allows.
//!
//! ```text
//!   message ──▶ Provider ──▶ Services ──▶ one service ──▶ Core ──▶ machine, queue, pieces, load
//! ```

mod config;
mod core;
mod real;
mod services;

use haggle_model::random::Stream;
use haggle_model::{ActorId, Time};
use serde::{Deserialize, Serialize};

use self::core::{Core, Turn};
use self::services::Services;
use crate::glimpse::{Census, Glimpse};
use crate::numbered::{Numbered, TakesNumbered};
use crate::protocol::Message;
use crate::{Actor, Outbox};

pub use config::ProviderConfig;
pub use real::RealWork;
pub(crate) use services::worst_of;
pub use services::{
    Bargaining, CheckpointStore, Estimates, Maintenance, OnFailure, ReservingConfig, Transacting,
};

/// One space-shared machine and its queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Provider {
    core: Core,
    services: Services,
}

impl Provider {
    /// An idle provider; its random numbers come from `stream`.
    pub fn new(config: ProviderConfig, stream: Stream) -> Provider {
        let core = Core::new(config);
        let services = Services::new(&core, stream);
        Provider { core, services }
    }

    /// True if the provider takes part in transactions.
    pub(crate) fn transacts(&self) -> bool {
        self.services.transacts()
    }

    /// True if it repeats messages that are not answered.
    pub(crate) fn repeats(&self) -> bool {
        self.core.numbered.is_used()
    }

    /// Its machine, its work and its promises.
    pub(crate) fn glimpse(&self, now: Time) -> Glimpse {
        self.services.glimpse(&self.core, now)
    }

    /// Its machine, and the jobs that run there.
    pub(crate) fn census(&self) -> Census {
        self.services.census(&self.core)
    }

    /// True if windows of maintenance may be ahead at the end of the run.
    pub(crate) fn has_maintenance(&self) -> bool {
        !self.core.config.maintenance.is_empty()
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
        &mut self.core.numbered
    }

    fn take(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        let mut turn = Turn { core: &mut self.core, now, out };
        if !self.services.take(&mut turn, from, message) {
            turn.out.refuse(from);
        }
    }
}
