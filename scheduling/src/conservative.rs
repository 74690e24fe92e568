//! Conservative backfilling: every waiting job has a reservation.
//!
//! On arrival a job is booked at its earliest fit beside everything that runs
//! or is booked already. That start is a promise: later operations only move
//! it to an earlier time (except [`Compression::Replan`], which says so). When
//! a job ends before its plan, the time it gives back is used by *compression*.
//!
//! # How compression stays cheap
//!
//! In the literature each waiting job is lifted out and put back at its
//! earliest fit, one at a time, after every end. Nearly all of them land where
//! they were. A job can only move if some part of the window it would move to
//! has been given back since it was last looked at, so it is enough to look at
//! the jobs that fit into the *reach* of what was given back: the hull in which
//! as many processors are free as the job needs. Each region given back, by an
//! end or by a job that moved, opens one cursor for each class of widths; the
//! cursors deliver, in the queue's order, only jobs that are short enough for
//! the hull or booked inside it. The schedules are those of the obvious
//! version, job for job; the tests compare them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use haggle_model::{Span, Time};

use crate::hints::Hints;
use crate::index::{Entry, FIRST, Index, Key, class_of};
use crate::scheduler::{BEYOND_ALL_LIMITS, Killed, LocalScheduler, Request, Slot, promise};
use crate::{Order, Profile};

/// What happens to the waiting jobs' reservations when a job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Compression {
    /// Each waiting job in order of planned start is put back at its earliest
    /// fit, the others staying in place. Keeps every promise. (Netto 2009, 4.4.2)
    #[default]
    ByStart,
    /// The same in the queue's order. Keeps every promise. (pyss, Batsim)
    JobByJob,
    /// All reservations are dropped and made again in the queue's order; a job
    /// may come to start later than was promised. (WRENCH)
    Replan,
    /// Reservations stay where they are. A job that waits for one without a limit has none yet.
    None,
}

impl Compression {
    /// All rules, in the order of the manual.
    pub const ALL: [Compression; 4] =
        [Compression::ByStart, Compression::JobByJob, Compression::Replan, Compression::None];

    /// The word used in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Compression::ByStart => "by-start",
            Compression::JobByJob => "job-by-job",
            Compression::Replan => "replan",
            Compression::None => "none",
        }
    }
}

/// Waiting jobs from which on hints pay.
const DEEP: usize = 64;

/// Gives every waiting job a reservation.
#[derive(Debug)]
pub struct Conservative {
    order: Order,
    compression: Compression,
    /// Running jobs and reservations.
    profile: Profile,
    /// Processors that no running job holds.
    free: u32,
    bookings: Vec<Option<Booking>>,
    /// Waiting jobs in the order in which compression looks at them.
    waiting: Index,
    /// Planned starts, earliest first; an entry whose booking has moved is
    /// stale. After a pass the first one is not.
    due: BinaryHeap<Reverse<(Time, Key, Slot)>>,
    hints: Hints,
    /// Time given back that waiting jobs have not been tried on yet.
    given_back: Vec<Region>,
    /// Jobs waiting in an order that their reservations were not made in.
    out_of_order: bool,
    sequence: u32,
}

#[derive(Clone, Copy, Debug)]
struct Booking {
    processors: u32,
    span: Span,
    rank: Key,
    start: Time,
    end: Time,
    running: bool,
}

/// A time in which processors were given back.
#[derive(Clone, Copy, Debug)]
struct Region {
    start: Time,
    end: Time,
    /// Narrowest job that can profit: a narrower one could have used what was
    /// free there before.
    narrowest: u32,
    /// Widest job that can profit: a wider one finds too few processors even now.
    widest: u32,
}

/// Delivers, in order, the waiting jobs of one class that a region may let move.
///
/// Ordered by the job it delivers next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cursor {
    next: Key,
    slot: Slot,
    class: usize,
    region: usize,
    reach: Reach,
    /// How many jobs had moved when the reach was measured for this class;
    /// `None` if it is that of a narrower one.
    measured_after: Option<u32>,
}

