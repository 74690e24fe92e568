//! Bargains over bags: open calls, agreements, shares, and rescheduling in step with other shares.

mod agreement;
mod coordinated;
mod negotiation;
mod shares;

use std::collections::BTreeMap;

use haggle_model::random::Stream;
use haggle_model::{ActorId, JobId};
use haggle_scheduling::Slot;
use serde::{Deserialize, Serialize};

use self::agreement::Agreements;
use self::coordinated::Coordinated;
use self::negotiation::Negotiation;
use crate::glimpse::{Promise, Work};
use crate::protocol::BargainMessage;
use crate::provider::core::Turn;

pub use self::negotiation::{Bargaining, Estimates};
pub(in crate::provider) use self::shares::Share;
pub(super) use self::shares::lose;
pub(crate) use self::shares::worst_of;

/// State of the service, beside the shares themselves.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Bargains {
    negotiation: Negotiation,
    agreements: Agreements,
    /// Shares whose bags are rescheduled in step.
    coordinated: BTreeMap<JobId, Coordinated>,
    /// Room for the list of tasks that start.
    started: Vec<(Slot, u32)>,
}

impl Bargains {
    /// No calls. With `repeats`, messages may be lost, and are repeated; offers are drawn from
    /// `stream`.
    pub(super) fn new(me: ActorId, repeats: bool, stream: Stream) -> Bargains {
        Bargains {
            negotiation: Negotiation::new(stream),
            agreements: Agreements::new(me, repeats),
            coordinated: BTreeMap::new(),
            started: Vec::new(),
        }
    }

    pub(super) fn on_bargain(
        &mut self,
        turn: &mut Turn<'_>,
        from: ActorId,
        message: BargainMessage,
    ) -> bool {
        match message {
            BargainMessage::Call(call) => self.on_called(turn, from, call),
            BargainMessage::Refresh { job } => self.on_refresh(turn, from, job),
            // These messages are for metaschedulers.
            BargainMessage::Offers(_) | BargainMessage::Probe { .. } => false,
        }
    }

    /// Offers that can be taken up, and tasks that are held.
    pub(super) fn promises(&self) -> Vec<Promise> {
        self.negotiation.open.iter().flat_map(|(&job, open)| open.promises(job)).collect()
    }

    /// Rows of the held tasks.
    pub(super) fn held(&self) -> Vec<Work> {
        self.negotiation.open.iter().filter_map(|(&job, open)| open.held_work(job)).collect()
    }

    /// Starts the tasks that are due.
    pub(super) fn start_due_tasks(&mut self, turn: &mut Turn<'_>) {
        let mut started = std::mem::take(&mut self.started);
        let bargainer = turn.core.scheduler.bags();
        bargainer.tasks_due(turn.now, &mut started);
        for (slot, tasks) in started.drain(..) {
            self.start_tasks(turn, slot, tasks);
        }
        self.started = started;
    }
}
