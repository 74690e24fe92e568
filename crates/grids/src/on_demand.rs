//! Data that are kept only after their first query.

use std::cell::OnceCell;

use serde::{Deserialize, Serialize};

/// An order that most policies never query. The first query creates it, and from then on it is kept up to
/// date. A snapshot contains it: data such as a list of changes depend on the time of the first query.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "Option<T>", from = "Option<T>", bound(serialize = "T: Clone + Serialize"))]
pub(super) struct OnDemand<T> {
    made: OnceCell<T>,
}

impl<T> From<Option<T>> for OnDemand<T> {
    fn from(made: Option<T>) -> OnDemand<T> {
        OnDemand { made: made.map_or_else(OnceCell::new, OnceCell::from) }
    }
}

impl<T> From<OnDemand<T>> for Option<T> {
    fn from(on_demand: OnDemand<T>) -> Option<T> {
        on_demand.made.into_inner()
    }
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
