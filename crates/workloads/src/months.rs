//! Synthetic months: jobs for a grid of clusters whose logs are not available. Only numbers of jobs,
//! days and processors are known.
//!
//! Users submit bursts of similar jobs, fewer at night and on weekends. The jobs of all sites together
//! produce the requested load. Every draw is one of SplitMix64, so that any other program can repeat
//! them; times are whole seconds.

use super::error::WorkloadError;
use haggle_model::job::{HiddenRunTime, Lot};
use haggle_model::random::splitmix;
use haggle_model::{Job, Span, Time};

const DAY: f64 = 86_400.0;

/// Shortest and longest run time in seconds, before and after scaling.
const RUN_TIMES: (f64, f64) = (1.0, 172_800.0);

/// A month on a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntheticMonth {
    /// Its number. Months of different numbers have different streams.
    pub number: u64,
    /// Its length.
    pub days: u32,
    /// Sites that share the load.
    pub sites: Vec<MonthSite>,
    /// Index of the site whose jobs are generated.
    pub site: usize,
    /// Work of all jobs, as a part of the capacity of all sites in the month.
    pub load: f64,
    /// Seed of the draws. They do not depend on the seed of a run, because the month stands for a log.
    pub seed: u64,
}

/// The known facts of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonthSite {
    /// Jobs that are submitted in the month.
    pub jobs: u32,
    /// Processors.
    pub processors: u32,
}

/// A job before the total work is known.
struct Draft {
    submit: i64,
    processors: u32,
    /// Run time in seconds before scaling to the load.
    raw: f64,
    /// The part of the requested time that it runs.
    usage: f64,
}

/// Largest number of jobs of a site; they are held in memory.
const MOST_JOBS: u32 = 10_000_000;

/// Largest number of days: a hundred years.
const MOST_DAYS: u32 = 36_500;

impl SyntheticMonth {
    /// Checks the parameters.
    ///
    /// # Errors The first parameter that is out of range.
    pub fn check(&self) -> Result<(), WorkloadError> {
        let wrong =
            |parameter, problem: String| Err(WorkloadError::SyntheticMonth { parameter, problem });
        if !(1..=MOST_DAYS).contains(&self.days) {
            return wrong("days", format!("is {}; it is from 1 to {MOST_DAYS}", self.days));
        }
        if !(self.load.is_finite() && self.load > 0.0) {
            return wrong("load", format!("is {}; it is a positive number", self.load));
        }
        if self.site >= self.sites.len() {
            let sites = self.sites.len();
            return wrong("site", format!("is {}; there are {sites}, from 0", self.site));
        }
        if let Some(site) = self.sites.iter().find(|it| it.processors == 0 || it.jobs > MOST_JOBS) {
            let MonthSite { jobs, processors } = site;
            let most = format!("at least one processor and at most {MOST_JOBS} jobs");
            return wrong("sites", format!("have {most}, not {processors} and {jobs}"));
        }
        Ok(())
    }

    /// The jobs of the site, in order of submission; they are numbered in the order in which they
    /// are drawn.
    pub fn generate(&self, workload: &str) -> Result<Vec<Job>, WorkloadError> {
        self.check()?;
        let mut work = 0.0;
        let mut drafts = Vec::new();
        // The load refers to all sites, so the work of every site is drawn, although the jobs of one are
        // kept.
        for place in 0..self.sites.len() {
            let all = self.drafts(place);
            work = all.iter().fold(work, |work, it| work + f64::from(it.processors) * it.raw);
            if place == self.site {
                drafts = all;
            }
        }
        let processors: f64 = self.sites.iter().map(|site| f64::from(site.processors)).sum();
        // Without jobs the work is 0 and the factor infinite, but then no job is scaled by it.
        let scale = self.load * processors * f64::from(self.days) * DAY / work;
        let numbered = (1..).zip(drafts);
        let mut jobs = Vec::from_iter(numbered.map(|(number, it)| it.job(scale, workload, number)));
        // The sort is stable: jobs of one second keep the order in which they are drawn.
        jobs.sort_by_key(|job| job.submit);
        Ok(jobs)
    }

