//! Rows of `jobs` in memory, as a writer would write them.

use std::sync::Arc;

use haggle_model::{Cast, JobRecord, Span};

use super::{Preceding, Story, job_cells, on_nodes, used_by_all};
use crate::buffer::{Buffer, NO_INTEGER, NO_WORD, Values};
use crate::columns::Table;
use crate::metrics::SettledJob;
use crate::reader::CellValue;
use crate::tables::Cells;
use crate::words::Known;

/// Rows of `jobs` in memory.
#[derive(Debug)]
pub struct JobRows {
    cast: Arc<Cast>,
    threshold: Span,
    buffer: Buffer,
}

impl JobRows {
    /// No rows. `threshold` is the shortest run time in bounded slowdowns.
    pub fn new(cast: Arc<Cast>, threshold: Span) -> JobRows {
        let buffer = Buffer::new(Table::Jobs, &Known::of(&cast));
        JobRows { cast, threshold, buffer }
    }

    /// Adds a job. `preceding` is the job that it follows.
    pub fn push(&mut self, record: &JobRecord, preceding: Option<Preceding>) {
        let bag = record.bag.as_ref();
        let used = bag.map_or(u32::from(record.start.is_some()), |bag| bag.providers());
        self.add(record, (record.attempts() as i64, i64::from(used)), preceding);
    }

    /// Adds a job of a grid. `preceding` is the job that it follows.
    pub fn push_settled(&mut self, job: &SettledJob, preceding: Option<Preceding>) {
        self.add(&job.record, (job.attempts.len() as i64, i64::from(job.resources)), preceding);
    }

    fn add(&mut self, record: &JobRecord, counts: (i64, i64), preceding: Option<Preceding>) {
        let story = Story::new(record, &self.cast);
        let all = record.bag.as_ref().map(|bag| used_by_all(&bag.shares, &self.cast));
        let nodes = on_nodes(record, &self.cast);
        let sets = (all.as_ref(), nodes.as_ref());
        job_cells(record, &story, sets, counts, self.threshold, preceding).give(&mut self.buffer);
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.buffer.rows
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.buffer.rows == 0
    }

    /// The value of a column, by its place in [`Table::columns`]. Times and spans are seconds.
    pub fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        match self.buffer.columns.get(column) {
            None => CellValue::Missing,
            Some(Values::Seconds(values)) => match values[row] {
                NO_INTEGER => CellValue::Missing,
                micros => CellValue::Real(micros as f64 / super::MICROS as f64),
            },
            Some(Values::Integer(values)) => match values[row] {
                NO_INTEGER => CellValue::Missing,
                value => CellValue::Integer(value),
            },
            Some(Values::Real(values)) if values[row].is_nan() => CellValue::Missing,
            Some(Values::Real(values)) => CellValue::Real(values[row]),
            Some(Values::Word { codes, .. }) if codes[row] == NO_WORD => CellValue::Missing,
            Some(Values::Word { codes, words }) => text(words.get(codes[row])),
            Some(Values::Text { bytes, ends }) => {
                match &bytes[ends[row] as usize..ends[row + 1] as usize] {
                    [] => CellValue::Missing,
                    written => text(written),
                }
            }
        }
    }
}

fn text(bytes: &[u8]) -> CellValue<'_> {
    std::str::from_utf8(bytes).map_or(CellValue::Missing, CellValue::Text)
}
