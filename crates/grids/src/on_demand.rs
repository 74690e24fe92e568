//! Data that are kept only after their first query.

use std::cell::OnceCell;

/// An order that most policies never query. The first query creates it, and from then on it is kept up to
/// date.
#[derive(Clone, Debug)]
pub(super) struct OnDemand<T>(OnceCell<T>);

impl<T> OnDemand<T> {
    /// Returns the data, and creates them at the first call.
    pub(super) fn get(&self, make: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(make)
    }

    /// Returns whether the data have been created.
    pub(super) fn is_made(&self) -> bool {
        self.0.get().is_some()
    }

    /// Applies a change to the data, if they have been created.
    pub(super) fn keep(&mut self, change: impl FnOnce(&mut T)) {
        if let Some(kept) = self.0.get_mut() {
            change(kept);
        }
    }
}

impl<T> Default for OnDemand<T> {
    fn default() -> OnDemand<T> {
        OnDemand(OnceCell::new())
    }
}
