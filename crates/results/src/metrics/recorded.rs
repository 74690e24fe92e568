//! Metrics of jobs at providers that start jobs as recorded.

use haggle_model::observation::RecordedStart;
use haggle_model::time::MICROS_PER_SECOND;
use serde::{Deserialize, Serialize};

use super::Sample;

/// Starts of jobs beside those that their logs have recorded. A delay is the time from the recorded start to the start,
/// of the last attempt if a job had several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedStarts {
    /// Jobs that started and have a recorded start.
    pub jobs: u64,
    /// Number of jobs that started later.
    pub later_jobs: u64,
    /// Mean delay over the jobs with a recorded start, s; missing if there is none.
    pub mean_delay: Option<f64>,
    /// Longest delay, s.
    pub max_delay: Option<f64>,
    /// Jobs that started and have no recorded start.
    pub unknown_jobs: u64,
}

impl RecordedStarts {
    /// Sums up the jobs that started; `None` if none of them was to start as recorded.
    pub(super) fn of<'a>(jobs: impl Iterator<Item = &'a Sample>) -> Option<RecordedStarts> {
        let mut sum = RecordedStarts::default();
        let (mut total, mut longest) = (0_i128, 0);
        for job in jobs {
            let Some((start, recorded)) = job.start.get().zip(job.recorded()) else { continue };
            let RecordedStart::At(recorded) = recorded else {
                sum.unknown_jobs += 1;
                continue;
            };
            // A job may have started earlier before its provider got this policy.
            let delay = (start - recorded.as_micros()).max(0);
            sum.jobs += 1;
            sum.later_jobs += u64::from(delay > 0);
            total += i128::from(delay);
            longest = longest.max(delay);
        }
        if sum.jobs > 0 {
            sum.mean_delay = Some(total as f64 / sum.jobs as f64 / MICROS_PER_SECOND as f64);
            sum.max_delay = Some(longest as f64 / MICROS_PER_SECOND as f64);
        }
        (sum.jobs + sum.unknown_jobs > 0).then_some(sum)
    }
}
