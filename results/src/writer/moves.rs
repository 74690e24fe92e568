//! The table of moves: which job that waited went from where to where, and what it got there.

use haggle_model::{ActorId, JobId, Time};

use super::{RunWriter, TableFile};
use crate::ResultsError;
use crate::buffer::NO_INTEGER;
use crate::columns::Table;

impl RunWriter {
    /// Records that `actor` has moved a job that waited; its size was recorded before.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn moved(
        &mut self,
        now: Time,
        actor: ActorId,
        job: JobId,
        (from, to): (ActorId, ActorId),
    ) -> Result<(), ResultsError> {
        let file = match &mut self.moves {
            Some(file) => file,
            none => {
                let (folder, format) = (self.folder.path(), self.options.format);
                none.insert(TableFile::create(folder, Table::Moves, &self.cast, format)?)
            }
        };
        let (before, after) = self.sizes.of(job).unzip();
        let mut row = file.buffer.row();
        row.micros(now.as_micros()).code(actor.0).integer(i64::from(job.0));
        row.code(from.0).code(to.0);
        for chosen in [before, after] {
            let sizing = chosen.map(|it| it.sizing);
            let completion = sizing.map_or(NO_INTEGER, |it| it.completion().as_micros());
            row.integer(sizing.map_or(NO_INTEGER, |it| i64::from(it.processors)));
            row.micros(completion);
        }
        let ready = after.and_then(|it| it.stage_in.data());
        row.micros(ready.map_or(NO_INTEGER, |it| it.as_micros()));
        row.micros(after.map_or(NO_INTEGER, |it| it.stage_in.start_up.as_micros()));
        row.done();
        file.flush_if_full()
    }
}