/// One pass over the waiting jobs.
struct Pass {
    now: Time,
    /// What has been given back; cursors name regions by their place.
    regions: Vec<Region>,
    cursors: BinaryHeap<Reverse<Cursor>>,
    /// Jobs that have moved so far.
    moved: u32,
}

/// The hull of the stretches that a region has opened for a class of widths,
/// as it was when last looked at; since then it can only have shrunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Reach {
    left: Time,
    right: Time,
}

impl Reach {
    /// Whether a job of that span booked at `start` could move into it.
    fn admits(self, span: Span, start: Time) -> bool {
        start > self.left && (start <= self.right || span <= self.right - self.left)
    }
}

impl Conservative {
    /// For a machine of `processors`.
    pub fn new(processors: u32, order: Order, compression: Compression) -> Conservative {
        Conservative {
            order,
            compression,
            profile: Profile::new(processors),
            free: processors,
            bookings: Vec::new(),
            waiting: Index::new(processors),
            due: BinaryHeap::new(),
            hints: Hints::default(),
            given_back: Vec::new(),
            out_of_order: false,
            sequence: 0,
        }
    }

    fn booking(&self, slot: Slot) -> &Booking {
        self.bookings[slot.index()].as_ref().expect("a slot in use has a booking")
    }

    /// Books a new job at its earliest fit from `from` on.
    fn reserve(&mut self, from: Time, slot: Slot, processors: u32, span: Span, rank: Key) {
        let start = self
            .profile
            .earliest_or_never(processors, span, from)
            .expect("the provider refuses jobs wider than the machine");
        let booking = Booking { processors, span, rank, start, end: start + span, running: false };
        self.bookings[slot.index()] = Some(booking);
        if self.compression != Compression::ByStart {
            self.waiting.insert(Entry { key: rank, slot, processors, span, booked: start });
        }
        self.book(slot, start);
    }

    /// Books a waiting job at `start` and files it.
    fn book(&mut self, slot: Slot, start: Time) {
        let booking = self.bookings[slot.index()].as_mut().expect("a slot in use has a booking");
        booking.start = start;
        booking.end = start + booking.span;
        let booking = *booking;
        self.profile.add(booking.start, booking.end, booking.processors);
        // What has no planned start is due when it gets one.
        if start < BEYOND_ALL_LIMITS {
            self.due.push(Reverse((start, booking.rank, slot)));
        }
        let key = self.key(&booking);
        if self.compression == Compression::ByStart {
            let Booking { processors, span, .. } = booking;
            self.waiting.insert(Entry { key, slot, processors, span, booked: start });
        } else {
            self.waiting.rebook(key, booking.processors, start);
        }
    }

    /// Undoes [`Conservative::book`], of what is planned before `now` the rest; the entry in `due`
    /// goes stale.
    fn unbook(&mut self, now: Time, slot: Slot) {
        let booking = *self.booking(slot);
        self.profile.remove(booking.start.max(now), booking.end, booking.processors);
        if self.compression == Compression::ByStart {
            self.waiting.remove(self.key(&booking), booking.processors);
        }
    }

    /// Where a waiting job stands in the order of compression.
    fn key(&self, booking: &Booking) -> Key {
        let (_, primary, sequence) = booking.rank;
        match self.compression {
            Compression::ByStart => (booking.start.as_micros(), primary, sequence),
            _ => booking.rank,
        }
    }

    /// The waiting jobs in the queue's order.
    fn queue(&self) -> Vec<Entry> {
        let mut queue = self.waiting.sorted();
        if self.compression == Compression::ByStart {
            queue.sort_unstable_by_key(|entry| self.booking(entry.slot).rank);
        }
        queue
    }

    fn is_stale(&self, start: Time, slot: Slot, rank: Key) -> bool {
        !self.bookings[slot.index()].is_some_and(|booking| {
            !booking.running && booking.start == start && booking.rank == rank
        })
    }

