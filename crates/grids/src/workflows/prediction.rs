//! Prediction of the length of a task from its reports so far (Chtepen 2011, chapter 6).

use std::fmt;

use dyn_clone::DynClone;
use haggle_model::progress::ProgressReport;
use serde::{Deserialize, Serialize};

use super::curve::{Curve, Direction};

/// Known data of a task's length. Work is in MI.
#[derive(Clone, Copy, Debug)]
pub struct History<'a> {
    /// E_est before it began, if its user gave one.
    pub a_priori: Option<f64>,
    /// Its reports, oldest first.
    pub reports: &'a [ProgressReport],
    /// W_J: its progress in the last report, or in its checkpoint.
    pub done: f64,
}

/// A rule that predicts the length of a task. A grid uses one's own through
/// [`Prediction::Own`](super::Prediction::Own).
///
/// ```
/// use haggle_model::progress::ProgressReport;
/// use haggle_grids::workflows::prediction::{Extrapolation, History, Predictor};
///
/// /// Takes the largest length that a task ever reported.
/// #[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
/// struct Pessimist;
///
/// #[typetag::serde] // so that a snapshot of a run has it
/// impl Predictor for Pessimist {
///     fn predict(&self, history: &History<'_>) -> Option<f64> {
///         history.reports.iter().map(ProgressReport::length).reduce(f64::max).or(history.a_priori)
///     }
/// }
///
/// // 20 % after 10 MI, 50 % after 20 MI.
/// let reports = [(10.0, 0.2), (20.0, 0.5)].map(|(done, part)| ProgressReport { done, part });
/// let history = History { a_priori: None, reports: &reports, done: 20.0 };
/// assert_eq!(Pessimist.predict(&history), Some(50.0));
/// assert_eq!(Extrapolation.predict(&history), Some(40.0));
/// ```
#[typetag::serde]
pub trait Predictor: DynClone + fmt::Debug + Send {
    /// The length of the task, MI; `None` if nothing is known of it.
    fn predict(&self, history: &History<'_>) -> Option<f64>;
}

dyn_clone::clone_trait_object!(Predictor);

/// Linear extrapolation of the last report: E_n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extrapolation;

#[typetag::serde]
impl Predictor for Extrapolation {
    fn predict(&self, history: &History<'_>) -> Option<f64> {
        let last = history.reports.last().map(ProgressReport::length);
        last.or(history.a_priori)
    }
}

/// The mean of all lengths reported so far, E_avg (section 5.5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Average;

#[typetag::serde]
impl Predictor for Average {
    fn predict(&self, history: &History<'_>) -> Option<f64> {
        if history.reports.is_empty() {
            return history.a_priori;
        }
        let sum: f64 = history.reports.iter().map(ProgressReport::length).sum();
        Some(sum / history.reports.len() as f64)
    }
}

/// The limit of the exponential curve that fits the reported lengths best (section 6.4).
///
/// Two curves are tried: one that falls to its limit, ψ1(t) = x1 + x2·exp(−x3·t), and one that rises to it,
/// ψ2(t) = y1 − y2·exp(−y3·t), with x2, y2 ≥ 0 and x3, y3 > 0. A limit is no prediction if the task has
/// already passed it, or if it is above the bound. Without a prediction the last report is extrapolated
/// linearly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurveFit {
    /// Fewest reports for a fit, at least 3: a curve has three parameters.
    pub min_points: usize,
    /// Largest limit that is a prediction, as a multiple of the largest reported length.
    pub bound: f64,
}

impl CurveFit {
    /// The better of both curves, if any is a prediction; of equal ones the falling one.
    pub fn fit(&self, history: &History<'_>) -> Option<(Direction, Curve)> {
        if history.reports.len() < self.min_points.max(3) {
            return None;
        }
        let points: Vec<(f64, f64)> =
            history.reports.iter().map(|report| (report.done, report.length())).collect();
        let largest = points.iter().map(|&(_, length)| length).fold(0.0, f64::max);
        let curves = Curve::fit(&points);
        let possible = |&(_, curve): &(Direction, Curve)| {
            curve.limit >= history.done && curve.limit <= self.bound * largest
        };
        let possible = curves.into_iter().filter(possible);
        // The falling curve comes first, so it is kept of equal ones.
        possible.min_by(|(_, a), (_, b)| a.residual.total_cmp(&b.residual))
    }
}

