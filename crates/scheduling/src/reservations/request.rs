//! A user's request: processors for some time, within a window.

use haggle_model::reservation::Remedy;
use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use super::options::Alternative;
use crate::scheduler::{BEYOND_ALL_LIMITS, Slot};
use crate::{Interval, Profile};

/// Hundredths; shares of a time are whole ones.
pub type Percent = u32;

/// Time in which a reservation may run.
///
/// | restriction | window |
/// |---|---|
/// | strict interval | from ready time to deadline there is time for the work and no more |
/// | strict deadline | no ready time |
/// | flexible interval | more time than the work takes |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Earliest start that the user allows; `None` = at once.
    pub ready: Option<Time>,
    /// Latest completion; [`Time::FOREVER`] = best effort.
    pub deadline: Time,
}

impl Window {
    /// Any time.
    pub const ANY: Window = Window { ready: None, deadline: Time::FOREVER };

    /// Exactly there: work that takes `span` has no freedom in it.
    pub fn strict(start: Time, span: Span) -> Window {
        Window { ready: Some(start), deadline: start + span }
    }

    /// The earliest start from `now` on.
    pub fn earliest(self, now: Time) -> Time {
        self.ready.map_or(now, |ready| ready.max(now))
    }

    /// The latest start of work that takes `span`.
    pub fn latest_start(self, span: Span) -> Time {
        if self.deadline < Time::FOREVER { self.deadline - span } else { Time::FOREVER }
    }

    /// How much later than now, or than its ready time, work that takes `span` may start. It shrinks as
    /// time passes, and is negative when it is too late.
    pub fn flexibility(self, span: Span, now: Time) -> Span {
        self.latest_start(span) - self.earliest(now)
    }
}

/// A requested reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reserve {
    /// The provider's name for it.
    pub slot: Slot,
    /// Time of the user's first request.
    pub submitted: Time,
    /// Processors, all at once; at most the machine's.
    pub processors: u32,
    /// Planned time, after which it is over.
    pub span: Span,
    /// Window in which it may run.
    pub window: Window,
    /// Share of the waiting time, from submission to planned start, after which the start is
    /// fixed; `None` = never.
    pub fix_at: Option<Percent>,
    /// Largest distance from the window at which its user accepts an alternative, in hundredths of the time
    /// it needs; `None` = none accepted.
    pub accepts: Option<Percent>,
    /// Its user's wish for when its place is lost.
    pub remedy: Remedy,
}

/// A number of processors, and the time that the work takes on them: one point of the moldability function
/// f_mol (Netto 2009, section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Processors.
    pub processors: u32,
    /// Planned time on them.
    pub span: Span,
}

impl Reserve {
    /// The requested size.
    pub fn size(&self) -> Size {
        Size { processors: self.processors, span: self.span }
    }

    /// The place that starts at `start`.
    pub(crate) fn interval(&self, start: Time) -> Interval {
        Interval { start, span: self.span, processors: self.processors }
    }

    /// The same request without freedom, for this start.
    pub(crate) fn strictly_at(self, start: Time) -> Reserve {
        Reserve { window: Window::strict(start, self.span), ..self }
    }

    /// The first start in its window. Work behind jobs without a limit has none.
    pub(crate) fn first_fit(&self, profile: &Profile, now: Time) -> Option<Time> {
        let (from, latest) = (self.window.earliest(now), self.window.latest_start(self.span));
        let start = profile.earliest_fit_by(self.processors, self.span, from, latest);
        start.filter(|&start| start < BEYOND_ALL_LIMITS)
    }

    /// Returns whether it waits behind its window if it has no place there.
    pub(crate) fn waits_behind(&self) -> bool {
        self.remedy == Remedy::Postpone || self.window.deadline == Time::FOREVER
    }

    /// The earliest free place, which is the only one promised from now on; none if it is wider than the
    /// machine.
    pub(crate) fn postpone(&mut self, profile: &Profile, now: Time) -> Option<Time> {
        let Reserve { processors, span, window, .. } = *self;
        let start = profile.earliest_or_never(processors, span, window.earliest(now))?;
        if window.deadline < Time::FOREVER {
            self.window.deadline = (start + span).min(Time::FOREVER);
            self.fix_at = None;
        }
        Some(start)
    }

    /// The interval from `start` on, of this size, as an alternative to the window.
    pub fn beside(&self, size: Size, start: Time) -> Alternative {
        let completion = start + size.span;
        let before = self.window.ready.unwrap_or(self.submitted) - start;
        let behind = completion - self.window.deadline;
        // In the window, neither is above zero.
        let distance = before.max(behind).max(Span::ZERO);
        Alternative { distance, completion, processors: size.processors, start }
    }

    /// The request for exactly this alternative.
    pub fn at(&self, alternative: Alternative) -> Reserve {
        let Alternative { processors, start, .. } = alternative;
        let span = alternative.span();
        Reserve { processors, span, window: Window::strict(start, span), ..*self }
    }

    /// Time at which its start is fixed if it is planned for `start`.
    pub fn fixed_at(&self, start: Time) -> Option<Time> {
        let waiting = i128::from((start - self.submitted).as_micros().max(0));
        let share = |percent: Percent| (waiting * i128::from(percent) / 100) as i64;
        // A start is fixed at the latest when it comes.
        let wait = self.fix_at.map(|percent| Span::from_micros(share(percent.min(100))))?;
        Some(self.submitted + wait)
    }
}
