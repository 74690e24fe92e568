//! Data that are kept only after their first query.

use std::cell::OnceCell;

use serde::{Deserialize, Serialize};

/// An order that most policies never query. The first query creates it, and from then on it is kept up to
/// date. A snapshot leaves it out: the next query creates it again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(super) struct OnDemand<T> {
    #[serde(skip)]
    made: OnceCell<T>,
}

impl<T> OnDemand<T> {
    /// Returns the data, and creates them at the first call.
    pub(super) fn get(&self, make: impl FnOnce() -> T) -> &T {
        self.made.get_or_init(make)
    }

    /// Returns whether the data have been created.
    pub(super) fn is_made(&self) -> bool {
        self.made.get().is_some()
    }

    /// Applies a change to the data, if they have been created.
    pub(super) fn keep(&mut self, change: impl FnOnce(&mut T)) {
        if let Some(kept) = self.made.get_mut() {
            change(kept);
        }
    }
}

impl<T> Default for OnDemand<T> {
    fn default() -> OnDemand<T> {
        OnDemand { made: OnceCell::new() }
    }
}
