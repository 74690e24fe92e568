//! Who wants to know whether there is room, and what they were told last.

use std::collections::BTreeMap;

use haggle_model::{ActorId, Time};

use crate::AgreementId;

/// Tells which of two news of a participant is newer: since when it is up, and when that changed. It
/// does not tell how much has changed in between, unless it was in the same microsecond.
pub type Epoch = (i64, u64);

/// Subscriptions to one participant. They are lost in a crash: who watches asks again.
#[derive(Clone, Debug)]
pub(crate) struct Watches {
    /// What each was told; `None` = its owner has not said yet.
    told: BTreeMap<AgreementId, Option<(Epoch, bool)>>,
    /// Of the last change. Time goes on over a crash, so it begins with that.
    epoch: Epoch,
}

/// What is known of somebody who asks for news.
pub(crate) enum Watch {
    /// It is new: the owner has to say.
    New,
    /// The owner has not said yet.
    Asked,
    /// This was said last.
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

    /// The owner says something. Returns its epoch if that is news, and whether it is the first.
    pub(crate) fn news(&mut self, now: Time, id: AgreementId, fits: bool) -> Option<(Epoch, bool)> {
        let told = self.told.get_mut(&id)?;
        let first = told.is_none();
        if told.is_some_and(|(_, before)| before == fits) {
            return None;
        }
        self.epoch.1 = (self.epoch.1 + 1).max(now.as_micros().unsigned_abs());
        *told = Some((self.epoch, fits));
        Some((self.epoch, first))
    }

    /// Returns whether it was there.
    pub(crate) fn remove(&mut self, id: AgreementId) -> bool {
        self.told.remove(&id).is_some()
    }

    /// Those of this coordinator with smaller numbers.
    pub(crate) fn before(&self, coordinator: ActorId, number: u64) -> Vec<AgreementId> {
        let first = AgreementId { coordinator, number: 0 };
        let end = AgreementId { coordinator, number };
        self.told.range(first..end).map(|(&id, _)| id).collect()
    }
}
