//! The table of maintenance: closed processors and refused windows.

use haggle_model::{MaintenanceRecord, Time, WindowFate};

use super::RunWriter;
use crate::ResultsError;
use crate::tables::MaintenanceCells;

impl RunWriter {
    /// Records that a window of maintenance has begun, is refused, or lies behind the end of the run.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn maintenance(&mut self, record: &MaintenanceRecord) -> Result<(), ResultsError> {
        let offset = self.cast.providers[record.provider.index()].first_processor;
        let (outcome, possible) = match record.fate {
            WindowFate::Refused { possible } => ("refused", possible),
            WindowFate::Ahead => ("announced", None),
            WindowFate::Begun(_) if record.held() < record.processors => ("short", None),
            WindowFate::Begun(_) => ("held", None),
        };
        let closed = record.closed().map_or(&[][..], |it| it.intervals());
        let in_run = |&(first, last): &(u32, u32)| {
            Some((i64::from(first + offset), i64::from(last + offset)))
        };
        // A window that closed nothing has a row, too.
        let nothing = closed.is_empty().then_some(None);
        self.files.put_all(closed.iter().map(in_run).chain(nothing).map(|interval| {
            MaintenanceCells {
                provider: record.provider,
                // Tables count windows from 1.
                window: i64::from(record.number) + 1,
                announced: record.announced.as_micros(),
                start: record.start.as_micros(),
                end: record.end.as_micros(),
                processors: i64::from(record.processors),
                closed: i64::from(record.held()),
                outcome,
                first: interval.map(|it| it.0),
                last: interval.map(|it| it.1),
                possible: possible.map(Time::as_micros),
            }
        }))
    }
}
