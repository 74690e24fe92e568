//! Bookings, beside those of the queue, that only their maker moves.

use haggle_model::Time;

use super::{Booking, Conservative};
use crate::plan::Plan;
use crate::plan::extra::Extra;
use crate::plan::waiting::Entry;
use crate::scheduler::{Request, Slot};
use crate::{Interval, Profile};

impl Conservative {
    /// Time given back is not used before [`Conservative::compress_now`].
    pub(crate) fn deferring(mut self) -> Conservative {
        self.defers = true;
        self
    }

    /// Waiting jobs move up to the time that has been given back.
    pub(crate) fn compress_now(&mut self, now: Time) {
        self.plan.profile_from(now);
        self.compress(now);
    }

    /// As [`Conservative::compress_now`], unless no job could move up.
    pub(crate) fn catch_up_now(&mut self, now: Time) {
        if self.given_back || !self.untried.is_empty() {
            self.compress_now(now);
        }
    }

    /// Books an interval that is free; its slot starts then.
    pub(crate) fn fix(&mut self, slot: Slot, interval: Interval) {
        let Interval { start, span, processors } = interval;
        // Of bookings that start together, the one made first starts first.
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

    /// The fixed booking of a slot, while it waits.
    pub(crate) fn fixed(&self, slot: Slot) -> Option<Interval> {
        let booking = self.bookings.get(slot.index())?.filter(|booking| booking.fixed)?;
        let Booking { start, span, processors, .. } = booking;
        Some(Interval { start, span, processors })
    }

    /// Moves a fixed booking to `to`, which must be free once the present interval is given back.
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

    /// A running job is planned to end at `end`, which is not later than before.
    pub(crate) fn shorten(&mut self, now: Time, slot: Slot, end: Time) {
        let part = self.plan.finished(now, slot);
        let end = end.min(part.planned_end);
        self.plan.book_and_start(now, slot, part.processors, end);
        self.note_given_back(end, part.planned_end, part.processors);
    }

    /// Makes an unforeseen `change` of the machine. Fixed bookings keep their places, and the queue is
    /// planned again around them. Takes out and returns the bookings without room, in the order of starts.
    ///
    /// The bookings are examined in the order of their planned starts; of equal starts the booking made
    /// first comes first. A booking has room if the machine has enough processors for it beside running
    /// jobs and the bookings examined before. A booking with processors kept `beyond` it needs these as
    /// well.
    pub(crate) fn change_around_fixed(
        &mut self,
        now: Time,
        beyond: impl Fn(Slot) -> Option<Extra>,
        change: impl FnOnce(&mut Plan),
    ) -> Vec<Slot> {
        let mut fixed = self.all_fixed();
        self.replan_around(now, |queue| {
            // All bookings give their places up, so that the change gets its room first.
            for &(slot, Booking { start, end, processors, .. }) in &fixed {
                let profile = queue.plan.profile_mut();
                profile.remove(start.max(now), end, processors);
                if let Some(extra) = beyond(slot) {
                    extra.release(now, profile);
                }
            }
            // Windows of maintenance get the processors that the bookings leave.
            queue.plan.before_windows(now, |plan| {
                change(plan);
                let profile = plan.profile_mut();
                fixed.retain(|(slot, booking)| !keeps_place(profile, now, booking, beyond(*slot)));
            });
            fixed.iter().for_each(|(slot, _)| queue.bookings[slot.index()] = None);
        });
        fixed.into_iter().map(|(slot, _)| slot).collect()
    }

    /// The fixed bookings that wait, in the order of their starts.
    fn all_fixed(&self) -> Vec<(Slot, Booking)> {
        if !self.has_fixed {
            return Vec::new();
        }
        let bookings = (0..).map(Slot).zip(&self.bookings);
        let fixed = bookings.filter_map(|(slot, it)| Some((slot, it.filter(|it| it.fixed)?)));
        let mut fixed = Vec::from_iter(fixed);
        fixed.sort_unstable_by_key(|(_, it)| (it.start, it.rank));
        fixed
    }

    /// Fixed bookings that start too late or never are taken out and booked at the next free places beside
    /// running jobs. The queue is planned again around them.
    pub(crate) fn postpone(&mut self, now: Time, slots: impl Iterator<Item = Slot>) {
        self.replan_around(now, |queue| {
            // All are taken out before one is booked, so that they do not block each other.
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

    /// A fixed booking joins the queue at its present place. It has been tried nowhere else, so the next
    /// pass tries it on all free time.
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

    /// The stretch outside which no availability has changed since the last call.
    pub(crate) fn take_changed(&mut self) -> Option<(Time, Time)> {
        self.plan.profile_mut().take_changed()
    }

    /// To keep processors beyond the bookings.
    pub(crate) fn profile_mut(&mut self) -> &mut Profile {
        self.has_fixed = true;
        self.plan.profile_mut()
    }

    /// Processors kept beyond the bookings have been given back to the profile.
    pub(crate) fn has_given_back(&mut self, start: Time, end: Time, processors: u32) {
        self.note_given_back(start, end, processors);
    }
}

/// Books a fixed booking again where it was, with the processors kept `beyond` it, if all of them are free;
/// otherwise returns `false`.
fn keeps_place(profile: &mut Profile, now: Time, booking: &Booking, beyond: Option<Extra>) -> bool {
    let &Booking { start, end, processors, .. } = booking;
    // A booking that should have started before now keeps the rest of its time.
    let start = start.max(now);
    if !profile.add_if_free(start, end, processors) {
        return false;
    }
    let keeps = beyond.is_none_or(|extra| extra.book_if_free(now, profile));
    if !keeps {
        profile.remove(start, end, processors);
    }
    keeps
}
