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
use crate::scheduler::{LocalScheduler, Request, Slot};
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
    /// Reservations stay where they are.
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
    /// Waiting jobs in the queue's order.
    by_rank: Index,
    /// Waiting jobs by (planned start, rank).
    by_start: Index,
    /// Planned starts, earliest first; an entry whose booking has moved is stale.
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
            by_rank: Index::new(processors),
            by_start: Index::new(processors),
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

    /// Books a waiting job at `start` and files it.
    fn book(&mut self, slot: Slot, start: Time) {
        let booking = self.bookings[slot.index()].as_mut().expect("a slot in use has a booking");
        booking.start = start;
        booking.end = start + booking.span;
        let booking = *booking;
        self.profile.add(booking.start, booking.end, booking.processors);
        self.due.push(Reverse((start, booking.rank, slot)));
        self.by_start.insert(Entry {
            key: start_key(&booking),
            slot,
            processors: booking.processors,
            span: booking.span,
            booked: start,
        });
        self.by_rank.rebook(booking.rank, booking.processors, start);
    }

    /// Undoes [`Conservative::book`]; the entry in `due` goes stale.
    fn unbook(&mut self, slot: Slot) {
        let booking = *self.booking(slot);
        self.profile.remove(booking.start, booking.end, booking.processors);
        self.by_start.remove(start_key(&booking), booking.processors);
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
            Compression::None => self.given_back.clear(),
            Compression::Replan => self.replan(now),
            Compression::ByStart | Compression::JobByJob => self.move_up(now),
        }
    }

    /// Drops all reservations and makes them again in the queue's order.
    fn replan(&mut self, now: Time) {
        // Where nothing was given back, each job would find its old place again.
        if self.given_back.is_empty() && !self.out_of_order {
            return;
        }
        self.given_back.clear();
        self.out_of_order = false;
        let waiting = self.by_rank.sorted();
        self.hints.forget();
        for entry in &waiting {
            self.unbook(entry.slot);
        }
        for entry in &waiting {
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
        if self.by_rank.is_empty() {
            self.given_back.clear();
            return;
        }
        // Regions keep their place in `regions`, so that cursors can name them.
        let mut regions = std::mem::take(&mut self.given_back);
        for region in &mut regions {
            region.start = region.start.max(now);
        }
        let mut cursors = BinaryHeap::new();
        for region in 0..regions.len() {
            self.open_cursors(now, region, &regions, FIRST, &mut cursors);
        }
        let mut delivering = Vec::new();
        while let Some(Reverse(cursor)) = cursors.pop() {
            // Several cursors may deliver one job: each job is tried once a pass,
            // from the earliest start that any of them names.
            let mut from = cursor.reach.left;
            delivering.clear();
            delivering.push(cursor);
            while let Some(&Reverse(other)) = cursors.peek()
                && other.next == cursor.next
            {
                from = from.min(other.reach.left);
                delivering.push(other);
                cursors.pop();
            }
            if let Some(left_behind) = self.try_earlier(cursor.slot, from) {
                if self.compression == Compression::JobByJob {
                    // Jobs before this one in the queue get their chance in the next pass.
                    self.given_back.push(left_behind);
                }
                regions.push(left_behind);
                self.open_cursors(now, regions.len() - 1, &regions, cursor.next, &mut cursors);
            }
            for &cursor in &delivering {
                self.advance(now, cursor, &regions, cursor.next, &mut cursors);
            }
        }
    }

    /// Moves a job to its earliest fit from `from` on, if that is before its
    /// present place, and says what it leaves behind.
    fn try_earlier(&mut self, slot: Slot, from: Time) -> Option<Region> {
        let Booking { processors, span, start: booked, end, .. } = *self.booking(slot);
        let start = self.profile.earlier_fit(processors, span, from, booked)?;
        self.unbook(slot);
        self.book(slot, start);
        self.region((start + span).max(booked), end.min(Time::FOREVER), processors)
    }

    fn open_cursors(
        &self,
        now: Time,
        region: usize,
        regions: &[Region],
        after: Key,
        cursors: &mut BinaryHeap<Reverse<Cursor>>,
    ) {
        let Region { start, end, narrowest, widest } = regions[region];
        if start >= end || narrowest > widest {
            return;
        }
        let Some((left, right)) = self.profile.reach(narrowest, start, end, now) else { return };
        let reach = Reach { left, right };
        let narrowest_class = class_of(narrowest);
        for class in narrowest_class..=class_of(widest) {
            let cursor = Cursor { next: after, slot: Slot(0), class, region, reach };
            if class > narrowest_class {
                self.advance(now, cursor, regions, after, cursors);
            } else if let Some(Entry { key, slot, .. }) = self.next_candidate(class, after, reach) {
                cursors.push(Reverse(Cursor { next: key, slot, ..cursor }));
            }
        }
    }

    /// Moves `cursor` to the next job behind `after` that its region may let move.
    fn advance(
        &self,
        now: Time,
        cursor: Cursor,
        regions: &[Region],
        after: Key,
        cursors: &mut BinaryHeap<Reverse<Cursor>>,
    ) {
        // The reach on file is too large at worst, and asking the index is
        // cheaper than measuring it again: most cursors end here.
        let class = cursor.class;
        let Some(candidate) = self.next_candidate(class, after, cursor.reach) else { return };
        let Region { start, end, narrowest, .. } = regions[cursor.region];
        let width = narrowest.max(1 << class);
        let Some((left, right)) = self.profile.reach(width, start, end, now) else { return };
        let reach = Reach { left, right };
        let next = if reach.admits(candidate.span, candidate.booked) {
            Some(candidate)
        } else {
            self.next_candidate(class, after, reach)
        };
        if let Some(Entry { key, slot, .. }) = next {
            cursors.push(Reverse(Cursor { next: key, slot, reach, ..cursor }));
        }
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
                    self.by_start.next_in_class(
                        class,
                        after,
                        |bounds| bounds.shortest <= room,
                        |entry| entry.span <= room,
                    )
                };
                if after >= inside {
                    short(after)
                } else {
                    let sliding = self.by_start.range_in_class(class, after, inside).next();
                    sliding.or_else(|| short(inside))
                }
            }
            _ => self.by_rank.next_in_class(
                class,
                after,
                |bounds| bounds.shortest <= room || bounds.earliest <= right,
                |entry| reach.admits(entry.span, entry.booked),
            ),
        };
        candidate.copied()
    }
}

