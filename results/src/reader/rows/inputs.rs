//! Inputs of tasks that providers ran.

use crate::columns::Table;
use crate::{ResultsError, RunReader};

/// A row of `inputs`; times in seconds since the start of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct InputRow {
    /// The task's number in this run.
    pub job: i64,
    /// The parent that made it, by its number in the workflow; `None` = it comes from the storage.
    pub made_by: Option<i64>,
    /// How much it is.
    pub bytes: i64,
    /// Where it was.
    pub from: String,
    /// Where the task was to run.
    pub to: String,
    /// When its transfer began and when it arrived; `None` = nothing had to be transferred, or it was cut off.
    pub moved: Option<(f64, f64)>,
}

impl RunReader {
    /// All rows of `inputs`; none where no provider ran a task that needs something.
    ///
    /// # Errors
    /// If the table is damaged.
    pub fn inputs(&self) -> Result<Vec<InputRow>, ResultsError> {
        if !self.has(Table::Inputs) {
            return Ok(Vec::new());
        }
        let names = Vec::from_iter(Table::Inputs.columns().iter().map(|column| column.name));
        self.rows(Table::Inputs, &names)?.map(|row| {
            let (sent, arrived) =
                (row.optional_real("sent_time")?, row.optional_real("arrival_time")?);
            Ok(InputRow {
                job: row.integer("job")?,
                made_by: row.optional_integer("made_by")?,
                bytes: row.integer("bytes")?,
                from: row.text("sender")?,
                to: row.text("receiver")?,
                moved: sent.zip(arrived),
            })
        })
    }
}
