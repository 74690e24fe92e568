//! Windows reserved in advance: what a user says of one, what was granted, and what became of it.

use serde::{Deserialize, Serialize};

use crate::{Span, Time};

/// How its user has the window of a job reserved: from its ready time, or at once, to its deadline,
/// if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    /// How far from the window an interval may be that its user takes instead, in hundredths of
    /// the requested time; `None` = takes none. Its provider is not told.
    pub accepts: Option<u32>,
    /// Fewest and most processors on which a moldable job may run, in hundredths of those that it
    /// asks for: R_min and R_max of Netto 2009, section 3.2.
    pub sizes: (u32, u32),
    /// What is to be done when its place is lost.
    pub remedy: Remedy,
}

/// In its window, on as many processors as it asks for; late if its place is lost.
impl Default for Reservation {
    fn default() -> Reservation {
        Reservation { accepts: None, sizes: (100, 100), remedy: Remedy::default() }
    }
}

impl Reservation {
    /// Fewest and most processors of a job that asks for so many: the fewest rounded up, at least
    /// one, the most rounded down. What it asks for is among them.
    pub fn range(&self, processors: u32) -> (u32, u32) {
        let (asked, (fewest, most)) = (u64::from(processors), self.sizes);
        let fewest = (asked * u64::from(fewest)).div_ceil(100).clamp(1, asked.max(1));
        let most = (asked * u64::from(most) / 100).clamp(asked, u64::from(u32::MAX));
        (fewest as u32, most as u32)
    }
}

crate::words! {
    /// What a user wants when the place of a reservation is lost.
    #[derive(Default)]
    pub enum Remedy {
        /// Another place in its window, or else as soon as there is room.
        #[default]
        Postpone = "postpone",
        /// Other processors or another time in its window, or else the job is given back.
        Substitute = "substitute",
        /// The same, also on fewer processors if the job is moldable.
        Shrink = "shrink",
        /// The job is given back at once when processors fail under it.
        Revoke = "revoke",
    }
}

/// Why the place of a reservation is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// Processors have failed.
    Failure,
    /// A job runs on past its plan.
    Overrun,
    /// Processors will be closed for maintenance.
    Maintenance,
    /// The provider's scheduler was down at the planned start.
    Crash,
    /// Its own checkpoints took longer than planned, because others used the same links.
    Checkpoint,
}

impl Cause {
    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Failure => "failure",
            Cause::Overrun => "overrun",
            Cause::Maintenance => "maintenance",
            Cause::Crash => "crash",
            Cause::Checkpoint => "checkpoint",
        }
    }
}

/// What was done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It has another place in its window.
    Moved,
    /// It has a place in its window on fewer processors.
    Shrunk,
    /// It waits for a place behind its window.
    Postponed,
    /// It was given back.
    Revoked,
    /// It started in its window and ended behind it.
    Late,
}

impl Answer {
    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Answer::Moved => "moved",
            Answer::Shrunk => "shrunk",
            Answer::Postponed => "postponed",
            Answer::Revoked => "revoked",
            Answer::Late => "late",
        }
    }

    /// Whether the window that was granted is kept.
    pub const fn keeps(self) -> bool {
        matches!(self, Answer::Moved | Answer::Shrunk)
    }
}

/// The place of a reservation is lost, before it starts or while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Displacement {
    /// When.
    pub at: Time,
    /// Why.
    pub cause: Cause,
    /// What was done about it.
    pub answer: Answer,
    /// Processors it has from then on, or had when it was revoked.
    pub processors: u32,
    /// How long it is planned to take there.
    pub span: Span,
    /// Start of its new place; `None` = it has none, or one behind jobs without a limit.
    pub start: Option<Time>,
}

/// A reservation that a provider has granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantedWindow {
    /// When it was granted.
    pub at: Time,
    /// Earliest start; `None` = at once.
    pub ready: Option<Time>,
    /// Latest completion; [`Time::FOREVER`] = best effort.
    pub deadline: Time,
    /// Processors that were asked for.
    pub asked: u32,
    /// Processors that were granted.
    pub processors: u32,
    /// Planned time on that provider's processors.
    pub span: Span,
    /// Start planned when it was granted.
    pub planned: Time,
    /// How far from the window that was asked for; `None` = in it.
    pub distance: Option<Span>,
    /// When its start became fixed, and where, if that was not when it was granted.
    pub fixed: Option<(Time, Time)>,
    /// How it lost its place, in order of time.
    pub displaced: Vec<Displacement>,
}

impl GrantedWindow {
    /// Whether what remains to be done when it starts at `start` is in it.
    pub fn holds(&self, start: Time) -> bool {
        let ready = self.ready.is_none_or(|ready| ready <= start);
        let span = self.displaced.last().map_or(self.span, |it| it.span);
        ready && (self.deadline >= Time::FOREVER || start + span <= self.deadline)
    }

    /// Whether it could not be kept.
    pub fn is_broken(&self) -> bool {
        self.displaced.iter().any(|it| !it.answer.keeps())
    }

    /// Whether it was given back.
    pub fn is_revoked(&self) -> bool {
        self.displaced.iter().any(|it| it.answer == Answer::Revoked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shares_of_what_is_asked_for() {
        let range =
            |sizes, processors| Reservation { sizes, ..Reservation::default() }.range(processors);
        assert_eq!(range((100, 100), 7), (7, 7));
        assert_eq!(range((50, 150), 7), (4, 10));
        assert_eq!(range((1, 100), 7), (1, 7));
        assert_eq!(range((50, 200), 1), (1, 2));
        assert_eq!(range((50, 1_000_000), u32::MAX), (u32::MAX / 2 + 1, u32::MAX));
    }
}
