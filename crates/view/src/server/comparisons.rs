//! Comparisons of views. The last ones stay in memory, because each tile needs one.

use std::sync::{Arc, Mutex, PoisonError};

use crate::compare::{Comparison, compared};
use crate::{Refusal, Views};

/// Most comparisons in memory.
const KEPT: usize = 4;

/// Numbers of two views, and the versions of their data.
type Key = (usize, usize, u64, u64);

/// Comparisons in memory, the last used one first.
#[derive(Default)]
pub(super) struct Comparisons(Mutex<Vec<(Key, Arc<Comparison>)>>);

impl Comparisons {
    /// The comparison of a view with another one.
    ///
    /// # Errors
    /// If a view is unknown, or has no table of jobs.
    pub(super) fn of(
        &self,
        views: &Views,
        here: usize,
        there: usize,
    ) -> Result<Arc<Comparison>, Refusal> {
        let (one, other) = (views.get(here)?, views.get(there)?);
        let key = (here, there, one.version(), other.version());
        let found = self.all().iter().find(|it| it.0 == key).map(|it| Arc::clone(&it.1));
        if let Some(found) = found {
            return Ok(found);
        }
        let new = Arc::new(compared(&*one, &*other)?);
        let mut all = self.all();
        all.retain(|it| (it.0.0, it.0.1) != (here, there));
        all.insert(0, (key, Arc::clone(&new)));
        all.truncate(KEPT);
        Ok(new)
    }

    fn all(&self) -> std::sync::MutexGuard<'_, Vec<(Key, Arc<Comparison>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
