//! The table of reservations: what was granted to whom, and what came of it.

use haggle_model::{JobRecord, Time};

use super::{RunWriter, TableFile, micros};
use crate::ResultsError;
use crate::columns::Table;

impl RunWriter {
    /// The row of a job that is over, if something was granted to it.
    pub(super) fn write_reservation(&mut self, record: &JobRecord) -> Result<(), ResultsError> {
        let (Some(granted), Some(provider)) = (&record.granted, record.provider) else {
            return Ok(());
        };
        let file = match &mut self.reservations {
            Some(file) => file,
            none => {
                let (folder, format) = (self.folder.path(), self.options.format);
                none.insert(TableFile::create(folder, Table::Reservations, &self.cast, format)?)
            }
        };
        let deadline = Some(granted.deadline).filter(|&deadline| deadline < Time::FOREVER);
        let distance = granted.distance.map(|distance| Time::ZERO + distance);
        let (fixed, start) = granted.fixed.unzip();
        let mut row = file.buffer.row();
        row.integer(i64::from(record.job.id.0)).code(provider.0);
        row.micros(granted.at.as_micros()).micros(micros(granted.ready)).micros(micros(deadline));
        row.micros(granted.span.as_micros()).micros(granted.planned.as_micros());
        row.micros(micros(distance)).micros(micros(fixed)).micros(micros(start));
        row.integer(i64::from(granted.broken)).done();
        file.flush_if_full()
    }
}
