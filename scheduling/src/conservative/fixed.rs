//! Bookings that stay where they are until who made them moves them, beside those of the queue.

use haggle_model::Time;

use super::{Booking, Conservative};
use crate::plan::waiting::Entry;
use crate::scheduler::{Request, Slot};
use crate::{Interval, Profile};

impl Conservative {
    /// What is given back is kept until [`Conservative::compress_now`].
    pub(crate) fn deferring(mut self) -> Conservative {
        self.defers = true;
        self
    }

    /// What waits moves up to what has been given back.
    pub(crate) fn compress_now(&mut self, now: Time) {
        self.plan.profile_from(now);
        self.compress(now);
    }

    /// Books an interval that is free; its slot starts then.
    pub(crate) fn fix(&mut self, slot: Slot, interval: Interval) {
        let Interval { start, span, processors } = interval;
        // It starts in the order in which it came, among those that start together.
        let rank = (i64::MIN, i64::MIN, self.sequence);
        self.sequence += 1;
        let end = interval.end();
        self.has_fixed = true;
        self.plan.profile_mut().add(start, end, processors);
        if slot.index() >= self.bookings.len() {
            self.bookings.resize(slot.index() + 1, None);
        }
        let booking = Booking { processors, span, rank, start, end, fixed: true };
        self.bookings[slot.index()] = Some(booking);
        self.file(slot);
    }

    /// Where what has been fixed under a slot is booked, while it waits.
    pub(crate) fn fixed(&self, slot: Slot) -> Option<Interval> {
        let booking = self.bookings.get(slot.index())?.filter(|booking| booking.fixed)?;
        let Booking { start, span, processors, .. } = booking;
        Some(Interval { start, span, processors })
    }

    /// Books what has been fixed elsewhere, where that is free if its present interval is.
    pub(crate) fn fix_anew(&mut self, now: Time, slot: Slot, to: Interval) {
        let present = *self.booking(slot);
        let Interval { start, span, processors } = to;
        let end = to.end();
        let profile = self.plan.profile_mut();
        let from = present.start.max(now);
        profile.remove(from, present.end, present.processors);
        profile.add(start, end, processors);
        let booking = Booking { processors, span, start, end, ..present };
        self.bookings[slot.index()] = Some(booking);
        self.file(slot);
        self.note_given_back(from, present.end, present.processors);
    }

    /// What runs is planned until `end` from now on, which is not later than it was.
    pub(crate) fn shorten(&mut self, now: Time, slot: Slot, end: Time) {
        let part = self.plan.finished(now, slot);
        let end = end.min(part.planned_end);
        self.plan.book_and_start(now, slot, part.processors, end);
        self.note_given_back(end, part.planned_end, part.processors);
    }

    /// What has been fixed under these slots, and starts too late or never, is booked at the next
    /// places that there are without the queue, which is planned anew.
    pub(crate) fn postpone(&mut self, now: Time, slots: impl Iterator<Item = Slot>) {
        self.replan_around(now, |queue| {
            let mut late = Vec::new();
            for slot in slots {
                let booking = *queue.booking(slot);
                queue.take_out(now, slot);
                late.push((slot, booking));
            }
            for (slot, Booking { processors, span, .. }) in late {
                let profile = queue.plan.profile();
                let start = profile.earliest_or_never(processors, span, now);
                let start = start.expect("a part fits the empty machine");
                queue.fix(slot, Interval { start, span, processors });
            }
        });
    }

    /// What has been fixed waits in the queue from now on, where it is booked. It has been tried
    /// nowhere else, so it is looked at wherever it could be when others are tried on what has been
    /// given back.
    pub(crate) fn queue_fixed(&mut self, request: Request) {
        let slot = request.slot;
        let Booking { processors, span, start, rank: (.., sequence), .. } = *self.booking(slot);
        let rank = self.order.key(&request, span, sequence);
        let booking = Booking { rank, fixed: false, ..*self.booking(slot) };
        self.bookings[slot.index()] = Some(booking);
        self.file(slot);
        let key = self.key(&booking);
        self.waiting.insert(Entry { key, booked: start, span, slot, processors });
        self.untried.push(slot);
    }

    /// Availability from `now` on.
    pub(crate) fn profile_from(&mut self, now: Time) -> &Profile {
        self.plan.profile_from(now)
    }

    /// The stretch outside which no availability has changed since this was asked last.
    pub(crate) fn take_changed(&mut self) -> Option<(Time, Time)> {
        self.plan.profile_mut().take_changed()
    }

    /// To keep more than what is booked.
    pub(crate) fn profile_mut(&mut self) -> &mut Profile {
        self.has_fixed = true;
        self.plan.profile_mut()
    }

    /// More than what is booked is not kept any longer, and profile has it back.
    pub(crate) fn has_given_back(&mut self, start: Time, end: Time, processors: u32) {
        self.note_given_back(start, end, processors);
    }
}
