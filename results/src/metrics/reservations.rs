//! What was granted in advance.

use haggle_model::reservation::Answer;
use serde::{Deserialize, Serialize};

use super::{Distribution, Sample};

/// Reservations in numbers (Netto 2009, section 3.4). What was refused for want of room is among
/// the refusals, as `no_window`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reservations {
    /// Reservations that were granted, in their windows or beside them.
    pub granted: u64,
    /// Those of them that were granted beside their windows.
    pub beside: u64,
    /// How far beside, in percent of the time that the job was planned to take.
    pub distance_percent: Option<Distribution>,
    /// The sum of these distances: over `beside`, it is their mean, also of several runs together.
    #[serde(default)]
    pub total_distance_percent: f64,
    /// Those whose starts were fixed while they waited.
    pub fixed: u64,
    /// Those for which failures, or jobs that ran on, left no room in their windows.
    pub broken: u64,
    /// Reservations that were granted on another number of processors than was asked for.
    #[serde(default)]
    pub resized: u64,
    /// Those that lost a place and got another one in their windows, at least once.
    #[serde(default)]
    pub moved: u64,
    /// Those that got one on fewer processors.
    #[serde(default)]
    pub shrunk: u64,
    /// Those of the broken ones that were given back.
    #[serde(default)]
    pub revoked: u64,
}

impl Reservations {
    /// Over those of `jobs` that were granted; `None` if none was.
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
        // In one order, whatever the order in which jobs ended.
        distances.sort_unstable_by(f64::total_cmp);
        // Not -0, which is what nothing adds up to.
        sum.total_distance_percent = distances.iter().sum::<f64>() + 0.0;
        sum.distance_percent = Distribution::of(distances);
        (sum.granted > 0).then_some(sum)
    }
}
