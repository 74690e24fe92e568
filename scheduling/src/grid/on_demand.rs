//! What is only kept once somebody has asked for it.

use std::cell::OnceCell;

/// An order of things that most policies never ask for: the first question makes it, and from
/// then on it is kept up to date.
#[derive(Clone, Debug)]
pub(super) struct OnDemand<T>(OnceCell<T>);

impl<T> OnDemand<T> {
    /// What is asked for.
    pub(super) fn get(&self, make: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(make)
    }

    /// Whether somebody has asked.
    pub(super) fn is_made(&self) -> bool {
        self.0.get().is_some()
    }

    /// What it is about changes.
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
