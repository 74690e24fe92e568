//! The attempts of one job.

use std::sync::Arc;

use haggle_model::grid::AttemptRecord;
use smallvec::SmallVec;

/// The attempts of one job, by number. Most jobs have one, and a large run keeps many.
#[derive(Clone, Debug, Default)]
pub(super) struct Attempts(SmallVec<[Arc<AttemptRecord>; 2]>);

impl Attempts {
    /// Adds an attempt, or replaces one of the same number.
    pub(super) fn insert(&mut self, record: Arc<AttemptRecord>) {
        match self.0.binary_search_by_key(&record.number, |it| it.number) {
            Ok(place) => self.0[place] = record,
            Err(place) => self.0.insert(place, record),
        }
    }

    /// The attempt of this number.
    pub(super) fn get(&self, number: u32) -> Option<&AttemptRecord> {
        let place = self.0.binary_search_by_key(&number, |it| it.number).ok()?;
        self.0.get(place).map(Arc::as_ref)
    }

    /// All attempts, by number.
    pub(super) fn values(&self) -> impl DoubleEndedIterator<Item = &AttemptRecord> {
        self.0.iter().map(Arc::as_ref)
    }

    /// Their records, by number.
    pub(super) fn into_records(self) -> impl Iterator<Item = Arc<AttemptRecord>> {
        self.0.into_iter()
    }
}
