//! The table of crashes: which actor was down when.

use std::collections::BTreeMap;

use haggle_model::{ActorId, Time};

use super::Files;
use crate::ResultsError;
use crate::tables::CrashCells;

/// Who is down.
#[derive(Default)]
pub(super) struct Crashes {
    down: BTreeMap<ActorId, Time>,
}

impl Crashes {
    /// An actor crashes.
    pub(super) fn crashed(&mut self, now: Time, actor: ActorId) {
        self.down.insert(actor, now);
    }

    /// An actor restarts; `None` = at no time of the run.
    pub(super) fn restarted(
        &mut self,
        now: Option<Time>,
        actor: ActorId,
        files: &mut Files,
    ) -> Result<(), ResultsError> {
        let Some(crash) = self.down.remove(&actor) else { return Ok(()) };
        files.put(CrashCells { actor, crash: crash.as_micros(), restart: now.map(Time::as_micros) })
    }

    /// Adds those who are still down.
    pub(super) fn close(mut self, files: &mut Files) -> Result<(), ResultsError> {
        let down = Vec::from_iter(self.down.keys().copied());
        down.into_iter().try_for_each(|actor| self.restarted(None, actor, files))
    }
}
