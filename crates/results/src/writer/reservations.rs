//! The tables of reservations: granted windows, and displacements of reservations.

use haggle_model::{JobRecord, Span, Time};

use super::{RunWriter, number};
use crate::ResultsError;
use crate::tables::{DisplacementCells, ReservationCells};

impl RunWriter {
    /// Writes the rows of a job that is over, if it was granted a reservation.
    pub(super) fn write_reservation(&mut self, record: &JobRecord) -> Result<(), ResultsError> {
        let (Some(granted), Some(provider)) = (&record.granted, record.provider) else {
            return Ok(());
        };
        let job = number(record.job.id);
        let deadline = Some(granted.deadline).filter(|&deadline| deadline < Time::FOREVER);
        let (fixed, start) = granted.fixed.unzip();
        self.files.put(ReservationCells {
            job,
            provider,
            granted: granted.at.as_micros(),
            ready: granted.ready.map(Time::as_micros),
            deadline: deadline.map(Time::as_micros),
            processors: i64::from(granted.processors),
            span: granted.span.as_micros(),
            planned_start: granted.planned.as_micros(),
            distance: granted.distance.map(Span::as_micros),
            fixed: fixed.map(Time::as_micros),
            fixed_start: start.map(Time::as_micros),
            broken: granted.is_broken(),
        })?;
        self.files.put_all(granted.displaced.iter().map(|it| DisplacementCells {
            job,
            provider,
            time: it.at.as_micros(),
            cause: it.cause.name(),
            answer: it.answer.name(),
            processors: i64::from(it.processors),
            span: it.span.as_micros(),
            planned_start: it.start.map(Time::as_micros),
        }))
    }
}