    /// All jobs of a site, burst after burst.
    fn drafts(&self, place: usize) -> Vec<Draft> {
        let site = self.sites[place];
        // The month's number is part of the state; otherwise months of one length would share their bursts.
        let state = self.seed.wrapping_mul(1_000).wrapping_add(self.number.wrapping_mul(10));
        let mut draws = SplitMix(state.wrapping_add(place as u64));
        let last = i64::from(self.days) * DAY as i64 - 1;
        let mut drafts = Vec::with_capacity(site.jobs as usize);
        while drafts.len() < site.jobs as usize {
            let left = site.jobs as usize - drafts.len();
            let burst =
                if draws.uniform() < 0.5 { 1 } else { 1 + draws.exponential(20.0) as usize };
            let mut time = self.burst_starts(&mut draws);
            let processors = width(site.processors, &mut draws);
            // The jobs of a burst are similar: they share the larger part of the deviation.
            let common = draws.normal();
            // The last burst is cut, so that the site has exactly its number of jobs.
            for number in 0..burst.min(left) {
                if number > 0 {
                    time += draws.exponential(60.0);
                }
                let raw = (600_f64.ln() + 1.8 * common + 0.3 * draws.normal()).exp();
                let whole = draws.uniform() < 0.1;
                let usage = if whole { 1.0 } else { 0.02 + 0.96 * draws.uniform() };
                // Gaps may lead past the end of the month.
                let (submit, raw) =
                    ((time.floor() as i64).min(last), raw.clamp(RUN_TIMES.0, RUN_TIMES.1));
                drafts.push(Draft { submit, processors, raw, usage });
            }
        }
        drafts
    }

    /// Draws the start of a burst by hour and day of the week.
    fn burst_starts(&self, draws: &mut SplitMix) -> f64 {
        loop {
            let time = draws.uniform() * f64::from(self.days) * DAY;
            let (day, hour) = ((time / DAY) as u32, time % DAY / 3_600.0);
            // Day 0 is a Monday, so the last two days of seven are the weekend.
            let by_day = if day % 7 >= 5 { 0.4 } else { 1.0 };
            let by_hour = if (8.0..20.0).contains(&hour) { 1.0 } else { 0.35 };
            if draws.uniform() < by_day * by_hour {
                return time;
            }
        }
    }
}

/// Processors of the jobs of a burst: one, or a power of two. Larger powers are rarer.
fn width(processors: u32, draws: &mut SplitMix) -> u32 {
    let largest = processors.ilog2();
    if draws.uniform() < 0.35 || largest == 0 {
        return 1;
    }
    let weight = |k: u32| 0.75_f64.powi(k as i32);
    let total: f64 = (1..=largest).map(weight).sum();
    let (drawn, mut below) = (draws.uniform() * total, 0.0);
    // The largest power needs no test, which rounding of the sum could fail.
    let drawn = (1..largest).find(|&k| {
        below += weight(k);
        drawn < below
    });
    1 << drawn.unwrap_or(largest)
}

impl Draft {
    fn job(self, scale: f64, workload: &str, number: i64) -> Job {
        // The scaling may have left the range, and logs have whole seconds.
        let run = (scale * self.raw).clamp(RUN_TIMES.0, RUN_TIMES.1).ceil() as i64;
        // Drawn as exactly 1 or as less than 0.98, so the comparison is safe.
        let requested = if self.usage == 1.0 {
            run
        } else {
            ((run as f64 / (300.0 * self.usage)).ceil() as i64 * 300).max(60)
        };
        Job {
            number,
            lot: Lot::new(workload, number),
            requested_time: Some(Span::from_secs(requested)),
            run_time: HiddenRunTime::new(Span::from_secs(run)),
            ..Job::new(0, Time::from_secs(self.submit), self.processors, Span::ZERO)
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014).
struct SplitMix(u64);

impl SplitMix {
    /// A uniform draw from 0 up to, but not including, 1.
    fn uniform(&mut self) -> f64 {
        let drawn = splitmix(self.0);
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (drawn >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        // The draw is never 1, so the logarithm is finite.
        -mean * (1.0 - self.uniform()).ln()
    }

    fn normal(&mut self) -> f64 {
        // Box-Muller without the second number of the pair, so that every number takes two draws.
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
