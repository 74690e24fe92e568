//! The table of workflows: what became of each as a whole.

use haggle_model::Span;

use super::{RunWriter, TableFile, micros};
use crate::ResultsError;
use crate::buffer::NO_INTEGER;
use crate::columns::Table;
use crate::metrics::WorkflowRecord;

impl RunWriter {
    /// Records all workflows of a run that is over.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn workflows(&mut self, records: &[WorkflowRecord]) -> Result<(), ResultsError> {
        if records.is_empty() {
            return Ok(());
        }
        let (folder, format) = (self.folder.path(), self.options.format);
        let file = TableFile::create(folder, Table::Workflows, &self.cast, format)?;
        let file = self.workflows.insert(file);
        for it in records {
            let span = |time: Option<Span>| time.map_or(NO_INTEGER, Span::as_micros);
            let mut row = file.buffer.row();
            row.code(u32::from(it.came.workload)).integer(i64::from(it.came.number));
            row.integer(i64::from(it.came.tasks)).integer(i64::from(it.done));
            row.integer(i64::from(it.is_complete())).micros(it.submit.as_micros());
            row.micros(micros(it.first)).micros(micros(it.end()));
            row.micros(span(it.makespan())).micros(span(it.turnaround_time()));
            row.real(it.length.as_mi_f64()).micros(it.came.critical_path.as_micros());
            row.real(it.schedule_length_ratio().unwrap_or(f64::NAN)).integer(it.data as i64);
            row.integer(i64::from(it.tries)).integer(i64::from(it.moves));
            row.integer(i64::from(it.failures)).done();
            file.flush_if_full()?;
        }
        Ok(())
    }
}
