//! Reservations that lose their places when the machine changes, and get other ones.
//!
//! A window is promised, not a place in it. So a reservation hit by failed processors, by jobs that run on
//! or by maintenance gets the first place in its window that all other reservations leave. If there is
//! none, its [remedy](Remedy) applies. Jobs without a deadline give way to reservations.

use haggle_model::Time;
use haggle_model::reservation::Remedy;

use super::{Booking, Displaced, Reservations, Reserve};
use crate::plan::Plan;

impl Reservations {
    /// Makes a `change` of the machine, and places the bookings that it hits again: first those with a
    /// deadline, then jobs without one in the remaining time. If processors fail, a reservation with
    /// [`Remedy::Revoke`] gets no other place.
    pub(super) fn plan_around(&mut self, now: Time, fails: bool, change: impl FnOnce(&mut Plan)) {
        self.plan.profile_from(now);
        let profile = self.plan.profile_mut();
        // All bookings give their places up, so that the change gets its room first.
        for booking in &self.waiting {
            let from = booking.start.max(now);
            profile.remove(from, booking.end(), booking.request.processors);
        }
        change(&mut self.plan);
        self.offers.forget();
        let told = self.displaced.len();
        let (reservations, others): (Vec<Booking>, Vec<Booking>) =
            std::mem::take(&mut self.waiting).into_iter().partition(Booking::has_deadline);
        self.place_around(now, fails, reservations);
        self.place_around(now, fails, others);
        // A request that is made again may move the others, so it is answered last.
        self.displaced[told..].sort_by_key(|(_, it)| matches!(it, Displaced::Out(_)));
        self.given_back = true;
    }

    /// Places bookings in the order of planned starts, within their windows while there is room. When all
    /// these have places, bookings that can wait behind their windows get the earliest free places.
    fn place_around(&mut self, now: Time, fails: bool, bookings: Vec<Booking>) {
        let mut late = Vec::new();
        for booking in self.keep_places(now, bookings) {
            let Reserve { processors, span, window, remedy, .. } = booking.request;
            let (from, latest) = (window.earliest(now), window.latest_start(span));
            let seeks = !fails || remedy != Remedy::Revoke;
            let profile = self.plan.profile();
            let start = profile.earliest_fit_by(processors, span, from, latest);
            match start.filter(|_| seeks) {
                Some(start) => {
                    self.displaced.push((booking.request.slot, Displaced::Moved(start)));
                    self.book(Booking { start, ..booking });
                }
                None if seeks => late.push(booking),
                None => self.take_out(booking),
            }
        }
        for booking in late {
            match booking.request.remedy {
                _ if !booking.has_deadline() => self.postpone(now, booking),
                Remedy::Postpone => self.postpone(now, booking),
                Remedy::Substitute | Remedy::Shrink | Remedy::Revoke => self.take_out(booking),
            }
        }
    }

    /// Books the bookings that can keep their places again, in the order of their starts, and returns the
    /// others.
    fn keep_places(&mut self, now: Time, mut bookings: Vec<Booking>) -> Vec<Booking> {
        bookings.sort_unstable_by_key(Booking::by_start);
        let mut hit = Vec::new();
        for booking in bookings {
            let Booking { start, request: Reserve { processors, .. }, .. } = booking;
            let profile = self.plan.profile_mut();
            // A scheduler that was down may have missed a start.
            if now <= start && profile.add_if_free(start, booking.end(), processors) {
                self.waiting.push(booking);
            } else {
                hit.push(booking);
            }
        }
        hit
    }

    fn book(&mut self, booking: Booking) {
        let profile = self.plan.profile_mut();
        profile.add(booking.start, booking.end(), booking.request.processors);
        self.waiting.push(booking);
    }

    /// Books the earliest free place. From now on only that place is promised.
    fn postpone(&mut self, now: Time, mut booking: Booking) {
        let Reserve { slot, processors, span, window, .. } = booking.request;
        booking.start = self
            .plan
            .profile()
            .earliest_or_never(processors, span, window.earliest(now))
            .expect("what waits fits the whole machine");
        if booking.has_deadline() {
            booking.request.window.deadline = booking.end().min(Time::FOREVER);
            booking.request.fix_at = None;
            self.displaced.push((slot, Displaced::Postponed(booking.start)));
        }
        self.book(booking);
    }

    fn take_out(&mut self, booking: Booking) {
        self.displaced.push((booking.request.slot, Displaced::Out(booking.request)));
    }
}
