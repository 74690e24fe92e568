//! The reservation of a job, and the losses of its place.

use haggle_results::reader::{DisplacementRow, ReservationRow};
use serde::Serialize;

/// Reservation that a provider granted a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Granted {
    /// Time of the grant.
    pub time: f64,
    /// Earliest start; `None` = at once.
    pub ready: Option<f64>,
    /// Latest completion; `None` = best effort.
    pub deadline: Option<f64>,
    /// Start planned then.
    pub planned_start: f64,
    /// Distance of its interval from the requested window; `None` = within the window.
    pub distance: Option<f64>,
    /// Time at which its start was fixed, and this start.
    pub fixed: Option<(f64, f64)>,
    /// True if the window had no room left.
    pub broken: bool,
    /// Processors granted.
    pub processors: i64,
    /// Losses of its place, in order of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub displaced: Vec<Displaced>,
}

/// Loss of the place of a reservation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Displaced {
    /// Time of the loss.
    pub time: f64,
    /// Cause, a word of the table.
    pub cause: String,
    /// Answer of the provider, a word of the table.
    pub answer: String,
    /// Processors of its new place.
    pub processors: i64,
    /// Start of its new place.
    pub planned_start: Option<f64>,
}

/// The reservation of a job, if it was granted one.
pub(super) fn of(
    job: i64,
    reservations: &[ReservationRow],
    displacements: &[DisplacementRow],
) -> Option<Granted> {
    let row = reservations.iter().find(|row| row.job == job)?;
    let displaced = displacements.iter().filter(|row| row.job == job).map(|row| Displaced {
        time: row.time,
        cause: row.cause.clone(),
        answer: row.answer.clone(),
        processors: row.processors,
        planned_start: row.planned_start,
    });
    Some(Granted {
        time: row.granted,
        ready: row.ready,
        deadline: row.deadline,
        planned_start: row.planned_start,
        distance: row.distance,
        fixed: row.fixed.zip(row.fixed_start),
        broken: row.broken,
        processors: row.processors,
        displaced: displaced.collect(),
    })
}
