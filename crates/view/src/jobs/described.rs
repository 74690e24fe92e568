//! A table of jobs as one actor knows it: of some jobs, only the description is shown.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use super::{Column, JobTable, columns};
use crate::Refusal;

/// Columns that describe a job as it was submitted.
const DESCRIPTION: [&str; 19] = [
    "job_id",
    "workload_name",
    "profile",
    "submission_time",
    "requested_number_of_resources",
    "requested_time",
    "job",
    "class",
    "ready_time",
    "deadline",
    "priority_key",
    "user_id",
    "group_id",
    "executable_id",
    "queue_id",
    "partition_id",
    "workflow",
    "task",
    "initial",
];

/// A table whose values are missing, except those of the description, for the jobs in `hidden`. Filters and orders see
/// these values, and no more.
pub(crate) struct Described<'a> {
    table: &'a dyn JobTable,
    hidden: &'a HashSet<u32>,
    numbers: Arc<Column>,
}

impl<'a> Described<'a> {
    /// # Errors
    /// If the numbers of the jobs cannot be read.
    pub(crate) fn new(
        table: &'a dyn JobTable,
        hidden: &'a HashSet<u32>,
    ) -> Result<Described<'a>, Refusal> {
        let numbers = table.column("job")?;
        Ok(Described { table, hidden, numbers })
    }

    fn is_hidden(&self, row: usize) -> bool {
        self.numbers.number(row).is_none_or(|job| self.hidden.contains(&job))
    }
}

impl JobTable for Described<'_> {
    fn rows(&self) -> usize {
        self.table.rows()
    }

    fn column(&self, name: &'static str) -> Result<Arc<Column>, Refusal> {
        let mut column = self.table.column(name)?;
        if !DESCRIPTION.contains(&name) {
            let shown = Arc::make_mut(&mut column);
            let rows = (0..shown.len()).filter(|&row| self.is_hidden(row));
            rows.for_each(|row| shown.hide(row));
        }
        Ok(column)
    }

    fn page(&self, rows: &[u32]) -> Result<Vec<Vec<Value>>, Refusal> {
        let mut page = self.table.page(rows)?;
        for (row, values) in rows.iter().zip(&mut page) {
            if self.is_hidden(*row as usize) {
                let hidden = columns().iter().zip(values);
                let hidden = hidden.filter(|(column, _)| !DESCRIPTION.contains(&column.name));
                hidden.for_each(|(_, value)| *value = Value::Null);
            }
        }
        Ok(page)
    }

    // The name of the actor is part of each key.
    fn kept(&self, key: &str) -> Option<Arc<Vec<u32>>> {
        self.table.kept(key)
    }

    fn keep(&self, key: String, rows: &Arc<Vec<u32>>) {
        self.table.keep(key, rows);
    }
}
