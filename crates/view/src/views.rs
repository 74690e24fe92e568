//! The views of a server. Views can be added while it runs.

use std::sync::{Arc, PoisonError, RwLock};

use crate::{Refusal, View};

/// Views by number. Numbers stay.
#[derive(Default)]
pub struct Views {
    all: RwLock<Vec<Arc<dyn View>>>,
}

impl Views {
    /// No views.
    pub fn new() -> Views {
        Views::default()
    }

    /// Adds a view and returns its number.
    pub fn add(&self, view: Arc<dyn View>) -> usize {
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        all.push(view);
        all.len() - 1
    }

    /// The view of this number.
    ///
    /// # Errors
    /// If there is none.
    pub fn get(&self, id: usize) -> Result<Arc<dyn View>, Refusal> {
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
        all.get(id).cloned().ok_or_else(|| Refusal::missing(format!("there is no view {id}")))
    }

    /// All views, in the order of their numbers.
    pub fn all(&self) -> Vec<Arc<dyn View>> {
        self.all.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
