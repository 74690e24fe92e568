//! The table of inputs: data that tasks of workflows needed at providers, and their transfers.

use haggle_model::Time;
use haggle_model::workflow::{Input, Staged};

use super::{RunWriter, number};
use crate::ResultsError;
use crate::tables::InputCells;

impl RunWriter {
    /// Records the inputs of a task at the provider to which it is submitted.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn staged(&mut self, staged: &Staged) -> Result<(), ResultsError> {
        for &Input { need, from, moved } in &staged.inputs {
            self.files.put(InputCells {
                job: number(staged.job),
                made_by: need.made_by.map(i64::from),
                bytes: need.bytes as i64,
                from,
                to: staged.at,
                sent: moved.map(|it| it.sent.as_micros()),
                arrived: moved.and_then(|it| it.arrived).map(Time::as_micros),
            })?;
        }
        Ok(())
    }
}
