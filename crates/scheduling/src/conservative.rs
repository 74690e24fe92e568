//! Conservative backfilling: every waiting job has a reservation.
//!
//! On arrival a job is booked at its earliest fit beside all that runs or is booked already. That start is
//! a promise: later operations only move it to an earlier time, except with [`Compression::Replan`]. When a
//! job ends before its plan, *compression* uses the time it gives back.
//!
//! `plan/pass.rs` describes the pass over the waiting jobs.

mod parts;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::hints::Hints;
use crate::index::Key;
use crate::maintenance::OnPlan;
use crate::not_before::NotBefore;
use crate::plan::openings::Openings;
use crate::plan::pass::Pass;
use crate::plan::waiting::{Entry, Waiting};
use crate::plan::{Part, Plan};
use crate::reserving::Reserving;
use crate::scheduler::{BEYOND_ALL_LIMITS, Killed, LocalScheduler, Request, Slot, promise};
use crate::{Capabilities, Maintaining, Order};

haggle_model::words! {
    /// Treatment of reservations by conservative backfilling when a job ends.
    #[derive(Default)]
    pub enum Compression {
        /// Each reservation, earliest start first, moves to the earliest time at which it fits; all others stay (Netto
        /// 2009, 4.4.2). A job that ends as planned changes nothing. Keeps every promise.
        #[default]
        ByStart = "by-start",
        /// Each reservation, in the order of the queue, moves to the earliest time at which it fits; all others stay
        /// (as pyss and Batsim do). Happens at every end, also if the job ended as planned. Keeps every promise.
        JobByJob = "job-by-job",
        /// All reservations are dropped and made anew in the order of the queue (as WRENCH does). Happens at every end,
        /// also if the job ended as planned. A job may start later than promised.
        Replan = "replan",
        /// Reservations stay where they are.
        None = "none",
    }
}

/// Number of waiting jobs from which on hints pay off.
const DEEP: usize = 64;

/// Fewest planned starts that are kept in order.
const NEXT: usize = 64;

/// Gives every waiting job a reservation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Conservative {
    order: Order,
    compression: Compression,
    /// Running jobs and reservations.
    plan: Plan,
    /// Of the waiting jobs, by slot.
    bookings: Vec<Option<Booking>>,
    /// Waiting jobs in the order in which compression examines them.
    waiting: Waiting,
    /// Earliest starts of waiting jobs that cannot start at once even on free processors.
    not_before: NotBefore,
    /// Planned starts, earliest first; an entry whose booking has moved is stale. After a pass the first
    /// entry is not stale.
    due: BinaryHeap<Reverse<(Time, Key, Slot)>>,
    hints: Hints,
    openings: Openings,
    /// New waiting jobs that no pass has tried on any free time yet.
    untried: Vec<Slot>,
    sequence: u32,
    /// Planned starts before this are in `due`.
    filed: Time,
    /// True if processors have been given back since the last compression.
    given_back: bool,
    /// True if compression waits for an explicit call.
    defers: bool,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Booking {
    processors: u32,
    rank: Key,
    start: Time,
    end: Time,
}

impl Conservative {
    /// For a machine of `processors`.
    ///
    /// # Panics
    /// With [`Compression::Replan`]: that is a queue of its own, [`Replan`](crate::Replan).
    pub fn new(processors: u32, order: Order, compression: Compression) -> Conservative {
        assert_ne!(compression, Compression::Replan, "a queue of its own");
        Conservative {
            order,
            compression,
            plan: Plan::new(processors),
            bookings: Vec::new(),
            waiting: Waiting::default(),
            not_before: NotBefore::default(),
            due: BinaryHeap::new(),
            hints: Hints::fine(),
            openings: Openings::new(processors),
            untried: Vec::new(),
            sequence: 0,
            filed: Time::FOREVER,
            given_back: false,
            defers: false,
        }
    }

    fn booking(&self, slot: Slot) -> &Booking {
        self.bookings[slot.index()].as_ref().expect("who waits has a booking")
    }

    /// An instant before which one more job cannot start.
    fn hint(&mut self, now: Time, processors: u32, span: Span) -> Time {
        match self.waiting.len() < DEEP {
            true => now,
            false => self.hints.earliest(self.plan.profile(), processors, span, now),
        }
    }

    /// Books a new job at its earliest fit from `from` on.
    fn reserve(&mut self, from: Time, slot: Slot, processors: u32, span: Span, rank: Key) {
        let profile = self.plan.profile_mut();
        let start = profile
            .earliest_or_never(processors, span, from)
            .expect("the provider refuses jobs wider than the machine");
        let booking = Booking { processors, rank, start, end: start + span };
        profile.add(start, booking.end, processors);
        self.bookings[slot.index()] = Some(booking);
        self.file(slot);
        let key = self.key(&booking);
        self.waiting.insert(Entry { key, booked: start, span, slot, processors });
    }

