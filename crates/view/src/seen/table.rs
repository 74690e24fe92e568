//! The table of jobs as one actor knows it: the jobs that it knows; of some, only the description.

use std::sync::Arc;

use serde_json::Value;

use crate::Refusal;
use crate::jobs::{Column, JobTable, columns};
use crate::view::Known;

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

/// True if a column describes a job as it was submitted.
pub(super) fn is_description(column: &str) -> bool {
    DESCRIPTION.contains(&column)
}

/// The rows of the jobs that an actor knows, in the order of their numbers: the order of the table tells when jobs ended
/// elsewhere. Filters and orders see these rows, and of described jobs the description alone.
pub(super) struct KnownTable {
    table: Arc<dyn JobTable>,
    /// Rows of the table, each with true if only the description is known.
    rows: Vec<(u32, bool)>,
    /// Name of the rows among kept ones.
    name: String,
}

impl KnownTable {
    /// # Errors
    /// If the numbers of the jobs cannot be read.
    pub(super) fn new(
        table: Arc<dyn JobTable>,
        actor: &str,
        known: &Known,
    ) -> Result<KnownTable, Refusal> {
        let numbers = table.column("job")?;
        let row = |row: u32| {
            let job = numbers.number(row as usize).filter(|it| known.jobs.contains(it))?;
            Some((job, (row, known.described.contains(&job))))
        };
        let all = 0..u32::try_from(table.rows()).unwrap_or(u32::MAX);
        let mut rows = Vec::from_iter(all.filter_map(row));
        rows.sort_by_key(|(job, _)| *job);
        let rows = rows.into_iter().map(|(_, row)| row).collect();
        // Charts may still be read, and then more jobs are known.
        let name = format!("{actor}\0{} {}\0", known.jobs.len(), known.described.len());
        Ok(KnownTable { table, rows, name })
    }
}

impl JobTable for KnownTable {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn column(&self, name: &'static str) -> Result<Arc<Column>, Refusal> {
        let all = self.table.column(name)?;
        let is_known = |is_described: bool| !is_described || is_description(name);
        let rows = self.rows.iter().map(|&(row, described)| is_known(described).then_some(row));
        Ok(Arc::new(all.of_rows(rows)))
    }

    fn page(&self, rows: &[u32]) -> Result<Vec<Vec<Value>>, Refusal> {
        let asked = Vec::from_iter(rows.iter().filter_map(|&it| self.rows.get(it as usize)));
        let mut page = self.table.page(&Vec::from_iter(asked.iter().map(|it| it.0)))?;
        for ((_, is_described), values) in asked.iter().zip(&mut page) {
            let hidden = columns().iter().zip(values).filter(|_| *is_described);
            let hidden = hidden.filter(|(column, _)| !is_description(column.name));
            hidden.for_each(|(_, value)| *value = Value::Null);
        }
        Ok(page)
    }

    fn kept(&self, key: &str) -> Option<Arc<Vec<u32>>> {
        self.table.kept(&format!("{}{key}", self.name))
    }

    fn keep(&self, key: String, rows: &Arc<Vec<u32>>) {
        self.table.keep(format!("{}{key}", self.name), rows);
    }
}
