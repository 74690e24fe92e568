//! The tables of reservations: what was granted to whom, and how they lost their places.

use haggle_model::reservation::GrantedWindow;
use haggle_model::{JobId, JobRecord, ProviderId, Time};

use super::{RunWriter, TableFile, micros};
use crate::ResultsError;
use crate::columns::Table;

impl RunWriter {
    /// The rows of a job that is over, if something was granted to it.
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
        row.integer(i64::from(granted.processors));
        row.micros(granted.span.as_micros()).micros(granted.planned.as_micros());
        row.micros(micros(distance)).micros(micros(fixed)).micros(micros(start));
        row.integer(i64::from(granted.is_broken())).done();
        file.flush_if_full()?;
        self.write_displacements(record.job.id, provider, granted)
    }

    fn write_displacements(
        &mut self,
        job: JobId,
        provider: ProviderId,
        granted: &GrantedWindow,
    ) -> Result<(), ResultsError> {
        if granted.displaced.is_empty() {
            return Ok(());
        }
        let file = match &mut self.displacements {
            Some(file) => file,
            none => {
                let (folder, format) = (self.folder.path(), self.options.format);
                none.insert(TableFile::create(folder, Table::Displacements, &self.cast, format)?)
            }
        };
        for it in &granted.displaced {
            let mut row = file.buffer.row();
            row.integer(i64::from(job.0)).code(provider.0).micros(it.at.as_micros());
            row.word(it.cause.name()).word(it.answer.name());
            row.integer(i64::from(it.processors)).micros(it.span.as_micros());
            row.micros(micros(it.start)).done();
        }
        file.flush_if_full()
    }
}
