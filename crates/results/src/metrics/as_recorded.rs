//! Metrics of a run's jobs on the machine of their log, beside those of the run.
//!
//! All numbers are over the same jobs: those that came to their ends in the run, and whose log has a waiting time
//! and a run time.

use haggle_model::time::MICROS_PER_SECOND;
use serde::{Deserialize, Serialize};

use super::summary::ratio;
use super::{Distribution, Sample, bounded_slowdown};

/// The same jobs in their log and in the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AsRecorded {
    /// Number of the jobs.
    pub jobs: u64,
    /// Times and slowdowns by the log.
    #[serde(flatten)]
    pub logged: Waits,
    /// Time from the first submission in the run to the last end by the log, s.
    pub makespan: f64,
    /// Σ run time by the log × processors / (processors of the group × `makespan`).
    pub utilisation: Option<f64>,
    /// Times and slowdowns in the run.
    pub simulated: Waits,
    /// Mean of waiting time in the run - waiting time by the log, s.
    pub mean_difference: f64,
    /// Mean of the absolute value of this difference, s.
    pub mean_absolute_difference: f64,
}

/// Waiting times, s, and bounded slowdowns of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waits {
    /// Mean waiting time, s.
    pub mean_waiting_time: f64,
    /// Median waiting time, s.
    pub median_waiting_time: f64,
    /// Longest waiting time, s.
    pub max_waiting_time: f64,
    /// Mean bounded slowdown.
    pub mean_bounded_slowdown: f64,
    /// Median bounded slowdown.
    pub median_bounded_slowdown: f64,
}

impl Waits {
    fn of(waits: Vec<f64>, slowdowns: Vec<f64>) -> Option<Waits> {
        let (waits, slowdowns) = (Distribution::of(waits)?, Distribution::of(slowdowns)?);
        Some(Waits {
            mean_waiting_time: waits.mean,
            median_waiting_time: waits.median,
            max_waiting_time: waits.max,
            mean_bounded_slowdown: slowdowns.mean,
            median_bounded_slowdown: slowdowns.median,
        })
    }
}

impl AsRecorded {
    /// Sums up the jobs of a group with so many processors; `None` if no log has their times. `threshold` is that of
    /// bounded slowdowns, µs.
    pub(super) fn of<'a>(
        jobs: impl Iterator<Item = &'a Sample>,
        processors: u64,
        threshold: i64,
    ) -> Option<AsRecorded> {
        let [mut logged, mut simulated] = [(); 2].map(|()| (Vec::new(), Vec::new()));
        let (mut first, mut last, mut work) = (i64::MAX, i64::MIN, 0_i128);
        let (mut difference, mut absolute) = (0_i128, 0_i128);
        for job in jobs.filter(|job| job.is_done()) {
            let Some(((wait, run), log)) =
                job.waiting_time().zip(job.run_time()).zip(job.log.as_deref())
            else {
                continue;
            };
            let logged_wait = log.wait.as_micros();
            let logged_run = log.run_time.reveal_to_machine().as_micros();
            let turnaround = job.end - job.submit;
            for ((waits, slowdowns), wait, run, turnaround) in [
                (&mut logged, logged_wait, logged_run, logged_wait + logged_run),
                (&mut simulated, wait, run, turnaround),
            ] {
                waits.push(seconds(wait.into()));
                slowdowns.push(bounded_slowdown(turnaround, run, threshold));
            }
            first = first.min(job.submit);
            last = last.max(job.submit + logged_wait + logged_run);
            work += i128::from(logged_run) * i128::from(job.processors);
            difference += i128::from(wait - logged_wait);
            absolute += i128::from((wait - logged_wait).abs());
        }
        let jobs = logged.0.len() as u64;
        let mean = |sum: i128| seconds(sum) / jobs as f64;
        // The means are unused without jobs.
        let (mean_difference, mean_absolute_difference) = (mean(difference), mean(absolute));
        let logged = Waits::of(logged.0, logged.1)?;
        let makespan = seconds((last - first).into());
        Some(AsRecorded {
            jobs,
            logged,
            makespan,
            utilisation: ratio(seconds(work), processors as f64 * makespan),
            simulated: Waits::of(simulated.0, simulated.1)?,
            mean_difference,
            mean_absolute_difference,
        })
    }
}

fn seconds(micros: i128) -> f64 {
    micros as f64 / MICROS_PER_SECOND as f64
}
