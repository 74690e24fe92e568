//! Errors of simulated waiting times.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use haggle_agents::{Message, RunMessage};
use haggle_model::{ActorId, JobId, Observation, Span, Time};
use haggle_results::stats::{Blocks, Estimate};
use haggle_runtime::{Driver, OutsideError, Simulation, Sink};
use haggle_scenario::Scenario;
use serde::Serialize;

use super::Error;
use crate::forecast::unwrap;
use crate::run::ExperimentError;
use crate::world::Stage;

/// Messages between two looks at the jobs that are left.
const INTERVAL: u64 = 256;

/// Time added to waiting times before their logarithms are compared. Shorter waits hardly differ for a user.
const SHORT: Span = Span::from_secs(60);

/// Part of the jobs of a log, by their submissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Before the split.
    Train,
    /// From the split on.
    Test,
    /// All.
    Both,
}

/// Means over jobs, with intervals over blocks of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Errors {
    /// Mean absolute difference of simulated and recorded waiting times, s.
    pub absolute: Estimate,
    /// Mean absolute difference of the logarithms of these times, each with a minute added.
    pub log: Estimate,
    /// Mean of simulated waiting time - recorded waiting time, s.
    pub bias: Estimate,
}

/// A job with both waiting times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waited {
    submit: Time,
    job: JobId,
    recorded: Span,
    simulated: Span,
}

impl Waited {
    fn difference(&self) -> f64 {
        self.simulated.as_secs_f64() - self.recorded.as_secs_f64()
    }

    fn error(&self, error: Error) -> f64 {
        match error {
            Error::Absolute => self.difference().abs(),
            Error::Log => {
                let log = |wait: Span| (wait + SHORT).as_secs_f64().ln();
                (log(self.simulated) - log(self.recorded)).abs()
            }
        }
    }
}

/// The waiting times of a run, in order of submission.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Waits(Vec<Waited>);

impl Waits {
    /// The mean error.
    pub(super) fn mean(&self, error: Error) -> f64 {
        let sum: f64 = self.0.iter().map(|it| it.error(error)).sum();
        sum / self.0.len().max(1) as f64
    }

    /// The jobs of a part.
    pub(super) fn of(&self, part: Part, split: Time) -> Waits {
        let is_in = |it: &&Waited| match part {
            Part::Train => it.submit < split,
            Part::Test => it.submit >= split,
            Part::Both => true,
        };
        Waits(self.0.iter().filter(is_in).copied().collect())
    }

    /// All errors; `None` without jobs.
    pub(super) fn errors(&self, block: f64) -> Option<Errors> {
        let mean = |value: &dyn Fn(&Waited) -> f64| self.in_blocks(block, value);
        Some(Errors {
            absolute: mean(&|it| it.error(Error::Absolute))?,
            log: mean(&|it| it.error(Error::Log))?,
            bias: mean(&Waited::difference)?,
        })
    }

    /// Errors less those of another run, over the jobs that waited in both.
    pub(super) fn less(&self, other: &Waits, block: f64) -> Option<Errors> {
        let mut others = other.0.iter().peekable();
        let mut pairs = Vec::new();
        for &it in &self.0 {
            let key = |it: &Waited| (it.submit, it.job);
            while others.next_if(|other| key(other) < key(&it)).is_some() {}
            pairs.extend(others.next_if(|other| key(other) == key(&it)).map(|&other| (it, other)));
        }
        let mean = |value: &dyn Fn(&Waited) -> f64| {
            let first = pairs.first()?.0.submit.as_secs_f64();
            let mut blocks = Blocks::new(first, block);
            pairs.iter().for_each(|(it, other)| {
                blocks.add(it.submit.as_secs_f64(), value(it) - value(other));
            });
            blocks.mean()
        };
        Some(Errors {
            absolute: mean(&|it| it.error(Error::Absolute))?,
            log: mean(&|it| it.error(Error::Log))?,
            bias: mean(&Waited::difference)?,
        })
    }

    fn in_blocks(&self, block: f64, value: &dyn Fn(&Waited) -> f64) -> Option<Estimate> {
        let mut blocks = Blocks::new(self.0.first()?.submit.as_secs_f64(), block);
        self.0.iter().for_each(|it| blocks.add(it.submit.as_secs_f64(), value(it)));
        blocks.mean()
    }
}

/// The waiting times of a part in a run of a scenario. A run of the first part ends when the jobs of this part are over.
///
/// # Errors
/// If the run does not reach its end.
pub(super) fn of_run(
    scenario: &Scenario,
    folder: &Path,
    (split, part): (Time, Part),
    stop: &AtomicBool,
) -> Result<Waits, ExperimentError> {
    let stage = Stage::set(scenario, folder)?;
    let (left, waits) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let is_over = AtomicBool::new(false);
    let mut simulation = Simulation::new(stage.world, Driver::Sequential).map_err(unwrap)?;
    simulation.listen(Ends { split, part, left: &left, is_over: &is_over, waits: &waits });
    simulation.stop_on(stop);
    while simulation.advance(INTERVAL).map_err(unwrap)? {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
    }
    drop(simulation);
    let mut waits: Vec<Waited> = waits.into_inner().unwrap_or_else(PoisonError::into_inner);
    waits.sort_unstable_by_key(|it| (it.submit, it.job));
    Ok(Waits(waits).of(part, split))
}

/// Notes the waiting times of jobs.
struct Ends<'a> {
    split: Time,
    part: Part,
    /// Jobs of the first part that have arrived and are not over.
    left: &'a AtomicUsize,
    /// True if no result of the part is to come.
    is_over: &'a AtomicBool,
    waits: &'a Mutex<Vec<Waited>>,
}

impl Sink for Ends<'_> {
    fn delivered(
        &mut self,
        _now: Time,
        _from: ActorId,
        _to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        if let Message::Run(RunMessage::JobDue(job)) = message
            && job.submit < self.split
        {
            self.left.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    fn observed(
        &mut self,
        now: Time,
        _actor: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        let Observation::JobOver(record) = observation else { return Ok(()) };
        let job = &record.job;
        if let Some((start, recorded)) = record.start.zip(job.origin.logged().recorded()) {
            let simulated = start - job.submit;
            let (submit, recorded) = (job.submit, recorded.wait);
            let waited = Waited { submit, job: job.id, recorded, simulated };
            self.waits.lock().unwrap_or_else(PoisonError::into_inner).push(waited);
        }
        if job.submit < self.split {
            self.left.fetch_sub(1, Ordering::Relaxed);
        }
        // All jobs of the first part have arrived by then.
        let none_left = now >= self.split && self.left.load(Ordering::Relaxed) == 0;
        if self.part == Part::Train && none_left {
            self.is_over.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}