/// Where a booking stands in the order of planned starts.
fn start_key(booking: &Booking) -> Key {
    let (_, primary, sequence) = booking.rank;
    (booking.start.as_micros(), primary, sequence)
}

impl LocalScheduler for Conservative {
    fn submit(&mut self, now: Time, request: Request) -> Option<Time> {
        self.profile.forget_before(now);
        let span = request.planned_span();
        let rank = self.order.key(&request, span, self.sequence);
        self.sequence += 1;
        self.out_of_order |= self.order != Order::Arrival;
        let from = if self.by_rank.len() < DEEP {
            now
        } else {
            self.hints.earliest(&self.profile, request.processors, span, now)
        };
        let start = self
            .profile
            .earliest_or_never(request.processors, span, from)
            .expect("the provider refuses jobs wider than the machine");
        let index = request.slot.index();
        if index >= self.bookings.len() {
            self.bookings.resize(index + 1, None);
        }
        let processors = request.processors;
        self.bookings[index] =
            Some(Booking { processors, span, rank, start, end: start + span, running: false });
        self.by_rank.insert(Entry {
            key: rank,
            slot: request.slot,
            processors,
            span,
            booked: start,
        });
        self.book(request.slot, start);
        (start < Time::FOREVER && request.span.is_some()).then(|| start + span)
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
        // The job takes time that may be booked: everything that waits is planned anew around it.
        let waiting = self.by_rank.sorted();
        self.hints.forget();
        for entry in &waiting {
            self.unbook(entry.slot);
        }
        let booking = self.bookings[slot.index()].as_mut().expect("only a running job overruns");
        self.profile.add(booking.end, end, booking.processors);
        booking.end = end;
        for entry in &waiting {
            let start = self
                .profile
                .earliest_or_never(entry.processors, entry.span, now)
                .expect("a queued job fits the empty machine");
            self.book(entry.slot, start);
        }
        self.given_back.clear();
    }

    fn withdraw(&mut self, now: Time, slot: Slot) -> bool {
        let waits = |booking: &Option<Booking>| booking.is_some_and(|booking| !booking.running);
        if !self.bookings.get(slot.index()).is_some_and(waits) {
            return false;
        }
        self.unbook(slot);
        let booking = self.bookings[slot.index()].take().expect("it waits");
        self.by_rank.remove(booking.rank, booking.processors);
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
            self.by_rank.remove(booking.rank, booking.processors);
            self.by_start.remove(start_key(&booking), booking.processors);
            self.bookings[slot.index()] = Some(Booking { running: true, ..booking });
            started.push(slot);
        }
        self.due.extend(not_yet);
        // Stale entries are dropped when they reach the top, and all at once
        // when they have come to outnumber the bookings.
        if self.due.len() > 2 * self.by_rank.len() + 64 {
            let due = std::mem::take(&mut self.due);
            self.due = due
                .into_iter()
                .filter(|&Reverse((start, rank, slot))| !self.is_stale(start, slot, rank))
                .collect();
        }
    }

    fn next_start(&self) -> Option<Time> {
        self.by_start.first().map(|entry| Time::from_micros(entry.key.0))
    }

    fn estimate_start(&mut self, now: Time, processors: u32, span: Option<Span>) -> Option<Time> {
        self.profile.earliest_or_never(processors, span.unwrap_or(Span::FOREVER), now)
    }

    fn queue_length(&self) -> usize {
        self.by_rank.len()
    }
}
