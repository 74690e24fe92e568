//! Conservative backfilling that makes all reservations anew when time is given back.
//!
//! Where every job has a reservation, and all are given up and made again in the queue's order
//! whenever something ends early, hardly any reservation lives to be used. So the plan is made
//! only as far as somebody asks: a submission and an estimate ask for all of it, for they are told
//! a time behind everything that waits; a scheduling pass asks what starts now and when something
//! starts next. Who finds no place before then waits unplanned, for more reservations leave less room
//! (`replan/later.rs`).

mod later;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use haggle_model::{Span, Time};

use crate::hints::Hints;
use crate::index::Key;
use crate::plan::Plan;
use crate::plan::waiting::{Entry, Waiting};
use crate::scheduler::{BEYOND_ALL_LIMITS, Killed, LocalScheduler, Request, Slot, promise};
use crate::{Interval, Maintaining, Order, Overlap, Profile};

use self::later::{Later, Until};

/// Gives every waiting job a reservation, and another one when there is time to give away.
#[derive(Debug)]
pub struct Replan {
    order: Order,
    /// What runs.
    plan: Plan,
    waiting: Waiting,
    /// The waiting jobs, by slot.
    entries: Vec<Option<Entry>>,
    /// What runs and what of the queue is planned.
    profile: Profile,
    /// Those in the list of jobs that wait that are not planned yet, in order.
    later: Vec<Later>,
    /// Planned starts, earliest first.
    due: BinaryHeap<Reverse<(Time, Key, Slot)>>,
    hints: Hints,
    /// Time was given back, or the plan cannot be kept: it is to be made anew.
    outdated: bool,
    /// Jobs waiting in an order that their reservations were not made in.
    out_of_order: bool,
    sequence: u32,
}

impl Replan {
    /// For a machine of `processors`.
    pub fn new(processors: u32, order: Order) -> Replan {
        Replan {
            order,
            plan: Plan::new(processors),
            waiting: Waiting::default(),
            entries: Vec::new(),
            profile: Profile::new(processors),
            later: Vec::new(),
            due: BinaryHeap::new(),
            hints: Hints::default(),
            outdated: false,
            out_of_order: false,
            sequence: 0,
        }
    }

    /// Drops the plan if it is outdated.
    fn bring_up_to_date(&mut self, now: Time) {
        self.profile.forget_before(now);
        if std::mem::take(&mut self.outdated) {
            self.drop_plan(now);
        }
    }

    /// Drops all reservations.
    fn drop_plan(&mut self, now: Time) {
        self.settle();
        self.profile.clone_from(self.plan.profile_from(now));
        self.later.clear();
        let places = 0..self.waiting.list().len();
        self.later.extend(places.map(|place| Later { place, not_before: now }));
        self.due.clear();
        self.hints.forget();
    }

    /// Brings the list of waiting jobs in order.
    fn settle(&mut self) {
        let Replan { waiting, entries, .. } = self;
        waiting.settle(|entry| entries[entry.slot.index()].is_some_and(|it| it.key == entry.key));
    }

    /// Plans all that waits.
    fn plan_all(&mut self, now: Time) {
        self.plan_until(Until::Instant(Time::FOREVER), now);
    }

    /// Books a job and makes sure that it starts then.
    fn book(&mut self, start: Time, slot: Slot, processors: u32, span: Span, rank: Key) {
        self.profile.add(start, start + span, processors);
        // What has no planned start is due when it gets one.
        if start < BEYOND_ALL_LIMITS {
            self.due.push(Reverse((start, rank, slot)));
        }
    }
}

impl LocalScheduler for Replan {
    fn submit(&mut self, now: Time, request: Request) -> Option<Time> {
        let Request { slot, processors, ahead, .. } = request;
        let span = request.planned_span();
        let rank = self.order.key(&request, span, self.sequence);
        self.sequence += 1;
        self.out_of_order |= self.order != Order::Arrival;
        self.outdated |= ahead;
        self.bring_up_to_date(now);
        if !ahead {
            self.plan_all(now);
        }
        let from = self.hints.earliest(&self.profile, processors, span, now);
        let start = self
            .profile
            .earliest_or_never(processors, span, from)
            .expect("the provider refuses jobs wider than the machine");
        self.book(start, slot, processors, span, rank);
        let entry = Entry { key: rank, booked: start, span, slot, processors };
        if slot.index() >= self.entries.len() {
            self.entries.resize(slot.index() + 1, None);
        }
        self.entries[slot.index()] = Some(entry);
        self.waiting.insert(entry);
        promise(start + span)
    }

