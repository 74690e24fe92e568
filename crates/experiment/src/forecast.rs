//! Forecasts: the starts of the jobs that wait at time zero, over many draws of unknown run times.
//!
//! ```text
//!  start state + law ── seed 1, 2, … N ──▶ runs ──▶ N starts of each waiting job ──▶ median, intervals
//! ```
//!
//! A run ends as soon as all of these jobs have started. Nothing of it is written.

mod coverage;
mod schedule;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use haggle_agents::protocol::SubmissionMessage;
use haggle_agents::{Message, RunMessage};
use haggle_model::{ActorId, Initial, JobId, Observation, Span, Time};
use haggle_runtime::{Driver, OutsideError, RunError, Simulation, Sink};
use haggle_scenario::Scenario;

use crate::run::ExperimentError;
use crate::start_state::written;
use crate::threads::on_threads;
use crate::workload::WorkloadError;
use crate::world::{Stage, StageError};
use haggle_scenario::file::{Grid, seed_after};
use haggle_scenario::{grid_initial_number, initial_name, initial_number};

pub use coverage::{Coverage, CoverageConduct, Covered, Missed, Truth, coverage};
pub use schedule::{Schedule, Scheduled, State};

/// Messages between two looks at the jobs that are left.
const INTERVAL: u64 = 256;

/// How a forecast is made; the number of workers changes no result.
pub struct ForecastConduct<'a> {
    /// Number of runs.
    pub runs: usize,
    /// Runs at the same time.
    pub workers: usize,
    /// Raised to stop.
    pub stop: &'a AtomicBool,
    /// Receives the number of finished runs.
    pub watch: &'a (dyn Fn(usize) + Sync),
}

/// A job that waits at time zero, and its starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// Its provider.
    pub provider: String,
    /// Its number in the start state.
    pub number: i64,
    /// Processors that it needs.
    pub processors: u32,
    /// Requested time, if it has a limit.
    pub requested: Option<Span>,
    /// Its submission, at time zero or before.
    pub submit: Time,
    /// Its start in each run, in ascending order; runs in which it does not start are not in the list.
    pub starts: Vec<Time>,
    /// Number of runs.
    pub runs: usize,
}

impl Waiting {
    /// The start that this share of the runs (0 to 1) does not exceed, interpolated between neighbours. `None` if the
    /// job does not start in so many runs.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let place = share * self.runs.checked_sub(1)? as f64;
        let low = self.starts.get(place.floor() as usize)?.as_secs_f64();
        let high = self.starts.get(place.ceil() as usize)?.as_secs_f64();
        Some(low + (high - low) * place.fract())
    }

    /// The central interval with this part of the runs, in percent. An end without a value is later than every start.
    pub fn interval(&self, percent: u32) -> (Option<f64>, Option<f64>) {
        let outside = (1.0 - f64::from(percent) / 100.0) / 2.0;
        (self.quantile(outside), self.quantile(1.0 - outside))
    }

    /// Share of the runs in which it does not start.
    pub fn never(&self) -> f64 {
        1.0 - self.starts.len() as f64 / self.runs.max(1) as f64
    }
}

/// Starts of the waiting jobs in a run; `None` if a job did not start.
type Drawn = Vec<Option<Time>>;

/// The jobs that wait at time zero in a scenario, in the order of providers and then of submission. Their starts are
/// those in the runs of consecutive seeds, from that of the scenario on.
///
/// # Errors
/// If the start state cannot be read, or a run does not reach its end.
pub fn forecast(
    scenario: &Scenario,
    folder: &Path,
    conduct: &ForecastConduct<'_>,
) -> Result<Vec<Waiting>, ExperimentError> {
    let mut waiting = waiting(scenario, folder).map_err(StageError::from)?;
    let places: BTreeMap<(String, i64), usize> = waiting
        .iter()
        .enumerate()
        .map(|(place, job)| ((initial_name(&job.provider), job.number), place))
        .collect();
    let next = AtomicUsize::new(0);
    let done: Mutex<BTreeMap<usize, Result<Drawn, ExperimentError>>> = Mutex::default();
    let failed = AtomicBool::new(false);
    on_threads(conduct.workers.min(conduct.runs).max(1), || {
        loop {
            let run = next.fetch_add(1, Ordering::Relaxed);
            if run >= conduct.runs || failed.load(Ordering::Relaxed) {
                return;
            }
            let starts = one(scenario, folder, run as u64, (&places, waiting.len()), conduct.stop);
            failed.fetch_or(starts.is_err(), Ordering::Relaxed);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.insert(run, starts);
            (conduct.watch)(done.len());
        }
    });
    // By the number of the run, so that the first error is the same on any number of threads.
    for starts in done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values() {
        for (job, start) in waiting.iter_mut().zip(starts?) {
            job.starts.extend(start);
            job.runs += 1;
        }
    }
    waiting.iter_mut().for_each(|job| job.starts.sort_unstable());
    Ok(waiting)
}

