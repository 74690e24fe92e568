//! The table of bookings: the places of a job on several providers, one after the other.

use haggle_model::{ActorId, Booking, JobId, Time};

use super::{RunWriter, number};
use crate::ResultsError;
use crate::tables::BookingCells;

impl RunWriter {
    /// Writes the rows of a job that is over, if it was booked on several providers at any time.
    pub(super) fn write_bookings(
        &mut self,
        job: JobId,
        bookings: &[Booking],
    ) -> Result<(), ResultsError> {
        if bookings.iter().all(|booking| booking.parts.len() < 2) {
            return Ok(());
        }
        let rows = (1..).zip(bookings).flat_map(|(place, it)| {
            let completion = Some(it.completion).filter(|&it| it < Time::FOREVER);
            it.parts.iter().map(move |&(provider, processors)| BookingCells {
                job: number(job),
                number: place,
                time: it.at.as_micros(),
                asked_by: it.asked_by,
                // The first actors are the places where jobs run, so numbers of providers are numbers
                // of actors.
                holder: ActorId(provider.0),
                processors: i64::from(processors),
                start: it.start.as_micros(),
                finish: completion.map(Time::as_micros),
            })
        });
        self.files.put_all(rows)
    }
}