    /// Files a waiting job so that it starts when it is booked.
    fn file(&mut self, slot: Slot) {
        let &Booking { start, rank, .. } = self.booking(slot);
        // A job without a planned start becomes due when it gets one.
        // A later start is filed by `file_next`, which examines the queue.
        if start < BEYOND_ALL_LIMITS && start < self.filed {
            self.due.push(Reverse((start, rank, slot)));
        }
    }

    /// How many planned starts are filed at a time: a part of a long queue only, because each filing
    /// examines all of it.
    fn next_filed(&self) -> usize {
        NEXT.max(self.waiting.len() / 32)
    }

    /// Files the next planned starts again: the others will move before they are due.
    fn file_next(&mut self) {
        self.settle();
        let start = |entry: &Entry| (entry.booked, self.booking(entry.slot).rank, entry.slot);
        let planned = self.waiting.list().iter().filter(|it| it.booked < BEYOND_ALL_LIMITS);
        let mut starts: Vec<_> = planned.map(start).collect();
        self.filed = Time::FOREVER;
        let next = self.next_filed();
        if starts.len() > 2 * next {
            self.filed = starts.select_nth_unstable(next).1.0 + Span::TICK;
            starts.retain(|it| it.0 < self.filed);
        }
        let mut due = std::mem::take(&mut self.due).into_vec();
        due.clear();
        due.extend(starts.into_iter().map(Reverse));
        self.due = due.into();
    }

    /// Place of a waiting job in the order of compression.
    fn key(&self, booking: &Booking) -> Key {
        let (_, primary, sequence) = booking.rank;
        match self.compression {
            Compression::ByStart => (booking.start.as_micros(), primary, sequence),
            _ => booking.rank,
        }
    }

    /// Brings the list of waiting jobs in order.
    fn settle(&mut self) {
        let Conservative { waiting, bookings, .. } = self;
        waiting.settle(|entry| {
            let booking = bookings[entry.slot.index()].as_ref();
            // The slot may be in use by another job by now; the sequence number tells them apart.
            booking.is_some_and(|it| it.rank.2 == entry.key.2)
        });
    }

    /// The waiting jobs in the queue's order.
    fn queue(&mut self) -> Vec<Entry> {
        self.settle();
        let mut queue = self.waiting.list().to_vec();
        // Any other list is in the queue's order already.
        if self.compression == Compression::ByStart {
            queue.sort_unstable_by_key(|entry| self.booking(entry.slot).rank);
        }
        queue
    }

    fn is_stale(&self, start: Time, slot: Slot, rank: Key) -> bool {
        !self.bookings[slot.index()]
            .is_some_and(|booking| booking.start == start && booking.rank == rank)
    }

    /// Moves waiting jobs up to the processors that have been given back, once for all of an instant.
    fn catch_up(&mut self, now: Time) {
        if self.given_back && !self.defers {
            self.compress_now(now);
        }
    }

    /// Takes a waiting job out; no job moves up yet. Returns `false` if it does not wait.
    fn take_out(&mut self, now: Time, slot: Slot) -> bool {
        let Some(booking) = self.bookings.get_mut(slot.index()).and_then(Option::take) else {
            return false;
        };
        self.waiting.one_has_gone();
        self.not_before.forget(slot);
        let Booking { processors, start, end, .. } = booking;
        let start = start.max(now);
        self.plan.profile_mut().remove(start, end, processors);
        self.note_given_back(start, end, processors);
        true
    }

    /// Processors have been given back, and waiting jobs have not been tried there yet.
    fn note_given_back(&mut self, start: Time, end: Time, processors: u32) {
        self.given_back = true;
        // Hints hold until time is given back.
        if start < end {
            self.hints.forget();
        }
        self.openings.note(self.plan.profile(), start, end, processors);
    }

    fn compress(&mut self, now: Time) {
        self.given_back = false;
        match self.compression {
            Compression::None => self.reserve_for_the_rest(now),
            _ => self.move_up(now),
        }
    }

    /// Reservations keep their places. A job behind a job without a limit, or behind failed processors, has
    /// none; it may get one now.
    fn reserve_for_the_rest(&mut self, now: Time) {
        // Only a region without an end can give these jobs a place.
        let open = self.openings.noted().iter().any(|region| region.end >= BEYOND_ALL_LIMITS);
        self.openings.forget();
        if !open {
            return;
        }
        let mut rest = self.queue();
        rest.retain(|entry| entry.booked >= BEYOND_ALL_LIMITS);
        self.reserve_anew(now, &rest, |_| {});
    }

