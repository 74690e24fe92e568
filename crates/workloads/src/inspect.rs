//! Characteristics of a workload: counts, means and histograms as plain data.
//!
//! Jobs are examined one by one and not kept. Memory grows only with the number of different values,
//! which exact medians need.

mod distribution;
mod histogram;

pub use distribution::Distribution;
pub use histogram::{Bin, Log2Histogram};

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::error::WorkloadError;
use super::source::OpenWorkload;
use distribution::Values;
use haggle_model::{Job, Span, Time};

const SECONDS_PER_HOUR: i64 = 3_600;
const SECONDS_PER_DAY: i64 = 86_400;
const MICROS_PER_WEEK: i64 = 7 * SECONDS_PER_DAY * 1_000_000;

/// Characteristics of a workload. Times are in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkloadStatistics {
    /// Number of jobs.
    pub jobs: u64,
    /// Number of different users; a log without user numbers has one.
    pub users: u64,
    /// First submission.
    pub first_submit_s: f64,
    /// From the first to the last submission.
    pub span_s: f64,
    /// Processors of the machine that loads refer to, if known.
    pub machine_size: Option<u32>,
    /// Sum of run time x processors over machine x span.
    pub offered_load: Option<f64>,
    /// The same with requested times, over the jobs that have one.
    pub offered_load_requested: Option<f64>,
    /// Share of jobs on one processor.
    pub serial_share: f64,
    /// Share of jobs on 2, 4, 8 … processors.
    pub power_of_two_share: f64,
    /// Jobs without a requested time.
    pub without_request: u64,
    /// Jobs whose request is exactly the run time in the log.
    pub exact_requests: u64,
    /// Jobs that run longer than requested in the log; rules may cut them.
    pub over_request: u64,
    /// Run times.
    pub run_time_s: Distribution,
    /// Requested times.
    pub requested_time_s: Distribution,
    /// Processors.
    pub processors: Distribution,
    /// Gaps between submissions.
    pub gap_s: Distribution,
    /// Run time in percent of the requested time, in steps of 0.1.
    pub accuracy_percent: Distribution,
    /// Jobs by run time, s.
    pub run_time_histogram: Log2Histogram,
    /// Jobs by requested time, s.
    pub requested_time_histogram: Log2Histogram,
    /// Jobs by processors.
    pub processors_histogram: Log2Histogram,
    /// Jobs by accuracy: 10 bins of 10 percent, the last with exact and overrun requests.
    pub accuracy_histogram: [u64; 10],
    /// Jobs by hour of the day; from the workload's start if its clock is not known.
    pub jobs_per_hour: [u64; 24],
    /// Jobs by day of the week from Monday on, if the workload's clock is known.
    pub jobs_per_weekday: Option<[u64; 7]>,
    /// Jobs by week from time zero on; weeks without jobs are left out.
    pub jobs_per_week: Vec<Week>,
}

/// A week of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Week {
    /// Number of the week, from 0.
    pub week: i64,
    /// Jobs submitted in it.
    pub jobs: u64,
}

/// Drains `workload`; loads refer to `machine_size`, or to the size in its header. Requests are counted
/// as in the log, even if the rules changed exceeded ones.
pub fn inspect(
    mut workload: OpenWorkload,
    machine_size: Option<u32>,
) -> Result<WorkloadStatistics, WorkloadError> {
    let first = workload.jobs.next().transpose()?;
    let machine_size = machine_size.or_else(|| workload.header.machine_size());
    let mut inspector = Inspector::new(machine_size, workload.local_clock());
    if let Some(job) = first {
        inspector.add(&job);
    }
    for job in workload.jobs {
        inspector.add(&job?);
    }
    // The report has all counts only after the last job.
    let changed = workload.report.snapshot().no_longer_over_request();
    let read = inspector.finish();
    Ok(WorkloadStatistics {
        // Jobs that a rule cut, or whose request it raised, look exact here, but exceeded their request in
        // the log.
        exact_requests: read.exact_requests - changed.min(read.exact_requests),
        over_request: read.over_request + changed,
        ..read
    })
}

