//! Advance reservations whose windows may be longer than the work.
//!
//! A provider grants a reservation a start within its window, and may move the start within that window.
//! For each new request the waiting reservations are placed again in the order of a [criterion](Criterion).
//! A reservation that loses its place this way goes ahead of the newcomer. If there is no place for the
//! newcomer, an [alternative](Alternative) beside its window may do. A granted reservation is never refused
//! later (Netto 2009, chapter 3, Algorithms 1 and 2).
//!
//! A job without a window waits as one that may run at any time. It takes the first free place, moves no
//! reservation, and may be moved for others. With any criterion, jobs without a deadline are placed
//! behind all reservations. Windows are broken only by failed processors, by jobs that run past their plan,
//! and by a scheduler that was down at a planned start. The user of such a reservation is notified of its
//! new place or its loss.
//!
//! Within one instant, ends are reported first, then due jobs start, then reservations are requested, then
//! due jobs start again. Time given back is used when all ends of an instant have been reported.

mod admission;
mod criterion;
mod displacement;
mod local;
mod offers;
mod options;
mod request;

use haggle_model::Time;

use crate::plan::Plan;
use crate::scheduler::{BEYOND_ALL_LIMITS, Slot};

pub use criterion::Criterion;
pub use options::{AfterAnchor, Alternative};
pub use request::{Percent, Reserve, Size, Window};

use offers::Offers;
use options::Anchor;
use serde::{Deserialize, Serialize};

/// Rules by which a provider grants reservations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReservationConfig {
    /// The order in which reservations are planned.
    pub criterion: Criterion,
    /// Largest distance of alternatives from the window, in hundredths of the time that the work takes;
    /// `None` = no alternatives.
    pub threshold: Option<Percent>,
    /// Where an alternative behind a waiting reservation starts.
    pub after: AfterAnchor,
    /// True if waiting reservations move up when something ends early.
    pub compresses: bool,
}

impl Default for ReservationConfig {
    fn default() -> ReservationConfig {
        ReservationConfig {
            criterion: Criterion::default(),
            threshold: None,
            after: AfterAnchor::default(),
            compresses: true,
        }
    }
}

/// A granted reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// Planned start; it may move within the window.
    pub start: Time,
    /// The alternative that was granted instead of the requested window.
    pub alternative: Option<Alternative>,
}

/// Fate of a reservation that has lost its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Displaced {
    /// It has another start in its window.
    Moved(Time),
    /// It cannot start within its window any more, and waits for this place.
    Postponed(Time),
    /// No place meets its user's wishes while all others keep theirs, and it waits here no longer. This is
    /// its request.
    Out(Reserve),
}

