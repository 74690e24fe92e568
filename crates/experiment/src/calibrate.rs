//! Calibration: the settings of a provider with which simulated waiting times come closest to those of a log.
//!
//! ```text
//!  log ──┬── first part ──▶ runs with other settings ──▶ smallest error ──▶ fitted settings
//!        └── later part ──▶ two runs: given and fitted ──▶ errors, with intervals
//! ```
//!
//! The settings are chosen by the first part alone, and their error is measured on the later one. A run that measures the
//! later part also simulates the first one, so that the later part begins with the queue that it had.

mod errors;
mod search;

use std::cmp::Reverse;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use haggle_model::{Span, Time};
use haggle_scenario::Scenario;
use haggle_scenario::file::{Compression, Policy, Provider};
use haggle_scenario::quantity::TimeSpan;
use serde::Serialize;

use crate::forecast::Schedule;
use crate::run::ExperimentError;

pub use errors::{Errors, Part};
use search::search;

/// Error that a calibration makes as small as possible, a mean over jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Error {
    /// Absolute difference of waiting times, s.
    Absolute,
    /// Absolute difference of the logarithms of waiting times, each with a minute added.
    Log,
}

/// A setting that a calibration fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    /// Time between passes, `interval`, in seconds.
    Interval,
    /// Number of examined jobs behind the head, `depth` of "easy" and of "conservative" that plans anew.
    Depth,
}

impl Setting {
    /// The settings of a provider that can be fitted.
    pub fn of(provider: &Provider) -> Vec<Setting> {
        match provider.policy {
            Policy::Easy { .. } => vec![Setting::Interval, Setting::Depth],
            Policy::Conservative { compression: Compression::Replan, .. } => {
                vec![Setting::Interval, Setting::Depth]
            }
            Policy::Fcfs { .. } | Policy::Conservative { .. } => vec![Setting::Interval],
            _ => Vec::new(),
        }
    }

    /// The key in scenarios.
    pub const fn key(self) -> &'static str {
        match self {
            Setting::Interval => "interval",
            Setting::Depth => "policy.depth",
        }
    }

    /// The values of the search: not set, the given one, and round numbers as administrators choose them. They begin with
    /// that of a scheduler that decides most often and examines most jobs.
    fn values(self, given: Option<u32>) -> Vec<Option<u32>> {
        let round: &[u32] = match self {
            Setting::Interval => {
                &[5, 10, 15, 20, 30, 60, 120, 180, 300, 600, 900, 1_200, 1_800, 3_600]
            }
            Setting::Depth => &[1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 500, 1_000],
        };
        let mut values = Vec::from_iter(round.iter().copied().map(Some).chain([None, given]));
        match self {
            Setting::Interval => values.sort(),
            Setting::Depth => values.sort_by_key(|it| Reverse(it.unwrap_or(u32::MAX))),
        }
        values.dedup();
        values
    }

    /// Its value at a provider; `None` = not set.
    fn value(self, provider: &Provider) -> Option<u32> {
        match (self, &provider.policy) {
            (Setting::Interval, _) => {
                let seconds = provider.interval?.0.as_secs_f64().round().max(1.0);
                Some(seconds.min(f64::from(u32::MAX)) as u32)
            }
            (Setting::Depth, Policy::Easy { depth, .. } | Policy::Conservative { depth, .. }) => {
                *depth
            }
            (Setting::Depth, _) => None,
        }
    }

    /// Gives a provider this value.
    fn set(self, provider: &mut Provider, value: Option<u32>) {
        match (self, &mut provider.policy) {
            (Setting::Interval, _) => {
                provider.interval = value.map(|it| TimeSpan(Span::from_secs(i64::from(it))));
            }
            (Setting::Depth, Policy::Easy { depth, .. } | Policy::Conservative { depth, .. }) => {
                *depth = value;
            }
            (Setting::Depth, _) => {}
        }
    }
}

/// Values of settings, in the order in which they are fitted; `None` = not set.
pub type Point = Vec<Option<u32>>;

/// How a calibration is made; the number of workers changes no result.
pub struct Conduct<'a> {
    /// Error that is made small.
    pub error: Error,
    /// Part of the time of submissions to which the settings are fitted, above 0 and below 1.
    pub train: f64,
    /// Length of the blocks of time that count as independent, s.
    pub block: f64,
    /// Runs at the same time.
    pub workers: usize,
    /// Raised to stop.
    pub stop: &'a AtomicBool,
    /// Receives the number of finished runs, and that of all runs which are planned so far.
    pub watch: &'a (dyn Fn(usize, usize) + Sync),
}

/// Fitted settings and their errors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// The fitted settings.
    pub settings: Vec<Fitted>,
    /// Error that was made small.
    pub error: Error,
    /// Time that separates the parts, s.
    pub split: f64,
    /// Runs of the first part.
    pub runs: usize,
    /// Errors on the first part, with the given and with the fitted settings.
    pub train: Beside,
    /// Errors on the later part.
    pub test: Beside,
}