/// The jobs that wait at time zero, without starts.
fn waiting(scenario: &Scenario, folder: &Path) -> Result<Vec<Waiting>, WorkloadError> {
    let mut all = Vec::new();
    for provider in scenario.start_states() {
        let jobs = written(provider, folder).map_err(|error| WorkloadError::StartState {
            workload: initial_name(provider.name.as_str()),
            error: Box::new(error),
        })?;
        let mut here = Vec::new();
        for (place, job) in jobs.iter().enumerate().filter(|(_, job)| job.started_ago.is_none()) {
            here.push(Waiting {
                provider: provider.name.to_string(),
                number: initial_number(place, job),
                processors: job.processors,
                requested: job.requested.map(|it| it.0),
                submit: Time::ZERO - job.submitted_ago.map_or(Span::ZERO, |it| it.0),
                starts: Vec::new(),
                runs: 0,
            });
        }
        here.sort_by_key(|job| job.submit);
        all.append(&mut here);
    }
    if let Some(grid) = scenario.grid_with_start_state() {
        all.append(&mut waiting_on_grid(grid));
    }
    Ok(all)
}

fn waiting_on_grid(grid: &Grid) -> Vec<Waiting> {
    let jobs = grid.initial.iter().flatten().enumerate();
    let waiting = jobs.filter(|(_, job)| job.started_ago.is_none()).map(|(place, job)| Waiting {
        provider: grid.name.to_string(),
        number: grid_initial_number(place, job),
        processors: 1,
        requested: job.requested.map(|it| it.0),
        submit: Time::ZERO - job.submitted_ago.map_or(Span::ZERO, |it| it.0),
        starts: Vec::new(),
        runs: 0,
    });
    let mut waiting = Vec::from_iter(waiting);
    waiting.sort_by_key(|job| job.submit);
    waiting
}

/// The starts in one run, by the place of each job.
fn one(
    scenario: &Scenario,
    folder: &Path,
    run: u64,
    (places, jobs): (&BTreeMap<(String, i64), usize>, usize),
    stop: &AtomicBool,
) -> Result<Drawn, ExperimentError> {
    let mut scenario = scenario.clone();
    scenario.scenario.seed = seed_after(scenario.scenario.seed, run);
    let stage = Stage::set(&scenario, folder)?;
    let workloads = &stage.cast.workloads;
    let left = AtomicUsize::new(jobs);
    let starts = Mutex::new(vec![None; jobs]);
    let sink = Starts { places, workloads, ids: BTreeMap::new(), left: &left, starts: &starts };
    let mut simulation = Simulation::new(stage.world, Driver::Sequential).map_err(unwrap)?;
    simulation.listen(sink);
    simulation.stop_on(stop);
    // The rest of the run concerns no job of the start state.
    while left.load(Ordering::Relaxed) > 0 && simulation.advance(INTERVAL).map_err(unwrap)? {}
    drop(simulation);
    Ok(starts.into_inner().unwrap_or_else(PoisonError::into_inner))
}

pub(crate) fn unwrap(error: RunError) -> ExperimentError {
    ExperimentError::Run(error)
}

/// Notes the first start of each job that waits at time zero.
struct Starts<'a> {
    places: &'a BTreeMap<(String, i64), usize>,
    /// Names of workloads, by their numbers.
    workloads: &'a [String],
    /// The jobs in this run, with their places.
    ids: BTreeMap<JobId, usize>,
    left: &'a AtomicUsize,
    starts: &'a Mutex<Vec<Option<Time>>>,
}

impl Sink for Starts<'_> {
    fn delivered(
        &mut self,
        now: Time,
        _from: ActorId,
        _to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        match message {
            Message::Run(RunMessage::JobDue(job)) if job.initial == Some(Initial::Waiting) => {
                let name = self.workloads.get(usize::from(job.workload)).cloned();
                let place = self.places.get(&(name.unwrap_or_default(), job.number));
                self.ids.extend(place.map(|&place| (job.id, place)));
            }
            Message::Submission(SubmissionMessage::Started { job }) => {
                // Only the first start: a job may be lost and start again.
                if let Some(place) = self.ids.remove(job) {
                    self.starts.lock().unwrap_or_else(PoisonError::into_inner)[place] = Some(now);
                    self.left.fetch_sub(1, Ordering::Relaxed);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn observed(
        &mut self,
        _now: Time,
        _actor: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        let over = match observation {
            // Over without a start.
            Observation::JobOver(record) => Some(record.job.id),
            Observation::GridJobOver(record) => Some(record.job.id),
            // A grid reports the start of an attempt at its end.
            Observation::AttemptOver(record) => {
                if let Some((&place, start)) = self.ids.get(&record.job).zip(record.started) {
                    let mut starts = self.starts.lock().unwrap_or_else(PoisonError::into_inner);
                    let first = starts[place].map_or(start, |it: Time| it.min(start));
                    starts[place] = Some(first);
                }
                None
            }
            _ => None,
        };
        if over.is_some_and(|job| self.ids.remove(&job).is_some()) {
            self.left.fetch_sub(1, Ordering::Relaxed);
        }
        Ok(())
    }
}