    /// The region left where `processors` have just been given back, if any.
    fn region(&mut self, start: Time, end: Time, processors: u32) -> Option<Region> {
        if start < end {
            self.hints.forget();
        }
        (start < end).then(|| {
            let (min, widest) = self.profile.bounds(start, end);
            Region { start, end, narrowest: min.saturating_sub(processors) + 1, widest }
        })
    }

    fn compress(&mut self, now: Time) {
        match self.compression {
            Compression::None => self.reserve_for_the_rest(now),
            Compression::Replan => self.replan(now),
            Compression::ByStart | Compression::JobByJob => self.move_up(now),
        }
    }

    /// Reservations stay where they are, but who waits for a job without a limit, or for
    /// processors that have failed, has none: there may be one now.
    fn reserve_for_the_rest(&mut self, now: Time) {
        let given_back = std::mem::take(&mut self.given_back);
        if !given_back.iter().any(|region| region.end >= BEYOND_ALL_LIMITS) {
            return;
        }
        let mut rest = self.queue();
        rest.retain(|entry| entry.booked >= BEYOND_ALL_LIMITS);
        self.reserve_anew(now, &rest, |_| {});
    }

    /// Drops all reservations and makes them again in the queue's order.
    fn replan(&mut self, now: Time) {
        // Where nothing was given back, each job would find its old place again.
        if self.given_back.is_empty() && !self.out_of_order {
            return;
        }
        self.out_of_order = false;
        self.replan_around(now, |_| {});
    }

    /// Drops all reservations, makes a `change` and makes them again in the queue's order.
    fn replan_around(&mut self, now: Time, change: impl FnOnce(&mut Conservative)) {
        let waiting = self.queue();
        self.reserve_anew(now, &waiting, change);
        self.given_back.clear();
    }

    /// Drops the reservations of these jobs, makes a `change` and makes them again.
    fn reserve_anew(
        &mut self,
        now: Time,
        waiting: &[Entry],
        change: impl FnOnce(&mut Conservative),
    ) {
        self.hints.forget();
        for entry in waiting {
            self.unbook(now, entry.slot);
        }
        change(self);
        for entry in waiting {
            let start = self
                .profile
                .earliest_or_never(entry.processors, entry.span, now)
                .expect("a queued job fits the empty machine");
            self.book(entry.slot, start);
        }
    }

    /// One pass over the waiting jobs: each that can start earlier does.
    fn move_up(&mut self, now: Time) {
        if self.given_back.is_empty() {
            return;
        }
        if self.waiting.is_empty() {
            self.given_back.clear();
            return;
        }
        let regions = std::mem::take(&mut self.given_back);
        let mut pass = Pass { now, regions, cursors: BinaryHeap::new(), moved: 0 };
        for region in 0..pass.regions.len() {
            self.open_cursors(&mut pass, region, FIRST);
        }
        let mut delivering = Vec::new();
        while let Some(Reverse(cursor)) = pass.cursors.pop() {
            // Several cursors may deliver one job: each job is tried once a pass,
            // from the earliest start that any of them names.
            let mut from = cursor.reach.left;
            delivering.clear();
            delivering.push(cursor);
            while let Some(&Reverse(other)) = pass.cursors.peek()
                && other.next == cursor.next
            {
                from = from.min(other.reach.left);
                delivering.push(other);
                pass.cursors.pop();
            }
            if let Some(left_behind) = self.try_earlier(cursor.slot, from) {
                pass.moved += 1;
                if self.compression == Compression::JobByJob {
                    // Jobs before this one in the queue get their chance in the next pass.
                    self.given_back.push(left_behind);
                }
                pass.regions.push(left_behind);
                let region = pass.regions.len() - 1;
                self.open_cursors(&mut pass, region, cursor.next);
            }
            for &cursor in &delivering {
                self.advance(&mut pass, cursor, cursor.next);
            }
        }
    }

    /// Moves a job to its earliest fit from `from` on, if that is before its
    /// present place, and says what it leaves behind.
    fn try_earlier(&mut self, slot: Slot, from: Time) -> Option<Region> {
        let Booking { processors, span, start: booked, end, .. } = *self.booking(slot);
        let start = self.profile.earlier_fit(processors, span, from, booked)?.start;
        self.unbook(from, slot);
        self.book(slot, start);
        self.region((start + span).max(booked), end.min(Time::FOREVER), processors)
    }

