//! Metrics of deadlines.

use serde::{Deserialize, Serialize};

use super::Sample;

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

/// Jobs with a deadline, in numbers (Netto 2009, section 6.5).
///
/// A job is delayed if its promised completion is later than its deadline. Without a promise, the
/// actual completion counts. The work of a job is processors x requested time; of a bag, tasks x
/// requested time of a task.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Deadlines {
    /// Jobs with a deadline that were not refused.
    pub jobs: u64,
    /// Of these, jobs that were delayed.
    pub delayed: u64,
    /// 100 x delayed / jobs.
    pub delayed_percent: f64,
    /// Work of the jobs, processor-seconds.
    pub work: f64,
    /// Work of the delayed jobs, processor-seconds.
    pub delayed_work: f64,
    /// 100 x delayed_work / work.
    pub delayed_work_percent: f64,
    /// Total weighted delay (equation 6.1): the sum over delayed jobs of
    /// processors x ((promised - submission) / (deadline - submission) - 1) x 100.
    pub total_weighted_delay: f64,
    /// Jobs that ended later than promised, delayed or not.
    pub broken_promises: u64,
}

impl Deadlines {
    /// Sums up those of `jobs` that ran and have a deadline; `None` if there are none.
    pub(super) fn of<'a>(jobs: impl Iterator<Item = &'a Sample>) -> Option<Deadlines> {
        let (mut count, mut delayed, mut broken) = (0, 0, 0);
        let (mut work, mut delayed_work) = (0_i128, 0_i128);
        let mut delays = Vec::new();
        for job in jobs {
            let (Some(deadline), Some((_, end))) = (job.deadline.get(), job.ran()) else {
                continue;
            };
            let promised = job.promised_end.get().unwrap_or(end);
            let area = i128::from(job.requested) * i128::from(job.processors);
            count += 1;
            work += area;
            broken += u64::from(end > promised);
            if promised > deadline {
                delayed += 1;
                delayed_work += area;
                delays.push(weighted_delay(job.processors, job.submit, deadline, promised));
            }
        }
        // Sorted, so that the sum does not depend on the order in which jobs ended.
        delays.sort_unstable_by(f64::total_cmp);
        let percent = |part: f64, whole: f64| if whole > 0.0 { 100.0 * part / whole } else { 0.0 };
        (count > 0).then(|| Deadlines {
            jobs: count,
            delayed,
            delayed_percent: percent(delayed as f64, count as f64),
            work: work as f64 / SECOND,
            delayed_work: delayed_work as f64 / SECOND,
            delayed_work_percent: percent(delayed_work as f64, work as f64),
            // The sum of no values is -0; adding 0 makes it 0.
            total_weighted_delay: delays.iter().sum::<f64>() + 0.0,
            broken_promises: broken,
        })
    }
}

/// One job's part of the total weighted delay; times in one unit.
fn weighted_delay(processors: u32, submit: i64, deadline: i64, promised: i64) -> f64 {
    // The deadline may be the submission itself.
    let wished = (deadline - submit).max(1) as f64;
    let late = (promised - deadline) as f64;
    f64::from(processors) * late / wished * 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Example OX-10 (e) and the delay of OX-10 (b).
    #[test]
    fn delays_are_weighted_by_processors_and_by_the_time_wished() {
        assert_eq!(weighted_delay(512, 0, 40, 100), 76_800.0);
        assert_eq!(weighted_delay(64, 10, 50, 50), 0.0);
        assert_eq!(weighted_delay(4, 100, 300, 350), 100.0);
        assert_eq!(weighted_delay(1, 0, 8, 15), 87.5);
    }
}
