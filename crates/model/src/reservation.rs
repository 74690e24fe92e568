//! Windows reserved in advance: the request of a user, the grant, and the fate of the grant.

use serde::{Deserialize, Serialize};

use crate::{Span, Time};

/// A user's request to reserve the window of a job: from its ready time, or at once, to its deadline if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    /// Largest distance from the window at which the user accepts an interval instead, in hundredths of
    /// the requested time; `None` = accepts none. Not disclosed to the provider.
    pub accepts: Option<u32>,
    /// Fewest and most processors on which a moldable job may run, in hundredths of those that it
    /// requests: R_min and R_max of Netto 2009, section 3.2.
    pub sizes: (u32, u32),
    /// Remedy if its place is lost.
    pub remedy: Remedy,
}

/// In its window, on the requested number of processors; late if its place is lost.
impl Default for Reservation {
    fn default() -> Reservation {
        Reservation { accepts: None, sizes: (100, 100), remedy: Remedy::default() }
    }
}

impl Reservation {
    /// Fewest and most processors of a job that requests `processors`. The fewest are rounded up, at
    /// least one; the most are rounded down. The requested number is within this range.
    pub fn range(&self, processors: u32) -> (u32, u32) {
        let (asked, (fewest, most)) = (u64::from(processors), self.sizes);
        let fewest = (asked * u64::from(fewest)).div_ceil(100).clamp(1, asked.max(1));
        let most = (asked * u64::from(most) / 100).clamp(asked, u64::from(u32::MAX));
        (fewest as u32, most as u32)
    }
}

crate::words! {
    /// Wish of a user when the place of a reservation is lost.
    #[derive(Default)]
    pub enum Remedy {
        /// Another place in its window, or else as soon as there is room.
        #[default]
        Postpone = "postpone",
        /// Other processors or another time in its window; otherwise the job is given back.
        Substitute = "substitute",
        /// As substitute, also on fewer processors if the job is moldable.
        Shrink = "shrink",
        /// The job is given back at once when processors fail under it.
        Revoke = "revoke",
    }
}

/// Cause for which a reservation loses its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// Processors have failed.
    Failure,
    /// A job runs longer than planned.
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

/// Reaction of the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// It has another place in its window.
    Moved,
    /// It has a place in its window on fewer processors.
    Shrunk,
    /// It waits for a place after its window.
    Postponed,
    /// It was given back.
    Revoked,
    /// It started in its window and ended after it.
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

    /// True if the granted window is kept.
    pub const fn keeps(self) -> bool {
        matches!(self, Answer::Moved | Answer::Shrunk)
    }
}

/// A reservation loses its place, before it starts or while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Displacement {
    /// Time of the loss.
    pub at: Time,
    /// Cause of the loss.
    pub cause: Cause,
    /// Reaction of the provider.
    pub answer: Answer,
    /// Processors it has from then on, or had when it was revoked.
    pub processors: u32,
    /// Planned duration there.
    pub span: Span,
    /// Start of its new place; `None` = it has no place, or one behind jobs without a limit.
    pub start: Option<Time>,
}

/// A reservation that a provider has granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantedWindow {
    /// Time of the grant.
    pub at: Time,
    /// Earliest start; `None` = at once.
    pub ready: Option<Time>,
    /// Latest completion; [`Time::FOREVER`] = best effort.
    pub deadline: Time,
    /// Processors that were requested.
    pub asked: u32,
    /// Processors that were granted.
    pub processors: u32,
    /// Planned time on that provider's processors.
    pub span: Span,
    /// Start planned at the grant.
    pub planned: Time,
    /// Distance from the requested window; `None` = in it.
    pub distance: Option<Span>,
    /// Time at which its start became fixed, and this start, if that was after the grant.
    pub fixed: Option<(Time, Time)>,
    /// Losses of its place, in order of time.
    pub displaced: Vec<Displacement>,
}

impl GrantedWindow {
    /// True if the remaining work is within the window when it starts at `start`.
    pub fn holds(&self, start: Time) -> bool {
        let ready = self.ready.is_none_or(|ready| ready <= start);
        // A displacement may have changed the processors, and so the time that is needed.
        let span = self.displaced.last().map_or(self.span, |it| it.span);
        ready && (self.deadline >= Time::FOREVER || start + span <= self.deadline)
    }

    /// True if it could not be kept.
    pub fn is_broken(&self) -> bool {
        self.displaced.iter().any(|it| !it.answer.keeps())
    }

    /// True if it was given back.
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
