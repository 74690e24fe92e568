//! Metrics of maintenance.

use haggle_model::{MaintenanceRecord, Time, WindowFate};
use serde::{Deserialize, Serialize};

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

/// Maintenance in numbers, over the whole run: a cut has no effect here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Maintenance {
    /// Windows that began.
    pub windows: u64,
    /// Of these, windows that closed fewer processors than announced.
    pub short: u64,
    /// Windows that were refused when they were announced.
    pub refused: u64,
    /// Time for which processors were closed before the run was over, processor-seconds.
    pub closed: f64,
    /// Time of processors that a window announced but did not close, processor-seconds.
    pub missed: f64,
}

/// The windows so far.
#[derive(Clone, Debug, Default)]
pub(super) struct MaintenanceLog {
    refused: u64,
    /// Start, end, processors that were closed, and processors that were announced.
    begun: Vec<(Time, Time, u32, u32)>,
}

impl MaintenanceLog {
    pub(super) fn window(&mut self, record: &MaintenanceRecord) {
        match record.fate {
            WindowFate::Begun(_) => {
                let row = (record.start, record.end, record.held(), record.processors);
                self.begun.push(row);
            }
            // A window that is ahead at the end of the run has closed nothing.
            WindowFate::Ahead => {}
            WindowFate::Refused { .. } => self.refused += 1,
        }
    }

    /// Sums up the windows until the end of the run; `None` if there are none.
    pub(super) fn sum_up(&self, end: Time) -> Option<Maintenance> {
        let refused = self.refused;
        let mut sums = Maintenance { refused, ..Maintenance::default() };
        let (mut closed, mut missed) = (0_i128, 0_i128);
        for &(start, until, held, wanted) in &self.begun {
            let lasted = i128::from((until.min(end) - start).as_micros().max(0));
            sums.windows += 1;
            sums.short += u64::from(held < wanted);
            closed += lasted * i128::from(held);
            missed += lasted * i128::from(wanted - held);
        }
        (sums.closed, sums.missed) = (closed as f64 / SECOND, missed as f64 / SECOND);
        (sums.windows + refused > 0).then_some(sums)
    }
}
