//! Metrics of reservations in advance.

use haggle_model::reservation::Answer;
use serde::{Deserialize, Serialize};

use super::{Distribution, Sample};

/// Reservations in numbers (Netto 2009, section 3.4). A reservation that was refused for lack of room
/// counts among the refusals, as `no_window`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reservations {
    /// Reservations that were granted, in their windows or outside them.
    pub granted: u64,
    /// Granted reservations outside their windows.
    pub beside: u64,
    /// Distance from the window, in percent of the planned run time.
    pub distance_percent: Option<Distribution>,
    /// Sum of these distances. Divided by `beside`, it is their mean, also for several runs together.
    #[serde(default)]
    pub total_distance_percent: f64,
    /// Reservations whose starts were fixed while they waited.
    pub fixed: u64,
    /// Reservations that lost the room in their windows to failures, or to jobs that ran longer.
    pub broken: u64,
    /// Reservations with another number of processors than requested.
    #[serde(default)]
    pub resized: u64,
    /// Reservations that lost a place and got another one in their windows, at least once.
    #[serde(default)]
    pub moved: u64,
    /// Reservations that got another place on fewer processors.
    #[serde(default)]
    pub shrunk: u64,
    /// Broken reservations that were given back.
    #[serde(default)]
    pub revoked: u64,
}

impl Reservations {
    /// Sums up the granted reservations among `jobs`; `None` if there are none.
    pub(super) fn of<'a>(jobs: impl Iterator<Item = &'a Sample>) -> Option<Reservations> {
        let mut sum = Reservations {
            granted: 0,
            beside: 0,
            distance_percent: None,
            total_distance_percent: 0.0,
            fixed: 0,
            broken: 0,
            resized: 0,
            moved: 0,
            shrunk: 0,
            revoked: 0,
        };
        let mut distances = Vec::new();
        for granted in jobs.filter_map(|job| job.granted()) {
            let was = |answer| u64::from(granted.displaced.iter().any(|it| it.answer == answer));
            sum.granted += 1;
            sum.fixed += u64::from(granted.fixed.is_some());
            sum.broken += u64::from(granted.is_broken());
            sum.resized += u64::from(granted.processors != granted.asked);
            sum.moved += was(Answer::Moved);
            sum.shrunk += was(Answer::Shrunk);
            sum.revoked += was(Answer::Revoked);
            if let Some(distance) = granted.distance {
                let span = granted.span.as_micros().max(1) as f64;
                distances.push(100.0 * distance.as_micros() as f64 / span);
            }
        }
        sum.beside = distances.len() as u64;
        // Sorted, so that the sum does not depend on the order in which jobs ended.
        distances.sort_unstable_by(f64::total_cmp);
        // The sum of no values is -0; adding 0 makes it 0.
        sum.total_distance_percent = distances.iter().sum::<f64>() + 0.0;
        sum.distance_percent = Distribution::of(distances);
        (sum.granted > 0).then_some(sum)
    }
}
