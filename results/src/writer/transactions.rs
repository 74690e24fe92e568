//! The table of transactions: what each try to get the parts of a job cost, and how it ended.

use haggle_agreements::account::End;
use haggle_model::Span;

use super::{RunWriter, TableFile, micros};
use crate::ResultsError;
use crate::buffer::NO_INTEGER;
use crate::columns::Table;
use crate::metrics::TransactionRecord;

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

impl RunWriter {
    /// Records all transactions of a run that is over.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn transactions(&mut self, records: &[TransactionRecord]) -> Result<(), ResultsError> {
        if records.is_empty() {
            return Ok(());
        }
        let (folder, format) = (self.folder.path(), self.options.format);
        let file = TableFile::create(folder, Table::Transactions, &self.cast, format)?;
        let file = self.transactions.insert(file);
        for record in records {
            let TransactionRecord { id, job, number, cost, .. } = record;
            let (end, outcome) = match cost.settled {
                Some((time, End::Agreed)) => (Some(time), "agreed"),
                Some((time, End::Failed)) => (Some(time), "failed"),
                Some((time, End::Broken)) => (Some(time), "broken"),
                None => (None, "open"),
            };
            let mut row = file.buffer.row();
            row.integer(i64::from(job.0)).integer(i64::from(*number)).code(id.coordinator.0);
            row.integer(id.number as i64).integer(cost.asked.len() as i64);
            row.micros(cost.opened.as_micros()).micros(micros(cost.decided)).micros(micros(end));
            row.word(outcome).micros(record.to_agreement.map_or(NO_INTEGER, Span::as_micros));
            row.integer(cost.messages as i64).micros(cost.in_doubt.as_micros());
            row.real(cost.held_in_vain as f64 / SECOND).integer(record.orphans as i64);
            row.real(record.orphan_work as f64 / SECOND).integer(i64::from(record.partial)).done();
            file.flush_if_full()?;
        }
        Ok(())
    }
}
