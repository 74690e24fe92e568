//! Times of the decisions of a grid's scheduler.

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

/// The times of a scheduler's rounds, and their durations (Chtepen 2011, sections 2.2 and 5.3.1).
///
/// ```text
///     due        answered                    decided
///  ────┼── query ────┼──────── schedule ────────┼──────▶
///      │             state of the information   decisions use that state and the present
///      │             service is read            state of the jobs; they are sent
/// ```
///
/// A round that is due during another round begins when that one ends: event-driven rounds immediately,
/// others at the next multiple of their period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rounds {
    /// Time between rounds, I_GS; zero = after every event.
    pub period: Span,
    /// Time that the information service takes to answer.
    pub query: Span,
    /// Time from the answer until the decisions are sent.
    pub schedule: Span,
}

impl Rounds {
    /// Returns whether a round is due after every event.
    pub fn are_event_driven(self) -> bool {
        self.period == Span::ZERO
    }

    /// Time at which a round is due that is needed `now`.
    pub fn due(self, now: Time) -> Time {
        now.next_multiple_of(self.period)
    }

    /// Time at which the next round is due, if the last one was due at `due` and ends `now`; not for
    /// event-driven rounds.
    pub fn due_after(self, due: Time, now: Time) -> Time {
        (due + self.period).max(self.due(now))
    }

    /// Time from the beginning of a round until its decisions.
    pub fn takes(self) -> Span {
        self.query + self.schedule
    }

    /// The first instant at which a round may decide on an event of `now`.
    pub fn decided_after(self, now: Time) -> Time {
        if self.are_event_driven() { now + self.takes() } else { self.decided(now) }
    }

    /// The first instant from `now` on at which a round may decide.
    pub fn decided(self, now: Time) -> Time {
        // A round decides `takes` after the time at which it was due.
        let takes = self.takes();
        (now - takes).next_multiple_of(self.period) + takes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_late_by_what_they_take() {
        let (at, secs) = (Time::from_secs, Span::from_secs);
        let rounds = Rounds { period: secs(10), query: secs(1), schedule: secs(2) };
        assert_eq!([10, 11, 20].map(|now| rounds.due(at(now))), [10, 20, 20].map(at));
        assert_eq!([3, 4, 13].map(|now| rounds.decided(at(now))), [3, 13, 13].map(at));
        assert_eq!(rounds.due_after(at(10), at(13)), at(20));
        let slow = Rounds { schedule: secs(9), ..rounds };
        assert_eq!(slow.due_after(at(10), at(20)), at(20));
        let slow = Rounds { schedule: secs(10), ..rounds };
        assert_eq!(slow.due_after(at(10), at(21)), at(30));
    }
}
