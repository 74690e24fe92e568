//! The table of intervals: phases of an application, where they ran, and their predicted times.

use haggle_model::phased::IntervalRecord;
use haggle_model::{ActorId, Time};

use super::{RunWriter, number};
use crate::ResultsError;
use crate::tables::IntervalCells;

impl RunWriter {
    /// Records that an interval of an application is over.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn interval_over(&mut self, it: &IntervalRecord) -> Result<(), ResultsError> {
        self.files.put(IntervalCells {
            job: number(it.job),
            interval: i64::from(it.number),
            provider: it.cluster,
            first: i64::from(it.first),
            last: i64::from(it.last),
            how: it.how.name(),
            // The first actors are the clusters, so numbers of clusters are numbers of actors.
            from: it.from.map(|from| ActorId(from.0)),
            processors: i64::from(it.machines.count()),
            ordered: it.ordered.as_micros(),
            start: it.start.map(Time::as_micros),
            end: it.end.as_micros(),
            predicted_move: it.predicted_move.as_micros(),
            predicted: it.predicted.as_micros(),
            outcome: it.ending.name(),
        })
    }
}
