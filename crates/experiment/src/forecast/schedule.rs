//! Schedules of finished jobs, and the state of a machine at an instant of one.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use haggle_model::{ActorId, Job, Observation, Span, Time};
use haggle_runtime::{Driver, OutsideError, Simulation, Sink};
use haggle_scenario::Scenario;
use haggle_scenario::file::{InitialJob, InitialUse, Law};
use haggle_scenario::quantity::TimeSpan;

use super::unwrap;
use crate::run::ExperimentError;
use crate::workload::Workloads;
use crate::world::{Stage, StageError};

/// Largest number of values of an empirical law of used parts of requests.
const VALUES: usize = 100;

/// Fewest finished jobs from which a law is taken.
const SAMPLE_MIN: usize = 20;

/// A job of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// Its number in its log.
    pub number: i64,
    /// Number of its user; -1 = unknown.
    pub user: i32,
    /// Its priority key.
    pub key: i64,
    /// Its processors.
    pub processors: u32,
    /// Requested time, if it has a limit.
    pub requested: Option<Span>,
    /// Its submission.
    pub submit: Time,
    /// Its start.
    pub start: Time,
    /// Time for which it ran.
    pub ran: Span,
}

/// All jobs that ran on a machine, in order of submission.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The jobs.
    pub jobs: Vec<Scheduled>,
}

/// The state of a machine at an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Jobs that run or wait, in order of submission. Their run times are unknown.
    pub jobs: Vec<InitialJob>,
    /// Start of each waiting job in the schedule, after the instant, by its number.
    pub starts: Vec<(i64, Span)>,
    /// Processors of the running jobs.
    pub busy: u64,
    /// Laws of the used part of requests, from the jobs that had ended before; `None` if these are too few.
    pub laws: Option<Vec<InitialUse>>,
}

impl Schedule {
    /// The schedule that a log has recorded, of the only workload of a scenario; jobs without a recorded waiting time
    /// are left out.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn recorded(scenario: &Scenario, folder: &Path) -> Result<Schedule, ExperimentError> {
        let workloads = Workloads::new(scenario, folder, scenario.scenario.seed);
        let workloads = workloads.map_err(StageError::from)?;
        let mut jobs = Vec::new();
        for workload in &scenario.workloads {
            let open = workloads.open(workload.name.as_str()).map_err(StageError::from)?;
            for job in open.jobs {
                let job = job.map_err(|error| ExperimentError::Jobs(Box::new(error)))?;
                let recorded = job.origin.logged().recorded();
                jobs.extend(recorded.map(|it| Scheduled {
                    start: job.submit + it.wait,
                    ran: it.run_time.reveal_to_machine(),
                    ..unstarted(&job)
                }));
            }
        }
        jobs.sort_by_key(|job| job.submit);
        Ok(Schedule { jobs })
    }

    /// The schedule that a scenario makes.
    ///
    /// # Errors
    /// If the run does not reach its end.
    pub fn simulated(
        scenario: &Scenario,
        folder: &Path,
        stop: &AtomicBool,
    ) -> Result<Schedule, ExperimentError> {
        let stage = Stage::set(scenario, folder)?;
        let jobs = Mutex::new(Vec::new());
        let mut simulation = Simulation::new(stage.world, Driver::Sequential).map_err(unwrap)?;
        simulation.listen(Ends(&jobs));
        simulation.stop_on(stop);
        simulation.run().map_err(unwrap)?;
        drop(simulation);
        let mut jobs = jobs.into_inner().unwrap_or_else(PoisonError::into_inner);
        jobs.sort_by_key(|job: &Scheduled| (job.submit, job.number));
        Ok(Schedule { jobs })
    }

    /// The state at an instant. It contains only facts that were known then, except `starts`.
    ///
    /// The laws of run times are those of so many `classes` of requested times.
    pub fn at(&self, now: Time, classes: usize) -> State {
        let mut state = State { jobs: Vec::new(), starts: Vec::new(), busy: 0, laws: None };
        let mut used = Vec::new();
        for job in self.jobs.iter().take_while(|job| job.submit < now) {
            let end = job.start + job.ran;
            if end <= now {
                let part = |it: Span| (it, job.ran.as_secs_f64() / it.as_secs_f64());
                used.extend(job.requested.filter(|it| *it > Span::ZERO).map(part));
                continue;
            }
            let runs = job.start < now;
            match runs {
                true => state.busy += u64::from(job.processors),
                false => state.starts.push((job.number, job.start - now)),
            }
            state.jobs.push(InitialJob {
                number: Some(job.number),
                processors: job.processors,
                requested: job.requested.map(TimeSpan),
                run: None,
                submitted_ago: Some(TimeSpan(now - job.submit)),
                started_ago: runs.then(|| TimeSpan(now - job.start)),
                key: (job.key != 0).then_some(job.key),
                user: (job.user >= 0).then_some(job.user),
            });
        }
        state.laws = laws(used, classes);
        state
    }
}

/// The empirical laws of used parts of requests, for `classes` of requests with about equally many jobs. Each law has
/// equally likely quantiles, among them the largest value; `None` if too few jobs have ended.
fn laws(mut used: Vec<(Span, f64)>, classes: usize) -> Option<Vec<InitialUse>> {
    used.retain(|it| it.1.is_finite());
    used.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    if used.len() < SAMPLE_MIN {
        return None;
    }
    let classes = classes.clamp(1, used.len() / SAMPLE_MIN);
    let mut laws = Vec::new();
    let mut from = 0;
    for class in 1..=classes {
        let mut to = used.len() * class / classes;
        // Equal requests stay together.
        while to < used.len() && used[to - 1].0 == used[to].0 {
            to += 1;
        }
        if to < from + SAMPLE_MIN {
            continue;
        }
        let requested_from = if from == 0 { Span::ZERO } else { used[from].0 };
        let law = law(used[from..to].iter().map(|it| it.1).collect());
        laws.push(InitialUse { law, requested_from: TimeSpan(requested_from) });
        from = to;
    }
    Some(laws)
}

fn law(mut used: Vec<f64>) -> Law {
    used.sort_unstable_by(f64::total_cmp);
    let (count, last) = (VALUES.min(used.len()), used.len() - 1);
    // Four decimals are enough, and keep scenarios readable. No part is zero, because a job has a run time.
    let rounded = |value: f64| ((value * 1e4).round() / 1e4).max(1e-4);
    let values = (0..count).map(|i| rounded(used[i * last / (count - 1)])).collect();
    Law::Choice { values, weights: None }
}

fn unstarted(job: &Job) -> Scheduled {
    Scheduled {
        number: job.number,
        user: job.origin.user,
        key: job.key,
        processors: job.processors,
        requested: job.requested_time,
        submit: job.submit,
        start: Time::FOREVER,
        ran: Span::ZERO,
    }
}

/// Notes the jobs that have run.
struct Ends<'a>(&'a Mutex<Vec<Scheduled>>);

impl Sink for Ends<'_> {
    fn observed(
        &mut self,
        _now: Time,
        _actor: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        if let Observation::JobOver(record) = observation
            && let Some(start) = record.start
        {
            let ran = record.end - start;
            let job = Scheduled { start, ran, ..unstarted(&record.job) };
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(job);
        }
        Ok(())
    }
}
