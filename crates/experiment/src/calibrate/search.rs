//! Search for the values with the smallest error.
//!
//! ```text
//!  combinations of every other value ──▶ best point ──▶ its neighbours ──┐
//!                                            ▲                           │
//!                                            └── a neighbour is better ◀─┘
//! ```
//!
//! The error is a noisy function of the settings, with many small steps, and the best value of one depends on the others. So
//! the search follows no slopes. It is deterministic: of equal errors, the point that was tried first stays, and the given
//! one is the first.

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

/// Finds a point with a small error: no neighbour of it has a smaller one. `values` are those of each setting in their order,
/// and have the given ones.
///
/// # Errors
/// If an evaluation fails.
pub(super) fn search(
    given: &Point,
    values: &[Vec<Option<u32>>],
    conduct: &Conduct<'_>,
    error: impl Fn(&Point) -> Result<f64, ExperimentError> + Sync,
) -> Result<Found, ExperimentError> {
    let every_other = values.iter().map(|it| it.iter().copied().step_by(2).collect());
    let mut next = combinations(&Vec::from_iter(every_other));
    next.retain(|it| it != given);
    next.insert(0, given.clone());
    let mut tried: Vec<(Point, f64)> = Vec::new();
    loop {
        let errors = evaluate(&next, tried.len(), conduct, &error)?;
        tried.extend(next.into_iter().zip(errors));
        // The first of equal ones.
        let best = tried.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        let best = best.map_or_else(|| given.clone(), |it| it.0.clone());
        next = neighbours(&best, values);
        next.retain(|it| tried.iter().all(|(tried, _)| tried != it));
        if next.is_empty() {
            return Ok(Found { runs: tried.len(), point: best });
        }
    }
}

/// All combinations of these values of each setting.
fn combinations(values: &[Vec<Option<u32>>]) -> Vec<Point> {
    let mut points = vec![Point::new()];
    for values in values {
        let longer = |point: &Point| {
            let point = point.clone();
            values.iter().map(move |&value| point.iter().copied().chain([value]).collect())
        };
        points = points.iter().flat_map(longer).collect();
    }
    points
}

/// The points that differ from a point by at most one place in the values of each setting.
fn neighbours(point: &Point, values: &[Vec<Option<u32>>]) -> Vec<Point> {
    let near = point.iter().zip(values).map(|(value, values)| {
        let places =
            values.iter().position(|it| it == value).map(|at| (at.saturating_sub(1), at + 2));
        let (from, to) = places.unwrap_or_default();
        values[from..to.min(values.len())].to_vec()
    });
    combinations(&Vec::from_iter(near))
}

/// The errors of the points, after `before` others. The number of workers changes no result.
fn evaluate(
    points: &[Point],
    before: usize,
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
            (conduct.watch)(before + done.len(), before + points.len());
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

    const VALUES: [Option<u32>; 7] =
        [None, Some(1), Some(3), Some(10), Some(30), Some(100), Some(300)];

    fn found(given: Point, workers: usize, error: impl Fn(&Point) -> f64 + Sync) -> Found {
        let stop = AtomicBool::new(false);
        let conduct = Conduct {
            error: Error::Absolute,
            train: 0.5,
            block: 1.0,
            workers,
            stop: &stop,
            watch: &|done, planned| assert!(done <= planned),
        };
        let values = vec![VALUES.to_vec(); given.len()];
        search(&given, &values, &conduct, |point| Ok(error(point))).expect("no error")
    }

    fn place(value: Option<u32>) -> usize {
        VALUES.iter().position(|it| *it == value).expect("a value of the search")
    }

    #[test]
    fn a_setting_without_effect_stays() {
        assert_eq!(found(vec![None, Some(1)], 1, |_| 1.0).point, [None, Some(1)]);
    }

    #[test]
    fn no_value_may_be_the_best() {
        let error = |point: &Point| point[0].map_or(0.0, f64::from);
        assert_eq!(found(vec![Some(100)], 2, error).point, [None]);
    }

    /// Neither value is better than the given one without the other.
    #[test]
    fn settings_that_are_good_together_only_are_found() {
        let errors = |it: &Point| match (it[0], it[1]) {
            (Some(3), Some(30)) => 5.0,
            (None, None) => 9.0,
            _ => 10.0,
        };
        let best = found(vec![None, None], 3, errors);
        // 16 combinations of every other value, and eight neighbours.
        assert_eq!((best.point, best.runs), (vec![Some(3), Some(30)], 24));
    }

    /// The best of every other value is far from the best value, and each step towards it is better.
    #[test]
    fn the_search_goes_on_while_a_neighbour_is_better() {
        let errors = |it: &Point| match (place(it[0]), place(it[1])) {
            (0, 0) => 5.0,
            (1, 1) => 4.0,
            (2, 1) => 3.0,
            (3, 1) => 2.0,
            _ => 10.0,
        };
        assert_eq!(found(vec![None, None], 1, errors).point, [Some(10), Some(1)]);
    }

    proptest! {
        #[test]
        fn no_neighbour_of_the_result_is_better(
            errors in prop::collection::vec(0..9_u32, 49),
            given in (0..7_usize, 0..7_usize),
            workers in 1..4_usize,
        ) {
            let error = |it: &Point| f64::from(errors[7 * place(it[0]) + place(it[1])]);
            let given = vec![VALUES[given.0], VALUES[given.1]];
            let best = found(given.clone(), workers, error);
            let [x, y] = [place(best.point[0]), place(best.point[1])];
            for (other, at) in errors.iter().zip(0..) {
                let (from_x, from_y) = ((at / 7_usize).abs_diff(x), (at % 7).abs_diff(y));
                let is_every_other = at / 7 % 2 == 0 && at % 7 % 2 == 0;
                if from_x.max(from_y) <= 1 || is_every_other {
                    prop_assert!(error(&best.point) <= f64::from(*other));
                }
            }
            prop_assert!(best.point == given || error(&best.point) < error(&given));
            prop_assert_eq!(best, found(given, 1, error));
        }
    }
}
