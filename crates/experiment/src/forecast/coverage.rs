//! Coverage of forecasts: the share of intervals that contain what then happened.
//!
//! ```text
//!  schedule ── random instants ──▶ states ── forecast ──▶ intervals
//!      └──────── starts after the instant ────────────────────▶ inside?
//! ```

use haggle_model::random::stream;
use haggle_model::{Span, Time};
use haggle_scenario::Scenario;
use haggle_scenario::file::{Overrun, seed_after};
use rand::RngExt;
use std::path::Path;

use super::schedule::{Schedule, State};
use super::{ForecastConduct, Waiting, forecast};
use crate::run::ExperimentError;

/// Schedule that a forecast is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// The schedule of a simulation of the log under the same policy. It tests the forecast itself.
    Simulated,
    /// One more run of each forecast, with a seed of its own, from states of the simulation. Its run times obey the law, so
    /// that intervals must have their nominal coverage.
    Drawn,
    /// The starts that the log has recorded, under the scheduler of its machine.
    Recorded,
}

/// How coverage is measured.
pub struct CoverageConduct<'a> {
    /// Number of instants with waiting jobs.
    pub instants: usize,
    /// Intervals, percent.
    pub levels: &'a [u32],
    /// Classes of requested times, each with a law of run times.
    pub classes: usize,
    /// Schedule that is compared.
    pub truth: Truth,
    /// How each forecast is made.
    pub forecast: ForecastConduct<'a>,
}

/// Coverage of the intervals of one level.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Covered {
    /// Part of the runs in the interval, percent.
    pub percent: u32,
    /// Jobs that started in their interval.
    pub inside: usize,
    /// Jobs that started before it.
    pub before: usize,
    /// Jobs that started after it.
    pub after: usize,
    /// Mean over the instants of the share of jobs that started in their interval.
    pub by_instant: f64,
    /// Jobs whose interval has no length.
    pub points: usize,
    /// Jobs that started in their interval, of those whose interval has a length.
    pub inside_long: usize,
    /// Median length of the intervals, s.
    pub length: f64,
}

/// Instants that could not be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missed {
    /// No job waited.
    pub idle: usize,
    /// The running jobs need more processors than the machine has.
    pub too_full: usize,
    /// Too few jobs had ended for a law of run times.
    pub too_early: usize,
}

/// Coverage of forecasts at random instants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coverage {
    /// Instants that were used.
    pub instants: usize,
    /// Instants that were drawn, but not used.
    pub missed: Missed,
    /// Jobs that waited at them, an interval each.
    pub jobs: usize,
    /// Runs of each forecast.
    pub runs: usize,
    /// Median of start - median of its forecast, s.
    pub error: f64,
    /// By level.
    pub levels: Vec<Covered>,
}

/// Most draws of an instant for each one that is used.
const DRAWS_MAX: usize = 1_000;

/// Measures the coverage of forecasts of the only provider of a scenario with a log, under the scenario's seed.
///
/// # Errors
/// If the log cannot be read, or a run does not reach its end.
pub fn coverage(
    scenario: &Scenario,
    folder: &Path,
    conduct: &CoverageConduct<'_>,
) -> Result<Coverage, ExperimentError> {
    let schedule = match conduct.truth {
        Truth::Simulated | Truth::Drawn => {
            Schedule::simulated(scenario, folder, conduct.forecast.stop)?
        }
        Truth::Recorded => Schedule::recorded(scenario, folder)?,
    };
    let mut found = Coverage { runs: conduct.forecast.runs, ..Coverage::default() };
    let (Some(first), Some(last)) = (schedule.jobs.first(), schedule.jobs.last()) else {
        return Ok(found);
    };
    let (first, last) = (first.submit.as_micros(), last.submit.as_micros());
    let machine = scenario.providers.first().map_or(0, |it| u64::from(it.processors));
    let mut stream = stream(scenario.scenario.seed, "coverage", "instants");
    let mut instants: Vec<Vec<(Waiting, f64)>> = Vec::new();
    for _ in 0..DRAWS_MAX * conduct.instants {
        if instants.len() == conduct.instants {
            break;
        }
        let now = Time::from_micros(stream.random_range(first..=last));
        let state = schedule.at(now, conduct.classes);
        if state.starts.is_empty() {
            found.missed.idle += 1;
        } else if state.busy > machine {
            found.missed.too_full += 1;
        } else if state.laws.is_none() {
            found.missed.too_early += 1;
        } else {
            instants.push(at_instant(scenario, &state, conduct)?);
            (conduct.forecast.watch)(instants.len());
        }
    }
    found.instants = instants.len();
    found.jobs = instants.iter().map(Vec::len).sum();
    let all = instants.iter().flatten();
    let errors = all.filter_map(|(job, start)| Some(start - job.quantile(0.5)?)).collect();
    found.error = median(errors);
    found.levels = conduct.levels.iter().map(|&it| covered(it, &instants)).collect();
    Ok(found)
}

