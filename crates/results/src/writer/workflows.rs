//! The table of workflows: the record of each workflow as a whole.

use haggle_model::{Span, Time};

use super::RunWriter;
use crate::ResultsError;
use crate::metrics::WorkflowRecord;
use crate::tables::{TaskCells, WorkflowCells};

impl RunWriter {
    /// Records all workflows of a run that is over.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn workflows(&mut self, records: &[WorkflowRecord]) -> Result<(), ResultsError> {
        for it in records {
            self.files.put(WorkflowCells {
                workload: it.came.workload,
                workflow: i64::from(it.came.number),
                tasks: i64::from(it.came.tasks),
                tasks_done: i64::from(it.done),
                complete: it.is_complete(),
                submit: it.submit.as_micros(),
                start: it.first.map(Time::as_micros),
                end: it.end().map(Time::as_micros),
                makespan: it.makespan().map(Span::as_micros),
                turnaround: it.turnaround_time().map(Span::as_micros),
                work: it.length.as_mi_f64(),
                critical_path: it.came.critical_path.as_micros(),
                schedule_length_ratio: it.schedule_length_ratio(),
                data: it.data as i64,
                attempts: i64::from(it.attempts),
                moves: i64::from(it.moves),
                failures: i64::from(it.failures),
            })?;
        }
        Ok(())
    }

    /// Records the names of tasks in the files of workflows: workload, workflow, task and name.
    ///
    /// # Errors
    /// If the table cannot be written.
    pub fn tasks<'n>(
        &mut self,
        names: impl IntoIterator<Item = (u16, u32, u32, &'n str)>,
    ) -> Result<(), ResultsError> {
        for (workload, workflow, task, name) in names {
            let (workflow, task) = (i64::from(workflow), i64::from(task));
            self.files.put(TaskCells { workload, workflow, task, name })?;
        }
        Ok(())
    }
}
