//! Advance reservations whose windows may be longer than the work.
//!
//! A provider grants a reservation a start within its window and may plan it anew, as long as it
//! stays there: whenever one more is asked for, those that wait are placed again in the order of a
//! [criterion](Criterion), and whoever finds no place any more goes ahead of the newcomer. If there
//! is none for the newcomer, an [alternative](Alternative) beside its window may do. What has been
//! granted is never refused later (Netto 2009, chapter 3, Algorithms 1 and 2).
//!
//! A job that asks for no window waits as one that may run at any time: it takes the first place
//! there is, moves nobody, and may be moved for others: whatever the criterion, jobs without a deadline are placed
//! behind all reservations. Windows are broken only where the machine
//! breaks them: by processors that fail, jobs that run on past their plan, and a scheduler that was
//! down at a planned start. Who is hit is told what becomes of its window.
//!
//! Within one instant, ends are reported first, then starts are asked for, then reservations, then
//! starts again. What an end leaves is given to others when all of an instant have been reported.

mod admission;
mod criterion;
mod displacement;
mod local;
mod offers;
mod options;
mod request;

use haggle_model::Time;

use crate::Profile;
use crate::plan::Plan;
use crate::scheduler::{BEYOND_ALL_LIMITS, LocalScheduler, Slot};

pub use criterion::Criterion;
pub use options::{AfterAnchor, Alternative};
pub use request::{Percent, Reserve, Size, Window};

use offers::Offers;
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
    pub after: AfterAnchor,
    /// Whether waiting reservations move up when something ends early.
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

/// What has been granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// Planned start; it may move within the window.
    pub start: Time,
    /// What was taken instead of the window that was asked for.
    pub alternative: Option<Alternative>,
}

/// What becomes of a reservation that has lost its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Displaced {
    /// It has another one in its window.
    Moved(Time),
    /// It cannot start within its window any more, and waits for this place.
    Postponed(Time),
    /// There is none that its user wants while all others stay where they are, and it waits here no
    /// more. This is what it asks for.
    Out(Reserve),
}

/// A local scheduler that grants reservations.
///
/// Jobs that ask for no window go through [`LocalScheduler`], reservations through here, in the
/// same space of slots; what waits is withdrawn, starts and ends in the same way for both. `draw`
/// is asked for numbers below its argument, by [`Criterion::Shuffle`] only.
pub trait Granting: LocalScheduler {
    /// Grants a reservation in its window, or at the nearest alternative that its user accepts and
    /// that is possible; others may move within their windows for it. Alternatives are of the size that
    /// it asks for, or of one of the other `sizes`.
    fn ask(
        &mut self,
        now: Time,
        request: &Reserve,
        sizes: &[Size],
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Granted>;

    /// Up to `most` alternatives to a reservation that has been refused, nearest first, each of
    /// which is possible now. Nothing is booked for them; how each was found is kept until something changes.
    fn alternatives(
        &mut self,
        now: Time,
        request: &Reserve,
        sizes: &[Size],
        most: usize,
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Vec<Alternative>;

    /// Grants an alternative: by the plan in which it was found, if that holds, or by another one in which it is
    /// possible.
    fn take(
        &mut self,
        now: Time,
        request: &Reserve,
        alternative: Alternative,
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Granted>;

    /// Planned start of what waits; it may become earlier with the next call for starts if
    /// something has ended since.
    fn planned(&self, slot: Slot) -> Option<Time>;

    /// Fixes the planned start of a waiting reservation, and says what it is.
    fn fix(&mut self, now: Time, slot: Slot) -> Option<Time>;

    /// Appends whose starts have become fixed since this was last asked for, in order.
    fn fixed(&mut self, fixed: &mut Vec<(Slot, Time)>);

    /// Appends who has lost its place since this was last asked for, in order.
    fn displaced(&mut self, displaced: &mut Vec<(Slot, Displaced)>);
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

    fn by_start(&self) -> (Time, Time, u64) {
        (self.start, self.request.submitted, self.id)
    }

    /// Whether its place is free.
    fn fits(&self, profile: &Profile) -> bool {
        self.request.processors <= profile.min_free(self.start, self.end())
    }

    /// Whether it has to be over by some time; without a deadline it can wait.
    fn has_deadline(&self) -> bool {
        self.request.window.deadline < Time::FOREVER
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
    /// Whether something has ended early, or has been given up, since waiting ones moved up.
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

    /// Fixes the starts of those that have waited their share of the time.
    fn fix_due(&mut self, now: Time) {
        for booking in self.waiting.iter_mut().filter(|booking| !booking.is_fixed()) {
            if booking.request.fixed_at(booking.start).is_some_and(|time| time <= now) {
                booking.fix();
                self.offers.forget();
                self.fixed.push((booking.request.slot, booking.start));
            }
        }
    }

    /// What has ended or was given up in this instant leaves room for others; then windows close.
    fn catch_up(&mut self, now: Time) {
        self.plan.profile_from(now);
        if std::mem::take(&mut self.given_back) {
            self.compress(now);
        }
        self.fix_due(now);
    }

    /// Each that waits gets its earliest place, one after the other in the order of planned
    /// starts, all others staying where they are. No start gets later. Without compression, those that waited for a job
    /// without a limit, or for processors that had failed, get a place all the same.
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

    /// All that runs, and maintenance, as what alternatives may touch.
    fn firm_anchors(&self) -> impl Iterator<Item = Anchor> {
        let running = self.running.iter().map(|it| (it.start, it.planned_end));
        let windows = self.plan.windows().map(|it| (it.start, it.end()));
        let anchor = |(start, end)| Anchor { start, completion: end, after: end };
        running.chain(windows).map(anchor)
    }
}
