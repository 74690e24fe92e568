//! Progress reports of a task while it runs, and their errors (Chtepen 2011, chapters 5 and 6).
//!
//! A task does not know its own length. Its estimate of the length, E_est, begins with an error that
//! fades out while it computes. From time to time it [reports](Progress::reports) which part of the
//! estimate it has done. Work is in MI here: seconds on the reference processor.

use serde::{Deserialize, Serialize};

use crate::random::splitmix;

/// Progress reports of a task.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    error: EstimateError,
    /// E_act: the true length of the task, MI.
    actual: f64,
    /// Work between two reports, MI.
    step: f64,
    /// Seed of the noise of reports.
    seed: u64,
}

/// Error of a task's estimate of its own length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EstimateError {
    /// Side to which the estimate errs.
    pub side: Side,
    /// r1·A: the error at the beginning, MI.
    pub amplitude: f64,
    /// b: decay of the error. For each per cent of the task that is done, it falls by the factor exp(−b).
    pub decay: f64,
    /// p·A: the largest noise of a report, MI.
    pub noise: f64,
    /// Smallest estimate, as a part of the true length.
    pub floor: f64,
}

/// Side to which an estimate errs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Side {
    /// It is too large.
    Over,
    /// It is too small.
    Under,
    /// It swings about the true length.
    Fluctuating {
        /// True if it is too large at first.
        up: bool,
        /// F: work from one swing to the next, MI.
        period: f64,
        /// r2·φ: position in the first swing at the start, MI.
        shift: f64,
    },
}

/// A report of a task after some work.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgressReport {
    /// W_J: the work done, MI.
    pub done: f64,
    /// P_J: the estimated part of the whole, above 0 and below 1.
    pub part: f64,
}

impl ProgressReport {
    /// The last of `reports`, which are in order, that a task has made when it has done `done` MI. A
    /// task that lost some of its work has made fewer than these.
    pub fn last_by(reports: &[ProgressReport], done: f64) -> Option<&ProgressReport> {
        // A report comes after a multiple of the step. Rounding may put it slightly above the work done.
        let by = done * (1.0 + 4.0 * f64::EPSILON);
        reports[..reports.partition_point(|report| report.done <= by)].last()
    }

    /// E_est: the length that follows from it, MI (section 5.4.1).
    pub fn length(&self) -> f64 {
        self.done / self.part
    }
}

impl EstimateError {
    /// E_est once `done` MI of a task of `actual` MI have been done; `noise` is in [−1, 1].
    ///
    /// ```text
    /// over         E_act + r1·A·exp(−b·t) + r3        t = 100·done/E_act
    /// under        E_act − r1·A·exp(−b·t) + r3        r3 = p·A·noise
    /// fluctuating  E_act ± r1·A·exp(−b·t)·sin(2π·(done + r2·φ)/F) + r3
    /// ```
    ///
    /// A running task is not complete, so the estimate is at least 1.0001·done. It is also at least floor·E_act.
    pub fn estimate(&self, actual: f64, done: f64, noise: f64) -> f64 {
        // Functions of libm give the same bits on every machine.
        let error = self.amplitude * libm::exp(-self.decay * 100.0 * done / actual);
        let error = match self.side {
            Side::Over => error,
            Side::Under => -error,
            Side::Fluctuating { up, period, shift } => {
                let swing = libm::sin(std::f64::consts::TAU * (done + shift) / period);
                if up { error * swing } else { -error * swing }
            }
        };
        (actual + error + self.noise * noise).max(1.0001 * done).max(self.floor * actual)
    }
}

impl Progress {
    /// Progress of a task of `actual` MI that reports after every `step` MI. The noise is drawn by `seed`.
    ///
    /// # Panics
    /// If `actual` or `step` is not above zero.
    pub fn new(error: EstimateError, actual: f64, step: f64, seed: u64) -> Progress {
        assert!(actual > 0.0 && step > 0.0, "a task that reports has some work");
        Progress { error, actual, step, seed }
    }

    /// Error of the task's estimate of its own length.
    pub fn error(&self) -> EstimateError {
        self.error
    }

    /// E_act: the true length of the task, MI.
    pub fn actual(&self) -> f64 {
        self.actual
    }

    /// E_est before the task has started, MI.
    pub fn a_priori(&self) -> f64 {
        self.error.estimate(self.actual, 0.0, 0.0)
    }

