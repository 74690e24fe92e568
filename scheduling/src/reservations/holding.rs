//! Intervals for somebody who books at several providers at once: held, moved together, given up.

use haggle_model::{Span, Time};

use super::{Booking, Reservations, Reserve, Window};
use crate::plan::extra::Extra;
use crate::scheduler::Slot;

/// A time that somebody books for processors.
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

/// An interval that is kept for a waiting reservation beside its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prepared {
    pub(super) slot: Slot,
    to: Interval,
    /// The window of the reservation, which stays where it is until then.
    pub(super) window: Window,
    /// What it needs beside the present interval.
    pub(super) extra: Extra,
}

/// For somebody who books at several providers at once.
impl Reservations {
    /// From when on how many processors are free, where the interval of `without` counts as free.
    pub fn free_times(&mut self, now: Time, without: Option<Slot>) -> Vec<(Time, u32)> {
        self.catch_up(now);
        let mut profile = self.plan.profile().clone();
        if let Some(place) = without.and_then(|slot| self.place(slot)) {
            let Booking { request, start, .. } = self.waiting[place];
            profile.remove(start.max(now), start + request.span, request.processors);
        }
        profile.steps().map(|(start, free)| (start.max(now), free)).collect()
    }

    /// Books a strict interval where it is free; nothing moves for it. `false` if there is no room.
    pub fn hold(&mut self, now: Time, slot: Slot, interval: Interval) -> bool {
        self.catch_up(now);
        let Interval { start, span, processors } = interval;
        let profile = self.plan.profile_mut();
        if start < now || processors > profile.min_free(start, interval.end()) {
            return false;
        }
        profile.add(start, interval.end(), processors);
        let window = Window::strict(start, span);
        let (fix_at, accepts) = (None, None);
        let request = Reserve { slot, submitted: now, processors, span, window, fix_at, accepts };
        self.waiting.push(Booking { request, id: self.asked, start });
        self.asked += 1;
        true
    }

    /// Keeps another strict interval for a waiting reservation, of which its own counts as free;
    /// both are kept until the move is [settled](Reservations::settle) or
    /// [dropped](Reservations::abandon). `false` if there is no room, or if it moves already.
    pub fn prepare(&mut self, now: Time, slot: Slot, to: Interval) -> bool {
        self.catch_up(now);
        let moves = self.prepared.iter().any(|prepared| prepared.slot == slot);
        let Some(place) = self.place(slot).filter(|_| !moves && now <= to.start) else {
            return false;
        };
        let Booking { request, start, .. } = self.waiting[place];
        let Reserve { processors, span, window, .. } = request;
        let extra = Extra::new(Interval { start, span, processors }, to);
        if !extra.has_room(self.plan.profile()) {
            return false;
        }
        extra.book(self.plan.profile_mut());
        self.prepared.push(Prepared { slot, to, window, extra });
        self.waiting[place].fix();
        true
    }

    /// Moves a reservation to what has been prepared for it; `false` if nothing has.
    pub fn settle(&mut self, now: Time, slot: Slot) -> bool {
        self.catch_up(now);
        let prepared = self.prepared.iter().find(|it| it.slot == slot && now <= it.to.start);
        let to = prepared.map(|it| it.to);
        let Some((place, to)) = self.place(slot).zip(to) else { return false };
        self.release_prepared(now, slot);
        let booking = &mut self.waiting[place];
        let profile = self.plan.profile_mut();
        profile.remove(booking.start.max(now), booking.end(), booking.request.processors);
        profile.add(to.start, to.end(), to.processors);
        booking.start = to.start;
        (booking.request.span, booking.request.processors) = (to.span, to.processors);
        booking.fix();
        self.given_back = true;
        true
    }

    /// Drops what has been prepared for a reservation, which stays where it is; `false` if nothing
    /// has.
    pub fn abandon(&mut self, now: Time, slot: Slot) -> bool {
        self.catch_up(now);
        let dropped = self.release_prepared(now, slot);
        if let Some((place, prepared)) = self.place(slot).zip(dropped) {
            self.waiting[place].request.window = prepared.window;
        }
        self.given_back |= dropped.is_some();
        dropped.is_some()
    }

    pub(super) fn release_prepared(&mut self, now: Time, slot: Slot) -> Option<Prepared> {
        let place = self.prepared.iter().position(|it| it.slot == slot)?;
        let prepared = self.prepared.remove(place);
        prepared.extra.release(now, self.plan.profile_mut());
        Some(prepared)
    }
}