/// A local scheduler that grants reservations.
///
/// Jobs without a window use [`LocalScheduler`](crate::LocalScheduler), reservations use this trait, with common slots. Both are
/// withdrawn, start and end in the same way. `draw` returns a number below its argument; only
/// [`Criterion::Shuffle`] calls it.
pub trait Granting {
    /// Grants a reservation in its window, or at the nearest possible alternative that its user accepts.
    /// Other reservations may move within their windows for it. Alternatives have the requested size, or
    /// one of the other `sizes`.
    fn ask(
        &mut self,
        now: Time,
        request: &Reserve,
        sizes: &[Size],
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Granted>;

    /// Grants another place in its window to a reservation that has lost its own. Work without a window makes
    /// way for it.
    fn ask_again(
        &mut self,
        now: Time,
        request: &Reserve,
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Granted> {
        self.ask(now, request, &[], draw)
    }

    /// Up to `most` alternatives to a refused reservation, nearest first, each of which is possible now.
    /// Nothing is booked for them; the order in which each was found is kept until something changes.
    fn alternatives(
        &mut self,
        now: Time,
        request: &Reserve,
        sizes: &[Size],
        most: usize,
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Vec<Alternative>;

    /// Grants an alternative, by the plan in which it was found if that still holds, or else by another
    /// plan with room for it.
    fn take(
        &mut self,
        now: Time,
        request: &Reserve,
        alternative: Alternative,
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Granted>;

    /// Planned start of a waiting job or reservation, if the queue plans one. It may become earlier with the
    /// next call for starts if something has ended since.
    fn start_of(&mut self, now: Time, slot: Slot) -> Option<Time>;

    /// Fixes the planned start of a waiting reservation, and returns it.
    fn fix(&mut self, now: Time, slot: Slot) -> Option<Time>;

    /// Appends reservations whose starts have become fixed since the last call, in order.
    fn fixed(&mut self, fixed: &mut Vec<(Slot, Time)>);

    /// Appends reservations that have lost their places since the last call, in order.
    fn displaced(&mut self, displaced: &mut Vec<(Slot, Displaced)>);
}

/// A waiting reservation.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Booking {
    request: Reserve,
    /// Its number in the order of requests.
    id: u64,
    start: Time,
}

impl Booking {
    fn end(&self) -> Time {
        self.start + self.request.span
    }

    fn by_start(&self) -> (Time, Time, u64) {
        (self.start, self.request.submitted, self.id)
    }

    /// Returns whether it must end by some time; without a deadline it can wait.
    fn has_deadline(&self) -> bool {
        self.request.window.deadline < Time::FOREVER
    }

    fn is_fixed(&self) -> bool {
        self.request.window == Window::strict(self.start, self.request.span)
    }

    /// Shrinks the window to its present place.
    fn fix(&mut self) {
        self.request.window = Window::strict(self.start, self.request.span);
    }
}

/// A running reservation.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Active {
    slot: Slot,
    start: Time,
    planned_end: Time,
}

/// The reservations of one machine.
///
/// Slots identify them; a slot may be used again when its reservation has ended, or has been refused or
/// cancelled.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reservations {
    config: ReservationConfig,
    plan: Plan,
    /// In the order of the criterion at the latest request.
    waiting: Vec<Booking>,
    running: Vec<Active>,
    /// True if time has been given back since waiting reservations last moved up.
    given_back: bool,
    asked: u64,
    offers: Offers,
    fixed: Vec<(Slot, Time)>,
    displaced: Vec<(Slot, Displaced)>,
}

impl Reservations {
    /// For a machine of `processors`.
    pub fn new(processors: u32, config: ReservationConfig) -> Reservations {
        Reservations {
            config,
            plan: Plan::new(processors),
            waiting: Vec::new(),
            running: Vec::new(),
            given_back: false,
            asked: 0,
            offers: Offers::default(),
            fixed: Vec::new(),
            displaced: Vec::new(),
        }
    }

    /// Fixes the starts of reservations whose share of the waiting time has passed.
    fn fix_due(&mut self, now: Time) {
        for booking in self.waiting.iter_mut().filter(|booking| !booking.is_fixed()) {
            if booking.request.fixed_at(booking.start).is_some_and(|time| time <= now) {
                booking.fix();
                // An offer may need this reservation to move.
                self.offers.forget();
                self.fixed.push((booking.request.slot, booking.start));
            }
        }
    }

    /// Moves reservations up to the time given back in this instant; then fixes starts.
    fn catch_up(&mut self, now: Time) {
        self.plan.profile_from(now);
        if std::mem::take(&mut self.given_back) {
            self.compress(now);
        }
        self.fix_due(now);
    }

    /// Moves each waiting reservation to its earliest place, one after the other in the order of planned
    /// starts, while all others keep theirs. No start gets later. Without compression, only reservations
    /// behind a job without a limit, or behind processors that had failed, move.
    fn compress(&mut self, now: Time) {
        let all = self.config.compresses;
        let moves = |booking: &Booking| all || booking.start >= BEYOND_ALL_LIMITS;
        if !self.waiting.iter().any(moves) {
            return;
        }
        self.waiting.sort_unstable_by_key(Booking::by_start);
        for booking in self.waiting.iter_mut().filter(|booking| moves(booking)) {
            let Reserve { processors, span, window, .. } = booking.request;
            let (from, booked) = (window.earliest(now), booking.start);
            let profile = self.plan.profile_mut();
            if let Some(fit) = profile.earlier_fit(processors, span, from, booked) {
                profile.remove(booked, booked + span, processors);
                profile.add(fit.start, fit.start + span, processors);
                booking.start = fit.start;
                self.offers.forget();
            }
        }
    }

    fn place(&self, slot: Slot) -> Option<usize> {
        self.waiting.iter().position(|booking| booking.request.slot == slot)
    }

    /// Running reservations and maintenance, as anchors of alternatives.
    fn firm_anchors(&self) -> impl Iterator<Item = Anchor> {
        let running = self.running.iter().map(|it| (it.start, it.planned_end));
        let windows = self.plan.windows().map(|it| (it.start, it.end()));
        let anchor = |(start, end)| Anchor { start, completion: end, after: end };
        running.chain(windows).map(anchor)
    }
}
