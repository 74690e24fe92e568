//! Comparisons of views. The last ones stay in memory, because each tile needs one.

use std::sync::{Arc, Mutex, PoisonError};

use crate::compare::{Comparison, compared};
use crate::{Refusal, View};

/// Most comparisons in memory.
const KEPT: usize = 4;

/// Numbers of two views, and the actor that sees both.
pub(super) type Key = (usize, usize, Option<String>);

/// A comparison, and the versions of the data from which it was made.
type Kept = (Key, (u64, u64), Arc<Comparison>);

/// Comparisons in memory, the last used one first.
#[derive(Default)]
pub(super) struct Comparisons(Mutex<Vec<Kept>>);

impl Comparisons {
    /// The comparison of a view with another one.
    ///
    /// # Errors
    /// If a view has no table of jobs.
    pub(super) fn of(
        &self,
        key: Key,
        (here, there): (&dyn View, &dyn View),
    ) -> Result<Arc<Comparison>, Refusal> {
        let versions = (here.version(), there.version());
        let is_it = |it: &&Kept| it.0 == key && it.1 == versions;
        let found = self.all().iter().find(is_it).map(|it| Arc::clone(&it.2));
        if let Some(found) = found {
            return Ok(found);
        }
        let new = Arc::new(compared(here, there)?);
        let mut all = self.all();
        all.retain(|it| it.0 != key);
        all.insert(0, (key, versions, Arc::clone(&new)));
        all.truncate(KEPT);
        Ok(new)
    }

    fn all(&self) -> std::sync::MutexGuard<'_, Vec<Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
