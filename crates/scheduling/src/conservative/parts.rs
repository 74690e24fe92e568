//! Conservative backfilling beside parts: every job has a reservation, so only the rest is offered.

use std::borrow::Cow;

use haggle_model::Time;

use super::{Booking, Conservative};
use crate::Profile;
use crate::coallocation::KeepsParts;
use crate::plan::Plan;
use crate::plan::waiting::Entry;
use crate::scheduler::Request;

impl Conservative {
    /// Time given back is not used before it is asked to move jobs up.
    pub(crate) fn deferring(mut self) -> Conservative {
        self.defers = true;
        self
    }

    /// Waiting jobs move up to the time that has been given back.
    pub(super) fn compress_now(&mut self, now: Time) {
        self.plan.profile_from(now);
        self.compress(now);
    }
}

impl KeepsParts for Conservative {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn next_number(&mut self) -> u32 {
        self.sequence += 1;
        self.sequence - 1
    }

    fn offered(&mut self, now: Time) -> Cow<'_, Profile> {
        Cow::Borrowed(self.plan.profile_from(now))
    }

    /// The profile has all bookings, so it notes their changes.
    fn take_changed(&mut self, _now: Time, _known: &mut Profile) -> Option<(Time, Time)> {
        self.plan.profile_mut().take_changed()
    }

    fn jobs_move_up(&mut self, now: Time) {
        self.compress_now(now);
    }

    fn jobs_move_up_if_due(&mut self, now: Time) {
        if self.given_back || !self.untried.is_empty() {
            self.compress_now(now);
        }
    }

    /// The job keeps the place of the part as its reservation. It has been tried nowhere else, so the next
    /// pass tries it on all free time.
    fn join(&mut self, request: Request) -> bool {
        let slot = request.slot;
        let Some((place, sequence)) = self.plan.fixed_to_job(slot) else { return false };
        let rank = self.order.key(&request, place.span, sequence);
        let (processors, span, start) = (place.processors, place.span, place.start);
        let booking = Booking { processors, rank, start, end: place.end() };
        if slot.index() >= self.bookings.len() {
            self.bookings.resize(slot.index() + 1, None);
        }
        self.bookings[slot.index()] = Some(booking);
        self.file(slot);
        let key = self.key(&booking);
        self.waiting.insert(Entry { key, booked: start, span, slot, processors });
        self.untried.push(slot);
        true
    }
}
