//! The table of maintenance: which processors were closed when, and which windows were refused.

use haggle_model::MaintenanceRecord;

use super::{RunWriter, TableFile};
use crate::ResultsError;
use crate::buffer::NO_INTEGER;
use crate::columns::Table;

impl RunWriter {
    /// Records that a window of maintenance has begun, or is refused.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn maintenance(&mut self, record: &MaintenanceRecord) -> Result<(), ResultsError> {
        let file = match &mut self.maintenance {
            Some(file) => file,
            none => {
                let (folder, format) = (self.folder.path(), self.options.format);
                none.insert(TableFile::create(folder, Table::Maintenance, &self.cast, format)?)
            }
        };
        let offset = self.cast.providers[record.provider.index()].first_processor;
        let outcome = match record.closed {
            None => "refused",
            Some(_) if record.held() < record.processors => "short",
            Some(_) => "held",
        };
        let closed = record.closed.as_ref().map_or(&[][..], |it| it.intervals());
        let number = |processor: u32| i64::from(processor + offset);
        let mut intervals: Vec<(i64, i64)> =
            closed.iter().map(|&(first, last)| (number(first), number(last))).collect();
        if intervals.is_empty() {
            intervals.push((NO_INTEGER, NO_INTEGER));
        }
        for (first, last) in intervals {
            let mut row = file.buffer.row();
            row.code(record.provider.0).integer(i64::from(record.number) + 1);
            row.micros(record.announced.as_micros()).micros(record.start.as_micros());
            row.micros(record.end.as_micros()).integer(i64::from(record.processors));
            row.integer(i64::from(record.held())).word(outcome).integer(first).integer(last);
            row.micros(super::micros(record.possible)).done();
        }
        file.flush_if_full()
    }
}