    /// Opens a cursor behind `after` for each class that `region` may serve.
    fn open_cursors(&self, pass: &mut Pass, region: usize, after: Key) {
        let Region { start, end, narrowest, widest } = pass.regions[region];
        let start = start.max(pass.now);
        if start >= end || narrowest > widest {
            return;
        }
        let reach = self.profile.reach(narrowest, start, end, pass.now);
        let Some((left, right)) = reach else { return };
        let reach = Reach { left, right };
        let narrowest_class = class_of(narrowest);
        for class in narrowest_class..=class_of(widest) {
            let measured_after = (class == narrowest_class).then_some(pass.moved);
            let (next, slot) = (after, Slot(0));
            self.advance(pass, Cursor { next, slot, class, region, reach, measured_after }, after);
        }
    }

    /// Moves `cursor` to the next job behind `after` that its region may let move.
    fn advance(&self, pass: &mut Pass, mut cursor: Cursor, after: Key) {
        // The reach on file is too large at worst, and asking the index is
        // cheaper than measuring it again: most cursors end here.
        let class = cursor.class;
        let Some(mut candidate) = self.next_candidate(class, after, cursor.reach) else { return };
        if cursor.measured_after != Some(pass.moved) {
            let Region { start, end, narrowest, .. } = pass.regions[cursor.region];
            let width = narrowest.max(1 << class);
            let reach = self.profile.reach(width, start.max(pass.now), end, pass.now);
            let Some((left, right)) = reach else { return };
            cursor.reach = Reach { left, right };
            cursor.measured_after = Some(pass.moved);
            if !cursor.reach.admits(candidate.span, candidate.booked) {
                match self.next_candidate(class, after, cursor.reach) {
                    Some(other) => candidate = other,
                    None => return,
                }
            }
        }
        cursor.next = candidate.key;
        cursor.slot = candidate.slot;
        pass.cursors.push(Reverse(cursor));
    }

    /// The next job of `class` behind `after` that `reach` admits.
    fn next_candidate(&self, class: usize, after: Key, reach: Reach) -> Option<Entry> {
        let Reach { left, right } = reach;
        let room = right - left;
        let candidate = match self.compression {
            Compression::ByStart => {
                // First the jobs booked inside, which may slide left, then later
                // ones that are short enough.
                let after = after.max((left.as_micros(), i64::MAX, u32::MAX));
                let inside = (right.as_micros(), i64::MAX, u32::MAX);
                let short = |after| {
                    self.waiting.next_in_class(
                        class,
                        after,
                        |bounds| bounds.shortest <= room,
                        |entry| entry.span <= room,
                    )
                };
                if after >= inside {
                    short(after)
                } else {
                    let sliding = self.waiting.range_in_class(class, after, inside).next();
                    sliding.or_else(|| short(inside))
                }
            }
            _ => self.waiting.next_in_class(
                class,
                after,
                |bounds| bounds.shortest <= room || bounds.earliest <= right,
                |entry| reach.admits(entry.span, entry.booked),
            ),
        };
        candidate.copied()
    }
}

impl LocalScheduler for Conservative {
    fn submit(&mut self, now: Time, request: Request) -> Option<Time> {
        self.profile.forget_before(now);
        let span = request.planned_span();
        let rank = self.order.key(&request, span, self.sequence);
        self.sequence += 1;
        self.out_of_order |= self.order != Order::Arrival;
        let index = request.slot.index();
        if index >= self.bookings.len() {
            self.bookings.resize(index + 1, None);
        }
        let Request { slot, processors, .. } = request;
        if request.ahead {
            self.replan_around(now, |queue| queue.reserve(now, slot, processors, span, rank));
        } else {
            let from = if self.waiting.len() < DEEP {
                now
            } else {
                self.hints.earliest(&self.profile, processors, span, now)
            };
            self.reserve(from, slot, processors, span, rank);
        }
        promise(self.booking(slot).end)
    }

