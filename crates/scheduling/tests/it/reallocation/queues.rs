//! Queues with a reservation for each job, by their definition: a list of bookings, searched second by second.

use haggle_model::{Span, Time};
use haggle_scheduling::Slot;
use haggle_testing::at;

use super::world::{Queue, seconds};

#[derive(Clone, Copy, Debug)]
struct Booking {
    slot: Slot,
    processors: u32,
    start: i64,
    end: i64,
    runs: bool,
    /// It cannot start before.
    ready: i64,
}

/// First come, first served or conservative backfilling with compression in the order of the queue.
#[derive(Debug)]
pub(super) struct Bookings {
    processors: u32,
    fcfs: bool,
    /// In the order of the queue.
    all: Vec<Booking>,
    /// True if time has been returned since the last compression.
    given_back: bool,
}

impl Bookings {
    pub(super) fn new(processors: u32, fcfs: bool) -> Bookings {
        Bookings { processors, fcfs, all: Vec::new(), given_back: false }
    }

    /// The first start from `from` on, beside these bookings.
    fn fit(&self, beside: &[Booking], from: i64, processors: u32, span: i64) -> i64 {
        let used = |time: i64| {
            let there = beside.iter().filter(|it| it.start <= time && time < it.end);
            there.map(|it| it.processors).sum::<u32>()
        };
        let mut candidates = Vec::from_iter(beside.iter().map(|it| it.end).filter(|&it| it > from));
        candidates.push(from);
        candidates.sort_unstable();
        let fits = |&start: &i64| {
            let inside =
                beside.iter().map(|it| it.start).filter(|&it| start < it && it < start + span);
            inside.chain([start]).all(|time| used(time) + processors <= self.processors)
        };
        candidates.into_iter().find(fits).expect("all bookings end")
    }

    /// Earliest start of one more job.
    fn floor(&self, now: i64) -> i64 {
        let waiting = self.all.iter().filter(|it| self.fcfs && !it.runs);
        waiting.map(|it| it.start).max().unwrap_or(now).max(now)
    }

    /// One compression for all returned time.
    fn catch_up(&mut self, now: Time) {
        if std::mem::take(&mut self.given_back) {
            self.compress(seconds(now));
        }
    }

    fn compress(&mut self, now: i64) {
        if self.fcfs {
            let waiting = Vec::from_iter(self.all.iter().filter(|it| !it.runs).copied());
            self.all.retain(|it| it.runs);
            for it in waiting {
                let span = it.end - it.start;
                let from = self.floor(now).max(it.ready);
                let start = self.fit(&self.all, from, it.processors, span);
                self.all.push(Booking { start, end: start + span, ..it });
            }
            return;
        }
        for place in 0..self.all.len() {
            let it = self.all[place];
            if it.runs {
                continue;
            }
            let mut others = self.all.clone();
            others.remove(place);
            let span = it.end - it.start;
            let start = self.fit(&others, now.max(it.ready), it.processors, span);
            assert!(start <= it.start, "nothing is moved to later");
            self.all[place] = Booking { start, end: start + span, ..it };
        }
    }
}

impl Queue for Bookings {
    fn earliest(&mut self, now: Time, processors: u32, span: Span, ready: Time) -> Time {
        self.catch_up(now);
        let from = self.floor(seconds(now)).max(seconds(ready));
        at(self.fit(&self.all, from, processors, span.as_micros() / 1_000_000))
    }

    fn submit(&mut self, now: Time, slot: Slot, processors: u32, span: Span, ready: Time) {
        let start = seconds(self.earliest(now, processors, span, ready));
        let end = start + span.as_micros() / 1_000_000;
        let ready = seconds(ready);
        self.all.push(Booking { slot, processors, start, end, runs: false, ready });
    }

    fn cancel(&mut self, _: Time, slots: &[Slot]) {
        self.all.retain(|it| !slots.contains(&it.slot));
        self.given_back |= !slots.is_empty();
    }

    fn start(&mut self, now: Time, slot: Slot) -> Option<Time> {
        self.catch_up(now);
        let waits = self.all.iter().find(|it| it.slot == slot && !it.runs);
        waits.map(|it| at(it.start))
    }

    fn end(&mut self, _: Time, slot: Slot) {
        self.all.retain(|it| it.slot != slot);
        self.given_back = true;
    }

    fn due(&mut self, now: Time) -> Vec<Slot> {
        self.catch_up(now);
        let mut due: Vec<_> =
            self.all.iter_mut().filter(|it| !it.runs && at(it.start) <= now).collect();
        due.iter_mut().for_each(|it| it.runs = true);
        due.into_iter().map(|it| it.slot).collect()
    }

    fn next(&self) -> Option<Time> {
        self.all.iter().filter(|it| !it.runs).map(|it| at(it.start)).min()
    }
}
