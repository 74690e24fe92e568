//! The table of inputs: what tasks of workflows needed at providers, and how it came there.

use haggle_model::workflow::{Input, Staged};

use super::{RunWriter, TableFile, micros};
use crate::ResultsError;
use crate::buffer::NO_INTEGER;
use crate::columns::Table;

impl RunWriter {
    /// Records what a task needed at the provider to which it is submitted now.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn staged(&mut self, staged: &Staged) -> Result<(), ResultsError> {
        let file = match &mut self.inputs {
            Some(file) => file,
            none => {
                let (folder, format) = (self.folder.path(), self.options.format);
                none.insert(TableFile::create(folder, Table::Inputs, &self.cast, format)?)
            }
        };
        for &Input { need, from, moved } in &staged.inputs {
            let arrived = moved.and_then(|it| it.arrived);
            let mut row = file.buffer.row();
            row.integer(i64::from(staged.job.0));
            row.integer(need.made_by.map_or(NO_INTEGER, i64::from));
            row.integer(need.bytes as i64).code(from.0).code(staged.at.0);
            row.micros(micros(moved.map(|it| it.sent))).micros(micros(arrived)).done();
            file.flush_if_full()?;
        }
        Ok(())
    }
}
