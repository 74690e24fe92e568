//! What a user asks for: processors for some time, within a window.

use haggle_model::{Span, Time};

use crate::scheduler::Slot;

/// Hundredths; shares of a time are whole ones.
pub type Percent = u32;

/// When a reservation may run.
///
/// | restriction | window |
/// |---|---|
/// | strict interval | from ready time to deadline there is time for the work and no more |
/// | strict deadline | no ready time |
/// | flexible interval | more time than the work takes |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Earliest start that the user allows; `None` = at once.
    pub ready: Option<Time>,
    /// Latest completion; [`Time::FOREVER`] = best effort.
    pub deadline: Time,
}

impl Window {
    /// Whenever there is room.
    pub const ANY: Window = Window { ready: None, deadline: Time::FOREVER };

    /// Just there: work that takes `span` has no freedom in it.
    pub fn strict(start: Time, span: Span) -> Window {
        Window { ready: Some(start), deadline: start + span }
    }

    /// The strict interval whose deadline leaves `times` the time that the work takes from its
    /// submission on; at least once.
    pub fn with_lead(submitted: Time, span: Span, times: u32) -> Window {
        let deadline = submitted + span * i64::from(times.max(1));
        Window { ready: Some(deadline - span), deadline }
    }

    /// The window with a later deadline: by so many hundredths of `span`, rounded up to whole
    /// `quanta`.
    pub fn extended(self, span: Span, percent: Percent, quantum: Span) -> Window {
        let quantum = quantum.max(Span::TICK).as_micros();
        let extra = i128::from(span.as_micros()) * i128::from(percent);
        let quanta = extra.div_euclid(100 * i128::from(quantum))
            + i128::from(extra.rem_euclid(100 * i128::from(quantum)) > 0);
        let extra = quanta.saturating_mul(i128::from(quantum));
        let extra = i64::try_from(extra).unwrap_or(i64::MAX);
        Window { deadline: self.deadline + Span::from_micros(extra), ..self }
    }

    /// The earliest start from `now` on.
    pub fn earliest(self, now: Time) -> Time {
        self.ready.map_or(now, |ready| ready.max(now))
    }

    /// The latest start of work that takes `span`.
    pub fn latest_start(self, span: Span) -> Time {
        if self.deadline < Time::FOREVER { self.deadline - span } else { Time::FOREVER }
    }

    /// How much later than now, or than it is ready, work that takes `span` may start. It shrinks
    /// as time goes on, and is below zero where it is too late.
    pub fn flexibility(self, span: Span, now: Time) -> Span {
        self.latest_start(span) - self.earliest(now)
    }
}

/// A reservation that a user asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reserve {
    /// The provider's name for it.
    pub slot: Slot,
    /// When the user asked first.
    pub submitted: Time,
    /// Processors, all at once; at most the machine's.
    pub processors: u32,
    /// Planned time, after which it is over.
    pub span: Span,
    /// When it may run.
    pub window: Window,
    /// Share of the waiting time, from submission to planned start, after which the start is
    /// fixed; `None` = never.
    pub fix_at: Option<Percent>,
    /// How far from the window an alternative may be that its user takes, in hundredths of the
    /// time it needs; `None` = takes none.
    pub accepts: Option<Percent>,
}

impl Reserve {
    /// When its start is fixed if it is planned for `start`.
    pub fn fixed_at(&self, start: Time) -> Option<Time> {
        let waiting = i128::from((start - self.submitted).as_micros().max(0));
        let share = |percent: Percent| (waiting * i128::from(percent) / 100) as i64;
        let wait = self.fix_at.map(|percent| Span::from_micros(share(percent.min(100))))?;
        Some(self.submitted + wait)
    }
}
