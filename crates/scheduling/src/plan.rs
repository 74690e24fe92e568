//! The plan of a machine: running jobs, and the bookings beside them.
//!
//! One availability profile holds all bookings. Some are *firm*: running jobs, and promises for a fixed
//! time. Others are *movable*: the queue that made them may move them. Queues differ in the bookings that
//! they make and that they move:
//!
//! | queue | on this profile | movable bookings |
//! |---|---|---|
//! | FCFS, EASY, as recorded | jobs that run, or have been decided to start now | none |
//! | conservative, bags | everything | of all waiting jobs; compression moves them up |
//! | reservations | everything | of all whose start is not fixed, within their windows |
//! | conservative, replanned; EDF | jobs that run, or are pinned | on copies, [no farther than needed](gradual) |
//!
//! Windows of [maintenance](crate::maintenance) are firm, in every queue. So are [parts](fixed) of jobs that
//! have other parts elsewhere, and reservations beside them.

pub(crate) mod extra;
mod fixed;
pub(crate) mod gradual;
pub(crate) mod openings;
pub(crate) mod pass;
mod running;
pub(crate) mod waiting;
mod windows;

use haggle_model::{Span, Time};

use crate::bags::Batch;
use crate::index::Entry;
use crate::reservations::{Displaced, Reserve};
use crate::scheduler::{Killed, Slot};
use crate::{Interval, Overlap, Profile};

use extra::Extra;
use fixed::{Event, FixedParts};
use openings::Region;
pub(crate) use running::Part;
use running::Running;
use serde::{Deserialize, Serialize};
use windows::Windows;

/// Running jobs, by slot, and the times at which processors are free beside all bookings.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    profile: Profile,
    running: Running,
    windows: Windows,
    parts: FixedParts,
    /// No job that runs, or has run, is planned to end after this.
    latest_end: Time,
}

impl Plan {
    /// For a machine of `processors`.
    pub(crate) fn new(processors: u32) -> Plan {
        Plan {
            profile: Profile::new(processors),
            running: Running::new(processors),
            windows: Windows::default(),
            parts: FixedParts::default(),
            latest_end: Time::PAST,
        }
    }

    /// Processors on which nothing runs.
    pub(crate) fn free(&self) -> u32 {
        self.running.free()
    }

    /// Availability if everything goes as booked.
    pub(crate) fn profile(&self) -> &Profile {
        &self.profile
    }

    /// To change bookings.
    pub(crate) fn profile_mut(&mut self) -> &mut Profile {
        &mut self.profile
    }

    /// Availability from `now` on.
    pub(crate) fn profile_from(&mut self, now: Time) -> &Profile {
        self.profile.forget_before(now);
        &self.profile
    }

    /// Books batches that take `span`.
    pub(crate) fn book(&mut self, batches: &[Batch], span: Span) {
        for &Batch { start, tasks } in batches {
            self.profile.add(start, start + span, tasks);
        }
    }

    /// Gives batches back, from `now` on.
    pub(crate) fn unbook(&mut self, now: Time, batches: &[Batch], span: Span) {
        for &Batch { start, tasks } in batches {
            self.profile.remove(start.max(now), start + span, tasks);
        }
    }

    /// Moves a booking to an earlier start, where it fits; returns the region it leaves.
    pub(crate) fn move_up(
        &mut self,
        processors: u32,
        span: Span,
        booked: Time,
        start: Time,
    ) -> Option<Region> {
        // Where both places overlap the job keeps its processors.
        self.profile.add(start, booked.min(start + span), processors);
        let (left, end) = ((start + span).max(booked), booked + span);
        self.profile.remove(left, end, processors);
        Region::new(&self.profile, left, end, processors)
    }

    /// Starts work that is booked until `planned_end`.
    pub(crate) fn start(&mut self, slot: Slot, processors: u32, planned_end: Time) {
        self.running.start(slot, Part { processors, planned_end });
        self.latest_end = self.latest_end.max(planned_end);
    }