impl Default for CurveFit {
    fn default() -> CurveFit {
        CurveFit { min_points: 4, bound: 2.0 }
    }
}

#[typetag::serde]
impl Predictor for CurveFit {
    fn predict(&self, history: &History<'_>) -> Option<f64> {
        match self.fit(history) {
            Some((_, curve)) => Some(curve.limit),
            None => Extrapolation.predict(history),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reports(lengths: &[(f64, f64)]) -> Vec<ProgressReport> {
        // Reports at 0 give no length, and the examples begin with one.
        let report = |&(done, length): &(f64, f64)| ProgressReport { done, part: done / length };
        lengths.iter().map(report).collect()
    }

    fn history(reports: &[ProgressReport]) -> History<'_> {
        History { a_priori: Some(7.0), reports, done: 1.0 }
    }

    /// Micro-example M-8.
    #[test]
    fn averages_count_every_report() {
        let all = reports(&[(1.0, 3000.0), (2.0, 1500.0), (3.0, 2700.0), (4.0, 1800.0)]);
        for (count, mean) in [(1, 3000.0), (2, 2250.0), (3, 2400.0), (4, 2250.0)] {
            assert_eq!(Average.predict(&history(&all[..count])), Some(mean));
        }
    }

    #[test]
    fn who_has_not_reported_is_taken_at_its_users_word() {
        let predictors: [&dyn Predictor; 3] = [&Extrapolation, &Average, &CurveFit::default()];
        for predictor in predictors {
            assert_eq!(predictor.predict(&history(&[])), Some(7.0), "{predictor:?}");
            let unknown = History { a_priori: None, reports: &[], done: 1.0 };
            assert_eq!(predictor.predict(&unknown), None, "{predictor:?}");
        }
    }

    #[test]
    fn few_reports_or_absurd_limits_are_extrapolated() {
        let falling = [(1.0, 150.0), (2.0, 125.0), (3.0, 112.5), (4.0, 106.25)];
        let all = reports(&falling);
        let fit = CurveFit::default();
        assert_eq!(fit.predict(&history(&all[..3])), Extrapolation.predict(&history(&all[..3])));
        assert!((fit.predict(&history(&all)).expect("reports") - 100.0).abs() < 1e-6);
        // 124 MI have been done, so neither 100 MI nor the mean of all is its length.
        let further = History { done: 124.0, ..history(&all) };
        assert_eq!(fit.predict(&further), Extrapolation.predict(&further));
    }

    /// Estimates that rise to 300 MI by 200·2^(−t): the largest of the first five is 293.75 MI. Estimates
    /// that rise to 300 MI by 200·0.9^(−t) reach 168.78 MI.
    #[test]
    fn a_limit_far_above_all_reports_is_no_prediction() {
        let rising = |base: f64| {
            let length = |t| (f64::from(t) + 1.0, 300.0 - 200.0 * base.powi(t));
            reports(&(0..5).map(length).collect::<Vec<_>>())
        };
        let limit = |base, bound| {
            let fit = CurveFit { bound, ..CurveFit::default() };
            fit.fit(&history(&rising(base))).map(|(_, curve)| curve.limit.round())
        };
        assert_eq!(CurveFit::default().bound, 2.0);
        assert_eq!([limit(0.5, 2.0), limit(0.9, 2.0)], [Some(300.0); 2]);
        // 300 MI is 1.78 times 168.78 MI, so only the best curve from the other side is left, the mean.
        assert_eq!([limit(0.5, 1.5), limit(0.9, 1.5)], [Some(300.0), Some(136.0)]);
    }
}