/// The forecasts at an instant, each with the start in the schedule.
fn at_instant(
    scenario: &Scenario,
    state: &State,
    conduct: &CoverageConduct<'_>,
) -> Result<Vec<(Waiting, f64)>, ExperimentError> {
    let mut now = scenario.clone();
    // The future of the log is unknown.
    now.workloads.clear();
    now.users.clear();
    for provider in &mut now.providers {
        provider.initial = Some(state.jobs.clone());
        provider.initial_use = state.laws.clone();
        if conduct.truth == Truth::Recorded {
            // A machine may let jobs run past their requests.
            provider.overrun = Overrun::Extend;
        }
    }
    let quiet = ForecastConduct { watch: &|_| (), ..conduct.forecast };
    let jobs = forecast(&now, Path::new(""), &quiet)?;
    if conduct.truth == Truth::Drawn {
        // Beyond the seeds of the forecast.
        now.scenario.seed = seed_after(now.scenario.seed, conduct.forecast.runs as u64);
        let once = forecast(&now, Path::new(""), &ForecastConduct { runs: 1, ..quiet })?;
        let start = |job: &Waiting| job.starts.first().map_or(f64::INFINITY, |it| it.as_secs_f64());
        let starts = Vec::from_iter(once.iter().map(start));
        return Ok(jobs.into_iter().zip(starts).collect());
    }
    let started = |number: i64| {
        let start = state.starts.iter().find(|it| it.0 == number);
        start.map_or(f64::INFINITY, |it| it.1.as_secs_f64())
    };
    Ok(jobs.into_iter().map(|job| (started(job.number), job)).map(|(at, job)| (job, at)).collect())
}

fn covered(percent: u32, instants: &[Vec<(Waiting, f64)>]) -> Covered {
    let mut covered = Covered { percent, ..Covered::default() };
    let mut lengths = Vec::new();
    for jobs in instants {
        let before = covered.inside;
        for (job, start) in jobs {
            let (low, high) = job.interval(percent);
            let (low, high) = (low.unwrap_or(f64::INFINITY), high.unwrap_or(f64::INFINITY));
            // Times are exact to the microsecond, quotients of them are not.
            let tick = Span::TICK.as_secs_f64();
            let inside = low - tick <= *start && *start <= high + tick;
            covered.inside += usize::from(inside);
            covered.before += usize::from(!inside && *start < low);
            covered.after += usize::from(!inside && *start > high);
            let is_point = high - low <= tick || low == high;
            covered.points += usize::from(is_point);
            covered.inside_long += usize::from(inside && !is_point);
            lengths.push(high - low);
        }
        covered.by_instant += (covered.inside - before) as f64 / jobs.len().max(1) as f64;
    }
    covered.by_instant /= instants.len().max(1) as f64;
    covered.length = median(lengths);
    covered
}

fn median(mut values: Vec<f64>) -> f64 {
    values.retain(|it| !it.is_nan());
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
