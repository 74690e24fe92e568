//! Coordinators that watch for room, and the last reports to them.

use std::collections::BTreeMap;

use haggle_model::{ActorId, Time};
use serde::{Deserialize, Serialize};

use crate::AgreementId;

/// Order of two reports of a participant: (time of its last start, time of the change). It does not
/// disclose the number of changes in between, except within one microsecond.
pub type Epoch = (i64, u64);

/// Subscriptions to one participant. They are lost in a crash: coordinators repeat them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Watches {
    /// The last report to each; `None` = its owner has not reported yet.
    told: BTreeMap<AgreementId, Option<(Epoch, bool)>>,
    /// Epoch of the last change. It begins with the time, which continues over a crash.
    epoch: Epoch,
}

/// State of a subscription.
pub(crate) enum Watch {
    /// It is new: the owner must report.
    New,
    /// The owner has not reported yet.
    Asked,
    /// The last report.
    Told(Epoch, bool),
}

impl Watches {
    pub(crate) fn start(now: Time) -> Watches {
        Watches { told: BTreeMap::new(), epoch: (now.as_micros(), 0) }
    }

    pub(crate) fn ask(&mut self, id: AgreementId) -> Watch {
        match self.told.get(&id) {
            Some(&Some((epoch, fits))) => Watch::Told(epoch, fits),
            Some(None) => Watch::Asked,
            None => {
                self.told.insert(id, None);
                Watch::New
            }
        }
    }

    /// A report of the owner. Returns its epoch if it is a change, and whether it is the first report.
    pub(crate) fn news(&mut self, now: Time, id: AgreementId, fits: bool) -> Option<(Epoch, bool)> {
        let told = self.told.get_mut(&id)?;
        let first = told.is_none();
        if told.is_some_and(|(_, before)| before == fits) {
            return None;
        }
        // Strictly increasing, so that two reports of one microsecond differ.
        self.epoch.1 = (self.epoch.1 + 1).max(now.as_micros().unsigned_abs());
        *told = Some((self.epoch, fits));
        Some((self.epoch, first))
    }

    /// Returns whether there was one.
    pub(crate) fn remove(&mut self, id: AgreementId) -> bool {
        self.told.remove(&id).is_some()
    }

    /// Subscriptions of this coordinator with smaller numbers.
    pub(crate) fn before(&self, coordinator: ActorId, number: u64) -> Vec<AgreementId> {
        let first = AgreementId { coordinator, number: 0 };
        let end = AgreementId { coordinator, number };
        self.told.range(first..end).map(|(&id, _)| id).collect()
    }
}
