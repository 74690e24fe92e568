//! Processors for a known time.

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

/// A time in which processors are booked, or closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// Time at which it starts.
    pub start: Time,
    /// How long it takes.
    pub span: Span,
    /// Processors, during the whole time.
    pub processors: u32,
}

impl Interval {
    /// When it ends.
    pub fn end(&self) -> Time {
        self.start + self.span
    }
}
