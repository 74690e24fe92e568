//! How far a run has come.

use haggle_agents::Message;
use haggle_model::{ActorId, Observation, Time};
use haggle_runtime::{OutsideError, RunStats, Sink};

use crate::experiment::run::{ExperimentError, Watch};

/// How often the watch hears of progress, in messages.
const INTERVAL: u64 = 8_192;

/// Counts, and says so now and then; at the end, as many jobs must be over as have come.
pub(in crate::experiment) struct Progress<'a> {
    watch: &'a dyn Watch,
    messages: u64,
    jobs_over: u64,
}

impl Progress<'_> {
    pub(in crate::experiment) fn new(watch: &dyn Watch) -> Progress<'_> {
        Progress { watch, messages: 0, jobs_over: 0 }
    }
}

impl Sink for Progress<'_> {
    /// A run may go on for long without any job that is over.
    fn delivered(
        &mut self,
        now: Time,
        _from: ActorId,
        _to: ActorId,
        _message: &Message,
    ) -> Result<(), OutsideError> {
        self.messages += 1;
        if self.messages.is_multiple_of(INTERVAL) {
            self.watch.progress(self.jobs_over, self.messages, now);
        }
        Ok(())
    }

    fn observed(
        &mut self,
        _now: Time,
        _actor: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        let over = matches!(observation, Observation::JobOver(_) | Observation::GridJobOver(_));
        self.jobs_over += u64::from(over);
        Ok(())
    }

    fn over(&mut self, stats: &RunStats) -> Result<(), OutsideError> {
        let (submitted, over) = (stats.jobs, self.jobs_over);
        if submitted == over {
            return Ok(());
        }
        Err(Box::new(ExperimentError::JobsMissing { submitted, over }))
    }
}
