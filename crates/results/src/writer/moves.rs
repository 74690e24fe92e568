//! The table of moves: origin and destination of a waiting job, and its new size and times.

use haggle_model::{ActorId, JobId, Time};

use super::{RunWriter, number};
use crate::ResultsError;
use crate::tables::MoveCells;

impl RunWriter {
    /// Records that `actor` has moved a waiting job. The job's size must have been recorded before.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn moved(
        &mut self,
        now: Time,
        actor: ActorId,
        job: JobId,
        (from, to): (ActorId, ActorId),
    ) -> Result<(), ResultsError> {
        let (before, after) = self.sizes.of(job).unzip();
        self.files.put(MoveCells {
            time: now.as_micros(),
            actor,
            job: number(job),
            from,
            to,
            processors_before: before.map(|it| i64::from(it.sizing.processors)),
            finish_before: before.map(|it| it.sizing.completion().as_micros()),
            processors: after.map(|it| i64::from(it.sizing.processors)),
            finish: after.map(|it| it.sizing.completion().as_micros()),
            ready: after.and_then(|it| it.stage_in.data()).map(Time::as_micros),
            start_up: after.map(|it| it.stage_in.start_up.as_micros()),
        })
    }
}
