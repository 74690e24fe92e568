//! The table of bookings: where a job on several providers was booked, one place after the other.

use haggle_model::{Booking, JobId, Time};

use super::{RunWriter, TableFile, micros};
use crate::ResultsError;
use crate::buffer::NO_WORD;
use crate::columns::Table;

impl RunWriter {
    /// The rows of a job that is over, if it was on several providers at any time.
    pub(super) fn write_bookings(
        &mut self,
        job: JobId,
        bookings: &[Booking],
    ) -> Result<(), ResultsError> {
        if bookings.iter().all(|booking| booking.parts.len() < 2) {
            return Ok(());
        }
        let file = match &mut self.bookings {
            Some(file) => file,
            none => {
                let (folder, format) = (self.folder.path(), self.options.format);
                none.insert(TableFile::create(folder, Table::Bookings, &self.cast, format)?)
            }
        };
        for (number, it) in (1..).zip(bookings) {
            let completion = Some(it.completion).filter(|&it| it < Time::FOREVER);
            for &(provider, processors) in &it.parts {
                let mut row = file.buffer.row();
                row.integer(i64::from(job.0)).integer(number).micros(it.at.as_micros());
                row.code(it.asked_by.map_or(NO_WORD, |actor| actor.0)).code(provider.0);
                row.integer(i64::from(processors)).micros(it.start.as_micros());
                row.micros(micros(completion)).done();
            }
        }
        file.flush_if_full()
    }
}
