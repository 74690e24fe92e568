//! Search for the values with the smallest error: all combinations of the values of all settings.
//!
//! The error is a noisy function of the settings, with many small steps, and the best value of one depends on the others. So
//! the search follows no slopes. It is deterministic: of equal errors, the earlier point stays, and the given one is the
//! first.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{Conduct, Point};
use crate::run::ExperimentError;
use crate::threads::on_threads;

/// The best point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) point: Point,
    /// Number of evaluated points.
    pub(super) runs: usize,
}

/// All combinations of these values of each setting, without the given one.
pub(super) fn points(given: &Point, values: &[Vec<Option<u32>>]) -> Vec<Point> {
    let mut points = vec![Point::new()];
    for values in values {
        let longer = |point: &Point| {
            let point = point.clone();
            values.iter().map(move |&value| point.iter().copied().chain([value]).collect())
        };
        points = points.iter().flat_map(longer).collect();
    }
    points.retain(|it| it != given);
    points
}

/// Finds the point with the smallest error, among `given` and these values of each setting.
///
/// # Errors
/// If an evaluation fails.
pub(super) fn search(
    given: &Point,
    values: &[Vec<Option<u32>>],
    conduct: &Conduct<'_>,
    error: impl Fn(&Point) -> Result<f64, ExperimentError> + Sync,
) -> Result<Found, ExperimentError> {
    let mut points = points(given, values);
    points.insert(0, given.clone());
    let errors = evaluate(&points, conduct, &error)?;
    let numbered = errors.iter().enumerate();
    // The first of equal ones.
    let best = numbered.min_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(place, _)| place);
    Ok(Found { runs: points.len(), point: points.swap_remove(best) })
}

/// The errors of the points. The number of workers changes no result.
fn evaluate(
    points: &[Point],
    conduct: &Conduct<'_>,
    error: &(impl Fn(&Point) -> Result<f64, ExperimentError> + Sync),
) -> Result<Vec<f64>, ExperimentError> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let done: Mutex<BTreeMap<usize, Result<f64, ExperimentError>>> = Mutex::default();
    on_threads(conduct.workers.clamp(1, points.len()), || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(point) = points.get(place).filter(|_| !failed.load(Ordering::Relaxed)) else {
                return;
            };
            let found = error(point);
            failed.fetch_or(found.is_err(), Ordering::Relaxed);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.insert(place, found);
            (conduct.watch)(done.len());
        }
    });
    // By place, so that the first error is the same on any number of threads.
    done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Error;
    use super::*;

    fn found(given: Point, workers: usize, error: impl Fn(&Point) -> f64 + Sync) -> Found {
        let stop = AtomicBool::new(false);
        let conduct = Conduct {
            error: Error::Absolute,
            train: 0.5,
            block: 1.0,
            workers,
            stop: &stop,
            watch: &|_| {},
        };
        let values = [None, Some(1), Some(3), Some(10), Some(30), Some(100)].to_vec();
        let values = vec![values; given.len()];
        search(&given, &values, &conduct, |point| Ok(error(point))).expect("no error")
    }

    #[test]
    fn a_setting_without_effect_stays() {
        assert_eq!(found(vec![None, Some(7)], 1, |_| 1.0).point, [None, Some(7)]);
    }

    #[test]
    fn no_value_may_be_the_best() {
        let error = |point: &Point| point[0].map_or(0.0, f64::from);
        assert_eq!(found(vec![Some(90)], 2, error).point, [None]);
    }

    /// Neither value is better than the given one without the other.
    #[test]
    fn settings_that_are_good_together_only_are_found() {
        let errors = |it: &Point| match (it[0], it[1]) {
            (Some(10), Some(30)) => 5.0,
            (None, None) => 9.0,
            _ => 10.0,
        };
        let best = found(vec![None, None], 3, errors);
        assert_eq!((best.point, best.runs), (vec![Some(10), Some(30)], 36));
    }

    proptest! {
        #[test]
        fn the_best_values_are_found(
            errors in prop::collection::vec(0..9_u32, 12),
            workers in 1..4_usize,
        ) {
            let place = |value: Option<u32>| match value {
                None => 0,
                Some(value) => [1, 3, 10, 30, 100].iter().position(|it| *it == value).map_or(0, |it| it + 1),
            };
            let error = |it: &Point| f64::from(errors[place(it[0])] + errors[6 + place(it[1])]);
            let best = found(vec![None, None], workers, error);
            let least = |from: usize| errors[from..from + 6].iter().min().copied().unwrap_or_default();
            prop_assert_eq!(error(&best.point), f64::from(least(0) + least(6)));
            prop_assert_eq!(best, found(vec![None, None], 1, error));
        }
    }
}