    /// Books a job from now on and starts it.
    pub(crate) fn book_and_start(
        &mut self,
        now: Time,
        slot: Slot,
        processors: u32,
        planned_end: Time,
    ) {
        self.profile.add(now, planned_end, processors);
        self.start(slot, processors, planned_end);
    }

    /// A job has ended; returns the processors that it gives back and the planned end of its run.
    pub(crate) fn finished(&mut self, now: Time, slot: Slot) -> Part {
        let part = self.only(slot).expect("only a running job ends");
        self.end(now, slot, part).expect("it runs")
    }

    /// A part of a slot has ended; returns its processors and its planned end, if it ran.
    pub(crate) fn end(&mut self, now: Time, slot: Slot, part: Part) -> Option<Part> {
        let ended = self.running.end(now, slot, part)?;
        self.profile.forget_before(now);
        self.profile.remove(now, ended.planned_end, ended.processors);
        Some(ended)
    }

    /// Jobs are killed, and processors fail for an unknown time.
    pub(crate) fn failed(&mut self, now: Time, processors: u32, killed: &[Killed]) {
        // Their processors must be idle before processors are closed.
        for &Killed { slot, processors, planned_end } in killed {
            self.end(now, slot, Part { processors, planned_end });
        }
        self.running.close(processors);
        self.take_unforeseen(now, Time::FOREVER, processors, Event::Failure);
    }

    /// Processors are back.
    pub(crate) fn restored(&mut self, now: Time, processors: u32) {
        self.running.reopen(processors);
        self.profile.forget_before(now);
        self.profile.remove(now, Time::FOREVER, processors);
    }

    /// Parts planned to end by now continue until `end`.
    pub(crate) fn overran(&mut self, now: Time, slot: Slot, end: Time) {
        let processors = self.running.extend(slot, now, end);
        self.latest_end = self.latest_end.max(end);
        self.take_unforeseen(now, end, processors, Event::Overrun);
    }

    /// An unforeseen event takes processors until `end`. Parts that wait get the processors that are left,
    /// and windows of maintenance the rest.
    fn take_unforeseen(&mut self, now: Time, end: Time, processors: u32, event: Event) {
        let Plan { profile, windows, parts, .. } = self;
        profile.forget_before(now);
        // The event may need processors of both, so these are released first.
        windows.lift(profile, now);
        parts.lift(profile, now);
        profile.add(now, end, processors);
        parts.lay(profile, now, event);
        windows.lay(profile, now);
    }

    /// No running job is booked to end after this, and no window of maintenance. Ends of parts that wait are
    /// not searched for.
    pub(crate) fn ends(&self) -> Time {
        if !self.parts.is_empty() {
            return Time::FOREVER;
        }
        self.windows().map(|window| window.end()).fold(self.latest_end, Time::max)
    }

    /// Returns whether processors may be promised for a later time: to a window of maintenance or to a
    /// part. Otherwise, processors only come back as time goes on.
    pub(crate) fn promises_ahead(&self) -> bool {
        !self.windows.is_empty() || !self.parts.is_empty()
    }

    /// Returns whether a job that started now would take processors from maintenance or from a part before it ends.
    pub(crate) fn runs_into_a_promise(&mut self, now: Time, job: &Entry) -> bool {
        self.promises_ahead() && !job.fits(self.profile_from(now), now)
    }

    /// The windows of maintenance that are not over, each with the processors that it has.
    pub(crate) fn windows(&self) -> impl Iterator<Item = Interval> {
        self.windows.intervals()
    }

    /// The first start of a window, no earlier than its own, at which it overlaps no booking.
    pub(crate) fn first_room(&mut self, now: Time, window: Interval) -> Option<Time> {
        let Interval { start, span, processors } = window;
        self.profile_from(now).earliest_fit(processors, span, start.max(now))
    }

