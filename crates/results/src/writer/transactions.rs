//! The table of transactions: the cost and the outcome of each try to get the parts of a job.

use haggle_agreements::account::End;
use haggle_model::{Span, Time};

use super::{RunWriter, number};
use crate::ResultsError;
use crate::metrics::TransactionRecord;
use crate::tables::TransactionCells;

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

impl RunWriter {
    /// Records all transactions of a run that is over.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn transactions(&mut self, records: &[TransactionRecord]) -> Result<(), ResultsError> {
        for record in records {
            let TransactionRecord { id, job, number: attempt, cost, .. } = record;
            let (end, outcome) = match cost.settled {
                Some((time, End::Agreed)) => (Some(time), "agreed"),
                Some((time, End::Failed)) => (Some(time), "failed"),
                Some((time, End::Broken)) => (Some(time), "broken"),
                None => (None, "open"),
            };
            self.files.put(TransactionCells {
                job: number(*job),
                number: i64::from(*attempt),
                actor: id.coordinator,
                agreement: id.number as i64,
                parts: cost.asked.len() as i64,
                opened: cost.opened.as_micros(),
                decided: cost.decided.map(Time::as_micros),
                end: end.map(Time::as_micros),
                outcome,
                time_to_agreement: record.to_agreement.map(Span::as_micros),
                messages: cost.messages as i64,
                in_doubt: cost.in_doubt.as_micros(),
                held_in_vain: cost.held_in_vain as f64 / SECOND,
                orphans: record.orphans as i64,
                orphan_work: record.orphan_work as f64 / SECOND,
                partial: record.partial,
            })?;
        }
        Ok(())
    }
}
