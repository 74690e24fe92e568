//! Metrics of rigid jobs that were spread over providers, and of their moves while they waited.

use haggle_model::JobRecord;
use serde::{Deserialize, Serialize};

use super::Distribution;

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

/// Jobs that could be spread over providers, and that ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoallocatedJobs {
    /// Number of these jobs.
    pub jobs: u64,
    /// Providers on which a job ran, mean.
    pub providers: f64,
    /// Number of jobs that ran on one provider, on two, …; at least four entries.
    pub by_providers: Vec<u64>,
    /// Jobs whose first place was on several providers.
    pub spread: u64,
    /// Of these, in percent: jobs whose first place started at once, so that no earlier start was possible.
    #[serde(default)]
    pub at_once_percent: Option<f64>,
    /// Of these, in percent: jobs that ran on one provider.
    pub united_percent: Option<f64>,
    /// Of these, in percent: jobs that started before the start of their first place.
    pub earlier_percent: Option<f64>,
    /// Of these: time by which jobs started before that, s; negative if later.
    pub advance: Option<Distribution>,
    /// Of these: number of moves of a job, mean.
    pub moves: Option<f64>,
    /// Percent by which jobs that ran on several providers took longer than on one, mean.
    #[serde(default)]
    pub overhead: Option<f64>,
}

/// Data of one such job that metrics need.
#[derive(Clone, Copy, Debug)]
pub(super) struct CoallocatedSample {
    /// Submission or earliest possible start, the later of both.
    came: i64,
    /// Start of the job's first place.
    first_start: i64,
    first_providers: u32,
    moves: u32,
    start: i64,
    providers: u32,
    /// Percent.
    overhead: u32,
}

impl CoallocatedSample {
    /// The data of a job that could be spread, if it ran.
    pub(super) fn of(record: &JobRecord) -> Option<CoallocatedSample> {
        let bag = record.bag.as_ref()?;
        let placed = bag.coallocated?;
        Some(CoallocatedSample {
            came: record.job.ready.unwrap_or_default().max(record.job.submit).as_micros(),
            first_start: placed.first_start.as_micros(),
            first_providers: placed.first_providers,
            moves: placed.moves,
            start: record.start?.as_micros(),
            providers: bag.shares.len() as u32,
            overhead: placed.overhead,
        })
    }
}

impl CoallocatedJobs {
    /// Sums up the jobs; `None` if there are none.
    pub(super) fn of(jobs: &[CoallocatedSample]) -> Option<CoallocatedJobs> {
        if jobs.is_empty() {
            return None;
        }
        let spread: Vec<_> = jobs.iter().filter(|job| job.first_providers > 1).collect();
        let mean = |value: &dyn Fn(&CoallocatedSample) -> f64| {
            let sum: f64 = spread.iter().map(|job| value(job)).sum();
            (!spread.is_empty()).then(|| sum / spread.len() as f64)
        };
        let percent =
            |holds: &dyn Fn(&CoallocatedSample) -> bool| mean(&|job| 100.0 * f64::from(holds(job)));
        let apart = jobs.iter().filter(|job| job.providers > 1);
        let overheads = Vec::from_iter(apart.map(|job| f64::from(job.overhead)));
        let overhead = overheads.iter().sum::<f64>() / overheads.len() as f64;
        let most = jobs.iter().map(|job| job.providers).max().unwrap_or(0).max(4);
        let on = |count| jobs.iter().filter(|job| job.providers == count).count() as u64;
        let providers: u64 = jobs.iter().map(|job| u64::from(job.providers)).sum();
        let advance = |job: &&CoallocatedSample| (job.first_start - job.start) as f64 / SECOND;
        Some(CoallocatedJobs {
            jobs: jobs.len() as u64,
            providers: providers as f64 / jobs.len() as f64,
            by_providers: (1..=most).map(on).collect(),
            spread: spread.len() as u64,
            at_once_percent: percent(&|job| job.first_start <= job.came),
            united_percent: percent(&|job| job.providers == 1),
            earlier_percent: percent(&|job| job.start < job.first_start),
            advance: Distribution::of(spread.iter().copied().map(|job| advance(&job)).collect()),
            moves: mean(&|job| f64::from(job.moves)),
            overhead: (!overheads.is_empty()).then_some(overhead),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_jobs_that_were_spread_first_are_said_to_have_moved() {
        let job =
            |first_start: i64, first_providers, start: i64, providers, moves| CoallocatedSample {
                came: 9_000_000,
                first_start: first_start * 1_000_000,
                first_providers,
                moves,
                start: start * 1_000_000,
                providers,
                overhead: 10 * providers,
            };
        let jobs = [job(10, 2, 5, 1, 1), job(10, 3, 10, 3, 0), job(9, 1, 4, 1, 0)];
        let all = CoallocatedJobs::of(&jobs).expect("some");
        assert_eq!((all.jobs, all.spread, all.by_providers), (3, 2, vec![2, 0, 1, 0]));
        assert_eq!((all.united_percent, all.earlier_percent), (Some(50.0), Some(50.0)));
        assert_eq!(
            all.at_once_percent,
            Some(0.0),
            "who ran on one from the first is not among them"
        );
        assert_eq!(all.overhead, Some(30.0), "a job on one provider has no overhead");
        assert_eq!((all.moves, all.advance.map(|it| it.mean)), (Some(0.5), Some(2.5)));
        let alone = CoallocatedJobs::of(&jobs[2..]).expect("one");
        assert_eq!((alone.spread, alone.united_percent, alone.advance), (0, None, None));
        assert_eq!(CoallocatedJobs::of(&[]), None);
    }
}
