//! Reservations as a local scheduler.

use haggle_model::reservation::Remedy;
use haggle_model::{Span, Time};

use super::{
    Active, Alternative, Booking, Displaced, Granted, Granting, Reservations, Reserve, Size, Window,
};
use crate::maintenance::OnPlan;
use crate::plan::Plan;
use crate::scheduler::{BEYOND_ALL_LIMITS, Killed, LocalScheduler, Request, Slot};
use crate::{Capabilities, Interval, Maintaining, Overlap};

impl Granting for Reservations {
    fn ask(
        &mut self,
        now: Time,
        request: &Reserve,
        sizes: &[Size],
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Granted> {
        let threshold = self.config.threshold.min(request.accepts);
        self.admit(now, request, sizes, threshold, draw)
    }

    fn alternatives(
        &mut self,
        now: Time,
        request: &Reserve,
        sizes: &[Size],
        most: usize,
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Vec<Alternative> {
        let Some(threshold) = self.config.threshold else { return Vec::new() };
        self.possible(now, request, sizes, threshold, most, draw)
    }

    fn take(
        &mut self,
        now: Time,
        request: &Reserve,
        alternative: Alternative,
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Granted> {
        let offered = self.admit_offered(now, request, alternative);
        let anew = || self.admit(now, &request.at(alternative), &[], None, draw);
        let granted = offered.or_else(anew)?;
        Some(Granted { alternative: Some(alternative), ..granted })
    }

    fn start_of(&mut self, _now: Time, slot: Slot) -> Option<Time> {
        self.place(slot).map(|place| self.waiting[place].start)
    }

    fn fix(&mut self, now: Time, slot: Slot) -> Option<Time> {
        self.catch_up(now);
        let place = self.place(slot)?;
        self.waiting[place].fix();
        self.offers.forget();
        Some(self.waiting[place].start)
    }

    fn fixed(&mut self, fixed: &mut Vec<(Slot, Time)>) {
        fixed.append(&mut self.fixed);
    }

    fn displaced(&mut self, displaced: &mut Vec<(Slot, Displaced)>) {
        displaced.append(&mut self.displaced);
    }
}

impl LocalScheduler for Reservations {
    /// Books the first free place for the requested time; nothing is promised.
    fn submit(&mut self, now: Time, request: Request) -> Option<Time> {
        self.catch_up(now);
        let Request { slot, processors, .. } = request;
        let span = request.planned_span();
        let profile = self.plan.profile_mut();
        let start = profile
            .earliest_or_never(processors, span, now)
            .expect("the provider refuses jobs wider than the machine");
        profile.add(start, start + span, processors);
        let request = Reserve {
            slot,
            submitted: now,
            processors,
            span,
            window: Window::ANY,
            fix_at: None,
            accepts: None,
            remedy: Remedy::Postpone,
        };
        self.waiting.push(Booking { request, id: self.asked, start });
        self.asked += 1;
        None
    }

    fn finished(&mut self, now: Time, slot: Slot) {
        let ended = self.plan.finished(now, slot);
        self.plan.complete_windows(now);
        self.plan.forget(slot);
        self.running.retain(|active| active.slot != slot);
        self.given_back |= now < ended.planned_end;
    }

    fn overran(&mut self, now: Time, slot: Slot, end: Time) {
        self.make_way(now, |plan| plan.overran(now, slot, end));
        for active in self.running.iter_mut().filter(|active| active.slot == slot) {
            active.planned_end = end;
        }
    }

    fn failed(&mut self, now: Time, processors: u32, killed: &[Killed]) {
        self.running.retain(|active| killed.iter().all(|it| it.slot != active.slot));
        self.plan_around(now, true, |plan| {
            plan.failed(now, processors, killed);
            killed.iter().for_each(|it| plan.forget(it.slot));
        });
    }

    fn restored(&mut self, now: Time, processors: u32) {
        self.plan.restored(now, processors);
        self.plan.complete_windows(now);
        self.given_back = true;
    }

    fn withdraw(&mut self, now: Time, slot: Slot) -> bool {
        self.catch_up(now);
        let Some(place) = self.place(slot) else { return false };
        let Booking { request, start, .. } = self.waiting.remove(place);
        let end = start + request.span;
        self.offers.forget();
        self.plan.profile_mut().remove(start.max(now), end, request.processors);
        self.given_back = true;
        true
    }

    /// Starts reservations in the order of their requests.
    fn start_due(&mut self, now: Time, started: &mut Vec<Slot>) {
        self.catch_up(now);
        self.waiting.sort_unstable_by_key(|booking| (booking.request.submitted, booking.id));
        let Reservations { plan, waiting, running, .. } = self;
        waiting.retain(|booking| {
            let Reserve { slot, processors, .. } = booking.request;
            // A job that ends at this very instant may not have given its processors back yet.
            if booking.start > now || processors > plan.free() {
                return true;
            }
            plan.start(slot, processors, booking.end());
            running.push(Active { slot, start: booking.start, planned_end: booking.end() });
            started.push(slot);
            false
        });
    }

    /// The next planned start, or the next instant at which a start becomes fixed, if that is earlier.
    fn next_start(&self) -> Option<Time> {
        let due = |booking: &Booking| {
            let fixed = booking.request.fixed_at(booking.start).filter(|_| !booking.is_fixed());
            fixed.map_or(booking.start, |time| time.min(booking.start))
        };
        self.waiting.iter().map(due).min().filter(|&time| time < BEYOND_ALL_LIMITS)
    }

    fn estimate_start(&mut self, now: Time, processors: u32, span: Option<Span>) -> Option<Time> {
        self.catch_up(now);
        let span = span.unwrap_or(Span::FOREVER).max(Span::TICK);
        self.plan.profile().earliest_or_never(processors, span, now)
    }

    fn queue_length(&self) -> usize {
        self.waiting.len()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            windows: Ok(()),
            ..Capabilities::only_maintenance("reservations with a window move other work")
        }
    }

    fn windows(&mut self) -> &mut dyn Granting {
        self
    }

    fn maintenance(&mut self) -> &mut dyn Maintaining {
        self
    }
}

impl OnPlan for Reservations {
    fn plan_mut(&mut self) -> &mut Plan {
        &mut self.plan
    }

    fn make_way(&mut self, now: Time, change: impl FnOnce(&mut Plan)) {
        self.plan_around(now, false, change);
    }

    fn given_back(&mut self, _from: Time, _until: Time, _processors: u32) {
        self.given_back = true;
    }

    fn bring_up_to_date(&mut self, now: Time) {
        self.catch_up(now);
    }

    fn announce_within_promises(&mut self, now: Time, number: u32, window: Interval) -> bool {
        // Tried on a copy, because a reservation that would lose its window makes the window refused.
        let (mut anew, mut has_room) = (self.clone(), false);
        anew.make_way(now, |plan| {
            has_room = plan.announce(now, number, window, Overlap::Refuse);
        });
        let mut new = anew.displaced[self.displaced.len()..].iter();
        has_room &= new.all(|(_, it)| matches!(it, Displaced::Moved(_)));
        if has_room {
            *self = anew;
        }
        has_room
    }
}
