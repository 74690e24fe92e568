//! Windows of maintenance on the plan: announced, begun, over.
//!
//! An announced window is booked like a promise for a fixed time. When a job or a failure takes more than
//! was known (a job runs on, processors fail), the window gives way. It takes processors back when there is
//! room again.

use haggle_model::Time;
use serde::{Deserialize, Serialize};

use super::Part;
use crate::{Interval, Profile};

/// The windows that are not over.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Windows(Vec<Window>);

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Window {
    number: u32,
    interval: Interval,
    /// Processors that are booked for it; once it has begun, closed processors.
    kept: u32,
    has_begun: bool,
}

impl Window {
    /// The rest of its time, if any.
    fn rest(&self, now: Time) -> Option<(Time, Time)> {
        let (start, end) = (self.interval.start.max(now), self.interval.end());
        (start < end).then_some((start, end))
    }

    /// Books free processors up to the number that it lacks. Returns whether there were any.
    fn take(&mut self, profile: &mut Profile, now: Time) -> bool {
        let Some((start, end)) = self.rest(now) else { return false };
        let missing = self.interval.processors - self.kept;
        let more = missing.min(profile.min_free(start, end));
        profile.add(start, end, more);
        self.kept += more;
        more > 0
    }

    fn release(&mut self, profile: &mut Profile, now: Time, processors: u32) {
        if let Some((start, end)) = self.rest(now) {
            profile.remove(start, end, processors);
        }
        self.kept -= processors;
    }
}

impl Windows {
    /// Returns whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The times and processors of all windows that are not over.
    pub(super) fn intervals(&self) -> impl Iterator<Item = Interval> {
        self.0.iter().map(|window| Interval { processors: window.kept, ..window.interval })
    }

    /// Returns whether a window that has not begun lacks processors.
    pub(super) fn are_short(&self) -> bool {
        self.0.iter().any(|it| !it.has_begun && it.kept < it.interval.processors)
    }

    /// Books a window, as far as processors are free.
    pub(super) fn announce(
        &mut self,
        profile: &mut Profile,
        now: Time,
        number: u32,
        interval: Interval,
    ) {
        let mut window = Window { number, interval, kept: 0, has_begun: false };
        window.take(profile, now);
        self.0.push(window);
    }

    /// Releases all windows that have not begun; [`Windows::lay`] books them again after a change.
    pub(super) fn lift(&mut self, profile: &mut Profile, now: Time) {
        for window in self.0.iter_mut().filter(|it| !it.has_begun) {
            window.release(profile, now, window.kept);
        }
    }

    /// Books the missing processors of windows that have not begun, in the order of announcement. Returns
    /// whether any were free.
    pub(super) fn lay(&mut self, profile: &mut Profile, now: Time) -> bool {
        let mut took = false;
        for window in self.0.iter_mut().filter(|it| !it.has_begun) {
            took |= window.take(profile, now);
        }
        took
    }

    /// Processors that are booked for a window.
    pub(super) fn kept(&self, number: u32) -> u32 {
        let window = self.0.iter().find(|it| it.number == number);
        window.map_or(0, |it| it.kept)
    }

    /// A window begins with `processors` processors, no more than are booked for it. Returns the other
    /// booked ones, and the end of the window.
    pub(super) fn begin(
        &mut self,
        profile: &mut Profile,
        now: Time,
        number: u32,
        processors: u32,
    ) -> Option<Part> {
        let window = self.0.iter_mut().find(|it| it.number == number)?;
        let left =
            Part { processors: window.kept - processors, planned_end: window.interval.end() };
        window.release(profile, now, left.processors);
        window.has_begun = true;
        Some(left).filter(|left| left.processors > 0)
    }

    /// A window is over; returns the processors that it opens again.
    pub(super) fn end(&mut self, profile: &mut Profile, now: Time, number: u32) -> u32 {
        let Some(place) = self.0.iter().position(|it| it.number == number) else { return 0 };
        let mut window = self.0.remove(place);
        // A window that has not begun has closed no processors.
        let closed = if window.has_begun { window.kept } else { 0 };
        window.release(profile, now, window.kept);
        closed
    }
}
