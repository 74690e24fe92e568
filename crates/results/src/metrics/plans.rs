//! Metrics of applications of phases: intervals, moves and errors of predictions.

use haggle_model::phased::{IntervalEnd, IntervalRecord, Move};
use haggle_model::{JobId, Span};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

/// Applications of phases in numbers, over the whole run: a cut has no effect here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plans {
    /// Applications that began.
    pub applications: u64,
    /// Intervals that began, lost ones included.
    pub intervals: u64,
    /// Of these, intervals on the machines of the interval before.
    pub stayed: u64,
    /// Of these, intervals on other machines of the same cluster.
    pub within: u64,
    /// Of these, intervals on another cluster.
    pub between: u64,
    /// Intervals that lost a machine, so that their phases had to be repeated.
    pub lost: u64,
    /// Time of intervals that were done, s.
    pub time: f64,
    /// Time of the same intervals as predicted at their start, s.
    pub predicted: f64,
    /// Mean difference of both times, in percent of the time.
    pub error_percent: Option<f64>,
    /// Time of moves, including moves to intervals that were lost, s.
    pub moving: f64,
    /// Time of intervals that were lost, s.
    pub lost_time: f64,
}

/// Collects intervals while a run goes on.
#[derive(Clone, Debug, Default)]
pub(super) struct PlanLog {
    applications: BTreeSet<JobId>,
    counts: Plans,
    time: Span,
    predicted: Span,
    moving: Span,
    lost_time: Span,
    /// Σ |time - predicted| / time, and the number of these terms.
    errors: (f64, u64),
}

impl PlanLog {
    pub(super) fn interval_over(&mut self, it: &IntervalRecord) {
        self.applications.insert(it.job);
        let counts = &mut self.counts;
        counts.intervals += 1;
        counts.stayed += u64::from(it.how == Move::Stay);
        counts.within += u64::from(it.how == Move::Within);
        counts.between += u64::from(it.how == Move::Between);
        counts.lost += u64::from(it.ending == IntervalEnd::Lost);
        self.moving += it.moving();
        match it.ending {
            IntervalEnd::Done => {
                let (time, predicted) = (it.time(), it.predicted);
                self.time += time;
                self.predicted += predicted;
                // An interval that took no time has no error in percent.
                if time > Span::ZERO {
                    let error = (time - predicted).as_micros().abs() as f64;
                    self.errors.0 += error / time.as_micros() as f64;
                    self.errors.1 += 1;
                }
            }
            IntervalEnd::Lost => self.lost_time += it.time(),
            // An interval that is open at the end of the run has no time to compare.
            IntervalEnd::Open => {}
        }
    }

    pub(super) fn sum_up(&self) -> Option<Plans> {
        let seconds = |span: Span| span.as_micros() as f64 / SECOND;
        let (errors, count) = self.errors;
        (!self.applications.is_empty()).then(|| Plans {
            applications: self.applications.len() as u64,
            time: seconds(self.time),
            predicted: seconds(self.predicted),
            error_percent: (count > 0).then(|| 100.0 * errors / count as f64),
            moving: seconds(self.moving),
            lost_time: seconds(self.lost_time),
            ..self.counts
        })
    }
}
