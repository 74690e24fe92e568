//! Advance reservations whose windows may be longer than the work.
//!
//! A provider grants a reservation a start within its window and may plan it anew, as long as it
//! stays there: whenever one more is asked for, those that wait are placed again in the order of a
//! [criterion](Criterion), and whoever finds no place any more goes ahead of the newcomer. If there
//! is none for the newcomer, an [alternative](Alternative) beside its window may do. What has been
//! granted is never refused later (Netto 2009, chapter 3, Algorithms 1 and 2).
//!
//! This is what a provider needs to offer reservations beside queueing and bargaining. Somebody who
//! books at several providers at once asks for their [free times](Reservations::free_times),
//! [holds](Reservations::hold) one interval at each, prepares to
//! [move](Reservations::prepare) all of them, and settles or drops the moves together.
//!
//! Within one instant, ends are reported first, then starts are asked for, then reservations, then
//! starts again. What an end leaves is given to others when all of an instant have been reported.

mod admission;
mod criterion;
mod options;
mod request;

use haggle_model::{Span, Time};

use crate::plan::Plan;
use crate::plan::extra::Extra;
use crate::scheduler::Slot;

pub use criterion::Criterion;
pub use options::{After, Alternative};
pub use request::{Percent, Reserve, Window};

use options::Anchor;

/// How a provider treats reservations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservationConfig {
    /// Which reservation is planned first.
    pub criterion: Criterion,
    /// How far from the window alternatives are looked for, in hundredths of the time that the
    /// work takes; `None` = not at all.
    pub threshold: Option<Percent>,
    /// Where an alternative behind a waiting reservation starts.
    pub after: After,
    /// Whether waiting reservations move up when something ends early.
    pub compresses: bool,
}

impl Default for ReservationConfig {
    fn default() -> ReservationConfig {
        ReservationConfig {
            criterion: Criterion::default(),
            threshold: None,
            after: After::default(),
            compresses: true,
        }
    }
}

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

/// What has been granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// Planned start; it may move within the window.
    pub start: Time,
    /// What was taken instead of the window that was asked for.
    pub alternative: Option<Alternative>,
}

/// A reservation that waits.
#[derive(Clone, Copy, Debug)]
struct Booking {
    request: Reserve,
    /// In which order they were asked for.
    id: u64,
    start: Time,
}

impl Booking {
    fn end(&self) -> Time {
        self.start + self.request.span
    }

    fn is_fixed(&self) -> bool {
        self.request.window == Window::strict(self.start, self.request.span)
    }

    /// Nothing but its present place will do any more.
    fn fix(&mut self) {
        self.request.window = Window::strict(self.start, self.request.span);
    }
}

/// A reservation that runs.
#[derive(Clone, Copy, Debug)]
struct Active {
    slot: Slot,
    start: Time,
    planned_end: Time,
}

/// An interval that is kept for a waiting reservation beside its own.
#[derive(Clone, Copy, Debug)]
struct Prepared {
    slot: Slot,
    to: Interval,
    /// The window of the reservation, which stays where it is until then.
    window: Window,
    /// What it needs beside the present interval.
    extra: Extra,
}

/// The reservations of one machine.
///
/// Slots name them; a slot may be used again when its reservation is over, or has been refused or
/// cancelled.
#[derive(Clone, Debug)]
pub struct Reservations {
    config: ReservationConfig,
    plan: Plan,
    /// In the order of the criterion when one was last asked for.
    waiting: Vec<Booking>,
    running: Vec<Active>,
    prepared: Vec<Prepared>,
    /// Whether something has ended early, or has been given up, since waiting ones moved up.
    given_back: bool,
    asked: u64,
}

impl Reservations {
    /// For a machine of `processors`.
    pub fn new(processors: u32, config: ReservationConfig) -> Reservations {
        Reservations {
            config,
            plan: Plan::new(processors),
            waiting: Vec::new(),
            running: Vec::new(),
            prepared: Vec::new(),
            given_back: false,
            asked: 0,
        }
    }

