//! The plan of a machine: running jobs, and the bookings beside them.
//!
//! One availability profile holds all bookings. Some are *firm*: running jobs, and promises for a fixed
//! time. Others are *movable*: the queue that made them may move them. Queues differ in the bookings that
//! they make and that they move:
//!
//! | queue | on this profile | movable bookings |
//! |---|---|---|
//! | FCFS, EASY | jobs that run, or have been decided to start now | none |
//! | conservative, bags | everything | of all waiting jobs; compression moves them up |
//! | conservative, with parts | everything | of all waiting jobs; parts keep their places |
//! | reservations | everything | of all whose start is not fixed, within their windows |
//! | conservative, replanned; EDF | jobs that run, or are pinned | on copies, [no farther than needed](gradual) |
//!
//! Windows of [maintenance](crate::maintenance) are firm, in every queue.

pub(crate) mod extra;
pub(crate) mod gradual;
pub(crate) mod openings;
pub(crate) mod pass;
mod running;
pub(crate) mod waiting;
mod windows;

use haggle_model::{Span, Time};

use crate::bags::Batch;
use crate::scheduler::{Killed, Slot};
use crate::{Interval, Overlap, Profile};

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
            latest_end: Time::ZERO,
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
        self.before_windows(now, |plan| plan.profile.add(now, Time::FOREVER, processors));
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
        self.before_windows(now, |plan| plan.profile.add(now, end, processors));
    }

    /// Applies an unforeseen change, to which windows of maintenance give way.
    pub(crate) fn before_windows(&mut self, now: Time, change: impl FnOnce(&mut Plan)) {
        self.profile.forget_before(now);
        // The change may need processors of windows, so these are released first.
        self.windows.lift(&mut self.profile, now);
        // A change that is made of several ones lays the windows once, behind all of them.
        let mut windows = std::mem::take(&mut self.windows);
        change(self);
        windows.lay(&mut self.profile, now);
        self.windows = windows;
    }

    /// No running job is booked to end after this, and no window of maintenance.
    pub(crate) fn ends(&self) -> Time {
        self.windows().map(|window| window.end()).fold(self.latest_end, Time::max)
    }

    /// Returns whether a window of maintenance is announced or in progress.
    pub(crate) fn has_windows(&self) -> bool {
        !self.windows.is_empty()
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

    /// Windows of maintenance that lack processors take free ones.
    pub(crate) fn complete_windows(&mut self, now: Time) {
        if self.windows.are_short() {
            self.profile.forget_before(now);
            self.windows.lay(&mut self.profile, now);
        }
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
