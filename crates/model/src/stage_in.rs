//! Data and start-up that a moved job needs before it computes.

use serde::{Deserialize, Serialize};

use crate::{Span, Time};

/// The needs of a moved job at its new provider besides processors. Its data travel while it waits and
/// holds no processors. Its start-up needs all of its processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageIn {
    /// Arrival of its data; it starts no earlier.
    pub ready: Time,
    /// Time for which it holds its processors before it computes, at each start there.
    pub start_up: Span,
}

impl StageIn {
    /// The value for a job without such needs.
    pub const NOTHING: StageIn = StageIn { ready: Time::ZERO, start_up: Span::ZERO };

    /// Arrival of the data, if any had to be moved.
    pub fn data(&self) -> Option<Time> {
        (self.ready > Time::ZERO).then_some(self.ready)
    }
}
