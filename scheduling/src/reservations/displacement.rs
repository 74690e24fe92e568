//! Who loses its place when the machine changes, and gets another one.
//!
//! A window is promised, and not a place in it. So who is hit by processors that fail, jobs that run on or
//! maintenance gets the first place in its window that all others leave; if there is none, what its
//! user [wants](Remedy) then.

use haggle_model::Time;
use haggle_model::reservation::Remedy;

use super::{Booking, Displaced, Reservations, Reserve};
use crate::plan::Plan;

impl Reservations {
    /// Makes a `change` of the machine, and places again who is hit by it, in the order of planned
    /// starts: within its window while there is room, and when all these have their places, those who
    /// can wait behind it as early as there is any. If processors fail, who is to be given back then
    /// gets no other place.
    pub(super) fn plan_around(&mut self, now: Time, fails: bool, change: impl FnOnce(&mut Plan)) {
        self.plan.profile_from(now);
        let profile = self.plan.profile_mut();
        for booking in &self.waiting {
            let from = booking.start.max(now);
            profile.remove(from, booking.end(), booking.request.processors);
        }
        change(&mut self.plan);
        let mut late = Vec::new();
        for booking in self.keep_places(now) {
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
                _ if booking.request.window.deadline == Time::FOREVER => {
                    self.postpone(now, booking)
                }
                Remedy::Postpone => self.postpone(now, booking),
                Remedy::Substitute | Remedy::Shrink | Remedy::Revoke => self.take_out(booking),
            }
        }
        self.given_back = true;
    }

    /// Books again who can stay where it is, one after the other as they are to start, and takes out
    /// the others.
    fn keep_places(&mut self, now: Time) -> Vec<Booking> {
        self.waiting.sort_unstable_by_key(Booking::by_start);
        let Reservations { plan, waiting, .. } = self;
        let profile = plan.profile_mut();
        waiting
            .extract_if(.., |booking| {
                let stays = now <= booking.start && booking.fits(profile);
                if stays {
                    profile.add(booking.start, booking.end(), booking.request.processors);
                }
                !stays
            })
            .collect()
    }

    fn book(&mut self, booking: Booking) {
        let profile = self.plan.profile_mut();
        profile.add(booking.start, booking.end(), booking.request.processors);
        self.waiting.push(booking);
    }

    /// Whenever there is room; from now on it is promised no more than what it has.
    fn postpone(&mut self, now: Time, mut booking: Booking) {
        let Reserve { slot, processors, span, window, .. } = booking.request;
        booking.start = self
            .plan
            .profile()
            .earliest_or_never(processors, span, window.earliest(now))
            .expect("what waits fits the whole machine");
        if window.deadline < Time::FOREVER {
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
