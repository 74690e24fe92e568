//! What has to come before a job that has moved computes.

use serde::{Deserialize, Serialize};

use crate::{Span, Time};

/// What a job needs at a provider that it has moved to, beside processors. Its data travel without
/// them: while they do it waits, and nobody is kept from anything else. Its start-up needs them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageIn {
    /// When its data are there: it starts no earlier.
    pub ready: Time,
    /// For how long it holds its processors before it computes, each time that it starts there.
    pub start_up: Span,
}

impl StageIn {
    /// Of a job that has all it needs.
    pub const NOTHING: StageIn = StageIn { ready: Time::ZERO, start_up: Span::ZERO };

    /// When the data are there, if some had to be moved.
    pub fn data(&self) -> Option<Time> {
        (self.ready > Time::ZERO).then_some(self.ready)
    }
}