    fn finished(&mut self, now: Time, slot: Slot) {
        self.profile.forget_before(now);
        let booking = self.bookings[slot.index()].take().expect("only a running job ends");
        self.free += booking.processors;
        self.profile.remove(now, booking.end, booking.processors);
        let region = self.region(now, booking.end, booking.processors);
        self.given_back.extend(region);
        self.compress(now);
    }

    fn overran(&mut self, now: Time, slot: Slot, end: Time) {
        self.profile.forget_before(now);
        // The job takes time that may be booked: everything that waits is planned anew around it.
        self.replan_around(now, |queue| {
            let job = queue.bookings[slot.index()].as_mut().expect("only a running job overruns");
            queue.profile.add(job.end.max(now), end, job.processors);
            job.end = end;
        });
    }

    fn failed(&mut self, now: Time, processors: u32, killed: &[Killed]) {
        self.profile.forget_before(now);
        self.replan_around(now, |queue| {
            for job in killed {
                let job = queue.bookings[job.slot.index()].take().expect("only a running job dies");
                queue.free += job.processors;
                queue.profile.remove(now, job.end, job.processors);
            }
            queue.free -= processors;
            queue.profile.add(now, Time::FOREVER, processors);
        });
    }

    fn restored(&mut self, now: Time, processors: u32) {
        self.profile.forget_before(now);
        self.free += processors;
        self.profile.remove(now, Time::FOREVER, processors);
        let region = self.region(now, Time::FOREVER, processors);
        self.given_back.extend(region);
        self.compress(now);
    }

    fn withdraw(&mut self, now: Time, slot: Slot) -> bool {
        let waits = |booking: &Option<Booking>| booking.is_some_and(|booking| !booking.running);
        if !self.bookings.get(slot.index()).is_some_and(waits) {
            return false;
        }
        self.unbook(now, slot);
        let booking = self.bookings[slot.index()].take().expect("it waits");
        if self.compression != Compression::ByStart {
            self.waiting.remove(booking.rank, booking.processors);
        }
        let region = self.region(booking.start.max(now), booking.end, booking.processors);
        self.given_back.extend(region);
        self.compress(now);
        true
    }

    fn start_due(&mut self, now: Time, started: &mut Vec<Slot>) {
        let mut not_yet = Vec::new();
        while let Some(&Reverse((start, rank, slot))) = self.due.peek() {
            if start > now {
                break;
            }
            self.due.pop();
            if self.is_stale(start, slot, rank) {
                continue;
            }
            let booking = *self.booking(slot);
            // A job that ends at this very instant may not have given its
            // processors back yet; its end brings the next pass.
            if booking.processors > self.free {
                not_yet.push(Reverse((start, rank, slot)));
                continue;
            }
            self.free -= booking.processors;
            self.waiting.remove(self.key(&booking), booking.processors);
            self.bookings[slot.index()] = Some(Booking { running: true, ..booking });
            started.push(slot);
        }
        self.due.extend(not_yet);
        // Entries that are stale are dropped when they reach the top, and all that are too
        // many at once when they have come to outnumber the bookings.
        while let Some(&Reverse((start, rank, slot))) = self.due.peek()
            && self.is_stale(start, slot, rank)
        {
            self.due.pop();
        }
        if self.due.len() > 2 * self.waiting.len() + 64 {
            let mut due = std::mem::take(&mut self.due).into_vec();
            due.retain(|&Reverse((start, rank, slot))| !self.is_stale(start, slot, rank));
            // A job that was booked again where it had been is in here twice.
            due.sort_unstable();
            due.dedup();
            self.due = due.into();
        }
    }

    fn next_start(&self) -> Option<Time> {
        self.due.peek().map(|&Reverse((start, ..))| start)
    }

    fn estimate_start(&mut self, now: Time, processors: u32, span: Option<Span>) -> Option<Time> {
        self.profile.earliest_or_never(processors, span.unwrap_or(Span::FOREVER), now)
    }

    fn queue_length(&self) -> usize {
        self.waiting.len()
    }
}
