//! Earliest starts of jobs in a queue; nearly always there are none.

use std::collections::BTreeMap;

use haggle_model::Time;
use serde::{Deserialize, Serialize};

use crate::scheduler::Slot;

/// Earliest start of each waiting job that may not start at once.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct NotBefore(BTreeMap<Slot, Time>);

impl NotBefore {
    /// A job submitted `now` cannot start before `ready`.
    pub(crate) fn set(&mut self, now: Time, slot: Slot, ready: Time) {
        if ready > now {
            self.0.insert(slot, ready);
        } else {
            // The entry of the slot's last job must not remain.
            self.0.remove(&slot);
        }
    }

    /// A job waits no longer, or waits for processors only.
    pub(crate) fn forget(&mut self, slot: Slot) {
        self.0.remove(&slot);
    }

    /// The time before which a job cannot start.
    pub(crate) fn get(&self, slot: Slot) -> Option<Time> {
        self.0.get(&slot).copied()
    }

    /// The earliest time from `now` on at which a job may start.
    pub(crate) fn from(&self, now: Time, slot: Slot) -> Time {
        if self.0.is_empty() {
            return now;
        }
        self.get(slot).map_or(now, |ready| ready.max(now))
    }
}
