//! Bounds at which a run is given up: messages, failures and plans that go on without progress of any job.

use haggle_agents::{Message, RunMessage};
use haggle_model::{JobId, Observation, Span, Time};
use serde::{Deserialize, Serialize};

use crate::clock::{Delivery, HOPS_MAX, HOPS_PER_JOB};
use crate::error::RunError;
use crate::network::Crashes;
use crate::world::World;

/// Largest number of consecutive messages without progress of a job, by default. They take some minutes
/// of computing. A grid of 1,000 resources that report every second sends as many in ten days without
/// an arrival or an end.
pub const NO_PROGRESS_MAX: u64 = 1_000_000_000;

/// Largest number of plans, steps of plans and intervals that are examined without progress of a job,
/// by default. They take some minutes of computing. With the published sizes of the genetic algorithm,
/// these are 100,000 plans.
pub const EXAMINED_MAX: u64 = 1_000_000_000;

/// Largest mean number of failures of a resource without progress of a job. A run that reaches it would
/// hardly ever end: 1,000 resources that are each up for half of the time are never all up together.
pub(crate) const OUTAGES_MAX: u64 = 10_000;

/// No run lasts this long: it is the planned length of a job without a limit.
const END_OF_TIME: Time = Time::from_micros(Span::FOREVER.as_micros());

/// Counts messages, outages and examined plans without progress of any job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Bounds {
    /// Messages since a job last arrived, ended or was lost.
    messages: u64,
    messages_max: u64,
    /// Outages since the last progress of a job.
    outages: u64,
    /// `None` if a horizon ends the run in any case.
    outages_max: Option<u64>,
    /// Plans examined since a job last arrived, ended or made progress.
    examined: u64,
    examined_max: u64,
    /// Jobs that wait for room in a storage that frees none.
    stuck: u64,
    /// Tasks that wait for other tasks.
    blocked: u64,
}

impl Bounds {
    pub(crate) fn of(world: &World) -> Bounds {
        let resources = world.outages.as_ref().map_or(0, |outages| outages.resources);
        let resources = resources + world.network.crashes_ref().map_or(0, Crashes::actors);
        let outages_max = OUTAGES_MAX.saturating_mul(resources.max(1));
        Bounds {
            messages: 0,
            messages_max: world.no_progress_max,
            outages: 0,
            outages_max: world.horizon.is_none().then_some(outages_max),
            examined: 0,
            examined_max: world.examined_max,
            stuck: 0,
            blocked: 0,
        }
    }

    /// The end of the run has changed, and perhaps the number of resources that may fail.
    pub(crate) fn change(&mut self, horizon: Option<Time>, resources: Option<u64>) {
        let most = resources.map(|resources| OUTAGES_MAX.saturating_mul(resources.max(1)));
        let most = most.or(self.outages_max).unwrap_or(OUTAGES_MAX);
        self.outages_max = horizon.is_none().then_some(most);
        (self.messages, self.outages, self.examined) = (0, 0, 0);
    }

    /// Counts a message to be delivered now; `jobs` are not over.
    pub(crate) fn count_message(
        &mut self,
        now: Time,
        delivery: &Delivery<Message>,
        jobs: u64,
    ) -> Result<(), RunError> {
        let (time, actor) = (now, delivery.to);
        if delivery.hops > HOPS_MAX && u64::from(delivery.hops) > hops_max(jobs) {
            let (messages, kind) = (delivery.hops - 1, delivery.message.kind());
            return Err(RunError::ZeroTimeCycle { time, messages, actor, kind });
        }
        let arrives = is_arrival(&delivery.message);
        self.messages = if arrives { 0 } else { self.messages + 1 };
        // An arrival may make plans possible that were in vain before.
        if arrives {
            self.examined = 0;
        }
        if self.messages <= self.messages_max {
            return Ok(());
        }
        let (messages, kind) = (self.messages_max, delivery.message.kind());
        Err(RunError::NoProgress { time, jobs, messages, actor, kind })
    }

    /// Counts an outage; `jobs` are not over.
    pub(crate) fn count_outage(&mut self, time: Time, jobs: u64) -> Result<(), RunError> {
        // While there is no job, outages hinder none.
        self.outages = if jobs == 0 { 0 } else { self.outages + 1 };
        match self.outages_max {
            Some(most) if self.outages > most => Err(RunError::Stalled { time, jobs }),
            _ => Ok(()),
        }
    }

    /// Counts examined plans; `jobs` are not over.
    pub(crate) fn count_examined(
        &mut self,
        time: Time,
        examined: u64,
        jobs: u64,
    ) -> Result<(), RunError> {
        self.examined = self.examined.saturating_add(examined);
        match self.examined > self.examined_max {
            true => Err(RunError::PlannedInVain { time, jobs, examined: self.examined_max }),
            false => Ok(()),
        }
    }

    /// True if none of `jobs` jobs can make progress unless a job arrives or a resource fails: each is
    /// stuck, or waits for one that is.
    pub(crate) fn are_all_stuck(&self, jobs: u64) -> bool {
        self.stuck > 0 && self.stuck + self.blocked == jobs
    }

    /// Records the effect of an observation on the counts.
    pub(crate) fn observe(&mut self, observation: &Observation) {
        match observation {
            Observation::OutputsStuck { jobs } => self.stuck = *jobs,
            Observation::TasksBlocked { jobs } => self.blocked = *jobs,
            _ => {}
        }
        let over = over(observation).is_some();
        // The end of a part shows that messages are not in vain, even if its work was lost.
        if over || is_end(observation) {
            self.messages = 0;
        }
        // Outages and plans are in vain as long as no work is saved.
        if over || gets_on(observation) {
            self.outages = 0;
            self.examined = 0;
        }
    }
}

/// Largest number of messages that may cause each other within one instant while `jobs` jobs are not over.
fn hops_max(jobs: u64) -> u64 {
    let most = u64::from(HOPS_PER_JOB).saturating_mul(jobs).saturating_add(u64::from(HOPS_MAX));
    // A count of 32 bits must be able to exceed this.
    most.min(u64::from(u32::MAX) - 1)
}

/// True if no run with remaining jobs should reach `time`.
pub(crate) fn is_end_of_time(time: Time) -> bool {
    time >= END_OF_TIME
}

/// The job that is over, if the observation is its end.
pub(crate) fn over(observation: &Observation) -> Option<JobId> {
    match observation {
        Observation::JobOver(record) => Some(record.job.id),
        Observation::GridJobOver(record) => Some(record.job.id),
        _ => None,
    }
}

/// True if the message is the arrival of a job at its user.
pub(crate) fn is_arrival(message: &Message) -> bool {
    matches!(message, Message::Run(RunMessage::JobDue(_)))
}

/// True if a part or an attempt of a job has ended.
fn is_end(observation: &Observation) -> bool {
    matches!(
        observation,
        Observation::TasksOver { .. }
            | Observation::ShareOver(_)
            | Observation::RunLost { .. }
            | Observation::AttemptOver(_)
    )
}

/// True if a job has made progress that need not be repeated. A job that repeatedly starts and is lost makes none.
fn gets_on(observation: &Observation) -> bool {
    match observation {
        Observation::TasksOver { .. } => true,
        Observation::RunLost { run, .. } => run.saved > Span::ZERO,
        Observation::AttemptOver(over) => over.available > 0,
        _ => false,
    }
}