/// A setting before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fitted {
    /// Key in the scenario.
    pub key: &'static str,
    /// Value in the scenario: seconds or a number; `None` = not set.
    pub given: Option<u32>,
    /// Fitted value.
    pub fitted: Option<u32>,
}

/// Errors with the given and with the fitted settings, over the same jobs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Beside {
    /// With the given settings.
    pub given: Errors,
    /// With the fitted settings.
    pub fitted: Errors,
    /// Error with the fitted settings - error with the given ones.
    pub difference: Errors,
}

/// Reason for which a scenario cannot be calibrated, with a remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// It has no provider, or several.
    #[error("the scenario has {0} providers, and a calibration fits the settings of one")]
    Providers(usize),
    /// Nothing can be fitted.
    #[error("policy \"{0}\" has no settings to fit")]
    Policy(&'static str),
    /// No job has a recorded start.
    #[error("no job of the scenario has a recorded start")]
    NoRecord,
    /// A part has too few jobs.
    #[error("{jobs} jobs with recorded starts are in the {part} part, and {} are needed", MIN_JOBS)]
    TooFew {
        /// The part in words.
        part: &'static str,
        /// Number of its jobs.
        jobs: usize,
    },
}

impl Unfit {
    /// The correction.
    pub const fn remedy(&self) -> &'static str {
        match self {
            Unfit::Providers(_) => {
                "keep one [[provider]], and the workload that its log has recorded"
            }
            Unfit::Policy(_) => "set `policy = \"easy\"`, `\"conservative\"` or `\"fcfs\"`",
            Unfit::NoRecord => "use a `log` with waiting times (field 3)",
            Unfit::TooFew { .. } => "use a longer log, or another --train",
        }
    }
}

/// Fewest jobs of a part.
pub const MIN_JOBS: usize = 20;

/// A calibration cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    /// The scenario cannot be calibrated.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] ExperimentError),
}

/// Fits the settings of the only provider of a scenario, and sets them there.
///
/// # Errors
/// If the scenario does not fit, the log cannot be read, or a run does not reach its end.
pub fn calibrate(
    scenario: &mut Scenario,
    folder: &Path,
    conduct: &Conduct<'_>,
) -> Result<Calibration, CalibrationError> {
    let [provider] = scenario.providers.as_slice() else {
        return Err(Unfit::Providers(scenario.providers.len()).into());
    };
    let settings = Setting::of(provider);
    if settings.is_empty() {
        return Err(Unfit::Policy(provider.policy.name()).into());
    }
    let given: Point = settings.iter().map(|it| it.value(provider)).collect();
    let split = split(scenario, folder, conduct.train)?;
    let at = |point: &Point, part: Part| {
        // The given settings may have fractions of a second, which the values of the search do not have.
        let changed = (*point != given).then(|| with(scenario, &settings, point));
        let scenario = changed.as_ref().unwrap_or(scenario);
        errors::of_run(scenario, folder, (split, part), conduct.stop)
    };
    let values = settings.iter().zip(&given).map(|(it, &given)| it.values(given));
    let values = Vec::from_iter(values);
    let found =
        search(&given, &values, conduct, |point| Ok(at(point, Part::Train)?.mean(conduct.error)))?;
    let (first, fitted) = (at(&given, Part::Both)?, at(&found.point, Part::Both)?);
    let beside = |part: Part| {
        let (given, fitted) = (first.of(part, split), fitted.of(part, split));
        Some(Beside {
            given: given.errors(conduct.block)?,
            fitted: fitted.errors(conduct.block)?,
            difference: fitted.less(&given, conduct.block)?,
        })
    };
    let (train, test) = beside(Part::Train).zip(beside(Part::Test)).ok_or(Unfit::NoRecord)?;
    let calibration = Calibration {
        settings: settings
            .iter()
            .zip(given.iter().zip(&found.point))
            .map(|(it, (&given, &fitted))| Fitted { key: it.key(), given, fitted })
            .collect(),
        error: conduct.error,
        split: split.as_secs_f64(),
        runs: found.runs,
        train,
        test,
    };
    *scenario = with(scenario, &settings, &found.point);
    Ok(calibration)
}

/// The scenario with these values.
fn with(scenario: &Scenario, settings: &[Setting], point: &Point) -> Scenario {
    let mut scenario = scenario.clone();
    for provider in &mut scenario.providers {
        settings.iter().zip(point).for_each(|(it, &value)| it.set(provider, value));
    }
    scenario
}

/// The time of submission that separates the parts.
fn split(scenario: &Scenario, folder: &Path, train: f64) -> Result<Time, CalibrationError> {
    let jobs = Schedule::recorded(scenario, folder)?.jobs;
    let (Some(first), Some(last)) = (jobs.first(), jobs.last()) else {
        return Err(Unfit::NoRecord.into());
    };
    let split = first.submit + (last.submit - first.submit).scaled(train);
    let before = jobs.iter().filter(|job| job.submit < split).count();
    for (part, jobs) in [("first", before), ("later", jobs.len() - before)] {
        if jobs < MIN_JOBS {
            return Err(Unfit::TooFew { part, jobs }.into());
        }
    }
    Ok(split)
}