    fn finished(&mut self, now: Time, slot: Slot) {
        let planned_end = self.plan.finished(now, slot).planned_end;
        self.plan.complete_windows(now);
        // Where nothing was given back, each job would find its old place again.
        self.outdated |= std::mem::take(&mut self.out_of_order) || now < planned_end;
    }

    fn overran(&mut self, now: Time, slot: Slot, end: Time) {
        self.plan.overran(now, slot, end);
        self.outdated = true;
    }

    fn failed(&mut self, now: Time, processors: u32, killed: &[Killed]) {
        self.plan.failed(now, processors, killed);
        self.outdated = true;
    }

    fn restored(&mut self, now: Time, processors: u32) {
        self.plan.restored(now, processors);
        self.plan.complete_windows(now);
        self.outdated = true;
    }

    fn withdraw(&mut self, _now: Time, slot: Slot) -> bool {
        let waits = self.entries.get_mut(slot.index()).is_some_and(|it| it.take().is_some());
        if waits {
            self.waiting.one_has_gone();
            self.outdated = true;
        }
        waits
    }

    fn start_due(&mut self, now: Time, started: &mut Vec<Slot>) {
        self.bring_up_to_date(now);
        self.plan_until(Until::Instant(now), now);
        let mut not_yet = Vec::new();
        while let Some(&Reverse((start, rank, slot))) = self.due.peek()
            && start <= now
        {
            self.due.pop();
            // A job that ends at this very instant may not have given its
            // processors back yet; its end brings the next pass.
            let entry = self.entries[slot.index()].as_ref().expect("what is due waits");
            let &Entry { processors, span, .. } = entry;
            if processors > self.plan.free() {
                not_yet.push(Reverse((start, rank, slot)));
                continue;
            }
            self.plan.book_and_start(now, slot, processors, now + span);
            self.entries[slot.index()] = None;
            self.waiting.one_has_gone();
            started.push(slot);
        }
        self.due.extend(not_yet);
        self.plan_until(Until::NextStart, now);
        if self.waiting.most_have_gone() && self.later.is_empty() {
            self.settle();
        }
    }

    fn next_start(&self) -> Option<Time> {
        self.due.peek().map(|&Reverse((start, ..))| start)
    }

    fn estimate_start(&mut self, now: Time, processors: u32, span: Option<Span>) -> Option<Time> {
        self.bring_up_to_date(now);
        self.plan_all(now);
        self.profile.earliest_or_never(processors, span.unwrap_or(Span::FOREVER), now)
    }

    fn queue_length(&self) -> usize {
        self.waiting.len()
    }

    fn maintaining(&mut self) -> Option<&mut dyn Maintaining> {
        Some(self)
    }
}

impl Maintaining for Replan {
    fn announce(&mut self, now: Time, number: u32, window: Interval, overlap: Overlap) -> bool {
        self.bring_up_to_date(now);
        self.plan_all(now);
        let fits = window.processors <= self.profile.min_free(window.start, window.end());
        if fits {
            self.profile.add(window.start, window.end(), window.processors);
        } else if overlap == Overlap::Refuse {
            return false;
        }
        self.outdated |= !fits;
        self.plan.announce(now, number, window, overlap)
    }

    fn first_room(&mut self, now: Time, window: Interval) -> Option<Time> {
        self.bring_up_to_date(now);
        self.plan_all(now);
        let Interval { start, span, processors } = window;
        self.profile.earliest_fit(processors, span, start.max(now))
    }

    fn kept(&mut self, now: Time, number: u32) -> u32 {
        self.outdated |= self.plan.lacks_for_windows();
        self.plan.complete_windows(now);
        self.plan.kept(number)
    }

    fn begin(&mut self, now: Time, number: u32, processors: u32) {
        self.outdated |= self.plan.kept(number) > processors;
        self.plan.begin(now, number, processors);
    }

    fn end(&mut self, now: Time, number: u32) {
        self.plan.end_window(now, number);
    }
}
