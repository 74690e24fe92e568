//! The jobs of a run beside their log: starts and waiting times, job by job.
//!
//! Jobs of one week wait in the same queue, so their differences are not independent. The intervals count blocks of
//! time as replications, not jobs.

use super::owners::OwnedWaits;
use haggle_results::reader::Rows;
use haggle_results::stats::{Blocks, Estimate};
use haggle_results::{JobTimes, ResultsError, RunReader};
use serde::Serialize;

/// A run beside the log of its jobs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BesideLog {
    /// Jobs that started in the run, and whose log has their waiting times.
    pub jobs: usize,
    /// Jobs of these that started earlier in the run.
    pub earlier: usize,
    /// Jobs that started later in the run.
    pub later: usize,
    /// Jobs that started as recorded.
    pub same: usize,
    /// Jobs with recorded times that never started in the run.
    pub never_started: usize,
    /// Jobs without recorded times.
    pub unknown: usize,
    /// Length of a block, s.
    pub block: f64,
    /// Mean waiting time by the log, s.
    pub recorded: Option<Estimate>,
    /// Mean waiting time in the run, s.
    pub simulated: Option<Estimate>,
    /// Mean of waiting time in the run - by the log, s.
    pub difference: Option<Estimate>,
    /// Mean absolute value of this difference, s.
    pub absolute_difference: Option<Estimate>,
    /// Jobs with different starts, largest difference first.
    pub largest: Vec<BesideStart>,
    /// Waiting times by owner, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owners: Option<OwnedWaits>,
}

/// A job that started at another time than its log says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BesideStart {
    /// Its workload.
    pub workload: String,
    /// Its number in the workload.
    pub job_id: i64,
    /// Processors it needs.
    pub processors: i64,
    /// Start by the log, s.
    pub recorded_start: f64,
    /// Start in the run, s.
    pub start: f64,
    /// Its provider in the run.
    pub provider: Option<String>,
}

impl BesideStart {
    /// Delay of its start in the run, s.
    pub fn later(&self) -> f64 {
        self.start - self.recorded_start
    }
}

/// Compares the starts of a run with those of its log, in blocks of `block` seconds by submission. Names the `most` jobs
/// whose starts differ most. Warm-up and cool-down are included.
///
/// # Errors
/// If the results cannot be read.
pub fn beside_log(run: &RunReader, block: f64, most: usize) -> Result<BesideLog, ResultsError> {
    let mut jobs = Vec::new();
    let mut unknown = 0;
    JobTimes::each(run, &Rows::all(), |job| match job.recorded_wait {
        Some(wait) => jobs.push((wait, job)),
        None => unknown += 1,
    })?;
    // The table is in the order of ends. Sums must not depend on it.
    jobs.sort_by(|(_, a), (_, b)| {
        a.submit.total_cmp(&b.submit).then_with(|| (&a.workload, a.job).cmp(&(&b.workload, b.job)))
    });
    let first = jobs.first().map_or(0.0, |(_, job)| job.submit);
    let [mut recorded, mut simulated, mut difference, mut absolute] =
        [(); 4].map(|()| Blocks::new(first, block));
    let (mut earlier, mut later, mut same, mut never_started) = (0, 0, 0, 0);
    let mut moved = Vec::new();
    for (wait, job) in &jobs {
        let at = job.submit;
        let Some((waited, start)) = job.waiting_time.zip(job.start) else {
            never_started += 1;
            continue;
        };
        recorded.add(at, *wait);
        simulated.add(at, waited);
        difference.add(at, waited - wait);
        absolute.add(at, (waited - wait).abs());
        let moved_by = start - (at + wait);
        match moved_by {
            0.0 => same += 1,
            by if by < 0.0 => earlier += 1,
            _ => later += 1,
        }
        if moved_by != 0.0 {
            moved.push((wait, job, start, moved_by.abs()));
        }
    }
    // Stable, so that jobs of one difference stay in order of submission.
    moved.sort_by(|left, right| right.3.total_cmp(&left.3));
    let start = |&(wait, job, start, _): &(&f64, &JobTimes, f64, f64)| BesideStart {
        workload: job.workload.clone(),
        job_id: job.job_id,
        processors: job.processors,
        recorded_start: job.submit + wait,
        start,
        provider: job.provider.clone(),
    };
    Ok(BesideLog {
        jobs: earlier + later + same,
        earlier,
        later,
        same,
        never_started,
        unknown,
        block,
        recorded: recorded.mean(),
        simulated: simulated.mean(),
        difference: difference.mean(),
        absolute_difference: absolute.mean(),
        largest: moved.iter().take(most).map(start).collect(),
        owners: None,
    })
}