/// Examines jobs in order of submission.
#[derive(Clone, Debug, Default)]
pub struct Inspector {
    machine_size: Option<u32>,
    /// Local clock at time zero, seconds since 1970-01-01.
    clock: Option<i64>,
    users: BTreeSet<i32>,
    first: Option<Time>,
    last: Time,
    work: f64,
    requested_work: f64,
    serial: u64,
    power_of_two: u64,
    without_request: u64,
    exact: u64,
    over_request: u64,
    run_times: Values,
    requested_times: Values,
    processors: Values,
    gaps: Values,
    accuracies: Values,
    accuracy_histogram: [u64; 10],
    per_hour: [u64; 24],
    per_weekday: [u64; 7],
    per_week: BTreeMap<i64, u64>,
}

impl Inspector {
    /// An inspector without jobs. `local_clock_at_zero` is in seconds since 1970-01-01 local time.
    pub fn new(machine_size: Option<u32>, local_clock_at_zero: Option<i64>) -> Inspector {
        Inspector { machine_size, clock: local_clock_at_zero, ..Inspector::default() }
    }

    /// Adds the next job.
    pub fn add(&mut self, job: &Job) {
        self.add_arrival(job.submit);
        self.users.insert(job.origin.user);
        let processors = f64::from(job.processors);
        self.processors.add(job.processors.into());
        self.serial += u64::from(job.processors == 1);
        self.power_of_two += u64::from(job.processors > 1 && job.processors.is_power_of_two());
        let run_time = job.run_time.reveal_to_machine();
        self.run_times.add(run_time.as_micros());
        self.work += run_time.as_secs_f64() * processors;
        match job.requested_time {
            None => self.without_request += 1,
            Some(request) => {
                self.requested_work += request.as_secs_f64() * processors;
                self.add_request(run_time, request);
            }
        }
    }

    fn add_arrival(&mut self, submit: Time) {
        if self.first.is_some() {
            self.gaps.add((submit - self.last).as_micros());
        }
        self.first.get_or_insert(submit);
        self.last = submit;
        let second = submit.as_micros().div_euclid(1_000_000);
        let clock = second.saturating_add(self.clock.unwrap_or(0));
        let hour = clock.div_euclid(SECONDS_PER_HOUR).rem_euclid(24);
        self.per_hour[hour as usize] += 1;
        // 1970-01-01 was a Thursday, the fourth day from Monday.
        let weekday = (clock.div_euclid(SECONDS_PER_DAY) % 7 + 7 + 3) % 7;
        self.per_weekday[weekday as usize] += 1;
        let week = submit.as_micros().div_euclid(MICROS_PER_WEEK);
        *self.per_week.entry(week).or_default() += 1;
    }

    fn add_request(&mut self, run_time: Span, request: Span) {
        self.requested_times.add(request.as_micros());
        self.exact += u64::from(run_time == request);
        self.over_request += u64::from(run_time > request);
        // A ratio needs a request above 0.
        if request <= Span::ZERO {
            return;
        }
        let accuracy = run_time.as_micros() as f64 / request.as_micros() as f64;
        self.accuracies.add((accuracy * 1_000.0).round() as i64);
        self.accuracy_histogram[((accuracy * 10.0) as usize).min(9)] += 1;
    }

