//! The table of crashes: intervals in which an actor was down.

use std::collections::BTreeMap;

use haggle_model::{ActorId, Time};

use super::Files;
use crate::ResultsError;
use crate::tables::CrashCells;

/// Actors that are down.
#[derive(Default)]
pub(super) struct Crashes {
    down: BTreeMap<ActorId, Time>,
}

impl Crashes {
    /// Records a crash of an actor.
    pub(super) fn crashed(&mut self, now: Time, actor: ActorId) {
        self.down.insert(actor, now);
    }

    /// Writes the row of an actor that restarts; `None` = not before the end of the run.
    pub(super) fn restarted(
        &mut self,
        now: Option<Time>,
        actor: ActorId,
        files: &mut Files,
    ) -> Result<(), ResultsError> {
        let Some(crash) = self.down.remove(&actor) else { return Ok(()) };
        files.put(CrashCells { actor, crash: crash.as_micros(), restart: now.map(Time::as_micros) })
    }

    /// Writes the rows of actors that are still down.
    pub(super) fn close(mut self, files: &mut Files) -> Result<(), ResultsError> {
        // Copied, because `restarted` takes actors out of the map.
        let down = Vec::from_iter(self.down.keys().copied());
        down.into_iter().try_for_each(|actor| self.restarted(None, actor, files))
    }
}
