//! Processors for some time, known before.

use haggle_model::{Span, Time};

/// A time in which processors are booked, or closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// When it starts.
    pub start: Time,
    /// How long it takes.
    pub span: Span,
    /// Processors, all of the time.
    pub processors: u32,
}

impl Interval {
    /// When it ends.
    pub fn end(&self) -> Time {
        self.start + self.span
    }
}
