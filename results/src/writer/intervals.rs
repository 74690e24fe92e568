//! The table of intervals: which phases of an application ran where, and what had been predicted.

use haggle_model::phased::IntervalRecord;

use super::{RunWriter, TableFile, micros};
use crate::ResultsError;
use crate::buffer::NO_WORD;
use crate::columns::Table;

impl RunWriter {
    /// Records that an interval of an application is over.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn interval_over(&mut self, it: &IntervalRecord) -> Result<(), ResultsError> {
        let file = match &mut self.intervals {
            Some(file) => file,
            none => {
                let (folder, format) = (self.folder.path(), self.options.format);
                none.insert(TableFile::create(folder, Table::Intervals, &self.cast, format)?)
            }
        };
        let mut row = file.buffer.row();
        row.integer(i64::from(it.job.0)).integer(i64::from(it.number)).code(it.cluster.0);
        row.integer(i64::from(it.first)).integer(i64::from(it.last)).word(it.how.name());
        // Clusters come first among the actors.
        row.code(it.from.map_or(NO_WORD, |from| from.0));
        row.integer(i64::from(it.machines.count())).micros(it.ordered.as_micros());
        row.micros(micros(it.start)).micros(it.end.as_micros());
        row.micros(it.predicted_move.as_micros()).micros(it.predicted.as_micros());
        row.word(it.ending.name()).done();
        file.flush_if_full()
    }
}