    /// Books a window of maintenance beside all bookings: the whole of it, or as much as there is room for.
    /// Returns `false`, and changes nothing, if the whole is required and there is no room for it.
    pub(crate) fn announce(
        &mut self,
        now: Time,
        number: u32,
        window: Interval,
        overlap: Overlap,
    ) -> bool {
        self.profile.forget_before(now);
        let free = self.profile.min_free(window.start, window.end());
        let accepted = overlap == Overlap::Break || window.processors <= free;
        if accepted {
            self.windows.announce(&mut self.profile, now, number, window);
        }
        accepted
    }

    /// Returns whether a window of maintenance lacks processors, and has not begun.
    pub(crate) fn lacks_for_windows(&self) -> bool {
        self.windows.are_short()
    }

    /// Windows of maintenance that lack processors take free ones. Returns whether any did.
    pub(crate) fn complete_windows(&mut self, now: Time) -> bool {
        if !self.windows.are_short() {
            return false;
        }
        self.profile.forget_before(now);
        self.windows.lay(&mut self.profile, now)
    }

    /// Processors that are booked for a window of maintenance.
    pub(crate) fn kept(&self, number: u32) -> u32 {
        self.windows.kept(number)
    }

    /// A window of maintenance begins, and closes `processors` free processors. Returns the processors that
    /// were booked for it besides, and the end of the window.
    pub(crate) fn begin(&mut self, now: Time, number: u32, processors: u32) -> Option<Part> {
        self.running.close(processors);
        self.windows.begin(&mut self.profile, now, number, processors)
    }

    /// A window of maintenance is over.
    pub(crate) fn end_window(&mut self, now: Time, number: u32) {
        let processors = self.windows.end(&mut self.profile, now, number);
        self.running.reopen(processors);
    }

    /// Books a part at a free interval; it starts then. Of equal starts the smallest number comes first.
    pub(crate) fn fix(&mut self, slot: Slot, place: Interval, number: u32) {
        self.profile.add(place.start, place.end(), place.processors);
        self.parts.insert(slot, place, number);
    }

    /// Books a reservation at a free start in its window.
    pub(crate) fn reserve(&mut self, request: Reserve, start: Time, number: u32) {
        self.fix(request.slot, request.interval(start), number);
        self.parts.reserve(request);
    }

    /// The request of a reservation that waits.
    pub(crate) fn reserved(&self, slot: Slot) -> Option<&Reserve> {
        self.parts.request(slot)
    }

    /// Shrinks the window of a waiting reservation to its present place; returns the start.
    pub(crate) fn fix_start(&mut self, slot: Slot) -> Option<Time> {
        let start = self.fixed(slot)?.start;
        let request = *self.parts.request(slot)?;
        self.parts.reserve(request.strictly_at(start));
        Some(start)
    }

    /// The place of a part, while it waits.
    pub(crate) fn fixed(&self, slot: Slot) -> Option<Interval> {
        self.parts.place(slot)
    }

    /// Start of the next part.
    pub(crate) fn next_fixed(&self) -> Option<Time> {
        self.parts.next_start()
    }

    /// Takes a waiting part out, and returns its place.
    pub(crate) fn unfix(&mut self, now: Time, slot: Slot) -> Option<Interval> {
        let (place, _) = self.parts.remove(slot)?;
        self.parts.forget_request(slot);
        self.profile.remove(place.start.max(now), place.end(), place.processors);
        Some(place)
    }

    /// A waiting part becomes a job of the queue. Its booking stays where it is; returns its place and its
    /// number.
    pub(crate) fn fixed_to_job(&mut self, slot: Slot) -> Option<(Interval, u32)> {
        self.parts.remove(slot)
    }

    /// Starts the parts that are due, in order, if their processors are free. A job that ends at this very
    /// instant may not have given its processors back yet; its end brings the next pass.
    pub(crate) fn start_fixed(&mut self, by: Time, started: &mut Vec<Slot>) {
        if self.parts.is_empty() {
            return;
        }
        for (slot, place) in self.parts.due(by) {
            if place.processors <= self.free() {
                self.parts.remove(slot);
                self.parts.forget_request(slot);
                self.start(slot, place.processors, place.end());
                started.push(slot);
            }
        }
    }