    /// Drops all reservations, makes a `change` and makes them again in the queue's order.
    fn replan_around(&mut self, now: Time, change: impl FnOnce(&mut Conservative)) {
        let waiting = self.queue();
        self.reserve_anew(now, &waiting, change);
        // All jobs have been tried on all free time.
        self.openings.forget();
    }

    /// Drops the reservations of these jobs, makes a `change` and makes them again.
    fn reserve_anew(
        &mut self,
        now: Time,
        waiting: &[Entry],
        change: impl FnOnce(&mut Conservative),
    ) {
        self.plan.profile_from(now);
        self.hints.forget();
        for entry in waiting {
            let Entry { booked, span, processors, .. } = *entry;
            // The time before now has been forgotten already.
            self.plan.profile_mut().remove(booked.max(now), booked + span, processors);
        }
        change(self);
        for entry in waiting {
            let Entry { span, processors, slot, .. } = *entry;
            let from = self.not_before.from(now, slot);
            let profile = self.plan.profile_mut();
            let start = profile
                .earliest_or_never(processors, span, from)
                .expect("a queued job fits the empty machine");
            profile.add(start, start + span, processors);
            if start != entry.booked {
                let booking = self.bookings[slot.index()].as_mut().expect("it waits");
                (booking.start, booking.end) = (start, start + span);
                self.file(slot);
            }
        }
        let mut places = Vec::new();
        for (place, entry) in self.waiting.list_mut().iter_mut().enumerate() {
            let booking = self.bookings[entry.slot.index()].as_ref().expect("it waits");
            if entry.booked != booking.start {
                entry.booked = booking.start;
                places.push(place);
            }
        }
        self.sort_again(&places);
    }

    /// Sorts again after the jobs at these places of the list got other bookings.
    fn sort_again(&mut self, places: &[usize]) {
        if self.compression == Compression::ByStart {
            for &place in places {
                let entry = &mut self.waiting.list_mut()[place];
                entry.key.0 = entry.booked.as_micros();
            }
            self.waiting.sort_again(places);
        }
    }

    /// One pass over the waiting jobs: each job that can start earlier moves up.
    fn move_up(&mut self, now: Time) {
        if !self.openings.has_new() && self.untried.is_empty() {
            return;
        }
        self.settle();
        let untried = std::mem::take(&mut self.untried);
        let by_start = self.compression == Compression::ByStart;
        let Conservative { plan, openings, not_before, waiting, .. } = self;
        let ends = plan.ends();
        let pass = Pass { plan, openings, not_before, untried: &untried, now };
        let list = waiting.list_mut();
        let moved = if by_start { pass.by_start(list, ends) } else { pass.one_by_one(list) };
        let tail = moved.tail..self.waiting.list().len();
        if moved.places.is_empty() && tail.is_empty() {
            return;
        }
        self.hints.forget();
        for place in moved.places.iter().copied().chain(tail) {
            let Entry { slot, booked, span, .. } = self.waiting.list()[place];
            let booking = self.bookings[slot.index()].as_mut().expect("it waits");
            (booking.start, booking.end) = (booked, booked + span);
            self.file(slot);
        }
        // The tail has moved as a whole and is still in order.
        if by_start {
            self.waiting.sort_again(&moved.places);
        }
    }
}

impl LocalScheduler for Conservative {
    fn submit(&mut self, now: Time, request: Request) -> Option<Time> {
        self.submit_after(now, request, now)
    }

    fn sort(&self, together: &mut [Request]) {
        together.sort_by_key(|it| self.order.key(it, it.planned_span(), 0));
    }

    fn finished(&mut self, now: Time, slot: Slot) {
        let Part { processors, planned_end } = self.plan.finished(now, slot);
        // Windows of maintenance take missing processors first; the rest is for waiting jobs.
        self.plan.complete_windows(now);
        self.note_given_back(now, planned_end, processors);
    }

    fn overran(&mut self, now: Time, slot: Slot, end: Time) {
        // The job takes time that may be booked: all waiting jobs are planned again around it.
        self.make_way(now, |plan| plan.overran(now, slot, end));
    }

    fn failed(&mut self, now: Time, processors: u32, killed: &[Killed]) {
        self.make_way(now, |plan| plan.failed(now, processors, killed));
    }

    fn restored(&mut self, now: Time, processors: u32) {
        self.plan.restored(now, processors);
        self.plan.complete_windows(now);
        self.note_given_back(now, Time::FOREVER, processors);
    }

    fn withdraw(&mut self, now: Time, slot: Slot) -> bool {
        self.take_out(now, slot)
    }