    /// The characteristics of the jobs added.
    pub fn finish(self) -> WorkloadStatistics {
        const SECONDS: f64 = 1e-6;
        let first = self.first.unwrap_or(Time::ZERO);
        let span_s = (self.last - first).as_secs_f64();
        let jobs = self.processors.count();
        let capacity = self
            .machine_size
            .map(|size| f64::from(size) * span_s)
            // Jobs of a single instant have no rate, and so no load.
            .filter(|&capacity| capacity > 0.0);
        let share = |count: u64| {
            if jobs == 0 { 0.0 } else { count as f64 / jobs as f64 }
        };
        WorkloadStatistics {
            jobs,
            users: self.users.len() as u64,
            first_submit_s: first.as_secs_f64(),
            span_s,
            machine_size: self.machine_size,
            offered_load: capacity.map(|capacity| self.work / capacity),
            offered_load_requested: capacity.map(|capacity| self.requested_work / capacity),
            serial_share: share(self.serial),
            power_of_two_share: share(self.power_of_two),
            without_request: self.without_request,
            exact_requests: self.exact,
            over_request: self.over_request,
            run_time_s: self.run_times.distribution(SECONDS),
            requested_time_s: self.requested_times.distribution(SECONDS),
            processors: self.processors.distribution(1.0),
            gap_s: self.gaps.distribution(SECONDS),
            accuracy_percent: self.accuracies.distribution(0.1),
            run_time_histogram: self.run_times.histogram(1_000_000),
            requested_time_histogram: self.requested_times.histogram(1_000_000),
            processors_histogram: self.processors.histogram(1),
            accuracy_histogram: self.accuracy_histogram,
            jobs_per_hour: self.per_hour,
            jobs_per_weekday: self.clock.map(|_| self.per_weekday),
            jobs_per_week: self
                .per_week
                .into_iter()
                .map(|(week, jobs)| Week { week, jobs })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look_at(jobs: &[Job], machine: Option<u32>, clock: Option<i64>) -> WorkloadStatistics {
        let mut inspector = Inspector::new(machine, clock);
        for job in jobs {
            inspector.add(job);
        }
        inspector.finish()
    }

    fn three_jobs() -> Vec<Job> {
        let job = |id, submit, processors, run_time| {
            Job::new(id, Time::from_secs(submit), processors, Span::from_secs(run_time))
        };
        let mut jobs = vec![job(0, 0, 1, 10), job(1, 60, 4, 20), job(2, 100, 3, 30)];
        jobs[1].requested_time = Some(Span::from_secs(80));
        jobs[2].requested_time = None;
        jobs
    }

    #[test]
    fn loads_shares_and_means_are_counted() {
        let found = look_at(&three_jobs(), Some(10), None);
        assert_eq!((found.jobs, found.users, found.span_s), (3, 1, 100.0));
        assert_eq!(found.offered_load, Some((10.0 + 80.0 + 90.0) / 1000.0));
        assert_eq!(found.offered_load_requested, Some((10.0 + 320.0) / 1000.0));
        assert_eq!((found.serial_share, found.power_of_two_share), (1.0 / 3.0, 1.0 / 3.0));
        assert_eq!((found.without_request, found.exact_requests), (1, 1));
        assert_eq!((found.run_time_s.mean, found.run_time_s.median), (20.0, 20.0));
        assert_eq!((found.gap_s.mean, found.gap_s.max), (50.0, 60.0));
        assert_eq!(found.accuracy_histogram, [0, 0, 1, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(found.accuracy_percent.min, 25.0);
    }

    #[test]
    fn hours_and_weekdays_follow_the_local_clock() {
        // 1996-06-26 17:06:00 US/Eastern standard time is 16:06, a Wednesday.
        let found = look_at(&three_jobs()[..1], None, Some(835_823_160 - 18_000));
        assert_eq!(found.jobs_per_hour[16], 1);
        assert_eq!(found.jobs_per_weekday.map(|days| days[2]), Some(1));
        assert_eq!(found.offered_load, None);
    }

    #[test]
    fn weeks_are_counted_from_time_zero() {
        let mut jobs = three_jobs();
        jobs[2].submit = Time::from_secs(15 * SECONDS_PER_DAY);
        let found = look_at(&jobs, None, None);
        let weeks: Vec<_> = found.jobs_per_week.iter().map(|w| (w.week, w.jobs)).collect();
        assert_eq!(weeks, [(0, 2), (2, 1)]);
        assert_eq!(found.jobs_per_weekday, None);
    }

    #[test]
    fn no_jobs_give_zeros_and_plain_data() {
        let found = look_at(&[], Some(1), None);
        let text = serde_json::to_string(&found).expect("plain data");
        assert!(text.contains("\"jobs\":0"), "{text}");
        assert!(!text.contains("NaN"));
    }
}