    /// Grants a reservation in its window, or at the nearest alternative that its user accepts and
    /// that is possible; others may move within their windows for it.
    ///
    /// `draw` is asked for numbers below its argument, by [`Criterion::Shuffle`] only.
    pub fn ask(
        &mut self,
        now: Time,
        request: &Reserve,
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Granted> {
        let threshold = self.config.threshold.min(request.accepts);
        self.admit(now, request, threshold, draw)
    }

    /// Up to `most` alternatives to a reservation that has been refused, nearest first, each of
    /// which is possible now. Nothing is kept for them.
    pub fn alternatives(
        &mut self,
        now: Time,
        request: &Reserve,
        most: usize,
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Vec<Alternative> {
        let Some(threshold) = self.config.threshold else { return Vec::new() };
        self.possible(now, request, threshold, most, draw)
    }

    /// Grants an alternative, if it is still possible.
    pub fn take(
        &mut self,
        now: Time,
        request: &Reserve,
        alternative: Alternative,
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Granted> {
        let window = Window::from((request, alternative));
        let granted = self.admit(now, &Reserve { window, ..*request }, None, draw)?;
        Some(Granted { alternative: Some(alternative), ..granted })
    }

    /// Planned start of a waiting reservation; it may become earlier with the next call for starts
    /// if something has ended since.
    pub fn planned(&self, slot: Slot) -> Option<Time> {
        self.place(slot).map(|place| self.waiting[place].start)
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Fixes the planned start of a waiting reservation, and says what it is.
    pub fn fix(&mut self, now: Time, slot: Slot) -> Option<Time> {
        self.catch_up(now);
        let place = self.place(slot)?;
        self.waiting[place].fix();
        Some(self.waiting[place].start)
    }

    /// Fixes the starts of those that have waited their share of the time.
    fn fix_due(&mut self, now: Time) {
        for booking in &mut self.waiting {
            if booking.request.fixed_at(booking.start).is_some_and(|time| time <= now) {
                booking.fix();
            }
        }
    }

    /// When something is to be done next, before or at which [`Reservations::start_due`] has to
    /// be asked: a start, or one that becomes fixed.
    pub fn next_event(&self) -> Option<Time> {
        let due = |booking: &Booking| {
            let fixed = booking.request.fixed_at(booking.start).filter(|_| !booking.is_fixed());
            fixed.map_or(booking.start, |time| time.min(booking.start))
        };
        self.waiting.iter().map(due).min()
    }

    /// Appends those that start now, in the order in which they were asked for, and takes their
    /// processors.
    pub fn start_due(&mut self, now: Time, started: &mut Vec<Slot>) {
        self.catch_up(now);
        self.waiting.sort_unstable_by_key(|booking| (booking.request.submitted, booking.id));
        let Reservations { plan, waiting, running, prepared, .. } = self;
        waiting.retain(|booking| {
            let Reserve { slot, processors, .. } = booking.request;
            // What ends at this very instant may not have given its processors back yet.
            if booking.start > now || processors > plan.free() {
                return true;
            }
            let moves = prepared.extract_if(.., |it| it.slot == slot);
            moves.for_each(|it| it.extra.release(now, plan.profile_mut()));
            plan.start(slot, processors, booking.end());
            running.push(Active { slot, start: booking.start, planned_end: booking.end() });
            started.push(slot);
            false
        });
    }

    /// A reservation that ran is over, at its planned end or before.
    pub fn finished(&mut self, now: Time, slot: Slot) {
        let ended = self.plan.finished(now, slot);
        self.plan.forget(slot);
        self.running.retain(|active| active.slot != slot);
        self.given_back |= now < ended.planned_end;
    }

    /// Gives up a reservation that waits; `false` if it does not.
    pub fn cancel(&mut self, now: Time, slot: Slot) -> bool {
        self.catch_up(now);
        let Some(place) = self.place(slot) else { return false };
        self.release_prepared(now, slot);
        let Booking { request, start, .. } = self.waiting.remove(place);
        let end = start + request.span;
        self.plan.profile_mut().remove(start.max(now), end, request.processors);
        self.given_back = true;
        true
    }

    /// What has ended or was given up in this instant leaves room for others; then windows close.
    fn catch_up(&mut self, now: Time) {
        self.plan.profile_from(now);
        if std::mem::take(&mut self.given_back) && self.config.compresses {
            self.compress(now);
        }
        self.fix_due(now);
    }

    /// Each that waits gets its earliest place, one after the other in the order of planned
    /// starts, all others staying where they are. No start gets later.
    fn compress(&mut self, now: Time) {
        self.waiting.sort_unstable_by_key(|it| (it.start, it.request.submitted, it.id));
        for booking in &mut self.waiting {
            let Reserve { processors, span, window, .. } = booking.request;
            let (from, booked) = (window.earliest(now), booking.start);
            let profile = self.plan.profile_mut();
            if let Some(fit) = profile.earlier_fit(processors, span, from, booked) {
                profile.remove(booked, booked + span, processors);
                profile.add(fit.start, fit.start + span, processors);
                booking.start = fit.start;
            }
        }
    }

    fn place(&self, slot: Slot) -> Option<usize> {
        self.waiting.iter().position(|booking| booking.request.slot == slot)
    }

    /// All that runs, as what alternatives may touch.
    fn running_anchors(&self) -> impl Iterator<Item = Anchor> {
        self.running.iter().map(|&Active { start, planned_end, .. }| Anchor {
            start,
            completion: planned_end,
            after: planned_end,
        })
    }
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

    fn release_prepared(&mut self, now: Time, slot: Slot) -> Option<Prepared> {
        let place = self.prepared.iter().position(|it| it.slot == slot)?;
        let prepared = self.prepared.remove(place);
        prepared.extra.release(now, self.plan.profile_mut());
        Some(prepared)
    }
}