    fn start_due(&mut self, now: Time, started: &mut Vec<Slot>) {
        self.catch_up(now);
        let mut not_yet = Vec::new();
        while let Some(&Reverse((start, rank, slot))) = self.due.peek() {
            if start > now {
                break;
            }
            self.due.pop();
            if self.is_stale(start, slot, rank) {
                continue;
            }
            // Parts precede the jobs that are planned to start with them.
            self.plan.start_fixed(start, started);
            let booking = *self.booking(slot);
            // A job that ends at this very instant may not have given its processors back yet; its end
            // brings the next pass.
            if booking.processors > self.plan.free() {
                not_yet.push(Reverse((start, rank, slot)));
                continue;
            }
            self.plan.start(slot, booking.processors, booking.end);
            self.waiting.one_has_gone();
            self.not_before.forget(slot);
            self.bookings[slot.index()] = None;
            started.push(slot);
        }
        self.plan.start_fixed(now, started);
        self.due.extend(not_yet);
        // Stale entries are dropped when they reach the top, or all together when there are too many.
        while let Some(&Reverse((start, rank, slot))) = self.due.peek()
            && self.is_stale(start, slot, rank)
        {
            self.due.pop();
        }
        let next = self.due.peek().map_or(Time::FOREVER, |&Reverse((start, ..))| start);
        // Starts from `filed` on are not in `due`, so the next start may be missing there.
        if self.filed <= next.min(BEYOND_ALL_LIMITS) || self.due.len() > 8 * self.next_filed() {
            self.file_next();
        }
        if self.waiting.most_have_gone() {
            self.settle();
        }
    }

    fn next_start(&self) -> Option<Time> {
        self.due.peek().map(|&Reverse((start, ..))| start)
    }

    fn estimate_start(&mut self, now: Time, processors: u32, span: Option<Span>) -> Option<Time> {
        self.estimate_after(now, processors, span, now)
    }

    fn queue_length(&self) -> usize {
        self.waiting.len()
    }

    fn submit_after(&mut self, now: Time, request: Request, ready: Time) -> Option<Time> {
        // Waiting jobs use time that was given back before a new job does.
        self.catch_up(now);
        self.plan.profile_from(now);
        let span = request.planned_span();
        let rank = self.order.key(&request, span, self.sequence);
        self.sequence += 1;
        let index = request.slot.index();
        if index >= self.bookings.len() {
            self.bookings.resize(index + 1, None);
        }
        let Request { slot, processors, .. } = request;
        self.not_before.set(now, slot, ready);
        let first = ready.max(now);
        if request.ahead {
            // A job ahead of the queue may take time that is booked for others, so all of them are planned
            // again.
            self.replan_around(now, |queue| queue.reserve(first, slot, processors, span, rank));
        } else {
            let from = self.hint(now, processors, span).max(first);
            self.reserve(from, slot, processors, span, rank);
        }
        promise(self.booking(slot).end)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            starts: Ok(()),
            ..Capabilities::without_parts("each job is planned as a whole, at its earliest start")
        }
    }

    fn starts(&mut self) -> &mut dyn Reserving {
        self
    }

    fn maintenance(&mut self) -> &mut dyn Maintaining {
        self
    }
}

impl OnPlan for Conservative {
    fn plan_mut(&mut self) -> &mut Plan {
        &mut self.plan
    }

    fn make_way(&mut self, now: Time, change: impl FnOnce(&mut Plan)) {
        self.replan_around(now, |queue| change(&mut queue.plan));
    }

    fn given_back(&mut self, from: Time, until: Time, processors: u32) {
        self.note_given_back(from, until, processors);
    }

    fn bring_up_to_date(&mut self, now: Time) {
        self.catch_up(now);
    }

    fn complete_windows(&mut self, now: Time) {
        self.catch_up(now);
        self.plan.complete_windows(now);
    }
}

impl Reserving for Conservative {
    fn planned_start(&mut self, now: Time, slot: Slot) -> Option<Time> {
        self.catch_up(now);
        self.bookings.get(slot.index())?.map(|booking| booking.start)
    }

    fn estimate_after(
        &mut self,
        now: Time,
        processors: u32,
        span: Option<Span>,
        ready: Time,
    ) -> Option<Time> {
        self.catch_up(now);
        let span = span.unwrap_or(Span::FOREVER).max(Span::TICK);
        // One job is estimated in many sizes at an instant, so the past is dropped once.
        self.plan.profile_from(now);
        let from = self.hint(now, processors, span).max(ready);
        self.plan.profile().earliest_or_never(processors, span, from)
    }

    fn withdraw_all(&mut self, now: Time, slots: &[Slot]) {
        for &slot in slots {
            self.take_out(now, slot);
        }
    }
}