    /// The reports of a task that has done `done` MI, without the first `known`.
    pub fn reports(&self, done: f64, known: usize) -> Vec<ProgressReport> {
        let report = |number: usize| {
            let done = number as f64 * self.step;
            let length = self.error.estimate(self.actual, done, self.noise(number));
            ProgressReport { done, part: done / length }
        };
        // All work up to `done` is computed, so its reports have been due.
        let last = (done.min(self.actual) / self.step) as usize;
        (known + 1..=last).map(report).collect()
    }

    /// The noise of a report, uniform in [−1, 1). Every call gives the same value.
    fn noise(&self, number: usize) -> f64 {
        let drawn = splitmix(self.seed ^ splitmix(number as u64)) >> 11;
        drawn as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 5e-6 * expected, "{found}, not {expected}");
    }

    /// Micro-example M-10.
    #[test]
    fn estimates_approach_the_length_from_their_side() {
        let error = |side, amplitude, decay| EstimateError {
            side,
            amplitude,
            decay,
            noise: 0.0,
            floor: 0.02,
        };
        let over = error(Side::Over, 3150.0, 0.1);
        for (per_cent, expected) in [(0.0, 6750.0), (10.0, 4758.82), (50.0, 3621.22)] {
            close(over.estimate(3600.0, 36.0 * per_cent, 0.0), expected);
        }
        let report = Progress::new(over, 3600.0, 360.0, 1).reports(400.0, 0)[0];
        assert!((report.part - 0.07565).abs() < 5e-6);
        close(report.length(), 4758.82);
        let under = error(Side::Under, 3150.0, 0.1);
        for (per_cent, expected) in [(0.0, 3150.0), (10.0, 5141.18), (50.0, 6278.78)] {
            close(under.estimate(6300.0, 63.0 * per_cent, 0.0), expected);
        }
        let chapter6 = error(Side::Under, 3240.0, 0.1);
        for (per_cent, expected) in [(0.0, 360.0), (10.0, 2408.07)] {
            close(chapter6.estimate(3600.0, 36.0 * per_cent, 0.0), expected);
        }
        let swings = Side::Fluctuating { up: true, period: 288.0, shift: 27.0 };
        let swings = error(swings, 3150.0, 0.1);
        for (done, expected) in [(0.0, 5350.046), (72.0, 5744.362), (360.0, 4563.524)] {
            close(swings.estimate(3600.0, done, 0.0), expected);
        }
    }

    /// An error of 3150 MI downwards would reduce the estimate of a task of 3200 MI to 50 MI.
    #[test]
    fn no_estimate_is_below_the_floor_or_the_work_done() {
        let estimate = |floor, done| {
            let side = Side::Under;
            let error = EstimateError { side, amplitude: 3150.0, decay: 0.0, noise: 0.0, floor };
            error.estimate(3200.0, done, 0.0)
        };
        assert_eq!([0.0, 0.02, 0.1].map(|floor| estimate(floor, 0.0)), [50.0, 64.0, 320.0]);
        close(estimate(0.1, 1600.0), 1600.16);
    }

    /// A report every 18 MI: the last one by 100 MI came at 90 MI. After a failure, the task has done only 20 MI.
    #[test]
    fn the_last_report_is_that_of_the_work_that_was_not_lost() {
        let side = Side::Over;
        let error = EstimateError { side, amplitude: 50.0, decay: 0.1, noise: 0.0, floor: 0.1 };
        let reports = Progress::new(error, 3600.0, 18.0, 1).reports(100.0, 0);
        let last = |done| ProgressReport::last_by(&reports, done).map(|report| report.done);
        assert_eq!([100.0, 90.0, 20.0].map(last), [Some(90.0), Some(90.0), Some(18.0)]);
        assert_eq!(last(17.9), None);
    }

    #[test]
    fn a_report_is_the_same_whenever_it_is_asked_for() {
        let side = Side::Over;
        let error = EstimateError { side, amplitude: 50.0, decay: 0.1, noise: 20.0, floor: 0.02 };
        let task = Progress::new(error, 200.0, 1.0, 1);
        let all = task.reports(200.0, 0);
        assert_eq!(all.len(), 200);
        assert_eq!(task.reports(150.9, 100), all[100..150]);
        assert!(all.iter().all(|report| report.part > 0.0 && report.part < 1.0));
        assert_eq!(task.reports(0.5, 0), []);
        assert_eq!(task.a_priori(), 250.0);
    }
}
