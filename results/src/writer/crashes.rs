//! The table of crashes: which actor was down when.

use std::collections::BTreeMap;

use haggle_model::{ActorId, Cast, Time};

use super::{Format, TableFile};
use crate::ResultsError;
use crate::buffer::NO_INTEGER;
use crate::columns::Table;
use crate::folder::PartialFolder;

/// The table, once somebody has crashed, and who is down.
#[derive(Default)]
pub(super) struct Crashes {
    file: Option<TableFile>,
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
        (folder, cast, format): (&PartialFolder, &Cast, Format),
    ) -> Result<(), ResultsError> {
        let Some(crash) = self.down.remove(&actor) else { return Ok(()) };
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(TableFile::create(folder.path(), Table::Crashes, cast, format)?),
        };
        let mut row = file.buffer.row();
        row.code(actor.0).micros(crash.as_micros());
        row.micros(now.map_or(NO_INTEGER, Time::as_micros)).done();
        file.flush_if_full()
    }

    /// The table, with those who are still down, if anybody has crashed.
    pub(super) fn close(
        mut self,
        folder: &PartialFolder,
        cast: &Cast,
        format: Format,
    ) -> Result<Option<TableFile>, ResultsError> {
        for actor in Vec::from_iter(self.down.keys().copied()) {
            self.restarted(None, actor, (folder, cast, format))?;
        }
        Ok(self.file)
    }
}
