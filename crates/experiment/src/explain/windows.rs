//! What was granted to a job in advance, and how it lost that.

use haggle_results::reader::{DisplacementRow, ReservationRow};
use serde::Serialize;

/// What a provider granted a job in advance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Granted {
    /// When.
    pub time: f64,
    /// Earliest start; `None` = at once.
    pub ready: Option<f64>,
    /// Latest completion; `None` = best effort.
    pub deadline: Option<f64>,
    /// Start planned then.
    pub planned_start: f64,
    /// How far from the window that was asked for its interval is; `None` = in it.
    pub distance: Option<f64>,
    /// When its start was fixed, and where.
    pub fixed: Option<(f64, f64)>,
    /// Whether no room was left in the window.
    pub broken: bool,
    /// Processors granted.
    pub processors: i64,
    /// How it lost its place, in order of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub displaced: Vec<Displaced>,
}

/// The place of a reservation was lost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Displaced {
    /// When.
    pub time: f64,
    /// Why, as in the table.
    pub cause: String,
    /// What was done about it, as in the table.
    pub answer: String,
    /// Processors of its new place.
    pub processors: i64,
    /// Start of its new place.
    pub planned_start: Option<f64>,
}

/// The window of a job, if it was granted one.
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