    /// The processors that a waiting part needs to move, while its place is kept; `None` if it does not wait
    /// or moves already.
    pub(crate) fn needed_to_move(&self, slot: Slot, to: Interval) -> Option<Extra> {
        let from = self.fixed(slot).filter(|_| !self.parts.moves(slot))?;
        Some(Extra::new(from, to))
    }

    /// The parts with another place that are planned to start by now.
    pub(crate) fn moves_due(&self, now: Time) -> Vec<Slot> {
        self.parts.moves_due(now)
    }

    /// Keeps another place for a part, and books the processors needed to move.
    pub(crate) fn begin_move(&mut self, now: Time, slot: Slot, to: Interval, extra: Extra) {
        extra.book(now, self.profile_mut());
        self.parts.begin_move(slot, to, extra);
    }

    /// Gives back the processors kept for a move; returns the place that was kept.
    pub(crate) fn end_move(&mut self, now: Time, slot: Slot) -> Option<Interval> {
        let (to, extra) = self.parts.end_move(slot)?;
        self.profile.forget_before(now);
        extra.release(now, &mut self.profile);
        Some(to)
    }

    /// Moves a part to `to`, which must be free once the present place is given back; returns that.
    pub(crate) fn move_fixed(&mut self, now: Time, slot: Slot, to: Interval) -> Option<Interval> {
        let (from, number) = self.parts.remove(slot)?;
        self.profile.remove(from.start.max(now), from.end(), from.processors);
        self.fix(slot, to, number);
        Some(from)
    }

    /// Takes waiting parts out and books them, with new numbers, at the next free places.
    pub(crate) fn postpone(&mut self, now: Time, late: &[(Slot, u32)]) {
        // All are taken out before one is booked, so that they do not block each other.
        let out =
            late.iter().filter_map(|&(slot, number)| Some((slot, number, self.unfix(now, slot)?)));
        for (slot, number, place) in Vec::from_iter(out) {
            let Interval { processors, span, .. } = place;
            let start = self.profile.earliest_or_never(processors, span, now);
            let start = start.expect("a part fits the empty machine");
            self.fix(slot, Interval { start, ..place }, number);
        }
    }

    /// Appends the parts that have lost their places since the last call.
    pub(crate) fn take_displaced(&mut self, displaced: &mut Vec<Slot>) {
        self.parts.take_displaced(displaced);
    }

    /// Appends the reservations that have lost their places since the last call.
    pub(crate) fn take_fates(&mut self, fates: &mut Vec<(Slot, Displaced)>) {
        self.parts.take_fates(fates);
    }

    /// A running job ends by `end` as it is planned now; returns the processors and the time until which
    /// they were booked.
    pub(crate) fn shorten(&mut self, now: Time, slot: Slot, end: Time) -> Part {
        let part = self.finished(now, slot);
        self.book_and_start(now, slot, part.processors, end.min(part.planned_end));
        part
    }

    /// The running part of a rigid job.
    pub(crate) fn only(&self, slot: Slot) -> Option<Part> {
        self.running.only(slot)
    }

    /// Returns whether something runs under `slot`.
    pub(crate) fn runs(&self, slot: Slot) -> bool {
        self.running.latest_planned_end(slot).is_some()
    }

    /// Returns whether something has run or runs under `slot`, since the slot was forgotten.
    pub(crate) fn has_started(&self, slot: Slot) -> bool {
        self.latest_end(slot).is_some()
    }

    /// Latest end of the parts that run or have ended under `slot`, since the slot was forgotten.
    pub(crate) fn latest_end(&self, slot: Slot) -> Option<Time> {
        self.running.latest_planned_end(slot).max(self.running.latest_end(slot))
    }

    /// All work under `slot` has ended, and the slot may be used again.
    pub(crate) fn forget(&mut self, slot: Slot) {
        self.running.forget(slot);
    }

    /// Processor-microseconds until the planned ends of running jobs.
    pub(crate) fn running_work(&self, now: Time) -> u128 {
        self.running.work(now)
    }
}
